-- SPDX-License-Identifier: BSD-2-Clause
-- The views of the system spaces, as the administrator sees them after the first start.
local check = require('check')
box.cfg{}
local spaces = {'_vspace', '_vindex', '_vuser', '_vpriv', '_vsequence'}
for _, name in ipairs(spaces) do
    local s = box.space[name]
    check.values(name, s ~= nil and s.id)
    if s ~= nil then
        check.call(name .. ' rows', function() return #s:select{} end)
        for _, t in s:pairs() do
            check.values(name, t)
        end
    end
end
check.finish()
