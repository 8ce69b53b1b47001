-- SPDX-License-Identifier: BSD-2-Clause
--
-- The events that the server itself broadcasts. Manual: "System events".
local box = require('box')
local info = require('tarn.info')
local broadcast = require('tarn.watch').broadcast
local uuid = require('uuid')

local M = {}

local function tell_election()
    broadcast('box.election', {
        term = 1, role = 'follower', is_ro = info.is_read_only(), leader = 0,
    })
end

-- Who the instance is, and what it does.
function M.status(status)
    broadcast('box.status', {
        status = status, is_ro = info.is_read_only(), is_ro_cfg = info.is_read_only(),
    })
    tell_election()
end

function M.started()
    broadcast('box.id', {
        id = info.id(), instance_uuid = uuid.fromstr(info.uuid()),
        replicaset_uuid = uuid.fromstr(info.cluster_uuid()),
    })
    broadcast('box.schema', {version = box.internal.schema_version()})
    M.status('running')
end

broadcast('box.id', {})
broadcast('box.status', {status = 'unconfigured', is_ro = true, is_ro_cfg = true})
broadcast('box.election', {})
broadcast('box.schema', {})

return M
