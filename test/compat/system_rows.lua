-- SPDX-License-Identifier: BSD-2-Clause
-- The system spaces as they are after the first start, row by row.
local check = require('check')
box.cfg{}
local spaces = {'_space', '_index', '_user', '_priv', '_sequence', '_sequence_data', '_space_sequence', '_truncate', '_trigger', '_ck_constraint', '_fk_constraint', '_func_index'}
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
for _, t in box.space._schema:pairs() do
    if t[1] ~= 'cluster' then check.values('_schema', t) end
end
check.values('_cluster', #box.space._cluster:select{}, box.space._cluster:get(1)[1], #box.space._cluster:get(1)[2])
check.finish()
