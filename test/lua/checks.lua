-- SPDX-License-Identifier: BSD-2-Clause
-- The module `checks`: types of arguments.
local tap = require('tap')
local decimal = require('decimal')
local datetime = require('datetime')
local uuid = require('uuid')

local test = tap.test('checks')
test:plan(10)

test:is(require('checks'), checks, 'the module is the global')

-- What a call of f with the arguments says, without the place.
local function err(f, ...)
    local _, text = pcall(f, ...)
    return tostring(text):gsub('^[^:]*:%d+: ', '')
end

test:test('types', function(t)
    t:plan(10)
    local function f(a, b)
        checks('string', '?number|boolean')
        return a, b
    end
    t:is_deeply({f('a', 1)}, {'a', 1}, 'as wanted')
    t:is_deeply({f('a', true)}, {'a', true}, 'another of two')
    t:is(select('#', f('a')), 2, 'an optional one may be missing')
    t:ok(pcall(f, 'a', box.NULL), 'or null')
    t:is(err(f), 'bad argument #1 to nil (string expected, got nil)', 'one that is not may not')
    t:is(err(f, box.NULL), 'bad argument #1 to nil (string expected, got cdata)', 'nor be null')
    t:is(err(f, 'a', 'b'), 'bad argument #2 to nil (?number|boolean expected, got string)', 'wrong')
    local function named(...)
        return (select(2, pcall(function(...) local function inner(x) checks('table') end inner(...) end, ...)))
    end
    t:like(named(1), 'checks.lua:%d+: bad argument #1 to inner %(table expected, got number%)',
           'with place and name of the call')
    local function any(a, ...)
        checks('?')
        return select('#', ...)
    end
    t:is(any(nil, 1, 2), 2, 'anything, and more arguments')
    local function null(a)
        checks('nil|number')
    end
    t:is(err(null, box.NULL), 'bad argument #1 to nil (nil|number expected, got cdata)', 'nil is not null')
end)

test:test('tables', function(t)
    t:plan(10)
    local function f(opts)
        checks({size = 'number', name = '?string', deep = {on = '?boolean'}, [1] = '?number'})
        return opts
    end
    t:ok(f{size = 1, name = 'x', deep = {on = true}, 5}, 'as wanted')
    t:is(err(f, {}), 'bad argument opts.size to nil (number expected, got nil)', 'missing')
    t:is(err(f), 'bad argument opts.size to nil (number expected, got nil)', 'no table')
    t:is(err(f, 5), 'bad argument #1 to nil (?table expected, got number)', 'something else')
    t:is(err(f, {size = 1, nam = 1}), 'unexpected argument opts.nam to nil', 'unknown key')
    t:is(err(f, {size = 1, 'x'}), 'bad argument opts[1] to nil (?number expected, got string)', 'by index')
    t:is(err(f, {size = 1, deep = {on = 1}}), 'bad argument opts.deep.on to nil (?boolean expected, got number)',
         'deeper')
    t:is(err(f, {size = 1, ['100%'] = 1}), 'unexpected argument opts.100% to nil', 'strange key')
    local function g(opts)
        checks({x = '?number'})
        return opts
    end
    t:is(g(), nil, 'an argument is left alone')
    rawset(_G, '_checks_v2_compatible', true)
    t:is_deeply(g(), {}, 'unless the old way is asked for')
    rawset(_G, '_checks_v2_compatible', nil)
end)

test:test('checkers', function(t)
    local cases = {
        datetime = {datetime.now(), 1}, decimal = {decimal.new(1), 1}, uuid = {uuid.new(), uuid.str()},
        interval = {datetime.interval.new{}, datetime.now()}, tuple = {box.tuple.new{1}, {1}},
        error = {box.error.new{code = 1, reason = 'x'}, 'x'}, uuid_str = {uuid.str(), 'x'},
        uuid_bin = {uuid.bin(), 'x'}, int64 = {-1LL, 9223372036854775808ULL}, uint64 = {1LL, -1LL},
    }
    t:plan(32)
    for name, case in pairs(cases) do
        t:is(checkers[name](case[1]), true, name)
        t:is(checkers[name](case[2]), false, 'no ' .. name)
        t:is(checkers[name](nil), false, 'nil is no ' .. name)
    end
    t:is(checkers.int64(2 ^ 53), false, 'a number that may be several')
    t:is(checkers.uint64(1.5), false, 'a number with a fraction')
end)

test:test('own types', function(t)
    t:plan(3)
    function checkers.positive(value)
        return type(value) == 'number' and value > 0
    end
    local function f(a, b)
        checks('positive', '?color')
        return a
    end
    t:is(f(1, setmetatable({}, {__type = 'color'})), 1, 'as wanted')
    t:is(err(f, -1), 'bad argument #1 to nil (positive expected, got number)', 'a checker says no')
    t:is(err(f, 1, {}), 'bad argument #2 to nil (?color expected, got table)', 'no metatable')
end)

test:test('wrong use', function(t)
    t:plan(4)
    t:like(err(function(a) checks('string', 'string') end, 'a'), 'excess check', 'more than there are')
    t:like(err(function(a, b) checks('string') end, 'a'), 'argument "b" is not checked', 'fewer')
    t:like(err(function(a) checks(true) end, 'a'), 'type "boolean" is not supported', 'no qualifier')
    t:ok(pcall(function() checks() end), 'none of none')
end)

-- For a helper that checks for another function.
local function check_for_caller()
    checks(2, 'number')
end
local function f(x)
    check_for_caller()
    return x
end
test:is(f(1), 1, 'of another level')
test:is(err(f, 'x'), 'bad argument #1 to nil (number expected, got string)', 'and wrong')

local strict = require('strict')
strict.on()
test:ok(pcall(function() return checks, checkers.uuid end), 'with strict')
strict.off()
local c = coroutine.wrap(function(x) checks('number') return x end)
test:is(c(1), 1, 'in a coroutine')

os.exit(test:check() and 0 or 1)
