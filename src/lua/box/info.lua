-- SPDX-License-Identifier: BSD-2-Clause
-- box.info: a table whose fields are computed when they are read; box.info() is all
-- of them at once.
local c = require('tarn.info')
local memory = require('tarn.memory_stat')
local api = require('tarn.box.api')

local as_map = {__serialize = 'map'}

local fields = {
    version = c.version, id = c.id, uuid = c.uuid, lsn = c.lsn, signature = c.signature,
    status = c.status, recovery = c.recovery, ro = c.is_read_only, uptime = c.uptime, pid = c.pid,
}

function fields.package()
    return 'tarn'
end

function fields.vclock()
    return setmetatable(c.vclock(), as_map)
end

function fields.cluster()
    return {uuid = c.cluster_uuid()}
end

-- This instance is the only one that it knows.
function fields.replication()
    local id = c.id()
    return setmetatable({[id] = {id = id, uuid = c.uuid(), lsn = c.lsn()}},
                        {__serialize = 'mapping'})
end

function fields.replication_anon()
    return setmetatable({count = 0}, {__call = function() return {} end})
end

function fields.listen()
    local list = c.listen()
    if #list <= 1 then
        return list[1]
    end
    return list
end

-- Tables that are shown empty and give their contents when called.
local function on_call(f)
    local t = setmetatable({}, {__call = f})
    return function()
        return t
    end
end

fields.memory = on_call(function()
    local data, index, lua, _, _, tx = c.memory()
    return {data = data, index = index, lua = lua, cache = 0, net = memory.parts().network, tx = tx}
end)

fields.gc = on_call(function()
    local checkpoints = c.checkpoints(box.cfg.memtx_dir)
    for _, checkpoint in ipairs(checkpoints) do
        setmetatable(checkpoint.vclock, as_map)
    end
    local oldest = checkpoints[1]
    -- A table of its own, or YAML would show one as an alias of the other.
    local vclock = setmetatable({}, as_map)
    for id, lsn in pairs(oldest and oldest.vclock or c.vclock()) do
        vclock[id] = lsn
    end
    return {
        checkpoints = checkpoints, consumers = {},
        signature = oldest and oldest.signature or c.signature(),
        vclock = vclock,
        checkpoint_is_in_progress = c.is_checkpoint_running(),
        -- Only while it is: 2.6 has no such field.
        is_paused = c.is_gc_paused() or nil,
    }
end)

fields.vinyl = on_call(function()
    return api.stat.vinyl()
end)

fields.sql = on_call(function()
    return {cache = {size = 0, stmt_count = 0}}
end)

local function all()
    local out = {}
    for name, f in pairs(fields) do
        out[name] = f()
    end
    return out
end

api.info = setmetatable({}, {
    __index = function(_, name)
        local f = fields[name]
        return f and f()
    end,
    __call = all,
    __serialize = all,
})
