-- SPDX-License-Identifier: BSD-2-Clause
-- auto_increment, and field values that come back as they went in.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
t = box.schema.space.create('t')
t:create_index('pk', {parts = {{1, 'string'}}})
check [[
s:auto_increment{'a'}
s:auto_increment{'b', 'c'}
s:insert{10}
s:auto_increment{}
s:delete(11)
s:auto_increment{}
t:auto_increment{'x'}
]]
local values = {0, -0, 1, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296, -1, -32, -33, -128,
    -129, -32768, -32769, -2147483648, -2147483649, 2 ^ 53, 2 ^ 53 + 1, 1e15, 1e16, 1e20, 0.1, -0.5,
    1 / 0, -1 / 0, 5LL, -5LL, 5ULL, 9223372036854775807LL, 18446744073709551615ULL, '', 'text',
    ('x'):rep(40), 'ünicode', 'zero\0inside', true, false, box.NULL, {}, {1, 2, 3}, {a = 1},
    {a = {b = {c = {1, {2}}}}}, {1, box.NULL, 3}, {[1] = 1, [3] = 3}, {[10] = 1}, {[-1] = 'neg'},
    {[1.5] = 'x'}}
for i, v in ipairs(values) do
    local name = 'value ' .. i .. ' ' .. check.show(v)
    check.call(name, function() return s:replace{100, v} end)
    check.call(name .. ' type', function() local x = s:get(100)[2] return type(x), x == v end)
end
check [[
s:replace{100, print}
s:replace{100, newproxy()}
s:replace{100, coroutine.create(print)}
s:replace{100, setmetatable({1, 2}, {__serialize = 'map'})}
s:replace{100, setmetatable({}, {__serialize = 'map'})}
s:replace{100, setmetatable({a = 1}, {__serialize = function(x) return {b = x.a} end})}
s:replace{100, setmetatable({a = 1}, {__serialize = 'array'})}
]]
check.finish()
