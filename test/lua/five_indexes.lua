-- SPDX-License-Identifier: BSD-2-Clause
-- A space with five secondary indexes is changed at random, also in transactions that are rolled back;
-- then every index has the rows that a full scan has, in its order. So it has after a
-- restart, from the log and from a snapshot.
--
--     tarn test/lua/five_indexes.lua [ROWS]     20,000 rows; 1,000,000 take some minutes
local tap = require('tap')
local fio = require('fio')
local fiber = require('fiber')

local ROWS = tonumber(arg[1]) or 20000
local dir = arg[2] or fio.tempdir()
local is_child = arg[2] ~= nil
local script = fio.abspath((debug.getinfo(1, 'S').source:gsub('^@', '')))
local program = fio.readlink('/proc/self/exe')
box.cfg({work_dir = dir, log_level = 2, memtx_memory = 2 * 1024 * 1024 * 1024,
         checkpoint_interval = 0})

local INDEXES = {
    {'pk', {parts = {{1, 'unsigned'}}}},
    {'few', {parts = {{2, 'unsigned'}}, unique = false}},
    {'text', {parts = {{3, 'string'}}}},
    {'nullable', {parts = {{4, 'integer', is_nullable = true}}, unique = false}},
    {'mixed', {parts = {{5, 'string'}, {6, 'number'}}, unique = false}},
    {'hash', {type = 'hash', parts = {{3, 'string'}, {1, 'unsigned'}}}},
}

local function value(t, part)
    local v = t[part.fieldno]
    if v == nil then return nil end
    return v
end

-- nil is below all.
local function compare(a, b, parts)
    for _, part in ipairs(parts) do
        local x, y = value(a, part), value(b, part)
        if x == nil or y == nil then
            if x ~= y then return x == nil and -1 or 1 end
        elseif x ~= y then
            return x < y and -1 or 1
        end
    end
    return 0
end

local function checksum(t)
    local text, number = t[3], t[4]
    if number == nil then number = -5 end
    return (t[1] * 31 + t[2] * 17 + #text * 7 + text:byte(-1) + number * 3) % 1000003
end

-- What is wrong with an index, or nil; rows and sum are those of the primary one.
local function check_index(index, rows, sum)
    local count, total = 0, 0
    local last
    for _, t in index:pairs(nil, {iterator = 'ALL'}) do
        count, total = count + 1, total + checksum(t)
        if last ~= nil and index.type == 'TREE' then
            local order = compare(last, t, index.parts)
            if order > 0 or (order == 0 and index.unique) then return 'order at ' .. t[1] end
        end
        last = t
    end
    if count ~= rows or index:len() ~= rows then return 'rows: ' .. count .. ' of ' .. rows end
    if total ~= sum then return 'other rows' end
end

local function scan(s)
    local rows, sum = 0, 0
    for _, t in s:pairs() do rows, sum = rows + 1, sum + checksum(t) end
    return rows, sum
end

local function check(s)
    box.slab.check()
    local rows, sum = scan(s)
    for _, def in ipairs(INDEXES) do
        local problem = check_index(s.index[def[1]], rows, sum)
        if problem ~= nil then return false, def[1] .. ': ' .. problem end
    end
    -- Every row is found by its keys.
    local n = 0
    for _, t in s:pairs() do
        n = n + 1
        if n % 7 == 0 then
            if s.index.text:get(t[3])[1] ~= t[1] or s.index.hash:get{t[3], t[1]}[1] ~= t[1] then
                return false, 'get of ' .. t[1]
            end
        end
    end
    return true, rows .. ':' .. sum
end

if is_child then
    local ok, text = check(box.space.t)
    print((ok and 'same ' or 'differs ') .. text)
    os.exit(0)
end

local test = tap.test('five_indexes')
test:plan(6)
math.randomseed(11)
local s = box.schema.space.create('t')
for i = 1, #INDEXES - 1 do s:create_index(INDEXES[i][1], INDEXES[i][2]) end

local function row(k)
    local r = math.random(1e9)
    return {k, r % 1000, 'text ' .. r % (ROWS * 20), r % 3 > 0 and r % 5000 - 2500 or box.NULL,
            'group ' .. r % 50, r % 2 == 0 and r or r / 7}
end

-- One random change; those that meet another row's key fail, and change nothing.
local function change()
    local k = math.random(ROWS * 1.2)
    local op = math.random(10)
    if op <= 3 then
        return pcall(s.insert, s, row(k))
    elseif op <= 5 then
        return pcall(s.replace, s, row(k))
    elseif op <= 7 then
        return pcall(s.delete, s, k)
    elseif op <= 9 then
        return pcall(s.update, s, k, {{'=', 2, math.random(1000)}, {'=', 6, math.random()}})
    end
    return pcall(s.upsert, s, row(k), {{'+', 2, 1}, {'=', 4, math.random(100)}})
end

local function change_many(count)
    local done = 0
    while done < count do
        box.begin()
        local size = math.random(200)
        for _ = 1, size do change() end
        if math.random(4) == 1 then box.rollback() else box.commit() end
        done = done + size
    end
end

local function restart()
    local pipe = io.popen(string.format('%s %s %d %s 2>&1', program, script, ROWS, dir .. '/copy'))
    local out = pipe:read('*a'):gsub('%s+$', '')
    pipe:close()
    return out
end

local function copy_files()
    os.execute(string.format('rm -rf %s/copy; mkdir %s/copy; cp %s/*.snap %s/*.xlog %s/copy/',
                             dir, dir, dir, dir, dir))
end

box.begin()
for i = 1, ROWS do
    pcall(s.insert, s, row(i))
    if i % 1000 == 0 then
        box.commit()
        box.begin()
    end
end
box.commit()
change_many(ROWS)
s:create_index(INDEXES[#INDEXES][1], INDEXES[#INDEXES][2])
local ok, text = check(s)
test:ok(ok, 'changed at random: ' .. text)
copy_files()
test:is(restart(), 'same ' .. text, 'after a start from the log')

-- A snapshot while rows change.
local is_over = false
fiber.create(function()
    box.snapshot()
    is_over = true
end)
while not is_over do
    change_many(300)
    fiber.sleep(0)
end
change_many(ROWS / 2)
ok, text = check(s)
test:ok(ok, 'changed during and after a snapshot: ' .. text)
copy_files()
test:is(restart(), 'same ' .. text, 'after a start from the snapshot')

-- All rows go, and others come.
for _, t in s:pairs() do s:delete(t[1]) end
local empty = true
for _, def in ipairs(INDEXES) do empty = empty and s.index[def[1]]:len() == 0 end
test:ok(empty, 'nothing is left')
change_many(ROWS / 2)
ok, text = check(s)
test:ok(ok, 'filled again: ' .. text)
os.execute('rm -rf ' .. dir)
os.exit(test:check() and 0 or 1)
