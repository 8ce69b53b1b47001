-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `fun`: lazy sequences. An iterator is a generator, its parameter and its
-- state: generator(parameter, state) gives the next state and the values, or nil at the
-- end. So an iterator runs in a `for`, and each step is plain calls that the compiler
-- follows. Names are those of the Lua Fun library; the work is our own.
local fun = {}
local methods = {}
local iterator_mt = {
    __index = methods,
    __call = function(self, param, state)
        return self.gen(param, state)
    end,
    __tostring = function() return '<generator>' end,
}

-- An iterator, with parameter and state behind it for `for`.
local function wrap(gen, param, state)
    return setmetatable({gen = gen, param = param, state = state}, iterator_mt), param, state
end
fun.wrap = wrap

function methods.unwrap(self)
    return self.gen, self.param, self.state
end

-- Sources -----------------------------------------------------------------------

local function nil_gen()
    return nil
end

local function array_gen(array, i)
    i = i + 1
    local value = array[i]
    if value == nil and type(value) == 'nil' then -- box.NULL is a value
        return nil
    end
    return i, value
end

local function map_gen(map, key)
    local value
    key, value = next(map, key)
    return key, key, value
end

local function string_gen(s, i)
    i = i + 1
    if i > #s then
        return nil
    end
    return i, s:sub(i, i)
end

-- The generator, parameter and state of anything that can be gone through.
local function raw_iter(object, param, state)
    local kind = type(object)
    if object == nil then
        error('invalid iterator', 3)
    elseif kind == 'table' then
        local mt = getmetatable(object)
        if mt == iterator_mt then
            return object.gen, object.param, object.state
        elseif type(mt) == 'table' and (mt.__ipairs or mt.__pairs) then
            return (mt.__ipairs or mt.__pairs)(object)
        elseif #object > 0 then
            return array_gen, object, 0
        end
        return map_gen, object, nil
    elseif kind == 'function' then
        return object, param, state
    elseif kind == 'string' then
        return #object == 0 and nil_gen or string_gen, object, 0
    end
    error(('object %s of type "%s" is not iterable'):format(tostring(object), kind), 3)
end

function fun.iter(object, param, state)
    return wrap(raw_iter(object, param, state))
end

-- Defines a function of (args..., iterator) and the method of (iterator, args...).
-- `count` is the number of arguments before the iterator; `f` gets them after it.
local function define(names, count, f)
    local plain
    if count == 0 then
        plain = function(object, param, state)
            return f(raw_iter(object, param, state))
        end
    else
        plain = function(arg, object, param, state)
            local gen, p, s = raw_iter(object, param, state)
            return f(gen, p, s, arg)
        end
    end
    local method = function(self, arg)
        return f(self.gen, self.param, self.state, arg)
    end
    for name in names:gmatch('%S+') do
        fun[name] = plain
        methods[name] = method
    end
end

-- The same for what takes two arguments before the iterator.
local function define2(names, f)
    local function plain(a, b, object, param, state)
        local gen, p, s = raw_iter(object, param, state)
        return f(gen, p, s, a, b)
    end
    local function method(self, a, b)
        return f(self.gen, self.param, self.state, a, b)
    end
    for name in names:gmatch('%S+') do
        fun[name] = plain
        methods[name] = method
    end
end

local function range_gen(param, i)
    i = i + param[2]
    if (param[2] > 0 and i > param[1]) or (param[2] < 0 and i < param[1]) then
        return nil
    end
    return i, i
end

function fun.range(start, stop, step)
    if stop == nil then
        start, stop = start > 0 and 1 or -1, start
        if stop == 0 then
            return wrap(nil_gen, nil, nil)
        end
    end
    assert(type(stop) == 'number', 'stop must be a number')
    step = step or (start <= stop and 1 or -1)
    assert(type(step) == 'number', 'step must be a number')
    assert(step ~= 0, 'step must not be zero')
    return wrap(range_gen, {stop, step}, start - step)
end

local function duplicate_gen(param, i)
    return i + 1, unpack(param, 1, param.n)
end

function fun.duplicate(...)
    return wrap(duplicate_gen, {n = select('#', ...), ...}, 0)
end
fun.xrepeat, fun.replicate = fun.duplicate, fun.duplicate

function fun.tabulate(f)
    assert(type(f) == 'function')
    return wrap(function(_, i) return i + 1, f(i) end, nil, 0)
end

function fun.zeros()
    return fun.duplicate(0)
end

function fun.ones()
    return fun.duplicate(1)
end

function fun.rands(n, m)
    if n == nil and m == nil then
        return wrap(function() return 0, math.random() end, nil, 0)
    end
    assert(type(n) == 'number', 'invalid first arg to rands')
    if m == nil then
        n, m = 0, n
    end
    assert(type(m) == 'number', 'invalid second arg to rands')
    assert(n < m, 'empty interval')
    return wrap(function() return 0, math.random(n, m - 1) end, nil, 0)
end

-- Parts ---------------------------------------------------------------------------

-- The values behind a state.
local function values(state, ...)
    if state == nil then
        return nil
    end
    return ...
end

define('nth', 1, function(gen, param, state, n)
    assert(n > 0, 'invalid first argument to nth')
    for _ = 2, n do
        state = gen(param, state)
        if state == nil then
            return nil
        end
    end
    return values(gen(param, state))
end)

local function first(state, ...)
    if state == nil then
        error('head: iterator is empty', 3)
    end
    return ...
end

define('head car', 0, function(gen, param, state)
    return first(gen(param, state))
end)

define('tail cdr', 0, function(gen, param, state)
    state = gen(param, state)
    if state == nil then
        return wrap(nil_gen, nil, nil)
    end
    return wrap(gen, param, state)
end)

-- A state of ours is a pair {how far, the inner state}; its first value is the count.
local function take_step(count, state, ...)
    if state == nil then
        return nil
    end
    return {count, state}, ...
end

local function take_n_gen(p, s)
    if s[1] >= p[3] then
        return nil
    end
    return take_step(s[1] + 1, p[1](p[2], s[2]))
end

local function take_n(gen, param, state, n)
    assert(n >= 0, 'invalid first argument to take_n')
    return wrap(take_n_gen, {gen, param, n}, {0, state})
end

local function take_while(gen, param, state, predicate)
    assert(type(predicate) == 'function', 'invalid first argument to take_while')
    local function step(s, ...)
        if s == nil or not predicate(...) then
            return nil
        end
        return s, ...
    end
    return wrap(function(_, s) return step(gen(param, s)) end, nil, state)
end

local function drop_n(gen, param, state, n)
    assert(n >= 0, 'invalid first argument to drop_n')
    for _ = 1, n do
        state = gen(param, state)
        if state == nil then
            return wrap(nil_gen, nil, nil)
        end
    end
    return wrap(gen, param, state)
end

local function drop_while(gen, param, state, predicate)
    assert(type(predicate) == 'function', 'invalid first argument to drop_while')
    local function matches(s, ...)
        return s ~= nil and predicate(...), s
    end
    while true do
        local go_on, s = matches(gen(param, state))
        if not go_on then
            return wrap(gen, param, state)
        end
        state = s
    end
end

-- By a count or by a predicate.
local function either(by_count, by_predicate)
    return function(gen, param, state, arg)
        if type(arg) == 'number' then
            return by_count(gen, param, state, arg)
        end
        return by_predicate(gen, param, state, arg)
    end
end

define('take_n', 1, take_n)
define('take_while', 1, take_while)
define('take', 1, either(take_n, take_while))
define('drop_n', 1, drop_n)
define('drop_while', 1, drop_while)
define('drop', 1, either(drop_n, drop_while))
define('split span split_at', 1, function(gen, param, state, arg)
    local head = either(take_n, take_while)(gen, param, state, arg)
    local tail = either(drop_n, drop_while)(gen, param, state, arg)
    return head, tail
end)

-- Searching -----------------------------------------------------------------------

define('index index_of elem_index', 1, function(gen, param, state, wanted)
    local i = 0
    for _, value in gen, param, state do
        i = i + 1
        if value == wanted then
            return i
        end
    end
    return nil
end)

define('indexes indices elem_indexes elem_indices', 1, function(gen, param, state, wanted)
    return wrap(function(_, s)
        local i, inner = s[1], s[2]
        while true do
            local value
            inner, value = gen(param, inner)
            if inner == nil then
                return nil
            end
            i = i + 1
            if value == wanted then
                return {i, inner}, i
            end
        end
    end, nil, {0, state})
end)

-- Filters ---------------------------------------------------------------------------

local filter_gen

local function filter_step(p, state, ...)
    if state == nil then
        return nil
    elseif p[3](...) then
        return state, ...
    end
    return filter_gen(p, state)
end

function filter_gen(p, state)
    return filter_step(p, p[1](p[2], state))
end

-- Generators that are no closures make one trace for all sequences of a kind.
local function filter(gen, param, state, predicate)
    return wrap(filter_gen, {gen, param, predicate}, state)
end

define('filter remove_if', 1, filter)
define('grep', 1, function(gen, param, state, what)
    if type(what) == 'string' then
        return filter(gen, param, state, function(s) return s:find(what) ~= nil end)
    end
    return filter(gen, param, state, what)
end)
define('partition', 1, function(gen, param, state, predicate)
    local chosen = filter(gen, param, state, predicate)
    local rest = filter(gen, param, state, function(...) return not predicate(...) end)
    return chosen, rest
end)

-- Folds ------------------------------------------------------------------------------

local function each(gen, param, state, f)
    local function step(s, ...)
        if s ~= nil then
            f(...)
        end
        return s
    end
    repeat
        state = step(gen(param, state))
    until state == nil
end
define('each for_each foreach', 1, each)

define2('foldl reduce', function(gen, param, state, f, result)
    each(gen, param, state, function(...) result = f(result, ...) end)
    return result
end)

define('length', 0, function(gen, param, state)
    local n = 0
    state = gen(param, state)
    while state ~= nil do
        n = n + 1
        state = gen(param, state)
    end
    return n
end)

define('is_null', 0, function(gen, param, state)
    return gen(param, state) == nil
end)

local function is_prefix_of(a, b)
    local gen_a, param_a, state_a = raw_iter(a)
    local gen_b, param_b, state_b = raw_iter(b)
    while true do
        local x, y
        state_a, x = gen_a(param_a, state_a)
        state_b, y = gen_b(param_b, state_b)
        if state_a == nil then
            return true
        elseif state_b == nil or x ~= y then
            return false
        end
    end
end
fun.is_prefix_of, methods.is_prefix_of = is_prefix_of, is_prefix_of

-- Goes on until a predicate gives `stop`; returns whether it did.
local function until_result(gen, param, state, predicate, stop)
    local function step(s, ...)
        if s == nil then
            return nil, false
        end
        return s, (not not predicate(...)) == stop
    end
    local is_found
    repeat
        state, is_found = step(gen(param, state))
    until state == nil or is_found
    return is_found
end

define('all every', 1, function(gen, param, state, predicate)
    return not until_result(gen, param, state, predicate, false)
end)
define('any some', 1, function(gen, param, state, predicate)
    return until_result(gen, param, state, predicate, true)
end)

define('sum', 0, function(gen, param, state)
    local sum = 0
    for _, value in gen, param, state do
        sum = sum + value
    end
    return sum
end)
define('product', 0, function(gen, param, state)
    local product = 1
    for _, value in gen, param, state do
        product = product * value
    end
    return product
end)

-- The element that `better(a, b)` picks out of every two.
local function best(name, gen, param, state, better)
    local result
    state, result = gen(param, state)
    if state == nil then
        error(name .. ': iterator is empty', 4)
    end
    for _, value in gen, param, state do
        result = better(result, value)
    end
    return result
end

define('min minimum', 0, function(gen, param, state)
    return best('min', gen, param, state, function(a, b) return b < a and b or a end)
end)
define('max maximum', 0, function(gen, param, state)
    return best('max', gen, param, state, function(a, b) return b > a and b or a end)
end)
define('min_by minimum_by', 1, function(gen, param, state, better)
    return best('min', gen, param, state, better)
end)
define('max_by maximum_by', 1, function(gen, param, state, better)
    return best('max', gen, param, state, better)
end)

define('totable', 0, function(gen, param, state)
    local t, n = {}, 0
    for _, value in gen, param, state do
        n = n + 1
        t[n] = value
    end
    return t
end)
define('tomap', 0, function(gen, param, state)
    local t = {}
    for _, key, value in gen, param, state do
        t[key] = value
    end
    return t
end)

-- Changes ---------------------------------------------------------------------------

local function mapped(f, state, ...)
    if state == nil then
        return nil
    end
    return state, f(...)
end

local function mapped_gen(p, state)
    return mapped(p[3], p[1](p[2], state))
end

define('map', 1, function(gen, param, state, f)
    return wrap(mapped_gen, {gen, param, f}, state)
end)

define('enumerate', 0, function(gen, param, state)
    local function step(i, s, ...)
        if s == nil then
            return nil
        end
        return {i, s}, i, ...
    end
    return wrap(function(_, s) return step(s[1] + 1, gen(param, s[2])) end, nil, {0, state})
end)

define('intersperse', 1, function(gen, param, state, what)
    local function step(s, ...)
        if s == nil then
            return nil
        end
        return {true, s}, ...
    end
    return wrap(function(_, s)
        if s[1] then
            return {false, s[2]}, what
        end
        return step(gen(param, s[2]))
    end, nil, {false, state})
end)

-- Compositions -----------------------------------------------------------------------

-- Each argument's generator, parameter and state.
local function all_iters(...)
    local list, i, count = {}, 1, select('#', ...)
    while i <= count do
        local object, param, state = select(i, ...)
        local gen, p, s = raw_iter(object)
        list[#list + 1] = {gen = gen, param = p, state = s}
        i = i + 1
        -- Behind an iterator stand its own parameter and state, as for `for`.
        if i + 1 <= count and type(object) == 'table' and getmetatable(object) == iterator_mt and
           param == p and state == s then
            i = i + 2
        end
    end
    return list
end

-- The most frequent case, without a table for each step's values.
local function zip_two_gen(p, states)
    local x, value = p[1](p[2], states[1])
    if x == nil then
        return nil
    end
    local y, other = p[3](p[4], states[2])
    if y == nil then
        return nil
    end
    return {x, y}, value, other
end

local function zip_two(a, b)
    return wrap(zip_two_gen, {a.gen, a.param, b.gen, b.param}, {a.state, b.state})
end

local function zip(...)
    local list = all_iters(...)
    local count = #list
    if count == 0 then
        return wrap(nil_gen, nil, nil)
    end
    if count == 2 then
        return zip_two(list[1], list[2])
    end
    local start = {}
    for i = 1, count do
        start[i] = list[i].state
    end
    return wrap(function(_, states)
        local now, row = {}, {}
        for i = 1, count do
            local it = list[i]
            now[i], row[i] = it.gen(it.param, states[i])
            if now[i] == nil then
                return nil
            end
        end
        return now, unpack(row, 1, count)
    end, nil, start)
end
fun.zip, methods.zip = zip, zip

local function chain(...)
    local list = all_iters(...)
    local step
    local function try(i, s, ...)
        if s ~= nil then
            return {i, s}, ...
        end
        return step(i + 1, list[i + 1] and list[i + 1].state)
    end
    function step(i, state)
        local it = list[i]
        if it == nil then
            return nil
        end
        return try(i, it.gen(it.param, state))
    end
    return wrap(function(_, s) return step(s[1], s[2]) end, nil,
                {1, list[1] and list[1].state})
end
fun.chain, methods.chain = chain, chain

define('cycle', 0, function(gen, param, start)
    local function step(s, ...)
        if s ~= nil then
            return {s}, ...
        end
        local function again(first_state, ...)
            if first_state == nil then
                return nil
            end
            return {first_state}, ...
        end
        return again(gen(param, start))
    end
    return wrap(function(_, s) return step(gen(param, s[1])) end, nil, {start})
end)

-- Operators ---------------------------------------------------------------------------

local operator = {
    lt = function(a, b) return a < b end,
    le = function(a, b) return a <= b end,
    eq = function(a, b) return a == b end,
    ne = function(a, b) return a ~= b end,
    ge = function(a, b) return a >= b end,
    gt = function(a, b) return a > b end,
    add = function(a, b) return a + b end,
    sub = function(a, b) return a - b end,
    mul = function(a, b) return a * b end,
    div = function(a, b) return a / b end,
    truediv = function(a, b) return a / b end,
    floordiv = function(a, b) return math.floor(a / b) end,
    intdiv = function(a, b)
        local q = a / b
        return a >= 0 and math.floor(q) or math.ceil(q)
    end,
    mod = function(a, b) return a % b end,
    pow = function(a, b) return a ^ b end,
    unm = function(a) return -a end,
    neq = function(a) return -a end,
    concat = function(a, b) return a .. b end,
    len = function(a) return #a end,
    length = function(a) return #a end,
    land = function(a, b) return a and b end,
    lor = function(a, b) return a or b end,
    lnot = function(a) return not a end,
    truth = function(a) return not not a end,
}
fun.operator, fun.op = operator, operator
methods.operator, methods.op = operator, operator

-- fun() puts every function into the globals, save where there is something by its name.
return setmetatable(fun, {
    __call = function(self)
        for name, f in pairs(self) do
            if rawget(_G, name) ~= nil then
                print(('NOTICE: function %s already exists in global scope. Skipped.'):format(name))
            else
                rawset(_G, name, f)
            end
        end
    end,
})
