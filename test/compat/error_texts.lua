-- The text of each error, filled in with arguments that show their places.
local check = require('check')
box.cfg{}
for code = 1, 220 do
    check.call('error ' .. code, box.error, code, 'one', 'two', 'three', 'four', 'five')
end
check.finish()
