-- SPDX-License-Identifier: BSD-2-Clause
-- Moments from a seed: text, tables and MessagePack give them back, and arithmetic can be undone.
local tap = require('tap')
local datetime = require('datetime')
local msgpack = require('msgpack')

local state = 20241130
local function random(from, to)
    state = (state * 16807) % 2147483647
    return from + state % (to - from + 1)
end

local zones = {'UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'MSK'}

local function moment()
    local what = {
        year = random(1, 9999), month = random(1, 12), day = random(1, 28), hour = random(0, 23),
        min = random(0, 59), sec = random(0, 59), nsec = random(0, 999999999),
    }
    if random(1, 2) == 1 then
        what.tz = zones[random(1, #zones)]
    else
        what.tzoffset = random(-720, 840)
    end
    return datetime.new(what), what
end

-- For each of many moments: the name of a check, and whether it held.
local failed, counts = {}, {}
local function expect(name, ok, dt)
    counts[name] = (counts[name] or 0) + 1
    if not ok then
        failed[name] = failed[name] or tostring(dt)
    end
end

for _ = 1, 3000 do
    local dt, what = moment()
    expect('fields', dt.year == what.year and dt.month == what.month and dt.day == what.day and
           dt.min == what.min and dt.sec == what.sec and dt.nsec == what.nsec, dt)
    local text = tostring(dt)
    local back, size = datetime.parse(text)
    expect('text', back == dt and size == #text and tostring(back) == text, dt)
    expect('table', datetime.new(dt:totable()) == dt, dt)
    expect('timestamp', datetime.new{timestamp = math.floor(dt.timestamp), nsec = dt.nsec} == dt, dt)
    expect('MessagePack', tostring(msgpack.decode(msgpack.encode(dt))) == text, dt)
    local seconds, days = random(-100000, 100000), random(-500, 500)
    expect('seconds', dt + {sec = seconds} - {sec = seconds} == dt, dt)
    expect('days', (dt + {day = days}):sub{day = days} == dt or dt.tz ~= '', dt)
    local later = dt + {sec = seconds}
    expect('order', (seconds == 0) == (dt == later) and (seconds > 0) == (dt < later), dt)
    -- Days go by the clock, which zones change.
    expect('difference', dt.tz ~= '' or dt + (later - dt) == later, dt)
    local fixed = datetime.new{year = what.year, month = what.month, day = what.day, hour = what.hour,
                               min = what.min, sec = what.sec}
    local iso = fixed:format('%Y-%m-%dT%H:%M:%S')
    expect('format', what.year < 1000 or datetime.parse(iso, {format = '%Y-%m-%dT%H:%M:%S'}) == fixed, fixed)
end

local test = tap.test('datetime_random')
test:plan(10)
for name in pairs(counts) do
    test:is(failed[name], nil, name)
end
os.exit(test:check() and 0 or 1)
