#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- The module datetime: what its manual shows, then what goes wrong; datetimes and
-- intervals in MessagePack, spaces and indexes.
local tap = require('tap')
local fio = require('fio')
local datetime = require('datetime')
local msgpack = require('msgpack')
local yaml = require('yaml')
local json = require('json')

local new, interval = datetime.new, datetime.interval
local moment = {nsec = 123456789, sec = 20, min = 25, hour = 18, day = 20, month = 8, year = 2021, tzoffset = 180}

local function texts(t, rows)
    t:plan(#rows)
    for _, row in ipairs(rows) do
        t:is(tostring(row[1]), row[2], row[2])
    end
end

local function failures(t, rows)
    t:plan(#rows)
    for _, row in ipairs(rows) do
        local ok, err = pcall(unpack(row, 2))
        t:is(not ok and tostring(err):gsub('^[%w_/.]+:%d+: ', ''), row[1], row[1])
    end
end

local test = tap.test('datetime')
test:plan(9)

test:test('new', function(t)
    texts(t, {
        {new(), '1970-01-01T00:00:00Z'},
        {new{}, '1970-01-01T00:00:00Z'},
        {new(moment), '2021-08-20T18:25:20.123456789+0300'},
        {new{year = 2021, month = 8, day = 20, tzoffset = 60, tz = 'Europe/Moscow'}, '2021-08-20T00:00:00 Europe/Moscow'},
        {new{day = -1, month = 2, year = 2021}, '2021-02-28T00:00:00Z'},
        {new{timestamp = 1656664205.123, tz = 'Europe/Moscow'}, '2022-07-01T08:30:05.122999906 Europe/Moscow'},
        {new{timestamp = 1656664205, nsec = 123, tz = 'Europe/Moscow'}, '2022-07-01T08:30:05.000000123 Europe/Moscow'},
        {new{timestamp = -1.5}, '1969-12-31T23:59:58.500Z'},
        {new{timestamp = 1LL}, '1970-01-01T00:00:01Z'},
        {new{usec = 5}, '1970-01-01T00:00:00.000005Z'},
        {new{msec = 5}, '1970-01-01T00:00:00.005Z'},
        {new{year = -1}, '-0001-01-01T00:00:00Z'},
        {new{year = -5879610, month = 6, day = 22}, '-5879610-06-22T00:00:00Z'},
        {new{year = 5879611, month = 7, day = 11}, '5879611-07-11T00:00:00Z'},
        {new{year = 2016, month = 12, day = 31, hour = 23, min = 59, sec = 60}, '2017-01-01T00:00:00Z'},
        {new{tzoffset = '+03:30'}, '1970-01-01T00:00:00+0330'},
        {new{tzoffset = -90}, '1970-01-01T00:00:00-0130'},
        {new{tz = 'MSK'}, '1970-01-01T00:00:00 MSK'},
        {new{tz = 'Z'}, '1970-01-01T00:00:00Z'},
        -- Another name of a zone; one that is younger than its number.
        {new{tz = 'W-SU'}, '1970-01-01T00:00:00 Europe/Moscow'},
        {new{tz = 'Europe/Kyiv'}, '1970-01-01T00:00:00 Europe/Kiev'},
        -- Clocks go forward at two, and back at two.
        {new{year = 2024, month = 3, day = 10, hour = 2, min = 30, tz = 'America/New_York'},
         '2024-03-10T03:30:00 America/New_York'},
        {new{year = 2024, month = 11, day = 3, hour = 1, tz = 'America/New_York'}.tzoffset, '-240'},
        {new{year = 2050, month = 7, tz = 'America/New_York'}.tzoffset, '-240'},
    })
end)

test:test('new that fails', function(t)
    failures(t, {
        {'table expected, but received number', new, 1},
        {'value 13 of month is out of allowed range [1, 12]', new, {month = 13}},
        {'value 0 of day is out of allowed range [-1, 1..31]', new, {day = 0}},
        {'value 24 of hour is out of allowed range [0, 23]', new, {hour = 24}},
        {'value 5879612 of year is out of allowed range [-5879610, 5879611]', new, {year = 5879612}},
        {'value of the datetime is out of allowed range', new, {year = 5879611, month = 12}},
        {'invalid number of days 29 in month 2 for 2021', new, {year = 2021, month = 2, day = 29}},
        {'numeric value expected, but received string', new, {hour = '1'}},
        {'numeric value expected, but received table', new, {timestamp = {}}},
        {'expected integer value of hour, but received 1.5', new, {hour = 1.5}},
        {'only one of nsec, usec or msecs may be defined simultaneously', new, {nsec = 1, msec = 1}},
        {'value 1000000000 of nsec is out of allowed range [0, 999999999]', new, {msec = 1000}},
        {'timestamp is not allowed if hour/min/sec provided', new, {timestamp = 1, min = 1}},
        {'timestamp is not allowed if year/month/day provided', new, {timestamp = 1, day = 1}},
        {'only integer values allowed in timestamp if nsec, usec, or msecs provided', new, {timestamp = 1.5, nsec = 1}},
        {'value 1e+18 of timestamp is out of allowed range', new, {timestamp = 1e18}},
        {'value nan of timestamp is out of allowed range', new, {timestamp = 0 / 0}},
        {'value 841 of tzoffset is out of allowed range [-720, 840]', new, {tzoffset = 841}},
        {"could not parse '+3x'", new, {tzoffset = '+3x'}},
        {"could not parse 'Nowhere'", new, {tz = 'Nowhere'}},
        {"could not parse '../UTC'", new, {tz = '../UTC'}},
        {"could not parse 'AST' - ambiguous timezone", new, {tz = 'AST'}},
        {'string value expected for tz, but received number', new, {tz = 1}},
    })
end)

test:test('fields', function(t)
    t:plan(7)
    t:is_deeply(new(moment):totable(), {
        sec = 20, min = 25, yday = 232, day = 20, nsec = 123456789, isdst = false, wday = 6, tzoffset = 180, month = 8,
        year = 2021, hour = 18,
    }, 'totable')
    local dt = new(moment)
    t:is_deeply({dt.year, dt.month, dt.day, dt.hour, dt.min, dt.sec, dt.nsec, dt.usec, dt.msec, dt.wday, dt.yday},
                {2021, 8, 20, 18, 25, 20, 123456789, 123456, 123, 6, 232}, 'one by one')
    t:is(dt.epoch, 1629473120, 'epoch')
    t:is(dt.timestamp, 1629473120.123456789, 'timestamp')
    t:is(new{year = 2021, month = 7, tz = 'Europe/Berlin'}.isdst, true, 'isdst')
    t:is(new{tz = 'Europe/Berlin'}.tz .. new().tz, 'Europe/Berlin', 'tz')
    t:ok(datetime.is_datetime(datetime.now()) and not datetime.is_datetime(1) and not datetime.is_datetime(nil) and
         datetime.now().year > 2000 and datetime.TZ[947] == 'Europe/Moscow' and datetime.TZ['Europe/Moscow'] == 947,
         'now, is_datetime, TZ')
end)

test:test('set', function(t)
    local dt = new(moment)
    texts(t, {
        {tostring(dt:set{msec = 567}), '2021-08-20T18:25:20.567+0300'},
        {tostring(dt:set{tzoffset = 60}), '2021-08-20T18:25:20.567+0100'},
        {tostring(dt:set{tz = 'Europe/Moscow'}), '2021-08-20T18:25:20.567 Europe/Moscow'},
        {tostring(dt:set{month = 2, day = -1, nsec = 0}), '2021-02-28T18:25:20 Europe/Moscow'},
        {tostring(dt:set{timestamp = 0}), '1970-01-01T00:00:00 Europe/Moscow'},
        {pcall(dt.set, dt, {month = 0}), 'false'},
        {dt, '1970-01-01T00:00:00 Europe/Moscow'},
    })
end)

test:test('format', function(t)
    local dt = new(moment)
    texts(t, {
        {dt:format('%d.%m.%y %H:%M:%S.%5f'), '20.08.21 18:25:20.12345'},
        {dt:format(), '2021-08-20T18:25:20.123456789+0300'},
        {dt:format('%FT%T.%f%z'), '2021-08-20T18:25:20.123456789+0300'},
        {dt:format('%a %A %b %B %h %C %e %j %k %l %p %s %u %w %U %V %W %G %g'),
         'Fri Friday Aug August Aug 20 20 232 18  6 PM 1629473120 5 5 33 33 33 2021 21'},
        {dt:format('%c|%D|%R|%r|%v|%x|%X|%+'), 'Fri Aug 20 18:25:20 2021|08/20/21|18:25|06:25:20 PM|20-Aug-2021|' ..
         '08/20/21|18:25:20|Fri Aug 20 18:25:20 +0300 2021'},
        {new{tz = 'Europe/Moscow'}:format('%Z %z'), 'Europe/Moscow +0300'},
        {new():format('%Z%%%n%t%f'), 'UTC%\n\t000'},
        {new():format('%q %'), '%q %'},
        {#new():format(('%Y'):rep(100000)), '400000'},
    })
end)

test:test('parse', function(t)
    local function parse(...)
        local dt, n = datetime.parse(...)
        return tostring(dt) .. ' ' .. n
    end
    local function fails(...)
        return select(2, pcall(datetime.parse, ...))
    end
    texts(t, {
        {parse('1970-01-01T00:00:00Z'), '1970-01-01T00:00:00Z 20'},
        {parse('1970-01-01T00:00:00', {format = 'iso8601', tzoffset = 180}), '1970-01-01T00:00:00+0300 19'},
        {parse('2017-12-27T18:45:32.999999-05:00', {format = 'rfc3339'}), '2017-12-27T18:45:32.999999-0500 32'},
        {parse('Thu Jan  1 03:00:00 1970', {format = '%c'}), '1970-01-01T03:00:00Z 24'},
        {parse('12/31/2020', {format = '%m/%d/%y'}), '2020-12-31T00:00:00Z 8'},
        {parse('1970-01-01T03:00:00.125000000+0300', {format = '%FT%T.%f%z'}), '1970-01-01T03:00:00.125+0300 34'},
        {parse('2020-W01-1'), '2019-12-30T00:00:00Z 10'},
        {parse('20200102T030405'), '2020-01-02T03:04:05Z 15'},
        {parse('2020-060'), '2020-02-29T00:00:00Z 8'},
        {parse('2020-01-02 03:04+02'), '2020-01-02T03:04:00+0200 19'},
        {parse('2020-01-02T03:04:05 Europe/Moscow'), '2020-01-02T03:04:05 Europe/Moscow 33'},
        {parse('1 PM 5', {format = '%I %p %M'}), '1970-01-01T13:05:00Z 6'},
        {parse('1600000000', {format = '%s'}), '2020-09-13T12:26:40Z 10'},
        {fails('x'), "could not parse 'x'"},
        {fails(''), "could not parse ''"},
        {fails('2020-02-30'), "could not parse '2020-02-30'"},
        {fails('2020-01-02T03:04:05', {format = 'rfc3339'}),
         "could not parse '2020-01-02T03:04:05' using 'rfc3339' format"},
        {fails('5', {format = '%q'}), "could not parse '5' using '%q' format"},
        {fails(1), 'string expected, but received number'},
    })
end)

test:test('intervals', function(t)
    local dt = new{day = 26, month = 8, year = 2021, tzoffset = 180}
    local function feb() return new{day = 29, month = 2, year = 2020} end
    texts(t, {
        {interval.new(), '0 seconds'},
        {interval.new{month = 6, year = 1}, '+1 years, 6 months'},
        {interval.new{day = -1}, '-1 days'},
        {interval.new{msec = 5}, '+5000000 nanoseconds'},
        {tostring(dt:add(interval.new{day = 7})), '2021-09-02T00:00:00+0300'},
        {tostring(dt:add{day = 7}), '2021-09-09T00:00:00+0300'},
        {tostring(dt:sub(interval.new{day = 5})), '2021-09-04T00:00:00+0300'},
        {feb():add{month = 1, adjust = 'none'}, '2020-03-29T00:00:00Z'},
        {feb():add{month = 1, adjust = 'last'}, '2020-03-31T00:00:00Z'},
        {feb():add({month = 1}, 'last'), '2020-03-31T00:00:00Z'},
        {feb():add{year = 1}, '2021-02-28T00:00:00Z'},
        {new{day = 31, year = 2020}:add{month = 1, adjust = 'excess'}, '2020-03-02T00:00:00Z'},
        {new{day = 31, year = 2020}:add{month = 1}, '2020-02-29T00:00:00Z'},
        {feb() + interval.new{sec = -1}, '2020-02-28T23:59:59Z'},
        {interval.new{nsec = -1} + feb(), '2020-02-28T23:59:59.999999999Z'},
        {feb() - {week = 1, hour = 1}, '2020-02-21T23:00:00Z'},
        {new{year = 2008, tz = 'Europe/Moscow'} + interval.new{month = 6}, '2008-07-01T00:00:00 Europe/Moscow'},
        -- Two hours pass while the clocks go back by one.
        {new{year = 2024, month = 11, day = 3, min = 30, tz = 'America/New_York'} + {hour = 2},
         '2024-11-03T01:30:00 America/New_York'},
        {new{tz = 'MSK'} - new{tz = 'UTC'}, '-180 minutes'},
        {feb() - new{year = 2019, month = 3, day = 1}, '+1 years, -1 months, 28 days'},
        {interval.new{sec = 1} - {sec = 3, min = 1}, '-1 minutes, -2 seconds'},
        {interval.new{sec = 1} + interval.new{sec = 3}, '+4 seconds'},
        {-interval.new{sec = 1}, '-1 seconds'},
        {interval.new{sec = 60} == interval.new{min = 1}, 'true'},
        {interval.new{sec = 1} < interval.new{min = 1}, 'true'},
        {interval.is_interval(interval.new()), 'true'},
        {interval.is_interval(1), 'false'},
        {json.encode(interval.new{month = 1, adjust = 'last'}:totable().adjust), '"last"'},
        {pcall(feb().add, feb(), 1), 'false'},
        {pcall(feb().add, feb(), {year = 1e7}), 'false'},
        {pcall(interval.new, {year = 1e9}), 'false'},
        {pcall(interval.new, {adjust = 'x'}), 'false'},
        {pcall(function() return feb() + 1 end), 'false'},
        {pcall(function() return interval.new() - feb() end), 'false'},
    })
end)

test:test('order', function(t)
    t:plan(8)
    t:ok(new{hour = 1, tzoffset = 60} == new(), 'the same moment by another clock')
    t:ok(new() ~= new{nsec = 1}, 'another moment')
    t:ok(new() < new{nsec = 1} and not (new() < new()), 'below')
    t:ok(new() <= new() and not (new{nsec = 1} <= new()), 'at most')
    t:ok(new() ~= nil and new() ~= box.NULL and new() ~= 1 and new() ~= 'x', 'unlike others')
    t:ok(not pcall(function() return new() < 1 end), 'no order with others')
    local broken = new()
    broken.epoch = 1e300
    t:ok(not pcall(msgpack.encode, broken) and not pcall(broken.add, broken, {day = 1}) and tostring(broken) ~= nil,
         'one that a script broke')
    broken.epoch = 0 / 0
    t:ok(not pcall(msgpack.encode, broken) and broken.year == 1970, 'and so')
end)

test:test('as values', function(t)
    t:plan(17)
    local dt = new{nsec = 5, year = 2020, tz = 'Europe/Moscow'}
    local iv = interval.new{year = 1, month = 200, day = -77}
    t:is(msgpack.encode(new()):hex(), 'd7040000000000000000', 'eight bytes')
    t:is(msgpack.encode(dt):hex(), 'd804d0b60b5e0000000005000000b400b303', 'sixteen')
    t:is(msgpack.encode(iv):hex(), 'c70b0604000101ccc803d0b30801', 'an interval')
    t:is(tostring(msgpack.decode(msgpack.encode(dt))), tostring(dt), 'and back')
    t:is(tostring(msgpack.decode(msgpack.encode(iv))), tostring(iv), 'and back')
    t:ok(not pcall(msgpack.decode, '\xd7\x04' .. ('\xff'):rep(7) .. '\x7f'), 'out of range')
    t:ok(not pcall(msgpack.decode, '\xd6\x04\0\0\0\0') and not pcall(msgpack.decode, '\xd5\x06\x01\x00'), 'cut short')
    t:is(json.encode{dt, iv}, '["2020-01-01T00:00:00.000000005 Europe\\/Moscow","+1 years, 200 months, -77 days"]', 'JSON')
    t:is(yaml.encode{new(), iv}, '---\n- 1970-01-01T00:00:00Z\n- +1 years, 200 months, -77 days\n...\n', 'YAML')
    t:is(tostring(box.tuple.new{new(), interval.new{day = 1}}), '[1970-01-01T00:00:00Z, +1 days]', 'a tuple')

    local dir = fio.tempdir()
    box.cfg{work_dir = dir, log = 'x.log'}
    local s = box.schema.space.create('s', {format = {{'t', 'datetime'}, {'i', 'interval', is_nullable = true}}})
    s:create_index('pk')
    s:create_index('h', {type = 'HASH', parts = {1}})
    for i = 20, 1, -1 do
        s:insert{new{year = 2020, day = i, nsec = i * 30, tzoffset = i}, interval.new{day = i}}
    end
    local rows = s:select({new{year = 2020, day = 5}}, {iterator = 'GT', limit = 2})
    t:is(rows[1].i.day .. ' ' .. rows[2].i.day, '6 7', 'in order')
    t:is(s.index.h:get(new{year = 2020, day = 7, nsec = 210, tzoffset = 7}).i.day, 7, 'by hash')
    t:ok(not pcall(s.insert, s, {new{year = 2020, day = 7, nsec = 210, min = 53, tzoffset = 60}}), 'the same moment')
    t:is(select(2, pcall(s.insert, s, {1})).code, box.error.FIELD_TYPE, 'a number is none')
    t:ok(not pcall(s.insert, s, {new(), 1}), 'nor is it an interval')
    t:is(select(2, pcall(s.create_index, s, 'i', {parts = {2}})).message,
         "Can't create or modify index 'i' in space 's': field type 'interval' is not supported", 'no index of intervals')
    local m = box.schema.space.create('m')
    m:create_index('pk', {parts = {{1, 'scalar'}}})
    for _, v in ipairs({new(), 'a', 1, true, require('uuid').fromstr('64d22e4d-ac92-4a23-899a-e59f34af5479')}) do
        m:insert{v}
    end
    local kinds = {}
    for _, row in m:pairs() do
        table.insert(kinds, tostring(row[1]))
    end
    t:is(table.concat(kinds, ' '), 'true 1 a 64d22e4d-ac92-4a23-899a-e59f34af5479 1970-01-01T00:00:00Z', 'among scalars')
    fio.rmtree(dir)
end)

os.exit(test:check() and 0 or 1)
