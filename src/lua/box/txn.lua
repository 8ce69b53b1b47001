-- SPDX-License-Identifier: BSD-2-Clause
-- Transactions: the half of txn.c that scripts call. Functions reached by FFI
-- neither yield nor run Lua; what does goes through the C API (module tarn.txn).
local ffi = require('ffi')
local c = require('tarn.txn')
local api = require('tarn.box.api')

ffi.cdef[[
    bool box_txn(void);
    int box_txn_begin(void);
    int64_t box_txn_id(void);
    bool tarn_txn_commit_trivial(void);
    int64_t tarn_txn_savepoint(void);
]]
local C = ffi.C

function api.begin()
    if C.box_txn_begin() ~= 0 then
        c.throw()
    end
end

-- A function with arguments that are dropped: the reference ignores them, too.
function api.commit()
    if not C.tarn_txn_commit_trivial() then
        c.commit()
    end
end

function api.rollback()
    c.rollback()
end

api.is_in_txn = C.box_txn

function api.savepoint()
    local id = C.tarn_txn_savepoint()
    if id == -1 then
        c.throw()
    end
    return {csavepoint = id, txn_id = C.box_txn_id()}
end

local int64_t = ffi.typeof('int64_t')

function api.rollback_to_savepoint(savepoint)
    if type(savepoint) ~= 'table' or not ffi.istype(int64_t, savepoint.csavepoint) or
       not ffi.istype(int64_t, savepoint.txn_id) then
        error('Usage: box.rollback_to_savepoint(savepoint)', 2)
    end
    c.rollback_to_savepoint(tonumber(savepoint.txn_id), tonumber(savepoint.csavepoint))
end

local function atomic_end(ok, ...)
    if not ok then
        c.rollback()
        error((...), 0)
    end
    c.commit()
    return ...
end

function api.atomic(f, ...)
    api.begin()
    return atomic_end(pcall(f, ...))
end

api.on_commit = c.on_commit
api.on_rollback = c.on_rollback
