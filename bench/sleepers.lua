-- SPDX-License-Identifier: BSD-2-Clause
-- Memory of sleeping fibers: resident and the kernel's page tables, for each of N.
local lib = require('lib')
local fiber = require('fiber')

local function status(name)
    for line in io.lines('/proc/self/status') do
        local kb = line:match('^' .. name .. ':%s+(%d+)')
        if kb then return tonumber(kb) * 1024 end
    end
end

local function measure(count)
    collectgarbage()
    collectgarbage()
    local rss, tables = status('VmRSS'), status('VmPTE')
    local list = {}
    for i = 1, count do
        -- Servers that can't have so many say so.
        local ok, f = pcall(fiber.create, fiber.sleep, 1000)
        if not ok then
            for j = 1, i - 1 do list[j]:cancel() end
            return
        end
        list[i] = f
    end
    collectgarbage()
    collectgarbage()
    lib.row('sleeping fiber, of ' .. count, (status('VmRSS') - rss) / count, 'B', 'lower')
    lib.row('page tables, of ' .. count, (status('VmPTE') - tables) / count, 'B', 'lower')
    for _, f in ipairs(list) do f:cancel() end
end

-- The most first: stacks that are pooled would count as nothing.
measure(tonumber(os.getenv('BENCH_FIBERS') or 100000))
os.exit(0)
