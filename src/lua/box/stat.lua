-- SPDX-License-Identifier: BSD-2-Clause
-- box.stat, box.slab and box.runtime. Tuples and indexes are kept by mimalloc:
-- box.slab.info() tells their exact bytes, box.slab.stats() the sizes of blocks that
-- the allocator has, for whatever they serve.
local c = require('tarn.info')
local proc = require('tarn.proc_stat')
local memory = require('tarn.memory_stat')
local box = require('box')
local api = require('tarn.box.api')

local function by_thread()
    return setmetatable({}, {
        __index = function(_, number)
            return c.stat_net_threads()[number]
        end,
        __call = c.stat_net_threads,
        __serialize = c.stat_net_threads,
    })
end

local function by_name(all)
    return {
        __index = function(_, name)
            return all()[name]
        end,
        __call = all,
        __serialize = all,
    }
end

-- What each stored procedure costs, as box.stat.procedures(); reset() forgets all,
-- limit(n) says how many names are kept.
local procedures = setmetatable({reset = proc.reset, limit = proc.limit}, {
    __call = proc.all,
    __serialize = proc.all,
})

api.stat = setmetatable({
    net = setmetatable({thread = by_thread()}, by_name(c.stat_net)),
    -- How long requests take, in seconds, by type.
    latency = c.stat_latency,
    procedures = procedures,
    reset = function()
        c.stat_reset()
        proc.reset()
    end,
}, by_name(c.stat))

api.stat.lua = proc.runtime

-- Where all memory is, in bytes; the parts add up to `process`. free_by_size tells what the
-- allocator keeps free, by the size of its blocks.
function api.stat.memory()
    local out = memory.parts()
    out.free_by_size = {}
    for _, class in ipairs(memory.classes()) do
        if class.mem_free > 0 then
            table.insert(out.free_by_size, {size = class.item_size, free = class.mem_free,
                                            used = class.mem_used})
        end
    end
    return out
end

-- There is no vinyl: what the reference counts of it is 0. Collectors of metrics read these.
local VINYL = {
    tx = {'conflict', 'commit', 'rollback', 'statements', 'transactions', 'gap_locks', 'read_views'},
    regulator = {'dump_bandwidth', 'rate_limit', 'dump_watermark', 'write_rate'},
    memory = {'tuple_cache', 'tx', 'level0', 'page_index', 'bloom_filter'},
    disk = {'data_compacted', 'data', 'index'},
    scheduler = {'dump_time', 'tasks_inprogress', 'dump_output', 'compaction_queue', 'compaction_output',
                 'compaction_time', 'dump_count', 'tasks_failed', 'tasks_completed', 'dump_input',
                 'compaction_input'},
}

function api.stat.vinyl()
    local out = {}
    for part, names in pairs(VINYL) do
        out[part] = {}
        for _, name in ipairs(names) do
            out[part][name] = 0
        end
    end
    return out
end

api.slab = {}

local function percent(part, whole, format)
    return format:format(whole > 0 and part * 100 / whole or 0)
end

function api.slab.info()
    local data, index, _, limit = c.memory()
    local used = data + index
    return {
        items_size = data, items_used = data, items_used_ratio = percent(data, data, '%.2f%%'),
        arena_size = used, arena_used = used, arena_used_ratio = percent(used, used, '%.1f%%'),
        quota_size = limit, quota_used = used, quota_used_ratio = percent(used, limit, '%.2f%%'),
    }
end

api.slab.stats = memory.classes

-- The allocator has nothing to check; the structure of all indexes has.
api.slab.check = memory.check

box.runtime = {}

function box.runtime.info()
    local _, _, lua, _, limit = c.memory()
    return {lua = lua, used = lua, maxalloc = limit > 0 and limit or 4398046510080}
end
