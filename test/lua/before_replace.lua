#!/usr/bin/env tarn
-- SPDX-License-Identifier: BSD-2-Clause
-- before_replace triggers that pull the ground from under their own statement: they
-- yield, or drop or change the space. The statement fails, and nothing else happens.
local tap = require('tap')
local fio = require('fio')
local fiber = require('fiber')

local test = tap.test('before_replace')
test:plan(5)

local dir = fio.tempdir()
box.cfg{work_dir = dir, log_level = 0}

local function new_space()
    if box.space.s ~= nil then
        box.space.s:drop()
    end
    local space = box.schema.space.create('s')
    space:create_index('pk')
    space:insert{1, 2}
    return space
end

local function error_of(f, ...)
    local ok, err = pcall(f, ...)
    return not ok and tostring(err) or 'no error'
end

test:test('a yield', function(t)
    local results = {
        ['nil'] = function() return nil end,
        ['the new tuple'] = function(_, new) return new end,
        ['the old tuple'] = function(old) return old end,
        ['another tuple'] = function() return box.tuple.new{1, 'other'} end,
        ['no tuple'] = function() return 'text' end,
        ['nothing'] = function() end,
    }
    t:plan(12)
    for what, result in pairs(results) do
        local space = new_space()
        space:before_replace(function(old, new)
            fiber.yield()
            collectgarbage()
            return result(old, new)
        end)
        t:is(error_of(space.replace, space, {1, 3}),
             'Transaction has been aborted by a fiber yield', what)
        t:is(space:get(1)[2], 2, 'nothing has changed')
    end
end)

test:test('the space or its primary key is dropped', function(t)
    local drops = {
        space = function(space) space:drop() end,
        index = function(space) space.index.pk:drop() end,
    }
    local results = {
        function() return nil end,
        function(_, new) return new end,
        function() return box.tuple.new{1, 'other'} end,
    }
    t:plan(12)
    for what, drop in pairs(drops) do
        for i, result in ipairs(results) do
            local space = new_space()
            space:before_replace(function(old, new)
                drop(space)
                return result(old, new)
            end)
            t:is(error_of(space.replace, space, {1, 3}),
                 "No index #0 is defined in space 's'", what .. ', result ' .. i)
            t:is(error_of(space.insert, space, {5}),
                 "No index #0 is defined in space 's'", what .. ', insert, result ' .. i)
        end
    end
end)

test:test('the primary key is altered to a field that the row has not', function(t)
    local space = new_space()
    space:before_replace(function(_, new)
        if new ~= nil then
            space:delete(1)
            space.index.pk:alter{parts = {3, 'unsigned'}}
            return nil
        end
    end)
    t:plan(2)
    t:like(error_of(space.replace, space, {1, 3}), 'field 3 required by space format is missing',
           'an error')
    t:is(space:get(1)[2], 2, 'all is undone')
end)

-- What a trigger changes comes before the statement's own change: undone after it, written before it.
local function nest(space, change)
    local is_nested = false
    space:before_replace(function(_, new)
        if not is_nested and new ~= nil and new[2] == 'outer' then
            is_nested = true
            change(space)
            is_nested = false
        end
        return new
    end)
end

local changes = {
    replace = function(space) space:replace{1, 'inner'} end,
    delete = function(space) space:delete(1) end,
    ['delete and insert'] = function(space) space:delete(1) space:insert{1, 'inner'} end,
    twice = function(space) space:replace{1, 'inner'} space:replace{1, 'inner again'} end,
    savepoint = function(space)
        local svp = box.savepoint()
        space:replace{1, 'inner'}
        box.rollback_to_savepoint(svp)
        space:replace{1, 'inner again'}
    end,
}

local function rows_of(space)
    local rows = space.index.kind:select()
    for i, row in ipairs(rows) do
        rows[i] = row:totable()
    end
    return rows
end

test:test('a trigger changes the same row', function(t)
    t:plan(5 * 6)
    for what, change in pairs(changes) do
        local space = new_space()
        space:create_index('kind', {parts = {2, 'scalar'}})
        nest(space, change)
        box.begin()
        space:replace{1, 'outer'}
        t:is(space:get(1)[2], 'outer', what .. ': the statement changes last')
        box.rollback()
        t:is_deeply(rows_of(space), {{1, 2}}, 'all is rolled back')

        box.begin()
        local svp = box.savepoint()
        space:replace{1, 'outer'}
        box.rollback_to_savepoint(svp)
        t:is_deeply(rows_of(space), {{1, 2}}, 'to a savepoint too')
        box.commit()

        local function throw() error('thrown') end
        space:on_replace(throw)
        t:like(error_of(space.replace, space, {1, 'outer'}), 'thrown', 'the statement fails')
        space:on_replace(nil, throw)
        t:is_deeply(rows_of(space), {{1, 2}}, 'and undoes itself')

        space:replace{1, 'outer'}
        t:is_deeply(rows_of(space), {{1, 'outer'}}, 'committed')
    end
end)

test:test('the journal has the order of the changes', function(t)
    local space = new_space()
    space:before_replace(nil, space:before_replace()[1])
    nest(space, changes.replace)
    local lsn = box.info.lsn
    space:replace{1, 'outer'}
    local rows = {}
    local xlog = require('xlog')
    for _, path in ipairs(fio.glob(fio.pathjoin(dir, '*.xlog'))) do
        for row_lsn, row in xlog.pairs(path) do
            if row_lsn > lsn then
                table.insert(rows, row.BODY.tuple[2])
            end
        end
    end
    t:plan(1)
    t:is_deeply(rows, {'inner', 'outer'}, 'the inner row first')
end)

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
