-- SPDX-License-Identifier: BSD-2-Clause
-- Objects in box.space keep their identity over changes of the schema, and what was
-- undone leaves no trace in them.
local tap = require('tap')
local fio = require('fio')

box.cfg{work_dir = fio.tempdir(), log_level = 2}
local test = tap.test('space_identity')
test:plan(25)

local s = box.schema.space.create('s')
local pk = s:create_index('pk')
local sk = s:create_index('sk', {parts = {2, 'unsigned'}})
test:is(box.space.s, s, 'by name')
test:is(box.space[s.id], s, 'by id')
test:is(s.index.pk, pk, 'index by name')
test:is(s.index[1], sk, 'index by id')

s:rename('t')
test:is(box.space.t, s, 'a rename keeps the object')
test:is(box.space.s, nil, 'the old name is gone')
s:format({{'a', 'unsigned'}, {'b', 'unsigned'}})
test:is(s.index.pk, pk, 'a format keeps the indexes')
sk:rename('other')
test:is(s.index.other, sk, 'a renamed index')
test:is(s.index.sk, nil, 'the old name of the index is gone')
sk:alter{unique = false}
test:is(sk.unique, false, 'an altered index')
test:is(s.index.other, sk, 'is the same object')

box.begin()
box.schema.space.create('undone')
test:ok(box.space.undone ~= nil, 'a space is there in its transaction')
box.rollback()
test:is(box.space.undone, nil, 'and gone with it')

s:insert{1, 1}
box.begin()
s:drop()
test:is(box.space.t, nil, 'a space is gone in its transaction')
box.rollback()
test:ok(box.space.t == s, 'and back when that is undone')
test:ok(s.index.pk == pk and s.index.other == sk, 'with the indexes that a script holds')
test:is(box.space.t:get(1)[2], 1, 'with its rows')
test:ok(box.space.t.index.pk ~= nil and box.space.t.index.other ~= nil, 'and its indexes')

s = box.space.t
box.begin()
s.index.other:drop()
test:is(s.index.other, nil, 'an index is gone in its transaction')
box.rollback()
test:ok(s.index.other ~= nil, 'and back')

local seq = box.schema.sequence.create('q')
box.begin()
seq:alter{name = 'r'}
box.rollback()
test:is(box.sequence.q, seq, 'an undone rename of a sequence')
test:is(box.sequence.r, nil, 'leaves no other name')
box.begin()
box.schema.sequence.create('z')
box.rollback()
test:is(box.sequence.z, nil, 'an undone sequence')

s:drop()
test:is(s.enabled, false, 'a dropped space is not enabled')
test:ok(not pcall(s.insert, s, {2, 2}), 'and takes no rows')
os.exit(test:check() and 0 or 1)
