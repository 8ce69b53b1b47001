-- SPDX-License-Identifier: BSD-2-Clause
-- What other fibers may do while an index is built or rows are checked, and what ends that.
local check = require('check')
local fiber = require('fiber')
box.cfg{log_level = 1, memtx_memory = 256 * 1024 * 1024}

local N = 40000
local s = box.schema.space.create('t')
s:create_index('pk')
box.begin()
for i = 1, N do s:insert{i, i, 'x'} end
box.commit()

local function show(name, ok, err)
    print(name, ok, ok and '' or tostring(err))
end

-- Starts `build` in a fiber, does the operations while it runs, and tells how it ended.
local function during(name, build, ops)
    local result
    fiber.create(function() result = {pcall(build)} end)
    for i, op in ipairs(ops) do show(name .. ' ' .. i, pcall(op)) end
    while result == nil do fiber.sleep(0) end
    show(name, result[1], result[2])
end

local function make()
    s:create_index('sk', {parts = {{2, 'unsigned'}}})
end

local function drop()
    if s.index.sk ~= nil then s.index.sk:drop() end
end

during('locked', make, {
    function() s:drop() end,
    function() s:truncate() end,
    function() s:rename('q') end,
    function() s:create_index('other', {parts = {{2, 'unsigned'}}}) end,
    function() s:format{{'a', 'unsigned'}} end,
    function() s.index.pk:alter{parts = {{1, 'unsigned'}, {2, 'unsigned'}}} end,
    function() s:replace{1, 1, 'y'} end,
    function() s:delete{2} end,
    function() s:insert{2, 2} end,
})
print(s.index.sk:len(), s.index.sk:get(1)[3], s.index.sk:get(2)[3])
drop()
during('duplicate', make, {function() s:replace{1, 2, 'dup'} end})
print(s.index.sk)
s:replace{1, 1}
during('late duplicate', make, {function() s:replace{N, 2, 'dup'} end})
s:replace{N, N}
during('type', make, {function() s:replace{1, 'text'} end})
s:replace{1, 1}
during('late type', make, {function() s:replace{N, 'text'} end})
s:replace{N, N}
during('gone duplicate', make, {function() s:replace{1, 1} end, function() s:delete{5} end})
print(s.index.sk:len())
drop()
s:insert{5, 5}

local function format()
    s:format{{'a', 'unsigned'}, {'b', 'unsigned'}}
end
during('format', format, {function() s:replace{1, 'text'} end})
print(#s:format())
s:replace{1, 1}
during('late format', format, {function() s:replace{N, 'text'} end})
s:replace{N, N}
during('good format', format, {function() s:replace{N, N} end})
print(#s:format())

during('first in a transaction', function()
    box.begin()
    make()
    box.commit()
end, {function() s:replace{3, 3} end})
drop()
during('second in a transaction', function()
    box.begin()
    s:replace{1, 1}
    make()
    box.commit()
end, {})
box.rollback()
during('cancelled', function()
    fiber.self():cancel()
    make()
end, {})
print(s.index.sk)
during('primary', function() s.index.pk:alter{parts = {{2, 'unsigned'}}} end, {
    function() s:replace{N + 1, N + 1} end,
    function() s:delete{7} end,
})
print(s:len(), s.index.pk.parts[1].fieldno)
check.finish()
