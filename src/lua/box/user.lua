-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.user and box.schema.role: rows of _user, and what belongs to them.
local util = require('tarn.box.util')
local priv = require('tarn.box.priv')
local c = require('tarn.user')
local password_rules = require('tarn.box.password')
local guest = require('tarn.box.guest')
local box = require('box')

local M = {}
local user, role = {}, {}
util.schema.user, util.schema.role = user, role

local GUEST, SUPER, SYSTEM_USER_MAX = 0, 31, 2

-- The row of a user or role by name or id; nil where there is none.
local function find(name)
    if type(name) == 'string' then
        return box.space._vuser.index.name:get{name}
    elseif type(name) ~= 'nil' then
        -- What is no number is refused there.
        return box.space._vuser:get{name}
    end
end

local function resolve(name, kind)
    local row = find(name)
    return row ~= nil and row[4] == kind and row[1] or nil
end

-- The id of a user by name or id, or nil.
function M.resolve_user(name)
    return resolve(name, 'user')
end

local function check_user(name)
    return resolve(name, 'user') or box.error(box.error.NO_SUCH_USER, tostring(name))
end

local function check_role(name)
    return resolve(name, 'role') or box.error(box.error.NO_SUCH_ROLE, tostring(name))
end

-- A name must be given: a look-up without one fails as the reference's does.
local function check_absent(name)
    if type(name) == 'nil' then
        box.space._vuser.index.name:get{}
    end
    return find(name)
end

-- Create --------------------------------------------------------------------

local function check_password(password)
    if type(password) ~= 'string' and #password >= 0 then
        error(("bad argument #1 to 'password_prepare' (cannot convert '%s' to 'const char *')")
              :format(type(password)), 0)
    end
end

function user.password(password)
    check_password(password)
    return c.password_hash(password)
end

-- What every user may: use what is public, change their own password, log in. The last is the
-- admin's to grant.
local function grant_basics(uid, name)
    priv.grant(uid, name, 'public')
    priv.grant(uid, name, 'alter', 'user', uid)
    util.as_admin(priv.grant, uid, name, 'session,usage', 'universe', nil, {if_not_exists = true})
end

function user.create(name, options)
    local old = check_absent(name)
    util.check_options(options or nil, {password = 'string', if_not_exists = 'boolean'})
    options = options or {}
    if old ~= nil then
        if options.if_not_exists and old[4] == 'user' then
            return
        end
        box.error(box.error.USER_EXISTS, tostring(name))
    end
    if options.password ~= nil then
        password_rules.check(options.password)
    end
    local row = box.space._user:auto_increment{
        box.session.euid(), name, 'user', password_rules.methods(options.password),
        password_rules.extra_fields(options.password)}
    grant_basics(row[1], name)
end

function role.create(name, options)
    local old = check_absent(name)
    util.check_options(options, {if_not_exists = 'boolean'})
    if old ~= nil then
        if options and options.if_not_exists and old[4] == 'role' then
            return
        end
        box.error(box.error.ROLE_EXISTS, tostring(name))
    end
    box.space._user:auto_increment{box.session.euid(), name, 'role', util.map({})}
end

function user.exists(name)
    return resolve(name, 'user') ~= nil
end

function role.exists(name)
    return resolve(name, 'role') ~= nil
end

-- Passwords -----------------------------------------------------------------

local function set_password(uid, password)
    local row = util.as_admin(box.space._user.get, box.space._user, {uid})
    box.space._user:update({uid}, password_rules.change(row, password))
end

-- passwd(password) changes the current user's, passwd(name, password) another's.
function user.passwd(name, ...)
    if name == nil then
        box.error(box.error.PROC_LUA, 'Usage: box.schema.user.passwd([user,] password)')
    end
    if (...) == nil then
        -- Their own everybody may change.
        check_password(name)
        return util.as_admin(set_password, box.session.uid(), name)
    end
    local uid = check_user(name)
    check_password((...))
    return set_password(uid, (...))
end

-- Rights --------------------------------------------------------------------

function user.grant(name, ...)
    local uid = check_user(name)
    priv.grant(uid, name, ...)
    if uid == GUEST then
        guest.check()
    end
end

function user.revoke(name, ...)
    return priv.revoke(check_user(name), name, ...)
end

function user.enable(name)
    return user.grant(name, 'session,usage', 'universe', nil, {if_not_exists = true})
end

function user.disable(name)
    return user.revoke(name, 'session,usage', 'universe', nil, {if_exists = true})
end

function user.info(name)
    return priv.info(name == nil and box.session.uid() or check_user(name))
end

-- Sessions are users'.
local function check_role_rights(privilege)
    local names = string.lower(privilege)
    if names:find('session') or names:find('usage') then
        box.error(box.error.GRANT, 'system privilege can not be granted to role')
    end
end

function role.grant(name, privilege, ...)
    local uid = check_role(name)
    check_role_rights(privilege)
    return priv.grant(uid, name, privilege, ...)
end

function role.revoke(name, privilege, ...)
    local uid = check_role(name)
    check_role_rights(privilege)
    return priv.revoke(uid, name, privilege, ...)
end

function role.info(name)
    return priv.info(check_role(name))
end

-- Drop ----------------------------------------------------------------------

-- What a user owns goes with it, save for users and roles.
local function find_owned(uid)
    return box.space._space.index.owner:select{uid}, box.space._func.index.owner:select{uid},
           box.space._sequence.index.owner:select{uid}
end

local function drop_owned(uid)
    local spaces, functions, sequences = util.as_admin(find_owned, uid)
    for _, row in ipairs(spaces) do
        util.schema.space.drop(row[1], row[3])
    end
    for _, row in ipairs(functions) do
        util.schema.func.drop(row[1])
    end
    for _, row in ipairs(sequences) do
        util.schema.sequence.drop(row[1])
    end
end

-- Rights that it was granted, and that others have on it.
local function drop_rights(uid, kind)
    local rights = box.space._priv
    for _, row in ipairs(box.space._vpriv:select{uid}) do
        rights:delete{uid, row[3], row[4]}
    end
    util.delete_rights(kind, uid)
end

-- Whoever may drop a user takes the rights that others have given; a role's are the givers'.
local function drop_rows(uid)
    drop_owned(uid)
    local row = box.space._vuser:get{uid}
    if row == nil then
        return
    elseif row[4] == 'user' then
        util.as_admin(drop_rights, uid, row[4])
    else
        drop_rights(uid, row[4])
    end
    box.space._user:delete{uid}
end

-- All of it or, where something needs the user or it is forbidden, nothing.
local function drop_id(uid)
    if not box.is_in_txn() then
        box.atomic(drop_rows, uid)
        return
    end
    local savepoint = box.savepoint()
    local ok, err = pcall(drop_rows, uid)
    if not ok then
        box.rollback_to_savepoint(savepoint)
        error(err, 0)
    end
end

local function is_system(uid)
    return uid <= SYSTEM_USER_MAX or uid == 3 or uid == SUPER
end

local function check_drop(uid, name)
    if is_system(uid) then
        box.error(box.error.DROP_USER, tostring(name), 'the user or the role is a system')
    elseif uid == box.session.uid() or uid == box.session.euid() then
        box.error(box.error.DROP_USER, tostring(name),
                  'the user is active in the current session')
    end
end

function user.drop(name, options)
    util.check_options(options, {if_exists = 'boolean'})
    local uid = util.to_drop(resolve(name, 'user'), name, options, box.error.NO_SUCH_USER)
    if uid == nil then
        return
    end
    check_drop(uid, name)
    drop_id(uid)
end

function role.drop(name, options)
    util.check_options(options, {if_exists = 'boolean'})
    local uid = util.to_drop(resolve(name, 'role'), name, options, box.error.NO_SUCH_ROLE)
    if uid == nil then
        return
    end
    check_drop(uid, name)
    drop_id(uid)
end

return M
