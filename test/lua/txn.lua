-- SPDX-License-Identifier: BSD-2-Clause
-- Transactions where they differ from 2.6.0 or go beyond it: options, what comes after a
-- yield, commits that do not wait, triggers on rollback to a savepoint.
local fiber = require('fiber')
local tap = require('tap')
box.cfg{log_level = 2}
local s = box.schema.space.create('s')
s:create_index('pk')
local test = tap.test('txn')
test:plan(11)

local function code(f, ...)
    local ok, e = pcall(f, ...)
    return not ok and (e.code or tostring(e)) or nil
end

local function text(f, ...)
    local ok, e = pcall(f, ...)
    return not ok and tostring(e.message or e) or nil
end

test:test('options', function(t)
    t:plan(24)
    local bad = 'Illegal parameters, '
    t:is(text(box.begin, 1), bad .. 'options should be a table')
    t:is(text(box.begin, {x = 1}), bad .. "unexpected option 'x'")
    t:is(text(box.begin, {timeout = 'x'}), bad .. 'timeout must be a number greater than 0')
    t:is(text(box.begin, {timeout = 0}), bad .. 'timeout must be a number greater than 0')
    t:is(text(box.begin, {timeout = 0 / 0}), bad .. 'timeout must be a number greater than 0')
    t:is(text(box.begin, {is_sync = 1}), bad .. 'is_sync can only be true')
    t:is(text(box.begin, {txn_isolation = 5}), bad ..
         'txn_isolation must be one of box.txn_isolation_level (keys or values)')
    t:is(text(box.commit, {timeout = 1}), bad .. "unexpected option 'timeout'")
    t:is(text(box.begin, {txn_isolation = 'x'}), bad ..
         'txn_isolation must be one of box.txn_isolation_level (keys or values)')
    t:is(text(box.begin, {is_sync = false}), bad .. 'is_sync can only be true')
    t:is(text(box.commit, {wait = 'x'}), bad ..
         "wait must be one of 'complete', 'submit', 'none'")
    t:is(text(box.commit, 1), bad .. 'options should be a table')
    t:ok(not box.is_in_txn(), 'nothing was begun')
    for _, level in ipairs{'default', 'read-committed', 'linearizable', 0, 4,
                           box.txn_isolation_level.BEST_EFFORT,
                           box.txn_isolation_level['read-confirmed']} do
        box.begin{txn_isolation = level, timeout = 10, is_sync = true}
        t:ok(box.is_in_txn(), 'begun')
        box.rollback()
    end
    t:is(box.txn_id(), nil, 'no transaction, no number')
    box.begin()
    local first = box.txn_id()
    box.rollback()
    box.begin()
    t:is(box.txn_id(), first + 1, 'they are numbered')
    t:is(code(box.begin), box.error.ACTIVE_TRANSACTION)
    t:is(code(box.begin, {timeout = 1}), box.error.ACTIVE_TRANSACTION)
    box.rollback()
end)

test:test('atomic', function(t)
    t:plan(9)
    t:is(box.atomic({timeout = 10}, function(...) s:insert{1} return select('#', ...) end, 1, 2),
         2, 'with options')
    t:is(s:len(), 1)
    t:is(text(box.atomic, {no = 1}, function() end), "Illegal parameters, unexpected option 'no'")
    t:is(box.atomic(setmetatable({}, {__call = function(_, x) return x end}), 7), 7,
         'a table that can be called')
    t:is(code(box.atomic, {}, function() s:insert{2} box.error{code = 5} end), 5)
    t:is(s:len(), 1, 'undone')
    t:is(box.atomic({wait = 'none'}, function() return s:insert{3}[1] end), 3)
    t:is(code(box.atomic, {timeout = 0.001}, function() fiber.sleep(0.01) s:insert{4} end),
         box.error.TRANSACTION_TIMEOUT)
    t:ok(not box.is_in_txn())
    s:truncate()
end)

test:test('after a yield', function(t)
    local c = box.error.TRANSACTION_YIELD
    t:plan(18)
    box.begin()
    s:insert{1}
    fiber.sleep(0)
    t:is(code(s.insert, s, {2}), c)
    t:is(code(s.get, s, 1), c)
    t:is(code(s.select, s), c)
    t:is(code(s.len, s), c)
    t:is(code(s.pairs, s), c)
    t:is(code(s.index.pk.min, s.index.pk), c)
    t:is(code(s.index.pk.count, s.index.pk, 1), c)
    t:is(code(s.delete, s, 1), c)
    t:is(code(box.savepoint), c)
    local _, e = pcall(s.get, s, 1)
    t:like(e.yielded_in, '^sleep, called at .*txn.lua:%d+$', 'who yielded')
    t:like(e:unpack().message, 'aborted by a fiber yield')
    _, e = pcall(box.commit)
    t:is(e.code, c)
    t:like(e.yielded_in, '^sleep, ', 'the commit says it, too')
    t:is(s:len(), 0)
    box.begin()
    s:insert{1}
    local sv = box.savepoint()
    local gen, param, state = s:pairs()
    fiber.yield()
    t:is(code(gen, param, state), c, 'an iterator')
    t:is(code(box.rollback_to_savepoint, sv), c)
    box.rollback()
    t:is(s:len(), 0)
    local rolled
    box.begin()
    s:insert{1}
    s:insert{2}
    box.on_rollback(function(it)
        rolled = {}
        for _, _, new in it() do
            table.insert(rolled, new[1])
        end
    end)
    fiber.yield()
    pcall(box.commit)
    t:is_deeply(rolled, {2, 1}, 'triggers see what the yield has undone')
end)

test:test('timeout', function(t)
    local c = box.error.TRANSACTION_TIMEOUT
    t:plan(8)
    box.begin{timeout = 0.001}
    fiber.sleep(0.01)
    t:is(text(s.insert, s, {1}), 'Transaction has been aborted by timeout')
    t:is(code(s.get, s, 1), c)
    t:is(code(box.commit), c)
    t:ok(not box.is_in_txn())
    box.cfg{txn_timeout = 0.001}
    box.begin()
    fiber.sleep(0.01)
    t:is(code(box.commit), c, 'the default')
    box.begin{timeout = 100}
    fiber.sleep(0.01)
    t:is(code(box.commit), nil, 'one of its own')
    box.cfg{txn_timeout = 3153600000}
    box.begin()
    fiber.sleep(0.01)
    t:is(code(box.commit), nil, 'none')
    t:like(text(box.cfg, {txn_timeout = 0}), "txn_timeout")
end)

test:test('rollback to a savepoint runs triggers', function(t)
    t:plan(5)
    local log = {}
    local function keep(it)
        local list = {}
        for i, old, new, id in it() do
            table.insert(list, {i, old and old[1] or 0, new and new[1] or 0, id == s.id})
        end
        table.insert(log, list)
    end
    box.begin()
    box.on_rollback(keep)
    s:insert{1}
    local sv = box.savepoint()
    s:insert{2}
    s:delete{1}
    box.rollback_to_savepoint(sv)
    t:is_deeply(log, {{{1, 1, 0, true}, {2, 0, 2, true}}}, 'newest first')
    box.rollback_to_savepoint(sv)
    t:is(#log, 1, 'nothing to undo')
    box.on_rollback(function() error('of a trigger') end)
    s:insert{3}
    box.rollback_to_savepoint(sv)
    t:is(s:len(), 1, 'one that fails')
    box.on_rollback(function() fiber.yield() end)
    s:insert{3}
    box.rollback_to_savepoint(sv)
    t:is(code(box.commit), box.error.TRANSACTION_YIELD, 'one that yields')
    t:is(s:len(), 0)
end)

test:test('a statement that fails undoes only itself', function(t)
    t:plan(4)
    local other = box.schema.space.create('other')
    other:create_index('pk')
    local f = s:on_replace(function(_, new)
        other:insert{new[1]}
        if new[1] > 10 then
            error('too much')
        end
    end)
    box.begin()
    s:insert{1}
    t:ok(not pcall(s.insert, s, {11}))
    t:ok(not pcall(s.insert, s, {1}))
    s:insert{2}
    box.commit()
    t:is_deeply({s:len(), other:len()}, {2, 2})
    s:on_replace(nil, f)
    t:is(other:get(11), nil)
    other:drop()
    s:truncate()
end)

test:test('commit without waiting', function(t)
    t:plan(10)
    for _, wait in ipairs{'none', 'submit'} do
        local done
        box.begin()
        s:insert{1}
        box.on_commit(function(it)
            local list = {}
            for _, _, new in it() do
                table.insert(list, new[1])
            end
            fiber.sleep(0)
            done = list
        end)
        local csw = fiber.self():csw()
        box.commit{wait = wait}
        t:is(fiber.self():csw(), csw, wait .. ': no yield')
        t:ok(not box.is_in_txn())
        t:is(done, nil, 'not written yet')
        while done == nil do
            fiber.sleep(0.001)
        end
        t:is_deeply(done, {1}, 'triggers run')
        s:delete{1}
    end
    box.begin()
    box.commit{wait = 'none'}
    box.commit{wait = 'none'}
    t:ok(not box.is_in_txn(), 'nothing to write')
    -- One that waits is behind those that do not.
    for i = 1, 100 do
        box.begin()
        s:insert{i}
        box.commit{wait = 'none'}
    end
    local lsn = box.info.lsn
    s:insert{101}
    t:is(box.info.lsn, lsn + 101, 'in order')
    s:truncate()
end)

test:test('triggers that write on rollback to a savepoint', function(t)
    t:plan(4)
    box.begin()
    s:replace{1}
    local savepoint = box.savepoint()
    local inner
    box.on_rollback(function()
        s:replace{500, string.rep('x', 100)}
        inner = box.savepoint()
    end)
    s:replace{2}
    box.rollback_to_savepoint(savepoint)
    -- What they wrote has its memory, though others take what was given back.
    for i = 600, 700 do
        s:replace{i, string.rep('y', 100)}
    end
    t:ok(s:get(2) == nil and s:get(500) ~= nil, 'what they wrote is part of the transaction')
    t:ok(not pcall(box.rollback_to_savepoint, inner), 'a savepoint of theirs ends with them')
    box.commit()
    t:is(s:count(), 103, 'all is committed')
    box.begin()
    savepoint = box.savepoint()
    box.on_rollback(function() s:replace{501} end)
    s:replace{2}
    box.rollback_to_savepoint(savepoint)
    t:ok(s:get(501) ~= nil, 'it is there')
    box.rollback()
    s:truncate()
end)

test:test('the schema changes while a trigger of a commit waits', function(t)
    t:plan(2)
    local wait, done = fiber.cond(), fiber.channel(1)
    fiber.create(function()
        box.begin()
        box.on_commit(function() wait:wait() end)
        s:truncate()
        box.commit()
        done:put(true)
    end)
    fiber.sleep(0)
    while #box.space._truncate:select() == 0 do fiber.sleep(0.001) end
    local lsn = box.info.lsn
    s:truncate()
    s:insert{1}
    s:truncate()
    t:is(box.info.lsn, lsn + 3, 'other changes are committed meanwhile')
    wait:signal()
    t:ok(done:get(5), 'and the first is completed')
end)

test:test('memory of triggers', function(t)
    t:plan(3)
    local function used()
        collectgarbage()
        collectgarbage()
        return box.stat.memory().lua + box.stat.memory().runtime
    end
    local function run(n, triggers)
        for _ = 1, n do
            box.begin()
            for _ = 1, triggers do
                box.on_commit(function() end)
            end
            box.commit()
        end
    end
    -- The table of references to functions keeps its size: the most there were at once.
    run(1, 100000)
    local before = used()
    run(1000, 1000)
    t:ok(used() - before < 256 * 1024, 'a million of them leave nothing')
    run(5, 100000)
    t:ok(used() - before < 256 * 1024, 'nor do many in one transaction')
    for _ = 1, 100 do
        box.begin()
        for _ = 1, 1000 do
            box.on_rollback(function() end)
            box.on_commit(function() end)
        end
        box.rollback()
    end
    t:ok(used() - before < 256 * 1024, 'nor does a rollback')
end)

test:test('memory', function(t)
    t:plan(6)
    local function tx()
        return box.info.memory().tx
    end
    t:is(tx(), 0)
    box.begin()
    s:replace{1, ('x'):rep(100)}
    local one = tx()
    t:ok(one > 0, 'an open transaction')
    for i = 2, 1000 do
        s:replace{i, ('x'):rep(100)}
    end
    t:ok(tx() > one + 999 * 100, 'has the rows it will write')
    box.commit{wait = 'none'}
    t:ok(tx() >= 1000 * 100, 'so do those that are being written')
    s:replace{1}
    t:is(tx(), 0)
    t:ok(box.info.memory().net >= 0)
    s:truncate()
end)

os.exit(test:check() and 0 or 1)
