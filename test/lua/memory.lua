-- SPDX-License-Identifier: BSD-2-Clause
-- Memory that comes back: a row is refused only where data fill memtx_memory, whatever
-- sizes rows had before; and box.stat.memory() tells where all of it is.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')
local test = tap.test('memory')
test:plan(15)

local MB = 1024 * 1024
local dir = fio.tempdir()
box.cfg({work_dir = dir, log_level = 1, memtx_memory = 32 * MB, wal_mode = 'none',
         memtx_max_tuple_size = 4 * MB})
local s = box.schema.space.create('t')
s:create_index('pk')

-- Inserts rows of a size until one does not fit: how many there are, and the error.
local function fill(size)
    local n = 0
    while true do
        local ok, err = pcall(s.insert, s, {n, string.rep('x', size)})
        if not ok then return n, err end
        n = n + 1
    end
end

local function empty()
    for _, t in s:pairs() do s:delete(t[1]) end
end

local first, err = fill(100)
test:is(err.type, 'OutOfMemory', 'a row that does not fit is refused')
test:like(tostring(err), '^Failed to allocate %d+ bytes in slab allocator for memtx_tuple$', 'error')
test:ok(first > 150000, 'but only when ' .. first .. ' are there')
test:is(s:len(), first, 'the server lives')
test:ok(pcall(s.delete, s, 0) and pcall(s.insert, s, {0, 'y'}), 'a deletion makes room')
local used = box.slab.info().quota_used
test:ok(used > 31 * MB and used <= 32 * MB, 'the limit counts tuples and indexes', used)

for _, size in ipairs({10, 1000, 5000, 73 * 1024, 300}) do
    empty()
    fill(size)
end
empty()
test:ok(box.slab.info().quota_used < 2 * MB, 'rows of many sizes leave little behind')
local again = fill(100)
test:ok(again > first * 0.99, 'as many fit as before: ' .. again)

-- Rows that grow.
empty()
for i = 1, 100 do s:insert{i, 'x'} end
local ok = true
for _ = 1, 200 do
    for i = 1, 100 do ok = ok and pcall(s.update, s, i, {{':', 2, -1, 0, string.rep('z', 700)}}) end
end
test:ok(ok and s:get(1)[2]:len() == 1 + 200 * 700, 'rows grow to 14 MB')
test:ok(pcall(s.insert, s, {1000, string.rep('x', 3 * MB)}), 'a large row beside them')
ok, err = pcall(s.insert, s, {1001, string.rep('x', 4 * MB)})
test:like(tostring(err), 'memtx_max_tuple_size', 'the limit of a row')

-- An index that does not fit.
empty()
local n = fill(4)
ok, err = pcall(s.create_index, s, 'sk', {parts = {{2, 'string'}}, unique = false})
test:ok(not ok and err.type == 'OutOfMemory' and s.index.sk == nil and s:len() == n,
        'an index that does not fit is not built', tostring(err))

s:truncate()
-- What is being freed in the background does not count.
test:ok(pcall(fill, 100) and s:len() > first * 0.99, 'a truncated space makes room at once')

local m = box.stat.memory()
local sum = 0
for name, bytes in pairs(m) do
    if name ~= 'process' and name ~= 'free_by_size' then sum = sum + bytes end
end
test:ok(math.abs(sum - m.process) < 64 * 1024, 'the parts add up to the process',
        sum .. ' ' .. m.process)
test:ok(m.tuples + m.indexes > 30 * MB and m.lua > 0 and (#m.free_by_size > 3 or #box.slab.stats() == 0), 'the parts')
os.execute('rm -rf ' .. dir)
os.exit(test:check() and 0 or 1)
