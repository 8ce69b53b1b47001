-- SPDX-License-Identifier: BSD-2-Clause
-- The functions that are there after the first start.
local check = require('check')
box.cfg{}
local spaces = {'_func', '_vfunc'}
for _, name in ipairs(spaces) do
    local s = box.space[name]
    check.values(name, s ~= nil and s.id)
    if s ~= nil then
        check.call(name .. ' rows', function() return #s:select{} end)
        for _, t in s:pairs() do
            local row = t:totable()
            -- The times of creation and of change.
            row[18], row[19] = nil, nil
            check.values(name, row)
        end
    end
end
check.finish()
