-- SPDX-License-Identifier: BSD-2-Clause
-- Transactions: the half of txn.c that scripts call. Functions reached by FFI
-- neither yield nor run Lua; what does goes through the C API (module tarn.txn).
local ffi = require('ffi')
local c = require('tarn.txn')
local api = require('tarn.box.api')
local box = require('box')

local M = {}

ffi.cdef[[
    bool box_txn(void);
    int box_txn_begin(void);
    int64_t box_txn_id(void);
    bool tarn_txn_commit_trivial(void);
    int64_t tarn_txn_savepoint(void);
    bool tarn_txn_rollback_trivial(double txn_id, int64_t id);
    double tarn_txn_number(void);
]]
local C = ffi.C

-- Options ---------------------------------------------------------------------

-- Transactions run one after the other, which gives what any level asks for.
local isolation_levels = {
    default = 0, ['read-committed'] = 1, ['read-confirmed'] = 2, ['best-effort'] = 3,
    linearizable = 4,
    DEFAULT = 0, READ_COMMITTED = 1, READ_CONFIRMED = 2, BEST_EFFORT = 3, LINEARIZABLE = 4,
}
api.txn_isolation_level = setmetatable({
    default = 0, ['read-committed'] = 1, ['read-confirmed'] = 2, ['best-effort'] = 3,
    linearizable = 4,
}, {__index = isolation_levels})

local is_level = {[0] = true, true, true, true, true}
local wait_modes = {complete = 0, submit = 1, none = 2}

local function illegal(text)
    box.error(box.error.ILLEGAL_PARAMS, text)
end

-- Is it a level, by its name or number?
function M.is_isolation_level(value)
    return is_level[value] or isolation_levels[value] ~= nil
end

local checks = {
    timeout = function(value)
        if type(value) ~= 'number' or not (value > 0) then
            illegal('timeout must be a number greater than 0')
        end
    end,
    txn_isolation = function(value)
        if not M.is_isolation_level(value) then
            illegal('txn_isolation must be one of box.txn_isolation_level (keys or values)')
        end
    end,
    -- There are no other instances whose quorum could be waited for.
    is_sync = function(value)
        if value ~= true then
            illegal('is_sync can only be true')
        end
    end,
    wait = function(value)
        if wait_modes[value] == nil then
            illegal("wait must be one of 'complete', 'submit', 'none'")
        end
    end,
}

local function check_options(options, accepted)
    if type(options) ~= 'table' then
        illegal('options should be a table')
    end
    for name, value in pairs(options) do
        if not accepted[name] then
            illegal(("unexpected option '%s'"):format(tostring(name)))
        end
        checks[name](value)
    end
end

-- Begin, commit, rollback -----------------------------------------------------

local begin_options = {timeout = true, txn_isolation = true, is_sync = true}
local commit_options = {is_sync = true, wait = true}
local atomic_options = {timeout = true, txn_isolation = true, is_sync = true, wait = true}

local function begin(options)
    if C.box_txn_begin() ~= 0 then
        c.throw()
    end
    -- One with a limit of box.cfg.txn_timeout has it already: this is stronger.
    if options ~= nil and options.timeout ~= nil then
        c.set_timeout(options.timeout)
    end
end

function api.begin(options)
    if options ~= nil then
        check_options(options, begin_options)
    end
    begin(options)
end

local function commit(options)
    local wait = options ~= nil and wait_modes[options.wait] or 0
    if wait ~= 0 then
        c.commit_async(wait)
    elseif not C.tarn_txn_commit_trivial() then
        c.commit()
    end
end

function api.commit(options)
    if options ~= nil then
        check_options(options, commit_options)
    end
    commit(options)
end

function api.rollback()
    c.rollback()
end

api.is_in_txn = C.box_txn

-- The number of the fiber's transaction, nil outside of one.
function api.txn_id()
    local id = C.box_txn_id()
    return id >= 0 and tonumber(id) or nil
end

-- Savepoints --------------------------------------------------------------------

-- The transaction that had the last savepoint, and its number as users see it.
local last_number, last_id = 0, nil

function api.savepoint()
    local id = C.tarn_txn_savepoint()
    if id == -1 then
        c.throw()
    end
    local number = C.tarn_txn_number()
    if number ~= last_number then
        last_number, last_id = number, ffi.new('int64_t', number)
    end
    return {csavepoint = id, txn_id = last_id}
end

local int64_t = ffi.typeof('int64_t')

function api.rollback_to_savepoint(savepoint)
    local txn_id = type(savepoint) == 'table' and tonumber(savepoint.txn_id)
    if not txn_id or not ffi.istype(int64_t, savepoint.csavepoint) then
        error('Usage: box.rollback_to_savepoint(savepoint)', 2)
    end
    if not C.tarn_txn_rollback_trivial(txn_id, savepoint.csavepoint) then
        c.rollback_to_savepoint(txn_id, tonumber(savepoint.csavepoint))
    end
end

-- A function as a transaction ------------------------------------------------------

local function atomic_end(options, ok, ...)
    if not ok then
        c.rollback()
        error((...), 0)
    end
    commit(options)
    return ...
end

-- A table that cannot be called.
local function is_options(value)
    if type(value) ~= 'table' then
        return false
    end
    local mt = getmetatable(value)
    return type(mt) ~= 'table' or mt.__call == nil
end

local function atomic(options, f, ...)
    begin(options)
    return atomic_end(options, pcall(f, ...))
end

function api.atomic(first, ...)
    if is_options(first) then
        check_options(first, atomic_options)
        return atomic(first, ...)
    end
    return atomic(nil, first, ...)
end

api.on_commit = c.on_commit
api.on_rollback = c.on_rollback

return M
