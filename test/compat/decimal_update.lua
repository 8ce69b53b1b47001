-- SPDX-License-Identifier: BSD-2-Clause
-- Decimals in update operations of all kinds, by number, name and path, and in upserts.
local check = require('check')
box.cfg{}
d = require('decimal')
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'m', 'map'}, {'arr', 'array'}, {'x', 'any'}}})
s:create_index('pk')
function reset()
    return s:replace{1, {b = {1, 2.5, d.new(3)}}, {1, d.new('2.5'), 'x', {k = 1}}, d.new(7)}
end
local args = {"d.new('0.5')", '1', '1.5', "d.new('99999999999999999999999999999999999999')", '1e300'}
for _, place in ipairs({"'m.b[2]'", "'m.b[3]'", "'arr[1]'", "'arr[3]'", "'arr[4].k'", "'x'", '4', '-1', "'m.no'", "'arr[9]'"}) do
    for _, op in ipairs({'+', '-', '&', ':', '=', '!'}) do
        for _, arg in ipairs(args) do
            reset()
            local operation = ("{{'%s', %s, %s%s}}"):format(op, place, op == ':' and '1, 1, ' or '', arg)
            check('s:update(1, ' .. operation .. ')')
            reset()
            check('s:upsert({1, {}, {}, 1}, ' .. operation .. ')\ns:get(1)')
        end
    end
end
reset()
check [[
s:update(1, {{'+', 'x', d.new(1)}, {'-', 'x', d.new('0.5')}, {'+', 'x', 1}})
s:update(1, {{'+', 'x', d.new(1)}, {'=', 'x', 1}, {'+', 'x', d.new('0.1')}})
s:update(1, {{'+', 'x', 0.1}, {'+', 'x', 0.2}})
box.tuple.new{d.new(1), 2}:update{{'+', 1, '1'}}
box.tuple.new{d.new(1), 2}:update{{'+', 1, box.NULL}}
box.tuple.new{d.new(1), '2'}:update{{'+', 2, d.new(1)}}
box.tuple.new{1}:update{{'+', 1, require('uuid').new()}}
box.tuple.new{d.new(1), 1, 1.0}:upsert{{'+', 1, 1}, {'+', 2, d.new(1)}, {'+', 3, d.new('0.1')}}
]]
check.finish()
