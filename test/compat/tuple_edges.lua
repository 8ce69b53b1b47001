-- SPDX-License-Identifier: BSD-2-Clause
-- Methods of tuples: arguments of every kind, as methods and as functions of box.tuple.
local check = require('check')
NULL = box.NULL
t = box.tuple.new{1, 'a', {b = 2}, NULL, 5}
check [[
t:bsize(), #t, t:totable(2), t:totable(2, 3), t:totable(-1), t:unpack(2, 3)
t:totable(0)
t:totable(1, 2, 3)
t:totable('x')
t:totable({})
t:totable(10)
t:totable(3, 2)
t:unpack(0)
t:unpack('x')
t:unpack(10)
t:find(5), t:find(2, 5), t:find('nosuch'), t:findall(1), t:findall(2, 1)
t:find()
t:find({})
t:findall()
t:slice(0), t:slice(1, 3), t:slice(-2), t:slice(-3, -1)
t:slice()
t:slice(10)
t:slice(0, 10)
t:slice(3, 1)
t:transform(1, 1), t:transform(2, 0, 'x', 'y'), t:transform(-1, 1), t:transform(6, 0, 'end')
t:transform()
t:transform('x')
t:transform(0, 1)
t:transform(10, 1)
t:transform(1, -1)
t:transform(1, 'x')
t:transform(1, 1, print)
t:update{{'=', 1, 5}}, t:update{}
t:update()
t:update(5)
t:update{{'x', 1, 5}}
t:update{5}
t:update{{'='}}
t:update{{'=', 'x', 1}}
t:upsert{{'+', 1, 5}}
t:upsert()
t:upsert(5)
t:upsert{{'x', 1}}
t:next(), t:next(1), t:next(4), t:next(5)
t:next(10)
t:next(-1)
t:pairs() ~= nil, t:ipairs() ~= nil
t:tomap(), t:tomap{names_only = true}
t:tomap(5)
t:tomap{names_only = 5}
t:tomap({}, 5)
t:nosuch()
t.nosuch, t[0], t[-1], t[6], t[1.5], t['1'], t[NULL], t[true], t[{}]
t == t, t == box.tuple.new{1, 'a', {b = 2}, NULL, 5}, t == NULL, t == 5, t == {}, t < t
#tostring(t), tostring(t)
box.tuple.new(), box.tuple.new(5), box.tuple.new('x'), box.tuple.new{}, box.tuple.new(NULL), box.tuple.new(t)
box.tuple.new(1, 2, 3)
box.tuple.new(print)
box.tuple.new{print}
box.tuple.new(io.stdout)
box.tuple.is(t), box.tuple.is({}), box.tuple.is(nil), box.tuple.is(5), box.tuple.is(NULL)
box.tuple.is()
box.tuple.bsize(t), box.tuple.bsize(5)
box.tuple.bsize()
box.tuple.update(5, {})
box.tuple.slice(5, 1)
box.tuple.find(5, 1)
box.tuple.totable(5)
box.tuple.unpack(5)
box.tuple.next(5)
box.tuple.tomap(5)
box.tuple.transform(5, 1)
box.tuple.pairs(5)
box.tuple.nosuch
for k, v in t:pairs() do last = k end return last
for k, v in pairs(t) do last = k end return last
for k, v in ipairs(t) do last = k end return last
require('json').encode(t), require('yaml').encode(t), require('msgpack').encode(t):hex()
]]
check.refused [[
t:find('x', 5)
t:findall('x', 5)
t:next('x')
t.x = 1
t[1] = 1
t < t
t .. 'x'
t + 1
t()
]]
for _, name in ipairs{'slice', 'transform', 'tomap', 'totable', 'unpack', 'update', 'upsert', 'find', 'findall', 'next', 'bsize',
                      'pairs', 'ipairs'} do
    for _, value in ipairs{5, 'x', {}} do
        check.call(name, box.tuple[name], value, 1)
    end
    check.call(name, box.tuple[name])
end
check.finish()
