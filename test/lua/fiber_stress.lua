-- SPDX-License-Identifier: BSD-2-Clause
-- Thousands of fibers that yield, throw, cancel, join and pass values on at random, with
-- the collector run all the time. STRESS_SEED and STRESS_STEPS choose another walk; a
-- seed that fails shows the same walk again, since nothing in it depends on the clock.
local tap = require('tap')
local fiber = require('fiber')

local seed = tonumber(os.getenv('STRESS_SEED') or 20261130)
local steps = tonumber(os.getenv('STRESS_STEPS') or 20000)

local test = tap.test('fiber_stress')
test:plan(8)
test:diag('seed %d, %d steps', seed, steps)

-- A generator of our own: the same numbers on every machine.
local state = seed % 2147483647
local function random(n)
    state = state * 16807 % 2147483647
    return state % n + 1
end

local LIVING_MAX = 2000
local bad = {}
local function check(ok, what)
    if not ok then bad[#bad + 1] = what end
end

local channels = {}
for i = 1, 8 do channels[i] = fiber.channel(i % 3 == 0 and 0 or i) end
local cond = fiber.cond()

-- What came in has to come out, or still be on the way at the end.
local sent, received = 0, 0
local born, ended, thrown, cancelled, joined = 0, 0, 0, 0, 0

-- Each ends in one of the ways by which a fiber can, and says which.
local function life(id, turns)
    local storage = fiber.self().storage
    storage.id = id
    for turn = 1, turns do
        check(fiber.self().storage.id == id, 'the storage of another')
        local action = random(10)
        if action <= 3 then
            fiber.yield()
        elseif action == 4 then
            fiber.sleep(0)
        elseif action == 5 then
            local value = {id, turn}
            if channels[random(#channels)]:put(value, 0) then sent = sent + 1 end
        elseif action == 6 then
            local value = channels[random(#channels)]:get(0)
            if value ~= nil then
                received = received + 1
                check(type(value[1]) == 'number' and type(value[2]) == 'number', 'a broken value')
            end
        elseif action == 7 then
            cond:wait(0)
        elseif action == 8 then
            cond:signal()
        elseif action == 9 then
            -- An error caught across a yield.
            local ok, err = pcall(function() fiber.yield() error({id = id}) end)
            check(not ok, 'no error came')
            if type(err) == 'table' and err.id ~= nil then
                check(err.id == id, 'the error of another')
            else
                error(err, 0) -- the cancel of this fiber
            end
        else
            local co = coroutine.wrap(function(a) fiber.yield() return a + 1 end)
            check(co(turn) == turn + 1, 'a coroutine returned something else')
        end
    end
    local way = random(4)
    if way == 1 then
        error({thrown = id})
    elseif way == 2 then
        error('thrown ' .. id)
    end
    return id, turns
end

local function body(id, turns)
    local result = {pcall(life, id, turns)}
    ended = ended + 1
    if not result[1] then
        local err = result[2]
        if type(err) == 'table' or type(err) == 'string' then
            thrown = thrown + 1
        else
            check(err.type == 'FiberIsCancelled', 'an unknown error: ' .. tostring(err))
            cancelled = cancelled + 1
        end
        error(err, 0)
    end
    return unpack(result, 2)
end

local living, ids, killed = {}, {}, {}

local function bear()
    born = born + 1
    local f = fiber.new(body, born, random(20))
    f:set_joinable(true)
    living[#living + 1] = f
    ids[f] = born
end

local function take(at)
    local f = living[at]
    living[at] = living[#living]
    living[#living] = nil
    return f
end

local function join(at)
    local f = take(at)
    local ok, value = f:join()
    joined = joined + 1
    if ok then
        check(value == ids[f], 'the result of another')
    elseif tostring(value):find('^table: ') then
        check(true) -- of a table that was thrown its text is handed on
    elseif value.type == 'FiberIsCancelled' then
        check(killed[f], 'a cancel that nobody asked for')
    else
        check(tostring(value):find('thrown ' .. ids[f], 1, true) ~= nil, 'the text of another')
    end
    check(f:status() == 'dead' and not pcall(f.name, f), 'a joined fiber lives')
    ids[f], killed[f] = nil, nil
end

for step = 1, steps do
    local action = random(12)
    if action <= 5 and #living < LIVING_MAX then
        bear()
    elseif action <= 7 and #living > 0 then
        join(random(#living))
    elseif action == 8 and #living > 0 then
        local f = living[random(#living)]
        f:cancel()
        killed[f] = true
    elseif action == 9 and #living > 0 then
        living[random(#living)]:wakeup()
    elseif action == 10 then
        cond:broadcast()
    elseif action == 11 then
        fiber.yield()
    end
    if step % 16 == 0 then
        collectgarbage('step', 100)
    end
    if step % 1000 == 0 then
        collectgarbage('collect')
    end
end
while #living > 0 do join(#living) end

local left = 0
for _, channel in ipairs(channels) do
    while channel:get(0) ~= nil do left = left + 1 end
    check(channel:is_empty(), 'a channel that is not empty')
    channel:close()
end

test:is(#bad, 0, 'every fiber saw what is its own: ' .. tostring(bad[1]))
test:is(joined, born, 'each fiber was joined')
test:ok(ended <= born, 'none ended twice')
test:is(received + left, sent, 'each value arrived once')
test:ok(thrown > 0 and cancelled > 0, 'some threw, some were cancelled')
test:is(rawequal(next(ids), nil), true, 'nothing is left of them')
local count = 0
for _ in pairs(fiber.info({backtrace = false})) do count = count + 1 end
test:ok(count < 10, 'no fiber is left')
collectgarbage('collect')
test:is(pcall(fiber.yield), true, 'and the scheduler goes on')
os.exit(test:check() and 0 or 1)
