-- SPDX-License-Identifier: BSD-2-Clause
-- The module `trigger` of 3.0: events by name, and what happens in the server as events.
local tap = require('tap')
local trigger = require('trigger')
local test = tap.test('trigger')
test:plan(9)

local function text(f, ...)
    local ok, e = pcall(f, ...)
    return not ok and tostring(e) or nil
end

local log = {}
local function note(name)
    return function(...)
        table.insert(log, name)
        return ...
    end
end

local function taken()
    local out = table.concat(log, ' ')
    log = {}
    return out
end

test:test('events', function(t)
    t:plan(35)
    local a, b = note('a'), note('b')
    t:is(trigger.set('own.event', 'a', a), a)
    trigger.set('own.event', 'b', b)
    trigger.call('own.event', 1)
    t:is(taken(), 'b a', 'the newest is first')
    trigger.set('own.event', 'a', note('A'))
    trigger.call('own.event')
    t:is(taken(), 'b A', 'one that is replaced stays where it is')
    local names = {}
    for name, handler in trigger.pairs('own.event') do
        table.insert(names, name .. type(handler))
    end
    t:is(table.concat(names, ' '), 'bfunction afunction')
    t:is(trigger.info('own.event')['own.event'][1][1], 'b')
    t:is(trigger.info('own.event')['own.event'][1][2], b)
    t:is(next(trigger.info('none')), nil)
    t:is(trigger.del('own.event', 'b'), b)
    t:is(trigger.del('own.event', 'b'), nil)
    t:is(trigger.del('none', 'b'), nil)
    trigger.set('own.event', 'stops', function() error('enough') end)
    t:ok(text(trigger.call, 'own.event'):find('enough'), 'an error ends the call')
    t:is(taken(), '')
    trigger.set('own.event', 'callable', setmetatable({}, {__call = function(_, x) table.insert(log, x) end}))
    text(trigger.call, 'own.event', 'x')
    t:is(taken(), 'x', 'anything that can be called')
    trigger.set('own.event', 'callable', function() trigger.del('own.event', 'a') end)
    t:ok(text(trigger.call, 'own.event'), 'a change while it is called')
    t:is(#trigger.info('own.event')['own.event'], 2)
    for _, name in ipairs{'info', 'pairs', 'call', 'del'} do
        for _, bad in ipairs{5, {}, true} do
            t:like(text(trigger[name], bad), ("bad argument #1 to 'trigger.%s'"):format(name), name .. ' of ' .. type(bad))
        end
    end
    t:like(text(trigger.del, 'own.event'), "bad argument #2 to 'trigger.del'", 'del without a name')
    t:is(trigger.pairs('none')(), nil, 'pairs of nothing')
    t:is(type(trigger.info()), 'table', 'info of all')
    t:is(text(trigger.call, 'none', 1, 2), nil, 'call of nothing')
    for _, bad in ipairs{{}, {1, 'x', print}, {'x', 1, print}, {'x', 'x', 1}} do
        t:ok(text(trigger.set, bad[1], bad[2], bad[3]):find("bad argument #%d to 'trigger.set'"))
    end
end)

test:test('changes', function(t)
    t:plan(2)
    local seen = {}
    trigger.set('tarantool.trigger.on_change', 'see', function(event) table.insert(seen, event) end)
    trigger.set('other.event', 'x', print)
    trigger.del('other.event', 'x')
    trigger.del('other.event', 'x')
    t:is(table.concat(seen, ' '), 'tarantool.trigger.on_change other.event other.event')
    trigger.del('tarantool.trigger.on_change', 'see')
    t:is(trigger.info()['tarantool.trigger.on_change'], nil)
end)

trigger.set('box.space.early.on_replace', 'early', note('early'))
trigger.set('box.ctl.on_schema_init', 'init', note('init'))
box.cfg{log_level = 2}

test:test('before there is a space', function(t)
    t:plan(4)
    t:is(taken(), 'init')
    local s = box.schema.space.create('early')
    s:create_index('pk')
    s:insert{1}
    t:is(taken(), 'early')
    s:rename('late')
    s:insert{2}
    t:is(taken(), '', 'it is about the name')
    s:rename('early')
    s:insert{3}
    t:is(taken(), 'early')
    s:drop()
end)

test:test('rows of a space', function(t)
    t:plan(9)
    local s = box.schema.space.create('s')
    s:create_index('pk')
    local by_id = ('box.space[%d].on_replace'):format(s.id)
    trigger.set(by_id, 'id', note('id'))
    trigger.set('box.space.s.on_replace', 'name', note('name'))
    s:on_replace(note('own'))
    s:insert{1}
    t:is(taken(), 'own id name')
    local old, new, name, op
    trigger.set('box.space.s.on_replace', 'name', function(...) old, new, name, op = ... end)
    s:replace{1, 'x'}
    t:is(tostring(old) .. tostring(new) .. name .. op, "[1][1, 'x']sREPLACE")
    taken()
    trigger.set('box.space.s.on_replace', 'name', function() error('no') end)
    t:ok(text(s.insert, s, {2}):find('no'))
    t:is(s:get(2), nil, 'an error undoes the statement')
    trigger.del('box.space.s.on_replace', 'name')
    trigger.del(by_id, 'id')
    taken()
    s:insert{2}
    t:is(taken(), 'own')
    trigger.set(by_id, 'id', note('id'))
    s:drop()
    s = box.schema.space.create('s', {id = s.id})
    s:create_index('pk')
    s:insert{1}
    t:is(taken(), 'id', 'they stay when the space goes')
    trigger.del(by_id, 'id')
    s:insert{2}
    t:is(taken(), '')
    box.begin()
    local u = box.schema.space.create('u')
    u:create_index('pk')
    trigger.set('box.space.u.on_replace', 'x', note('u'))
    u:insert{1}
    box.rollback()
    t:is(taken(), 'u')
    u = box.schema.space.create('u')
    u:create_index('pk')
    u:insert{1}
    t:is(taken(), 'u')
    u:drop()
end)

test:test('before_replace', function(t)
    t:plan(6)
    local s = box.space.s
    local event = 'box.space.s.before_replace'
    trigger.set(event, 'second', function(_, new) return new:update{{'=', 3, new[2]}} end)
    trigger.set(event, 'first', function(_, new) return new:update{{'=', 2, 'first'}} end)
    t:is(tostring(s:insert{10}), "[10, 'first', 'first']", 'one sees what the one before returned')
    trigger.set(event, 'first', function() end)
    t:is(tostring(s:insert{11, 1}), '[11, 1, 1]', 'no value changes nothing')
    trigger.set(event, 'second', function(old) return old end)
    t:is(s:insert{12}, nil, 'the old row: nothing happens')
    t:is(s:get(12), nil)
    trigger.set(event, 'second', function() return 5 end)
    t:ok(text(s.insert, s, {12}):find('Invalid return value of space:before_replace trigger'))
    trigger.del(event, 'first')
    trigger.del(event, 'second')
    t:is(tostring(s:insert{12}), '[12]')
end)

test:test('by name of a space', function(t)
    t:plan(8)
    local s = box.space.s
    local f = note('f')
    t:is(s:on_replace(f, nil, 'named'), f)
    s:on_replace(note('g'), nil, 'named')
    s:insert{20}
    t:is(taken(), 'g', 'it takes the place')
    t:ok(trigger.info()[('box.space[%d].on_replace'):format(s.id)] ~= nil, 'it is an event\'s')
    s:on_replace(nil, nil, 'named')
    s:insert{21}
    t:is(taken(), '')
    s:before_replace{func = function(_, new) return new:update{{'=', 2, 'b'}} end, name = 'key'}
    t:is(tostring(s:insert{22}), "[22, 'b']")
    s:before_replace{name = 'key'}
    t:is(tostring(s:insert{23}), '[23]')
    t:ok(text(s.on_replace, s, {func = print}):find('string expected'))
    t:is(#s:on_replace(), 0)
end)

test:test('sessions', function(t)
    t:plan(2)
    trigger.set('box.session.on_connect', 'x', note('connect'))
    t:is(#box.session.on_connect(), 1)
    trigger.del('box.session.on_connect', 'x')
    t:is(#box.session.on_connect(), 0)
end)

-- "kind: number space old>new ..." of each call.
local function note_rows(kind, base)
    return function(iterator)
        local out = {kind}
        for number, old, new, id in iterator() do
            table.insert(out, ('%d:%d %s>%s'):format(number, id - base, tostring(old), tostring(new)))
        end
        table.insert(log, table.concat(out, ' '))
    end
end

local KINDS = {'before_commit', 'on_commit', 'on_rollback'}

test:test('transactions', function(t)
    t:plan(13)
    local a, b = box.schema.space.create('a'), box.schema.space.create('b')
    a:create_index('pk')
    b:create_index('pk')
    for _, kind in ipairs(KINDS) do
        trigger.set('box.' .. kind, 'x', note_rows(kind, a.id))
    end
    a:insert{1}
    t:is(taken(), 'before_commit 1:0 nil>[1] on_commit 1:0 nil>[1]', 'a single statement')
    pcall(a.insert, a, {1})
    t:is(taken(), '', 'one that fails is no change')
    box.begin() a:insert{2} b:insert{1} a:delete{1} box.rollback()
    t:is(taken(), 'on_rollback 1:0 [1]>nil 2:1 nil>[1] 3:0 nil>[2]', 'the newest change first')
    box.begin()
    a:insert{2}
    local savepoint = box.savepoint()
    b:insert{1}
    box.rollback_to_savepoint(savepoint)
    t:is(taken(), 'on_rollback 1:1 nil>[1]')
    box.commit()
    t:is(taken(), 'before_commit 1:0 nil>[2] on_commit 1:0 nil>[2]')
    for _, kind in ipairs(KINDS) do
        trigger.del('box.' .. kind, 'x')
        trigger.set('box.' .. kind .. '.space.a', 'x', note(kind .. '.a'))
        trigger.set(('box.%s.space[%d]'):format(kind, b.id), 'x', note(kind .. '.b'))
    end
    a:insert{3}
    t:is(taken(), 'before_commit.a on_commit.a', 'of a space, by name')
    b:insert{3}
    t:is(taken(), 'before_commit.b on_commit.b', 'by id')
    trigger.set('box.on_commit', 'x', note('all'))
    box.begin() b:insert{4} a:insert{4} b:insert{5} box.commit{wait = 'submit'}
    while #log < 5 do
        require('fiber').sleep(0.001)
    end
    t:is(taken(), 'before_commit.b before_commit.a on_commit.b on_commit.a all', 'in order')
    trigger.del('box.on_commit', 'x')
    trigger.set('box.on_commit.space.a', 'x', function() error('not now') end)
    box.begin() a:insert{5} b:insert{6} box.commit()
    t:ok(a:get(5) ~= nil, 'an error comes too late')
    t:is(taken(), 'before_commit.a before_commit.b', 'and ends the calls')
    box.begin() a:insert{6} b:insert{7} box.rollback()
    t:is(taken(), 'on_rollback.b on_rollback.a')
    a:rename('c')
    a:insert{6}
    t:is(taken(), '', 'another name')
    for _, kind in ipairs(KINDS) do
        trigger.del('box.' .. kind .. '.space.a', 'x')
        trigger.del(('box.%s.space[%d]'):format(kind, b.id), 'x')
    end
    a:insert{7}
    b:insert{7}
    t:is(taken(), '')
    a:drop()
    b:drop()
end)

test:test('before the commit', function(t)
    t:plan(12)
    local s, audit = box.schema.space.create('a'), box.schema.space.create('audit')
    s:create_index('pk')
    audit:create_index('pk', {sequence = true})
    local event = 'box.before_commit.space.a'
    trigger.set(event, 'x', function(iterator)
        for _, _, new in iterator() do
            audit:insert{box.NULL, new[1]}
            s:replace{new[1] + 100}
        end
    end)
    box.begin() s:insert{1} s:insert{2} box.commit()
    t:is(audit:len(), 2, 'it may change data, and does not see it')
    t:is(s:len(), 4)
    s:insert{3}
    t:is(audit:len(), 3, 'of a single statement, too')
    t:ok(s:get(103) ~= nil)
    trigger.set(event, 'x', function() audit:insert{box.NULL, 'x'} error('no') end)
    t:ok(text(s.insert, s, {4}):find('no'), 'an error is that of the commit')
    t:is(text(box.atomic, function() s:insert{4} end):match('no$'), 'no')
    t:is(s:get(4), nil, 'all is undone')
    t:is(audit:len(), 3)
    trigger.set(event, 'x', function() require('fiber').yield() end)
    t:ok(text(s.insert, s, {4}):find('aborted by a fiber yield'))
    local inside
    trigger.set(event, 'x', function() inside = text(box.commit) .. text(box.rollback) end)
    s:insert{4}
    t:is(inside, 'Can not commit transaction in a nested statement' ..
                 'Rollback called in a nested statement')
    t:is(box.is_in_txn(), false)
    trigger.set(event, 'x', function() trigger.del(event, 'x') end)
    s:insert{5}
    t:is(trigger.info()[event], nil, 'it may take itself away')
    s:drop()
    audit:drop()
end)

os.exit(test:check() and 0 or 1)
