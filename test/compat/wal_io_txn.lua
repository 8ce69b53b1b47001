-- SPDX-License-Identifier: BSD-2-Clause
-- Transactions that can't be written to the log: what is undone, which triggers run and see what. A
-- limit of the process on the size of files is the cause.
local check = require('check')
local ffi = require('ffi')
local fio = require('fio')
ffi.cdef[[
struct limit { uint64_t soft, hard; };
int getrlimit(int what, struct limit *limit);
int setrlimit(int what, const struct limit *limit);
]]
box.cfg{checkpoint_interval = 0}
s = box.schema.space.create('s')
s:create_index('pk')
l = box.schema.space.create('l', {is_local = true})
l:create_index('pk')
t = box.schema.space.create('t', {temporary = true})
t:create_index('pk')
for i = 1, 3 do
    s:insert{i, 'row'}
    l:insert{i}
    t:insert{i}
end

local function limit_files(size)
    local limit = ffi.new('struct limit')
    assert(ffi.C.getrlimit(1, limit) == 0)
    local old = limit.soft
    limit.soft = size
    assert(ffi.C.setrlimit(1, limit) == 0)
    return old
end

seen = {}

-- A trigger that keeps the statements it is told of.
function note(name)
    return function(it)
        local list = {name}
        for i, old, new, id in it() do
            table.insert(list, {i, old and old[1] or 0, new and new[1] or 0, id})
        end
        table.insert(seen, list)
    end
end

function all()
    local rows = {}
    for _, space in ipairs{s, l, t} do
        for _, row in space:pairs() do
            table.insert(rows, row)
        end
    end
    return rows
end

-- What an attempt gives while the log can't grow, what triggers saw, and all rows.
function attempt(f, ...)
    seen = {}
    local files = fio.glob('*.xlog')
    table.sort(files)
    local old = limit_files(fio.stat(files[#files]).size + 10)
    local ok, e = pcall(f, ...)
    limit_files(old)
    return ok, ok or tostring(e), seen, all(), box.is_in_txn()
end
check [[
attempt(s.insert, s, {4})
attempt(t.insert, t, {4})
attempt(l.insert, l, {4})
attempt(function() box.begin() box.on_commit(note('c')) box.on_rollback(note('r')) s:insert{4} s:delete{1} t:insert{5} l:delete{2} box.commit() end)
attempt(function() box.begin() box.on_rollback(note('r1')) box.on_rollback(note('r2')) s:insert{4} box.commit() end)
attempt(function() box.begin() box.on_commit(note('c')) box.on_rollback(note('r')) t:insert{6} box.commit() end)
attempt(function() box.begin() box.on_rollback(note('r')) s:insert{4} s:update(2, {{'=', 2, 'new'}}) s:upsert({2, 'x'}, {{'=', 2, 'newer'}}) s:replace{2, 'newest'} box.commit() end)
attempt(function() return box.atomic(function() s:insert{4} return 1 end) end)
attempt(function() box.begin() s:insert{4} s:delete{4} box.commit() end)
attempt(function() box.begin() box.commit() return 'empty' end)
f = s:on_replace(function(old, new) table.insert(seen, {old and old[1], new and new[1]}) end) ~= nil
attempt(s.replace, s, {1, 'x'})
attempt(s.delete, s, {1})
s:on_replace(nil, s:on_replace()[1])
f = s:before_replace(function(old, new) if new then return new:update{{'=', 2, 'changed'}} end return new end) ~= nil
attempt(s.replace, s, {1, 'x'})
s:before_replace(nil, s:before_replace()[1])
s:insert{7}
all()
]]
check.finish()
