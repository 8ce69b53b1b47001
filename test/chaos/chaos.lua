#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- A load of everything at once: all kinds of indexes, changes of the schema, savepoints, triggers
-- that throw, yield and write, snapshots, a tiny queue of the log; again and again, each index is
-- compared with a scan. What the processor's time brings about differs from run to run, what must
-- hold does not. In an empty directory:
--
--     tarn test/chaos/chaos.lua [SEED [SECONDS [wal_mode [ROWS]]]]
local here = require('fio').dirname(require('fio').abspath(arg[0]))
package.path = here .. '/?.lua;' .. package.path
local fiber = require('fiber')
local key_def = require('key_def')
local tap = require('tap')
local rows = require('rows')
local check = require('check')

local seed, seconds = tonumber(arg[1] or 1), tonumber(arg[2] or 3)
math.randomseed(seed)
local random, pick = math.random, rows.pick

box.cfg{
    log = 'chaos.log', log_level = 4, wal_mode = arg[3] or 'write',
    memtx_memory = 64 * 1024 * 1024, checkpoint_interval = 0, checkpoint_count = 2,
    -- Full at odd seeds: commits wait for it.
    wal_queue_max_size = seed % 2 == 1 and 300 or nil, wal_max_size = 200000,
}

-- Spaces ------------------------------------------------------------------------

local names = {'s1', 's2', 's3'}

local function any_space()
    return box.space[pick(names)]
end

local function one_in(n)
    return random(n) == 1
end

local function create_index(space, index)
    return space:create_index(index[1], index[2])
end

local function create_space(name)
    local space = box.schema.space.create(name)
    space:create_index('pk', {parts = {{1, 'unsigned'}}, type = one_in(6) and 'hash' or 'tree'})
    if one_in(2) then
        for _, index in ipairs(rows.indexes) do
            if one_in(3) then
                pcall(create_index, space, index)
            end
        end
    end
end

local function create_all()
    for name, options in pairs(rows.functions) do
        options.is_deterministic, options.is_sandboxed = true, true
        options.if_not_exists = true
        box.schema.func.create(name, options)
    end
    for _, name in ipairs(names) do
        if box.space[name] == nil then
            create_space(name)
        end
    end
    for _, name in ipairs({'pair_a', 'pair_b'}) do
        local space = box.schema.space.create(name, {if_not_exists = true})
        space:create_index('pk', {if_not_exists = true})
    end
    for id = 1001, 1000 + tonumber(arg[4] or 3000) do
        pcall(box.space.s1.replace, box.space.s1, rows.new(id))
    end
end

local function check_all()
    for _, name in ipairs(names) do
        if box.space[name] ~= nil then
            local ok, err = pcall(check.space, box.space[name])
            if not ok then
                check.report(name, err)
            end
        end
    end
    check.pair(box.space.pair_a, box.space.pair_b)
    box.slab.check()
end

-- Changes of rows ---------------------------------------------------------------

local function any_id()
    return random(150)
end

local function replace(space)
    space:replace(rows.new(any_id()))
end

local function change_by_unique_index(space)
    local index = space.index.ci or space.index.uqn or space.index.uu
    local tuple = index and index:min()
    if tuple == nil then
        return
    end
    local key = key_def.new(index.parts):extract_key(tuple)
    if one_in(2) then
        index:delete(key)
    else
        index:update(key, {{'=', 2, random(40)}})
    end
end

local function change_while_reading(space)
    local index = space.index[random(12)]
    if index == nil then
        return
    end
    index:select(nil, {limit = 7, fullscan = true})
    local count = 0
    for _, tuple in index:pairs() do
        count = count + 1
        if one_in(6) then
            space:delete(tuple[1])
        end
        if one_in(6) then
            replace(space)
        end
        if count > 40 then
            break
        end
    end
end

local changes = {
    replace, replace, replace,
    function(space) space:insert(rows.new(any_id())) end,
    function(space) space:delete(any_id()) end,
    function(space)
        local field = random(6) + 1
        -- Now and then a value of another type.
        local value = rows.new(1)[one_in(12) and random(6) + 1 or field]
        space:update(any_id(), {{'=', field, value}})
    end,
    function(space) space:update(any_id(), {{'+', 2, random(3)}, {'=', 3, rows.string()}}) end,
    function(space)
        space:upsert(rows.new(any_id()), {{pick{'+', '=', '#', '!'}, pick{2, 4}, 1}})
    end,
    function(space) space:update(any_id(), {{'=', '[6].a.b', random(30)}}) end,
    function(space)
        space:update(any_id(), {{'!', '[6].m[1]', {k = random(8), s = rows.string()}}})
    end,
    change_by_unique_index,
    change_while_reading,
}

local function change(space)
    pick(changes)(space)
end

-- Transactions ------------------------------------------------------------------

local function set_triggers()
    box.on_commit(function()
        if one_in(2) then
            fiber.yield()
        end
        if one_in(3) then
            error('on_commit')
        end
        if one_in(2) then
            pcall(change, any_space())
        end
    end)
    box.on_rollback(function(statements)
        for _ in statements() do
            fiber.testcancel()
        end
        if one_in(3) then
            error('on_rollback')
        end
        if one_in(2) then
            pcall(change, any_space())
        end
    end)
end

local function transaction()
    local savepoints = {}
    box.begin()
    if one_in(4) then
        set_triggers()
    end
    for _ = 1, random(6) do
        pcall(change, any_space())
        if one_in(3) then
            table.insert(savepoints, box.savepoint())
        end
        if #savepoints > 0 and one_in(4) then
            pcall(box.rollback_to_savepoint, pick(savepoints))
        end
        if one_in(20) then
            pcall(function() any_space():truncate() end)
        end
        if one_in(40) then
            fiber.yield()
        end
    end
    if one_in(3) then
        box.rollback()
    else
        box.commit()
    end
end

local function change_pair()
    local id, value = random(50), random(1000000)
    local is_delete = one_in(4)
    box.begin()
    for _, space in ipairs({box.space.pair_a, box.space.pair_b}) do
        if is_delete then
            space:delete(id)
        else
            space:replace{id, value}
        end
    end
    if one_in(5) then
        box.rollback()
    else
        box.commit()
    end
end

local function change_pair_cancelled()
    local f = fiber.new(function() pcall(change_pair) end)
    f:set_joinable(true)
    fiber.yield()
    if one_in(2) then
        pcall(f.cancel, f)
    end
    f:join()
end

-- Changes of the schema ---------------------------------------------------------

local function create_in_transaction(space)
    box.begin()
    pcall(function()
        if one_in(2) then
            change(space)
        end
        space:create_index('tmp', {parts = {{2, 'unsigned'}}, unique = false})
        change(space)
    end)
    if one_in(2) then
        box.rollback()
    else
        box.commit()
    end
    if space.index.tmp then
        space.index.tmp:drop()
    end
end

local function set_before_replace(space)
    local function trigger(old, new)
        if new ~= nil and one_in(3) then
            return new:update{{'=', 2, random(40)}, {'=', 3, rows.string()}}
        end
        if one_in(9) then
            return old
        end
        if one_in(11) then
            error('before_replace')
        end
        if new ~= nil and one_in(10) then
            pcall(change, any_space())
        end
        return new
    end
    space:before_replace(trigger)
    fiber.sleep(random(5) / 100)
    pcall(function() space:before_replace(nil, trigger) end)
end

local function set_on_replace(space)
    local function trigger()
        if one_in(9) then
            error('on_replace')
        end
        if one_in(12) then
            pcall(change, any_space())
        end
    end
    space:on_replace(trigger)
    fiber.sleep(random(5) / 100)
    pcall(function() space:on_replace(nil, trigger) end)
end

local function any_index(space)
    return space.index[pick(rows.indexes)[1]]
end

local schema_changes = {
    function(space)
        local index = pick(rows.indexes)
        if space.index[index[1]] then
            space.index[index[1]]:drop()
        else
            create_index(space, index)
        end
    end,
    function(space) create_index(space, pick(rows.indexes)) end,
    function(space) space:truncate() end,
    function(space)
        if one_in(3) then
            space:drop()
            create_space(space.name)
        end
    end,
    function(space) space:format(pick(rows.formats)) end,
    function(space)
        local name, options = unpack(pick(rows.indexes))
        if space.index[name] then
            space.index[name]:alter{parts = options.parts, unique = options.unique}
        end
    end,
    function(space)
        local index = any_index(space)
        if index then
            index:alter{unique = one_in(2)}
        end
    end,
    function(space)
        space.index.pk:alter{parts = {{1, pick{'unsigned', 'integer', 'number', 'scalar'}}}}
    end,
    function(space) space.index.pk:alter{type = pick{'hash', 'tree'}} end,
    create_in_transaction,
    function() box.snapshot() end,
    function(space)
        local name = space.name
        space:rename(name .. 'x')
        space:rename(name)
    end,
    set_before_replace,
    set_on_replace,
}

local function change_schema(space)
    pick(schema_changes)(space)
    fiber.sleep(0.004)
end

-- The load ----------------------------------------------------------------------

local is_over = false
local results = {}

local function count(what)
    results[what] = (results[what] or 0) + 1
end

local function start(name, work)
    local f = fiber.new(function()
        while not is_over do
            local space = any_space()
            if space ~= nil then
                local ok, err = pcall(work, space)
                count(name)
                if not ok then
                    count('error: ' .. tostring(err):gsub('%d+', '#'):sub(1, 90))
                end
            end
            box.rollback()
            if one_in(10) then
                fiber.sleep(0.001)
            else
                fiber.yield()
            end
        end
    end)
    f:set_joinable(true)
    return f
end

create_all()
check_all()
local workers = {}
for name, work in pairs({
    change_1 = change, change_2 = change, change_3 = change, transaction_1 = transaction,
    transaction_2 = transaction, pair_1 = change_pair, pair_2 = change_pair,
    schema_1 = change_schema, schema_2 = change_schema, cancel = change_pair_cancelled,
}) do
    table.insert(workers, start(name, work))
end
local deadline = fiber.clock() + seconds
while fiber.clock() < deadline do
    fiber.sleep(0.15)
    check_all()
end
is_over = true
for _, f in ipairs(workers) do
    f:join()
end
check_all()
for what, n in pairs(results) do
    print('# ' .. n, what)
end
local test = tap.test('chaos')
test:plan(1)
test:is(check.problems, 0, 'every index agrees with a scan')
os.exit(test:check() and 0 or 1)
