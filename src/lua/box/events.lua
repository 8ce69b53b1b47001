-- SPDX-License-Identifier: BSD-2-Clause
--
-- The events that the server itself broadcasts. Manual: "System events".
local box = require('box')
local info = require('tarn.info')
local uuid = require('uuid')

local M = {}

-- Who the instance is, and what it does.
function M.status(status)
    box.broadcast('box.status', {
        status = status, is_ro = info.is_read_only(), is_ro_cfg = info.is_read_only(),
    })
end

function M.started()
    box.broadcast('box.id', {
        id = info.id(), instance_uuid = uuid.fromstr(info.uuid()),
        replicaset_uuid = uuid.fromstr(info.cluster_uuid()),
    })
    box.broadcast('box.schema', {version = box.internal.schema_version()})
    box.broadcast('box.election', {term = 1, role = 'follower', is_ro = info.is_read_only(), leader = 0})
    M.status('running')
end

box.broadcast('box.id', {})
box.broadcast('box.status', {status = 'unconfigured', is_ro = true, is_ro_cfg = true})
box.broadcast('box.election', {})
box.broadcast('box.schema', {})

return M
