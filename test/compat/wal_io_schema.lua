-- SPDX-License-Identifier: BSD-2-Clause
-- Changes of the schema that can't be written to the log: all is as it was, and can be changed when
-- writing works again. A limit of the process on the size of files is the cause.
local check = require('check')
local ffi = require('ffi')
local fio = require('fio')
ffi.cdef[[
struct limit { uint64_t soft, hard; };
int getrlimit(int what, struct limit *limit);
int setrlimit(int what, const struct limit *limit);
]]
local FSIZE = 1

box.cfg{checkpoint_interval = 0}
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'v', 'string', is_nullable = true}}})
s:create_index('pk')
s:create_index('sk', {parts = {{2, 'string', is_nullable = true}}, unique = false})
for i = 1, 50 do
    s:insert{i, 'v' .. i}
end
box.schema.user.create('u', {password = 'x'})
box.schema.role.create('r')
box.schema.sequence.create('q')
box.schema.func.create('f', {body = 'function() return 1 end'})
auto = box.schema.space.create('auto')
auto:create_index('pk', {sequence = true})
auto:insert{box.NULL}

local system = {'_space', '_index', '_user', '_priv', '_sequence', '_sequence_data', '_space_sequence', '_func',
                '_func_index', '_truncate', '_schema', '_collation'}

-- A text of all rows of system spaces and of what scripts see of them.
local function state()
    local rows, names = {}, {}
    for _, name in ipairs(system) do
        for _, t in box.space[name]:pairs() do
            table.insert(rows, name .. tostring(t))
        end
    end
    for name, space in pairs(box.space) do
        if type(name) == 'string' and name:sub(1, 1) ~= '_' then
            table.insert(names, name .. space:len())
            for index_name in pairs(space.index) do
                table.insert(names, name .. '.' .. index_name)
            end
        end
    end
    for _, list in ipairs{box.sequence, box.func} do
        for name in pairs(list) do
            table.insert(names, tostring(name))
        end
    end
    table.sort(names)
    return table.concat(rows) .. table.concat(names)
end

local function limit_files(size)
    local limit = ffi.new('struct limit')
    assert(ffi.C.getrlimit(FSIZE, limit) == 0)
    local old = limit.soft
    limit.soft = size
    assert(ffi.C.setrlimit(FSIZE, limit) == 0)
    return old
end

-- What an attempt gives while the log can't grow; whether anything has changed.
function attempt(f, ...)
    local files = fio.glob('*.xlog')
    table.sort(files)
    local before = state()
    local old = limit_files(fio.stat(files[#files]).size + 10)
    local ok, e = pcall(f, ...)
    limit_files(old)
    return ok, tostring(e), state() == before
end

check [[
attempt(box.schema.space.create, 'x')
attempt(s.create_index, s, 'i3', {parts = {1, 'unsigned', 2, 'string'}, unique = false})
attempt(s.index.sk.drop, s.index.sk)
attempt(s.index.sk.rename, s.index.sk, 'zz')
attempt(s.index.sk.alter, s.index.sk, {parts = {{1, 'unsigned'}}})
attempt(s.index.pk.alter, s.index.pk, {type = 'hash'})
attempt(s.format, s, {{'id', 'unsigned'}})
attempt(s.rename, s, 't')
attempt(s.truncate, s)
attempt(s.drop, s)
attempt(box.schema.user.create, 'u2')
attempt(box.schema.user.drop, 'u')
attempt(box.schema.user.grant, 'u', 'read', 'space', 's')
attempt(box.schema.user.passwd, 'u', 'y')
attempt(box.schema.role.create, 'r2')
attempt(box.schema.role.drop, 'r')
attempt(box.schema.sequence.create, 'q2')
attempt(box.sequence.q.next, box.sequence.q)
attempt(box.sequence.q.set, box.sequence.q, 10)
attempt(box.sequence.q.reset, box.sequence.q)
attempt(box.sequence.q.alter, box.sequence.q, {step = 2})
attempt(box.sequence.q.drop, box.sequence.q)
attempt(box.schema.func.create, 'g', {body = 'function() end'})
attempt(box.schema.func.drop, 'f')
attempt(auto.insert, auto, {box.NULL})
attempt(auto.drop, auto)
attempt(box.once, 'k', function() end)
attempt(function() box.begin() s:truncate() s:insert{1} s:format{} box.commit() end)
attempt(function() box.begin() local x = box.schema.space.create('x') x:create_index('pk') x:insert{1} box.commit() end)
box.is_in_txn()
s:len(), s.index.sk:len(), s.name, s.index.sk.name
s:insert{51, 'v51'}
auto:insert{box.NULL}
box.sequence.q:next()
box.func.f:call()
s.index.sk:alter{parts = {{1, 'unsigned'}}}
s.index.sk:rename('zz')
s:create_index('i3', {parts = {1, 'unsigned', 2, 'string'}, unique = false}).name
s:truncate()
s:insert{1, 'one'}
s.index.zz:get(1)
s:drop()
auto:drop()
box.schema.user.drop('u')
box.schema.role.drop('r')
box.sequence.q:drop()
box.schema.func.drop('f')
box.schema.space.create('s').name
]]
check.finish()
