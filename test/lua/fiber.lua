-- SPDX-License-Identifier: BSD-2-Clause
-- The module fiber, where tarn follows newer versions than 2.6.0 or promises more.
local tap = require('tap')
local fiber = require('fiber')

local test = tap.test('fiber')
test:plan(35)

-- A waiting cond raises when its fiber is cancelled (as since 2.6.2).
local result
local cond = fiber.cond()
local f = fiber.create(function() result = {pcall(cond.wait, cond, 10)} end)
f:cancel()
fiber.yield()
test:is(result[1], false, 'cond:wait() raises on a cancel')
test:is(result[2].type, 'FiberIsCancelled', 'with the type of the error')

-- What can't be waited for is an error, not a hang.
local ok, err = pcall(fiber.sleep, 0 / 0)
test:is(ok, false, 'sleep of NaN is an error')
test:like(tostring(err), 'bad arguments', 'and says so')
test:is(pcall(fiber.channel, 1e18), false, 'a channel of a huge size is an error')

-- Joining: itself, and results of all kinds.
f = fiber.new(function() return pcall(fiber.join, fiber.self()) end)
f:set_joinable(true)
local joined = {f:join()}
test:is_deeply({joined[1], joined[2], joined[3] == false or type(joined[3])}, {true, true, true},
               'a fiber that joins itself gets an error')

-- By two at once: one gets the results, the other an error.
f = fiber.new(function() fiber.sleep(0) return 'end' end)
f:set_joinable(true)
local first, second
fiber.create(function() first = {f:join()} end)
fiber.create(function() second = {f:join()} end)
fiber.sleep(0.001)
while second == nil do fiber.sleep(0) end
test:is_deeply(first, {true, 'end'}, 'who joins first gets the results')
test:is(second[1], false, 'who joins a fiber that somebody joins gets an error')
test:is(tostring(second[2]), 'the fiber is joined already', 'that says so')

-- Cancels that come during a wait are raised at once, and nothing is lost.
local function cancelled(what, func, ...)
    local got
    local waiter = fiber.create(function(...) got = {pcall(func, ...)} end, ...)
    waiter:cancel()
    fiber.yield()
    test:ok(got and not got[1] and got[2].type == 'FiberIsCancelled', 'a cancel during ' .. what)
end
local full, empty = fiber.channel(1), fiber.channel(0)
full:put('kept')
f = fiber.new(function() fiber.sleep(1000) end)
f:set_joinable(true)
fiber.yield()
for _, timeout in ipairs({1000, math.huge}) do
    cancelled('sleep', fiber.sleep, timeout)
    cancelled('put', full.put, full, 'lost', timeout)
    cancelled('get', empty.get, empty, timeout)
    cancelled('a rendezvous', empty.put, empty, 'lost', timeout)
    cancelled('wait', cond.wait, cond, timeout)
    cancelled('join', f.join, f, timeout)
end
test:is_deeply({full:count(), full:get(), empty:has_writers(), empty:has_readers()},
               {1, 'kept', false, false}, 'a channel is as before')
-- One that is cancelled already can still join those it has to clean up after.
local cleaned
local owner = fiber.create(function()
    pcall(fiber.sleep, 1000)
    pcall(f.cancel, f)
    cleaned = {f:join()}
end)
owner:cancel()
for _ = 1, 5 do fiber.yield() end
test:is_deeply({cleaned[1], cleaned[2].type, f:status()}, {false, 'FiberIsCancelled', 'dead'},
               'a fiber that was cancelled joins')

-- What is in a channel, or waits to be put, lives as long as it may be taken.
local weak = setmetatable({}, {__mode = 'k'})
local function value() local v = {} weak[v] = true return v end
local function alive()
    collectgarbage()
    collectgarbage()
    local n = 0
    for _ in pairs(weak) do n = n + 1 end
    return n
end
do
    local c = fiber.channel(2)
    c:put(value())
    c:put(value())
    fiber.create(c.put, c, value())
    test:is(alive(), 3, 'values of a channel are kept')
    c:get()
    fiber.yield()
    test:is(alive(), 2, 'one that was taken is not')
    c:close()
    test:is(alive(), 0, 'a closed channel keeps nothing')
    c = fiber.channel(1)
    weak[c] = true
    c:put(c)
end
test:is(alive(), 0, 'a channel that holds itself is collected')

-- Whoever waits for a cond keeps it.
do
    local c = fiber.cond()
    f = fiber.create(function(object) result = object:wait(0.001) end, c)
end
collectgarbage()
collectgarbage()
fiber.sleep(0.005)
while f:status() ~= 'dead' do fiber.sleep(0) end
test:is(result, false, 'a cond is not collected while somebody waits')

-- What is thrown out of a fiber that nobody joins goes to the log.
local ffi, fio = require('ffi'), require('fio')
local dir = fio.tempdir()
box.cfg({work_dir = dir, log = dir .. '/log', wal_mode = 'none'})
fiber.create(error, 'a text', 0)
fiber.create(error, nil)
fiber.create(error, setmetatable({}, {__tostring = function() return 'a table' end}))
fiber.create(error, box.error.new({code = 77, reason = 'an object'}))
fiber.create(error, ffi.new('int64_t', 5))
fiber.create(error, setmetatable({}, {__tostring = function() error('a bad one') end}))
local file = fio.open(dir .. '/log', {'O_RDONLY'})
local log = file:read()
file:close()
local missing = {}
for _, text in ipairs({': a text', ': nil', ': a table', ': an object', ': 5LL',
                       ': (error object without a text)'}) do
    if not log:find(text, 1, true) then missing[#missing + 1] = text end
end
test:is_deeply(missing, {}, 'what is thrown is logged')
fio.rmtree(dir)

f = fiber.new(function() return 1, nil, 'three', nil end)
f:set_joinable(true)
test:is(select('#', f:join()), 5, 'nils among the results are kept')

f = fiber.new(function() error({code = 7}) end)
f:set_joinable(true)
ok, err = f:join()
test:ok(not ok and err ~= nil, 'a table thrown out of a fiber reaches join')

-- A pooled fiber begins without what the one before it had.
local left = 0
for i = 1, 100 do
    fiber.create(function()
        local storage = fiber.self().storage
        if next(storage) ~= nil then left = left + 1 end
        storage.value = i
        if i % 3 == 0 then error(fiber.self(), 0) end
    end)
end
test:is(left, 0, 'the storage of a fiber is empty at its start')

-- Arguments: more than the first stack of a coroutine has room for, and too many.
test:is(select('#', pcall(fiber.create, function(...) result = select('#', ...) end,
                          unpack({}, 1, 5000))), 2, 'a fiber with 5000 arguments')
test:is(result, 5000, 'that gets them all')

-- 10,000 fibers, each with a value of its own on the way.
local sum, count = 0, 10000
local channel = fiber.channel(10)
for i = 1, count do
    fiber.new(function() fiber.yield() channel:put(i) end)
end
for _ = 1, count do
    sum = sum + channel:get()
end
test:is(sum, count * (count + 1) / 2, 'values of 10,000 fibers arrive')

os.exit(test:check() and 0 or 1)
