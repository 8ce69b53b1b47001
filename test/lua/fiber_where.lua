-- SPDX-License-Identifier: BSD-2-Clause
-- Yields in odd places: finalizers, hooks, coroutines, callbacks of the library.
local tap = require('tap')
local fiber = require('fiber')
local ffi = require('ffi')
local fun = require('fun')
local fio = require('fio')

local test = tap.test('fiber_where')
test:plan(36)

-- Somebody to switch to.
local rounds = 0
local background = fiber.new(function() while true do rounds = rounds + 1 fiber.yield() end end)

-- Finalizers: an error, of each way to wait.
local channel, cond = fiber.channel(), fiber.cond()
local joinable = fiber.new(function() fiber.sleep(100) end)
joinable:set_joinable(true)
fiber.yield()
local file = fio.open('/dev/zero', {'O_RDWR'})
local ways = {
    yield = fiber.yield,
    sleep = function() fiber.sleep(0) end,
    create = function() fiber.create(function() end) end,
    put = function() channel:put(1, 0.01) end,
    get = function() channel:get(0.01) end,
    wait = function() cond:wait(0.01) end,
    join = function() joinable:join(0.01) end,
    ['fio.stat'] = function() fio.stat('/') end,
    ['fio.open'] = function() fio.open('/dev/null', {'O_RDONLY'}) end,
    ['fio.listdir'] = function() fio.listdir('/') end,
    ['file:read'] = function() file:read(1) end,
    ['file:write'] = function() file:write('x') end,
    ['fio.path.exists'] = function() fio.path.exists('/') end,
    ['box.cfg'] = function() box.cfg({}) end,
    ['FFI'] = function()
        ffi.cdef('void fiber_reschedule(void);')
        ffi.C.fiber_reschedule()
    end,
}
for name, way in pairs(ways) do
    local seen
    local function make()
        local proxy = newproxy(true)
        getmetatable(proxy).__gc = function() seen = {pcall(way)} end
    end
    make()
    collectgarbage()
    collectgarbage()
    test:ok(seen ~= nil and not seen[1] and
            tostring(seen[2]):find("fiber can't yield in a finalizer") ~= nil,
            'in a finalizer: ' .. name)
end
local seen
ffi.gc(ffi.new('int[1]'), function() seen = {pcall(fiber.yield)} end)
collectgarbage()
collectgarbage()
test:is(seen and seen[1], false, 'in a finalizer of a cdata')


-- A change of data, whose commit waits for the log.
local dir = fio.tempdir()
box.cfg({work_dir = dir, log = dir .. '/log'})
local s = box.schema.space.create('test')
s:create_index('pk')
seen = nil
do
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function() seen = {pcall(s.replace, s, {1})} end
end
collectgarbage()
collectgarbage()
test:is(seen and seen[1], false, 'a change of data in a finalizer')
test:is(s:get(1), nil, 'and there is no change')
seen = nil
do
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function() seen = {pcall(box.snapshot)} end
end
collectgarbage()
collectgarbage()
test:is(seen and seen[1], false, 'a snapshot in a finalizer')
test:is(box.snapshot(), 'ok', 'and one after it')
local closed
do
    local proxy = newproxy(true)
    getmetatable(proxy).__gc = function() closed = file:close() end
end
collectgarbage()
collectgarbage()
test:is(closed, true, 'a file is closed in a finalizer')
test:is(not file:close(), true, 'and then it is')
test:is(s:replace({1})[1], 1, 'others go on')

-- A stopped collector is no finalizer.
collectgarbage('stop')
test:is(pcall(fiber.yield), true, 'a yield while the collector is stopped')
seen = nil
do local proxy = newproxy(true) getmetatable(proxy).__gc = function() seen = {pcall(fiber.yield)} end end
collectgarbage('collect')
collectgarbage('collect')
test:is(seen and seen[1], false, 'a finalizer while it is stopped')
collectgarbage('restart')
test:is(pcall(fiber.yield), true, 'a yield after it is started again')

-- Hooks.
local hooked = 0
jit.off() -- compiled code runs no hooks
debug.sethook(function() hooked = hooked + 1 fiber.yield() end, '', 100)
for _ = 1, 10000 do local _ = {} end
debug.sethook()
jit.on()
test:ok(hooked > 0, 'in a hook')

-- Coroutines in a fiber, pcall in a coroutine.
local co = coroutine.wrap(function()
    for i = 1, 100 do
        local ok, n = pcall(function() fiber.yield() return i end)
        coroutine.yield(ok and n)
    end
end)
local sum = 0
for _ = 1, 100 do sum = sum + co() end
test:is(sum, 5050, 'in pcall in a coroutine')
test:is(coroutine.wrap(function()
    return coroutine.wrap(function() fiber.sleep(0) return 'deep' end)()
end)(), 'deep', 'in a coroutine of a coroutine')

-- Callbacks of the library.
local list = {}
for i = 1, 100 do list[i] = (i * 37) % 101 end
table.sort(list, function(a, b) fiber.yield() return a < b end)
local sorted = true
for i = 2, #list do sorted = sorted and list[i - 1] <= list[i] end
test:ok(sorted, 'in a comparator of table.sort')
test:is((('a'):rep(100)):gsub('a', function() fiber.yield() return 'b' end), ('b'):rep(100),
        'in a callback of string.gsub')
test:is(select(2, xpcall(error, function(e) fiber.yield() return 'handled' end, 'x')), 'handled',
        'in a handler of xpcall')
test:is(setmetatable({}, {__tostring = function() fiber.yield() return 'text' end}) and
        tostring(setmetatable({}, {__tostring = function() fiber.yield() return 'text' end})),
        'text', 'in __tostring')

-- Iterators that LuaJIT compiles: results as the interpreter's.
local function chains()
    local out = {}
    for round = 1, 3000 do
        local n = fun.range(100):map(function(x) return x * round % 7 end)
                     :filter(function(x) return x % 2 == 0 end)
                     :take_n(20):chain({1, 2, 3}):foldl(function(a, b) return a + b end, 0)
        local t = fun.zip(fun.range(5), fun.cycle({'a', 'b'})):take_n(5):totable()
        out[#out + 1] = n + #t
        if round % 10 == 0 then fiber.yield() end
    end
    return out
end
local compiled = chains()
jit.off()
jit.flush()
local interpreted = chains()
jit.on()
test:is_deeply(compiled, interpreted, 'fun: compiled chains')
local rows = fun.range(1000):map(function(i) if i % 100 == 0 then fiber.yield() end return i end):totable()
test:is(#rows, 1000, 'fun: a map that yields')
test:ok(rounds > 0, 'the other fiber ran')
background:cancel()
fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
