-- SPDX-License-Identifier: BSD-2-Clause
--
-- Streams of net.box: requests with a number of their own, which the server handles in order and
-- in one transaction. Manual: net.box, conn:new_stream().
local core = require('tarn.netbox')
local schema = require('internal.net_box_schema')

local method = core.method

-- Adds new_stream() to the methods of connections.
return function(remote, check_remote, serialize, fail)

local stream_methods = {}

local function check_stream(stream, name)
    if type(stream) ~= 'table' then
        fail(('Use stream:%s(...) instead of stream.%s(...):'):format(name, name))
    end
end

local ISOLATION = {
    ['default'] = 0, ['read-committed'] = 1, ['read-confirmed'] = 2, ['best-effort'] = 3,
    ['linearizable'] = 4,
}

local function isolation_of(level)
    if level == nil then
        return nil
    end
    local number = type(level) == 'string' and ISOLATION[level:lower():gsub('_', '-')] or level
    if type(number) ~= 'number' or number < 0 or number > 4 then
        box.error(box.error.ILLEGAL_PARAMS,
                  'txn_isolation must be one of box.txn_isolation_level' ..
                  ' (keys or values)')
    end
    return number
end

local function is_sync_of(txn_opts)
    local is_sync = txn_opts.is_sync
    if is_sync ~= nil and is_sync ~= true then
        box.error(box.error.ILLEGAL_PARAMS, 'is_sync can only be true')
    end
    return is_sync
end

function stream_methods.begin(stream, txn_opts, opts)
    check_stream(stream, 'begin')
    local timeout, level, is_sync
    if type(txn_opts) == 'table' then
        is_sync = is_sync_of(txn_opts)
        timeout, level = txn_opts.timeout, isolation_of(txn_opts.txn_isolation)
        if timeout ~= nil and (type(timeout) ~= 'number' or timeout <= 0) then
            box.error(box.error.ILLEGAL_PARAMS, 'timeout must be a number greater than 0')
        end
    elseif txn_opts ~= nil then
        box.error(box.error.ILLEGAL_PARAMS, 'options should be a table')
    end
    stream:_request(method.begin, opts, 0, stream._stream_id, timeout, level,
                    is_sync)
end

function stream_methods.commit(stream, txn_opts, opts)
    check_stream(stream, 'commit')
    if txn_opts ~= nil and type(txn_opts) ~= 'table' then
        box.error(box.error.ILLEGAL_PARAMS, 'options should be a table')
    end
    stream:_request(method.commit, opts, 0, stream._stream_id,
                    txn_opts ~= nil and is_sync_of(txn_opts) or nil)
end

function stream_methods.rollback(stream, _, opts)
    check_stream(stream, 'rollback')
    stream:_request(method.rollback, opts, 0, stream._stream_id)
end

-- A stream is the connection with a number of its own.
function remote.new_stream(conn)
    check_remote(conn, 'new_stream')
    local base = rawget(conn, '_base') or conn
    base._last_stream_id = base._last_stream_id + 1
    local id = base._last_stream_id
    return setmetatable({
        _base = base, _stream_id = id, stream_id = id, space = schema.for_stream(base, id),
    }, {
        __index = function(_, name)
            return stream_methods[name] or base[name]
        end,
        __serialize = function(stream)
            local out = serialize(base)
            out.stream_id = stream._stream_id
            return out
        end,
        __metatable = false,
    })
end

end
