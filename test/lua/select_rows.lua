-- SPDX-License-Identifier: BSD-2-Clause
-- The rows of a select are made many at once: any number of them, small and large ones
-- in one result, and finalizers that select while they are made.
local tap = require('tap')
local fio = require('fio')
local ffi = require('ffi')
local test = tap.test('select_rows')
test:plan(15)

local dir = fio.tempdir()
box.cfg({work_dir = dir, log_level = 1, wal_mode = 'none'})
local s = box.schema.space.create('t', {format = {{'id', 'unsigned'}, {'text', 'string'}}})
s:create_index('pk')

-- A string that makes the row 9 bytes more: 1024 are copied to Lua, 1025 are not.
local lengths = {0, 1, 40, 300, 1017, 1018, 1019, 1020, 5000, 7}
local function text(i)
    return string.rep(string.char(97 + i % 26), lengths[i % #lengths + 1])
end
s:replace{0, ''}
for i = 1, 1000 do s:replace{i, text(i)} end
s:replace{0, text(0)}

local function is_right(rows, first, count)
    if #rows ~= count then return false end
    for i, t in ipairs(rows) do
        local id = first + i - 1
        if t[1] ~= id or t.text ~= text(id) or t:bsize() ~= s:get(id):bsize() then
            return false
        end
    end
    return true
end

for _, count in ipairs({0, 1, 2, 255, 256, 257, 512, 600, 1001}) do
    test:ok(is_right(s:select({0}, {iterator = 'GE', limit = count}), 0, count), count .. ' rows')
end
local rows, pos = s:select({0}, {iterator = 'GE', limit = 300, fetch_pos = true})
test:ok(is_right(rows, 0, 300), 'rows with a position')
test:ok(is_right(s:select({0}, {iterator = 'GE', limit = 300, after = pos}), 300, 300),
        'rows behind it')

local finalized, wrong = 0, 0
local function leave()
    ffi.gc(ffi.new('char[16]'), function()
        finalized = finalized + 1
        if not is_right(s:select({3}, {iterator = 'GE', limit = 30}), 3, 30) then
            wrong = wrong + 1
        end
    end)
end
local is_good = true
for i = 1, 2000 do
    leave()
    is_good = is_good and is_right(s:select({i % 500}, {iterator = 'GE', limit = 60}), i % 500, 60)
end
collectgarbage()
test:ok(is_good, 'rows while finalizers select')
test:ok(finalized > 1000 and wrong == 0, 'finalizers have theirs', finalized .. ' ' .. wrong)

-- Fields, too, where nothing is compiled.
jit.off()
jit.flush()
local t = s:get(41)
local function read() return t[1], t[2], s:get(43) end
wrong, finalized = 0, 0
for i = 1, 20000 do
    ffi.gc(ffi.new('char[16]'), function() finalized = finalized + 1 read() end)
    local id = i % 100
    local row = s:get(id)
    if row[1] ~= id or row[2] ~= text(id) then wrong = wrong + 1 end
end
test:ok(finalized > 1000, 'finalizers read fields', finalized)
test:is(wrong, 0, 'fields while finalizers read others')
os.execute('rm -rf ' .. dir)
os.exit(test:check() and 0 or 1)
