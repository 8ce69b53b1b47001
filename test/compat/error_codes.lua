-- SPDX-License-Identifier: BSD-2-Clause
-- Names and numbers of the error codes; those of later versions follow behind 218.
local check = require('check')
box.cfg{}
local names = {}
for k, v in pairs(box.error) do
    if type(v) == 'number' and v <= 218 then table.insert(names, k) end
end
table.sort(names, function(a, b) return box.error[a] < box.error[b] end)
for _, name in ipairs(names) do
    check.values(name, box.error[name])
end
check.finish()
