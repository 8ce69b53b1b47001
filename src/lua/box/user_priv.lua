-- SPDX-License-Identifier: BSD-2-Clause
-- Privileges: their names and bits, the objects they are granted on, and the rows of
-- _priv that grant and revoke make. Used by user.lua for users and roles.
local bit = require('bit')
local util = require('tarn.box.util')
local box = require('box')

local M = {}

-- In the order in which they are shown.
local NAMES = {
    'read', 'write', 'execute', 'session', 'usage', 'create', 'drop', 'alter', 'reference',
    'trigger', 'insert', 'update', 'delete',
}
local BITS = {}
for i, name in ipairs(NAMES) do
    BITS[name] = 2 ^ (i - 1)
end

-- box.priv: the bits by letter or name, as the reference has them.
require('tarn.box.api').priv = {
    R = 1, W = 2, X = 4, S = 8, U = 16, C = 32, D = 64, A = 128, REFERENCE = 256,
    TRIGGER = 512, INSERT = 1024, UPDATE = 2048, DELETE = 4096, GRANT = 8192,
    REVOKE = 16384, ALL = 4294967295,
}

local function set_of(list)
    local set = {}
    for name in list:gmatch('%a+') do
        set[name] = true
    end
    return set
end

-- What can be granted on each type of object.
local ALLOWED = {
    universe = set_of(table.concat(NAMES, ' ')),
    space = set_of('read write execute usage create drop alter reference trigger ' ..
                   'insert update delete'),
    ['function'] = set_of('execute usage create drop'),
    sequence = set_of('read write usage create drop alter'),
    role = set_of('execute usage create drop'),
    user = set_of('create drop alter'),
    lua_eval = set_of('execute usage'),
    lua_call = set_of('execute usage'),
    sql = set_of('execute usage'),
}

-- An unsigned 32-bit number from what the bit operations give.
local function unsigned(n)
    return n < 0 and n + 2 ^ 32 or n
end

function M.union(a, b)
    return unsigned(bit.bor(a, b))
end

function M.without(a, b)
    return unsigned(bit.band(a, bit.bnot(b)))
end

function M.common(a, b)
    return unsigned(bit.band(a, b))
end

-- The bits of "read, write" (or a number as it is).
function M.bits(privilege, object_type)
    local allowed = ALLOWED[object_type] or
                    box.error(box.error.UNKNOWN_SCHEMA_OBJECT, tostring(object_type))
    if type(privilege) == 'number' then
        local all = 0
        for name in pairs(allowed) do
            all = M.union(all, BITS[name])
        end
        if not (privilege > 0) or M.common(privilege, all) ~= privilege then
            box.error(box.error.UNSUPPORTED_PRIV, object_type, tostring(privilege))
        end
        return privilege
    end
    local bits = 0
    for name in (tostring(privilege) .. ','):gmatch('([^,]*),') do
        local known = name:match('^%s*(.-)%s*$'):lower()
        if not allowed[known] then
            box.error(box.error.UNSUPPORTED_PRIV, object_type, tostring(privilege))
        end
        bits = M.union(bits, BITS[known])
    end
    return bits
end

-- "read,write" from bits.
function M.names(bits)
    local out = {}
    for _, name in ipairs(NAMES) do
        if M.common(bits, BITS[name]) ~= 0 then
            out[#out + 1] = name
        end
    end
    return table.concat(out, ',')
end

-- Objects: by type, the space that lists them and the error where one is missing.
local OBJECTS = {
    space = {'_vspace', 'NO_SUCH_SPACE'},
    ['function'] = {'_vfunc', 'NO_SUCH_FUNCTION'},
    sequence = {'_vsequence', 'NO_SUCH_SEQUENCE'},
    user = {'_vuser', 'NO_SUCH_USER', 'user'},
    role = {'_vuser', 'NO_SUCH_ROLE', 'role'},
}

-- The number that _priv has for an object; '' stands for all of the type.
function M.object_id(object_type, name)
    if name ~= nil and type(name) ~= 'string' and type(name) ~= 'number' then
        box.error(box.error.ILLEGAL_PARAMS, 'wrong object name type')
    elseif object_type == 'universe' then
        return 0
    elseif object_type == 'lua_eval' or object_type == 'sql' then
        return ''
    elseif object_type == 'lua_call' then
        return name == nil and '' or tostring(name)
    end
    local kind = OBJECTS[object_type] or
                 box.error(box.error.UNKNOWN_SCHEMA_OBJECT, object_type)
    if name == nil or name == '' then
        return ''
    end
    if object_type == 'space' and box.space[name] ~= nil then
        return box.space[name].id
    end
    local system = box.space[kind[1]]
    local row
    if type(name) == 'number' then
        local may_be = kind[3] ~= nil or name >= 0 and name < 2 ^ 32 and name % 1 == 0
        row = may_be and system:get{name} or nil
    elseif object_type == 'space' then
        -- Also of those that the user does not see.
        row = box.space[name] and {box.space[name].id} or nil
    else
        row = system.index.name:get{name}
    end
    if row == nil or kind[3] ~= nil and row[4] ~= kind[3] then
        box.error(box.error[kind[2]], tostring(name))
    end
    return row[1]
end

function M.object_name(object_type, id)
    if object_type == 'universe' or id == '' then
        return ''
    elseif type(id) == 'string' then
        return id
    end
    local kind = OBJECTS[object_type]
    local row = kind and box.space[kind[1]]:get{id}
    return row and row[3] or tostring(id)
end

-- " 'name'" behind the type in a message; the universe has no name of its own.
local function quoted(object_type, name)
    if object_type == 'universe' then
        return name ~= nil and tostring(name) or ''
    end
    return " '" .. tostring(name or '') .. "'"
end

-- The arguments of grant and revoke: without a type, the privilege is a role's name.
local function target(privilege, object_type, object_name)
    if type(object_type) == 'nil' then
        object_type, object_name, privilege = 'role', privilege, 'execute'
        if object_name == nil then
            box.space._vuser.index.name:get{object_name}
        end
    end
    return privilege, object_type, object_name
end

local function grantor_id(grantor)
    if grantor == nil then
        return box.session.euid()
    end
    -- The row without one is refused.
    return require('tarn.box.user').resolve_user(grantor) or box.NULL
end

function M.grant(uid, name, privilege, object_type, object_name, options)
    privilege, object_type, object_name = target(privilege, object_type, object_name)
    local bits = M.bits(privilege, object_type)
    local oid = M.object_id(object_type, object_name)
    options = options or {}
    local old = box.space._vpriv:get{uid, object_type, oid}
    local old_bits = old and old[5] or 0
    bits = M.union(old_bits, bits)
    if bits ~= old_bits then
        box.space._priv:replace{grantor_id(options.grantor), uid, object_type, oid, bits}
    elseif not options.if_not_exists then
        if object_type == 'role' and object_name ~= nil and privilege == 'execute' then
            box.error(box.error.ROLE_GRANTED, name, object_name)
        end
        box.error(box.error.PRIV_GRANTED, name, tostring(privilege), object_type,
                  quoted(object_type, object_name))
    end
end

local function no_grant(name, privilege, object_type, object_name)
    local shown = object_name ~= nil and tostring(object_name) or ''
    if object_type == 'role' and shown ~= '' and privilege == 'execute' then
        box.error(box.error.ROLE_NOT_GRANTED, name, object_name)
    end
    box.error(box.error.PRIV_NOT_GRANTED, name, tostring(privilege), object_type, shown)
end

function M.revoke(uid, name, privilege, object_type, object_name, options)
    privilege, object_type, object_name = target(privilege, object_type, object_name)
    local bits = M.bits(privilege, object_type)
    local oid = M.object_id(object_type, object_name)
    local old = box.space._vpriv:get{uid, object_type, oid}
    local old_bits = old and old[5] or 0
    if M.common(old_bits, bits) == 0 then
        if not (options and options.if_exists) then
            no_grant(name, privilege, object_type, object_name)
        end
        return
    end
    bits = M.without(old_bits, bits)
    if bits ~= 0 then
        box.space._priv:replace{box.session.euid(), uid, object_type, oid, bits}
    else
        box.space._priv:delete{uid, object_type, oid}
    end
end

-- {{"read,write", "space", "t"}, ...}: all that was granted to a user or role.
function M.info(uid)
    local out = {}
    for _, row in ipairs(box.space._vpriv:select{uid}) do
        out[#out + 1] = {M.names(row[5]), row[3], M.object_name(row[3], row[4])}
    end
    return out
end

return M
