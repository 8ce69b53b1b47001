-- SPDX-License-Identifier: BSD-2-Clause
-- The longest time the server does nothing else: during a snapshot of 1M rows, a build of an
-- index over them, truncation, while a fiber changes rows and takes turns with the others.
local lib = require('lib')
local clock = require('clock')
local fiber = require('fiber')
lib.cfg({checkpoint_interval = 0, wal_mode = 'none', memtx_memory = 2 ^ 31})
local n = 1000000
local s = box.schema.space.create('t')
s:create_index('pk')
for i = 1, n, 1000 do
    box.begin()
    for j = i, i + 999 do s:insert{j, j * 7919 % n, 'payload payload payload'} end
    box.commit()
end
collectgarbage('collect')

-- BENCH_CLOCK=proc counts the processor time of the thread only.
local now = clock[os.getenv('BENCH_CLOCK') == 'proc' and 'thread' or 'monotonic']

-- Changes rows in small transactions while f() runs in another fiber; each begins when the
-- loop has had its turn.
local function watch(name, f)
    local is_over = false
    local worst = 0
    local last = now()
    fiber.create(function() f() is_over = true end)
    while not is_over do
        for _ = 1, 20 do
            local k = math.random(n)
            box.space.w:replace{k, k, 'other payload'}
            if name ~= 'truncation' then
                s:replace{k, k * 7919 % n, 'other payload'}
            end
        end
        fiber.sleep(0)
        local t = now()
        worst = math.max(worst, t - last)
        last = t
    end
    -- What is left to be done afterwards counts, too.
    for _ = 1, 200 do
        fiber.sleep(0)
        local t = now()
        worst = math.max(worst, t - last)
        last = t
    end
    lib.row('longest stall: ' .. name, worst * 1e3, 'ms', 'lower')
end

box.schema.space.create('w'):create_index('pk')
watch('nothing else', function() fiber.sleep(0.3) end)
watch('snapshot of 1M rows', box.snapshot)
watch('index build over 1M rows', function()
    s:create_index('sk', {parts = {{2, 'unsigned'}}, unique = false})
end)
watch('format check of 1M rows', function()
    s:format({{'id', 'unsigned'}, {'value', 'unsigned'}, {'text', 'string'}})
end)
watch('truncation', function() s:truncate() end)
os.exit(0)
