-- SPDX-License-Identifier: BSD-2-Clause
-- Decimals in fields, keys and update operations.
local check = require('check')
box.cfg{log = 'x.log', log_level = 2}
d = require('decimal')
s = box.schema.space.create('s')
check [[
s:create_index('pk', {parts = {1, 'decimal'}}) ~= nil
s:insert{d.new(1)}
s:insert{1}
s:insert{'1'}
s:insert{d.new('1.00')}
s:insert{d.new('-5.5'), 1}
s:insert{d.new('1e37')}
s:insert{d.new('0.1')}
s:get(1)
s:get(d.new('1.0'))
s:select()
s:select(d.new(0), {iterator = 'GE'})
s:select(d.new('0.10'), {iterator = 'LT'})
s:replace{d.new(1), d.new('1.5'), 1, 1.5, -1, 'a', 1e300, 18446744073709551615ULL}
]]
for field = 2, 8 do
    for _, op in ipairs({'+', '-'}) do
        for _, arg in ipairs({"d.new('0.5')", '1', '0.5', '1e300',
                              "d.new('99999999999999999999999999999999999999')"}) do
            check(("s:update(d.new(1), {{'%s', %d, %s}, {'=', 9, 0}}):totable(), s:replace{d.new(1), d.new('1.5'), " ..
                   "1, 1.5, -1, 'a', 1e300, 18446744073709551615ULL} ~= nil"):format(op, field, arg))
        end
    end
end
check [[
s:update(d.new(1), {{'&', 3, d.new(1)}})
s:update(d.new(1), {{'+', 1, d.new(1)}})
s:upsert({d.new(1)}, {{'+', 2, d.new('99999999999999999999999999999999999999')}})
s:upsert({d.new(2)}, {{'+', 2, 1}})
s:upsert({d.new(2), 1}, {{'=', 2, d.new('99999999999999999999999999999999999999')}})
s:upsert({d.new(2), 1}, {{'+', 2, 1}})
s:upsert({d.new(2), 1}, {{'-', 2, d.new('0.5')}})
s:select()
s:drop()
s = box.schema.space.create('s', {format = {{'a', 'unsigned'}, {'b', 'decimal', is_nullable = true}}})
s:create_index('pk') ~= nil
s:create_index('i', {parts = {{2, 'decimal', is_nullable = true}}, unique = false}) ~= nil
s:insert{1, d.new('1.5')}
s:insert{2, box.NULL}
s:insert{3, 1.5}
s:insert{4}
s:insert{5, d.new('1.50')}
s:insert{6, d.new('-0')}
s.index.i:select()
s.index.i:select(d.new('1.500'))
s.index.i:count(d.new(0), {iterator = 'GT'})
s.index.i:min(), s.index.i:max()
s.index.i:alter{parts = {{2, 'number', is_nullable = true}}}
s:format{{'a', 'unsigned'}, {'b', 'number', is_nullable = true}}
s:format{{'a', 'unsigned'}, {'b', 'scalar', is_nullable = true}}
s:format{{'a', 'unsigned'}, {'b', 'double', is_nullable = true}}
s:format{{'a', 'unsigned'}, {'b', 'any', is_nullable = true}}
]]
check.finish()
