-- SPDX-License-Identifier: BSD-2-Clause
-- Formats and indexes of the system spaces as Lua shows them.
local check = require('check')
box.cfg{}
local names = {}
for k in pairs(box.space) do
    if type(k) == 'string' then table.insert(names, k) end
end
table.sort(names)
check.values('names', names)
for _, name in ipairs(names) do
    local s = box.space[name]
    check.values(name, s.id, s.engine, s.field_count, s.temporary, s:format())
    for i = 0, 5 do
        local x = s.index[i]
        if x ~= nil then
            local parts = {}
            for n, p in ipairs(x.parts) do parts[n] = {p.fieldno, p.type, p.is_nullable, p.collation_id} end
            check.values(name .. '.' .. x.name, x.id, x.type, x.unique, parts)
        end
    end
end
check.finish()
