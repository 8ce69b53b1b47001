-- SPDX-License-Identifier: BSD-2-Clause
-- What new passwords have to be like, and what is stored of them. The rules are settings of
-- box.cfg. Manual: configuration reference, "Authentication".
local c = require('tarn.user')
local util = require('tarn.box.util')
local clock = require('clock')
local box = require('box')

local M = {}

-- What box.cfg says; nil: nothing.
local function option(name)
    local cfg = rawget(box, 'cfg')
    return type(cfg) == 'table' and cfg[name] or nil
end

local function auth_type()
    return option('auth_type') or 'chap-sha1'
end

local function weak(text)
    c.refuse(box.error.ILLEGAL_PARAMS,
             "Password doesn't meet security requirements: " .. text)
end

-- The number of characters; bytes where they are no UTF-8.
local function length(password)
    return require('utf8').len(password) or #password
end

local KINDS = {
    {'password_enforce_uppercase', '[A-Z]', 'uppercase letters'},
    {'password_enforce_lowercase', '[a-z]', 'lowercase letters'},
    {'password_enforce_digits', '[0-9]', 'digits'},
    {'password_enforce_specialchars', '%p', 'special characters'},
}

-- Raises where the password is too weak.
function M.check(password)
    local min = option('password_min_length') or 0
    if length(password) < min then
        weak(('password must contain at least %d characters'):format(min))
    end
    for _, kind in ipairs(KINDS) do
        if option(kind[1]) and not password:find(kind[2]) then
            weak('password must contain ' .. kind[3])
        end
    end
end

-- What is stored of a password: {method = data}.
function M.methods(password)
    local methods = util.map({})
    if password ~= nil and auth_type() == 'pap-sha256' then
        methods['pap-sha256'] = {c.password_hash_pap(password)}
    elseif password ~= nil then
        methods['chap-sha1'] = c.password_hash(password)
    end
    return methods
end

-- Are the fields of old passwords and of the time wanted?
local function has_rules()
    return (option('password_history_length') or 0) > 0 or
           (option('password_lifetime_days') or 0) > 0
end

-- The fields of a new user's row behind that of the password.
function M.extra_fields(password)
    if password ~= nil and has_rules() then
        return {}, math.floor(clock.time())
    end
end

local function check_history(row, password, count)
    local old = {row[5], unpack(row[6] or {})}
    for i = 1, math.min(count, #old) do
        if c.password_matches(old[i], password) then
            c.refuse(box.error.ILLEGAL_PARAMS,
                     ('Password must differ from last %d passwords'):format(count))
        end
    end
    -- The present one and those before, as many as the next password is compared with.
    local kept = {}
    for i = 1, math.min(count, #old) do
        if next(old[i]) ~= nil then
            table.insert(kept, old[i])
        end
    end
    return kept
end

-- The operations that give the user of the row a new password, by the rules.
function M.change(row, password)
    M.check(password)
    local count = option('password_history_length') or 0
    local kept = check_history(row, password, count)
    local operations = {{'=', 5, M.methods(password)}}
    if has_rules() or row[6] ~= nil then
        table.insert(operations, {'=', 6, kept})
        table.insert(operations, {'=', 7, math.floor(clock.time())})
    end
    return operations
end

return M
