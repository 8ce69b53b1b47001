-- SPDX-License-Identifier: BSD-2-Clause
-- box.iproto: the numbers of the protocol, and packets and requests for those who speak it
-- themselves. Manual: submodule box.iproto.
local c = require('tarn.iproto')
local msgpack = require('msgpack')
local digest = require('digest')
local uuid = require('uuid')
local box = require('box')

local M = {GREETING_SIZE = 128, GREETING_PROTOCOL_LEN_MAX = 32, GREETING_SALT_LEN_MAX = 44}

M.key = {
    REQUEST_TYPE = 0x00, SYNC = 0x01, REPLICA_ID = 0x02, LSN = 0x03, TIMESTAMP = 0x04,
    SCHEMA_VERSION = 0x05, SERVER_VERSION = 0x06, GROUP_ID = 0x07, TSN = 0x08, FLAGS = 0x09,
    STREAM_ID = 0x0a, SPACE_ID = 0x10, INDEX_ID = 0x11, LIMIT = 0x12, OFFSET = 0x13,
    ITERATOR = 0x14, INDEX_BASE = 0x15, FETCH_POSITION = 0x1f, KEY = 0x20, TUPLE = 0x21,
    FUNCTION_NAME = 0x22, USER_NAME = 0x23, INSTANCE_UUID = 0x24, REPLICASET_UUID = 0x25,
    VCLOCK = 0x26, EXPR = 0x27, OPS = 0x28, BALLOT = 0x29, TUPLE_META = 0x2a, OPTIONS = 0x2b,
    OLD_TUPLE = 0x2c, NEW_TUPLE = 0x2d, AFTER_POSITION = 0x2e, AFTER_TUPLE = 0x2f, DATA = 0x30,
    ERROR_24 = 0x31, METADATA = 0x32, BIND_METADATA = 0x33, BIND_COUNT = 0x34, POSITION = 0x35,
    SQL_TEXT = 0x40, SQL_BIND = 0x41, SQL_INFO = 0x42, STMT_ID = 0x43, REPLICA_ANON = 0x50,
    ID_FILTER = 0x51, ERROR = 0x52, TERM = 0x53, VERSION = 0x54, FEATURES = 0x55,
    TIMEOUT = 0x56, EVENT_KEY = 0x57, EVENT_DATA = 0x58, TXN_ISOLATION = 0x59,
    VCLOCK_SYNC = 0x5a, AUTH_TYPE = 0x5b, REPLICASET_NAME = 0x5c, INSTANCE_NAME = 0x5d,
    SPACE_NAME = 0x5e, INDEX_NAME = 0x5f, TUPLE_FORMATS = 0x60, IS_SYNC = 0x61,
}
M.type = {
    OK = 0, SELECT = 1, INSERT = 2, REPLACE = 3, UPDATE = 4, DELETE = 5, CALL_16 = 6, AUTH = 7,
    EVAL = 8, UPSERT = 9, CALL = 10, EXECUTE = 11, NOP = 12, PREPARE = 13, BEGIN = 14,
    COMMIT = 15, ROLLBACK = 16, INSERT_ARROW = 17, RAFT = 30, RAFT_PROMOTE = 31, RAFT_DEMOTE = 32,
    RAFT_CONFIRM = 40, RAFT_ROLLBACK = 41, PING = 64, JOIN = 65, SUBSCRIBE = 66,
    VOTE_DEPRECATED = 67, VOTE = 68, FETCH_SNAPSHOT = 69, REGISTER = 70, JOIN_META = 71,
    JOIN_SNAPSHOT = 72, ID = 73, WATCH = 74, UNWATCH = 75, EVENT = 76, WATCH_ONCE = 77,
    CHUNK = 128, TYPE_ERROR = 32768, UNKNOWN = -1,
}
M.flag = {COMMIT = 1, WAIT_SYNC = 2, WAIT_ACK = 4}
M.metadata_key = {NAME = 0, TYPE = 1, COLL = 2, IS_NULLABLE = 3, IS_AUTOINCREMENT = 4, SPAN = 5}
M.ballot_key = {
    IS_RO_CFG = 1, VCLOCK = 2, GC_VCLOCK = 3, IS_RO = 4, IS_ANON = 5, IS_BOOTED = 6,
    CAN_LEAD = 7, BOOTSTRAP_LEADER_UUID = 8, REGISTERED_REPLICA_UUIDS = 9,
    INSTANCE_NAME = 10,
}
M.raft_key = {TERM = 0, VOTE = 1, STATE = 2, VCLOCK = 3, LEADER_ID = 4, IS_LEADER_SEEN = 5}
M.feature = {
    streams = 0, transactions = 1, error_extension = 2, watchers = 3, pagination = 4,
    space_and_index_names = 5, watch_once = 6, dml_tuple_extension = 7,
    call_ret_tuple_extension = 8, call_arg_tuple_extension = 9, fetch_snapshot_cursor = 10,
    is_sync = 11, insert_arrow = 12,
}
M.protocol_version = c.version
M.protocol_features = {}
for name in pairs(M.feature) do
    M.protocol_features[name] = name ~= 'fetch_snapshot_cursor' and name ~= 'insert_arrow'
end

-- A key as a name of either case, or as a number.
local function number_of(key)
    return type(key) == 'string' and M.key[key:upper()] or key
end

-- Header or body as MessagePack: a table by names or numbers, or bytes already.
local function encode_map(map)
    if type(map) == 'string' then
        return map
    end
    local out = setmetatable({}, {__serialize = 'map'})
    for key, value in pairs(map) do
        out[number_of(key)] = value
    end
    return msgpack.encode(out)
end

local function check_packet(header, body, usage)
    if type(header) ~= 'table' and type(header) ~= 'string' or
       body ~= nil and type(body) ~= 'table' and type(body) ~= 'string' then
        box.error(box.error.ILLEGAL_PARAMS, usage)
    end
end

function M.send(sid, header, body)
    if type(sid) ~= 'number' then
        box.error(box.error.ILLEGAL_PARAMS, 'Usage: box.iproto.send(sid, header[, body])')
    end
    check_packet(header, body, 'Usage: box.iproto.send(sid, header[, body])')
    return c.send(sid, encode_map(header), body ~= nil and encode_map(body) or nil)
end

-- Handlers ------------------------------------------------------------------

-- A msgpack object whose fields can be named as the protocol's keys are.
local function named(raw)
    local object = msgpack.object_from_raw(raw)
    return setmetatable({}, {
        __index = function(_, key)
            local method = object[key]
            if type(method) == 'function' then
                return function(_, ...) return method(object, ...) end
            elseif method ~= nil then
                return method
            end
            return object[number_of(key)]
        end,
        __serialize = function() return object:decode() end,
    })
end

local handlers = {}

c.set_dispatch(function(request_type, header, body)
    local handler = handlers[request_type]
    return handler ~= nil and handler(box.session.id(), named(header), named(body)) == true
end)

local known = {}
for name, number in pairs(M.type) do
    known[number] = name ~= 'OK' and name ~= 'CHUNK' and name ~= 'TYPE_ERROR' and name ~= 'EVENT'
end

function M.override(request_type, handler)
    if type(request_type) ~= 'number' or handler ~= nil and type(handler) ~= 'function' then
        box.error(box.error.ILLEGAL_PARAMS,
                  'Usage: box.iproto.override(request_type, request_handler)')
    elseif not known[request_type] then
        box.error(box.error.ILLEGAL_PARAMS,
                  ('unexpected request type %s'):format(tostring(request_type)))
    end
    handlers[request_type] = handler
    c.override(request_type, handler ~= nil)
end

-- Bytes ---------------------------------------------------------------------

function M.encode_greeting(options)
    options = options or {}
    local salt = options.salt or digest.urandom(32)
    local first = ('Tarantool %s (%s) %s'):format(options.version or '2.6.0',
                                                  options.protocol or 'Binary',
                                                  tostring(options.uuid or uuid.new()))
    local second = digest.base64_encode(salt, {nowrap = true})
    if #first > 63 or #second > 63 then
        box.error(box.error.ILLEGAL_PARAMS, 'the greeting is too long')
    end
    return ('%-63s\n%-63s\n'):format(first, second)
end

function M.decode_greeting(text)
    if type(text) ~= 'string' then
        box.error(box.error.ILLEGAL_PARAMS, 'Usage: box.iproto.decode_greeting(string)')
    end
    local version, protocol, id = text:sub(1, 63):match('^Tarantool (%S+) %(([^)]*)%)%s*(%S*)')
    if #text < 128 or version == nil then
        box.error(box.error.PROC_LUA, 'Invalid greeting')
    end
    return {
        version = version, protocol = protocol, uuid = id ~= '' and uuid.fromstr(id) or nil,
        salt = digest.base64_decode(text:sub(65, 108)),
    }
end

function M.encode_packet(header, body)
    check_packet(header, body, 'Usage: box.iproto.encode_packet(header[, body])')
    local payload = encode_map(header) .. (body ~= nil and encode_map(body) or '')
    local size = #payload
    return string.char(0xce, bit.band(bit.rshift(size, 24), 255), bit.band(bit.rshift(size, 16), 255),
                       bit.band(bit.rshift(size, 8), 255), bit.band(size, 255)) .. payload
end

-- Bytes that the length in front takes, by its first byte.
local WIDTH = {[0xcc] = 2, [0xcd] = 3, [0xce] = 5, [0xcf] = 9}

-- header, body (or nil), the position behind; or nil and how many bytes are missing at least.
function M.decode_packet(data, pos)
    if type(data) ~= 'string' then
        box.error(box.error.ILLEGAL_PARAMS, 'Usage: box.iproto.decode_packet(string[, pos])')
    end
    pos = pos or 1
    local first = data:byte(pos)
    if first == nil then
        return nil, 1
    end
    local width = WIDTH[first] or 1
    if width == 1 and first >= 0x80 then
        box.error(box.error.INVALID_MSGPACK, 'packet length')
    elseif #data - pos + 1 < width then
        return nil, width - (#data - pos + 1)
    end
    local size = tonumber((msgpack.decode(data, pos)))
    local from = pos + width
    if #data - from + 1 < size then
        return nil, size - (#data - from + 1)
    end
    local payload = data:sub(from, from + size - 1)
    local _, next_pos = msgpack.decode(payload)
    local header = named(payload:sub(1, next_pos - 1))
    local body = next_pos <= #payload and named(payload:sub(next_pos)) or nil
    return header, body, from + size
end

box.iproto = M

return M
