-- SPDX-License-Identifier: BSD-2-Clause
-- Indexes are built, and rows are checked, while other fibers change the space.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local test = tap.test('index_build')
test:plan(13)

local dir = fio.tempdir()
box.cfg({work_dir = dir, log_level = 2, memtx_memory = 256 * 1024 * 1024})
local N = 6000
math.randomseed(7)

local function fill(name, pk)
    local s = box.schema.space.create(name)
    s:create_index('pk', pk)
    box.atomic(function()
        for i = 1, N do s:insert{i, i * 7919 % 10007, 'text ' .. i % 100, {i, i + 1}} end
    end)
    return s
end

local function expect(s, iid)
    local all = {}
    for _, t in s:pairs() do all[t[1] .. ':' .. t[2]] = t end
    local count = 0
    for _, t in s.index[iid]:pairs(nil, {iterator = 'ALL'}) do
        local same = all[t[1] .. ':' .. t[2]]
        if same == nil or same[3] ~= t[3] then return false end
        count = count + 1
    end
    return count == s:len() and count == s.index[iid]:len()
end

-- Random changes, also ones that are rolled back, until f() is over. Returns its results and how
-- many changes there were meanwhile.
local function under_changes(s, f, op_only)
    local result
    local changes = 0
    local builder = fiber.create(function() result = {pcall(f)} end)
    while result == nil do
        box.begin()
        for _ = 1, 20 do
            local k = math.random(N + 500)
            local op = op_only or math.random(4)
            local v = math.random(1e9)
            if op == 1 then
                s:delete(k)
            elseif op == 2 then
                s:replace{k, v, 'new', {k}}
            elseif op == 3 then
                s:update(k, {{'=', 2, v}})
            else
                s:upsert({k, v, 'upserted', {k}}, {{'=', 2, v}})
            end
        end
        if math.random(3) == 1 then box.rollback() else box.commit() end
        changes = changes + 1
        fiber.sleep(0)
    end
    return changes, unpack(result)
end

local function build(s, opts)
    return under_changes(s, function() return s:create_index('sk', opts) end)
end

for _, pk in ipairs({{}, {type = 'hash'}}) do
    local s = fill('t', pk)
    local changes, ok, err = build(s, {parts = {{3, 'string'}, {2, 'unsigned'}}, unique = false})
    test:ok(ok and changes > 1 and expect(s, 'sk'), 'TREE under ' .. changes .. ' changes', err)
    s.index.sk:drop()
    changes, ok, err = build(s, {type = 'hash', parts = {{2, 'unsigned'}, {1, 'unsigned'}}})
    test:ok(ok and changes > 1 and expect(s, 'sk'), 'HASH under ' .. changes .. ' changes', err)
    s.index.sk:drop()
    changes, ok, err = build(s, {type = 'rtree', parts = {{4, 'array'}}, unique = false,
                                 dimension = 1})
    if not ok and tostring(err):find('RTREE') then ok = true else s.index.sk:drop() end
    test:ok(ok, 'RTREE under changes', err)
    s:drop()
end

local s = fill('t')
-- The primary index itself, with a secondary one that is ordered by it.
s:create_index('sk', {parts = {{3, 'string'}}, unique = false})
local changes, ok, err = under_changes(s, function()
    s.index.pk:alter{parts = {{1, 'unsigned'}, {2, 'unsigned'}}}
end, 2)
test:ok(ok and expect(s, 'sk') and #s.index.pk.parts == 2, 'the primary index', err)
s:drop()

s = fill('t')
local function during(f, change)
    local result
    fiber.create(function() result = {pcall(f)} end)
    local ok, err = pcall(change)
    while result == nil do fiber.sleep(0) end
    return result[1], tostring(result[2]), ok, tostring(err)
end
local function make() return s:create_index('u', {parts = {{2, 'unsigned'}}}) end
local ok, err, changed = during(make, function() s:replace{N, s:get(1)[2], 'dup'} end)
test:ok(not ok and changed and err == "Duplicate key exists in unique index 'u' in space 't'",
        'a duplicate that comes fails the build, not the change', err)
s:replace{N, 1e6}
ok, err, changed = during(make, function() s:replace{N, 'text'} end)
test:ok(not ok and changed and err:find('Tuple field 2 type does not match'), 'so does a type', err)
s:replace{N, 1e6}
local text
ok, err, changed, text = during(make, function() s:drop() end)
test:ok(ok and not changed and text == "Can't modify space 't': the space is already being modified",
        'the space is locked meanwhile', text)
s.index.u:drop()

-- What was built survives a restart; so does what was changed while it was built.
changes, ok, err = under_changes(s, function()
    s:create_index('a', {parts = {{2, 'unsigned'}}, unique = false})
    box.snapshot()
    s:create_index('b', {parts = {{3, 'string', is_nullable = true}}, unique = false})
end)
local function sums(space)
    local out = {}
    for i = 0, 2 do
        local rows, sum = 0, 0
        if space.index[i] == nil then break end
        for _, t in space.index[i]:pairs() do rows, sum = rows + 1, (sum + t[1] * t[2]) % 1e9 end
        table.insert(out, rows .. ':' .. sum)
    end
    return table.concat(out, ' ')
end
local before = sums(box.space.t)
test:ok(ok and before:match('^(%S+) %1 %1$'), 'all indexes have the same rows: ' .. before, err)
local child = dir .. '/child.lua'
local f = io.open(child, 'w')
f:write(string.format([[
box.cfg({work_dir = %q, log_level = 1, memtx_memory = 256 * 1024 * 1024})
local function sums(space)
    local out = {}
    for i = 0, 2 do
        local rows, sum = 0, 0
        for _, t in space.index[i]:pairs() do rows, sum = rows + 1, (sum + t[1] * t[2]) %% 1e9 end
        table.insert(out, rows .. ':' .. sum)
    end
    return table.concat(out, ' ')
end
print(sums(box.space.t))
os.exit(0)
]], dir .. '/copy'))
f:close()
os.execute(string.format('mkdir %s/copy && cp %s/*.snap %s/*.xlog %s/copy/', dir, dir, dir, dir))
local pipe = io.popen(string.format('%s %s 2>&1', fio.readlink('/proc/self/exe'), child))
local after = pipe:read('*a')
pipe:close()
test:is(after:gsub('%s+$', ''), before, 'a restart finds the same')

-- Emptying frees in the background; what is asked for at once is there.
s:truncate()
local used = box.slab.info().items_size
for _ = 1, 1000 do
    fiber.sleep(0)
    if box.slab.info().items_size < 1024 * 1024 then break end
end
test:ok(box.slab.info().items_size < 1024 * 1024, 'memory of a truncated space comes back')
os.execute('rm -rf ' .. dir)
os.exit(test:check() and 0 or 1)
