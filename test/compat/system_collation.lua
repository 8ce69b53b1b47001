-- SPDX-License-Identifier: BSD-2-Clause
-- The collations that are there after the first start, and the settings of a session.
local check = require('check')
box.cfg{}
local spaces = {'_collation', '_vcollation', '_session_settings'}
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
