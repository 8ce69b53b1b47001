-- SPDX-License-Identifier: BSD-2-Clause
-- Rows that compiled code makes: the walk over the table, whose values go to row.c.
local ffi = require('ffi')
local box = require('box')

ffi.cdef[[
    /* These neither yield nor run Lua. */
    uint32_t tarn_row_begin(uint32_t space_id);
    void tarn_row_array(uint32_t count);
    void tarn_row_arrays(uint32_t count);
    void tarn_row_number(double value);
    void tarn_row_string(const char *data, uint32_t len);
    void tarn_row_boolean(bool value);
    void tarn_row_nil(void);
    void tarn_row_spoil(void);
    uint32_t tarn_row_end(uint32_t ticket);
]]
local C = ffi.C
local NULL = box.NULL

local M = {}

-- All keys of a table have to be seen to know that there is no other. The walks are written
-- out, since LuaJIT ends a trace at an inner loop.
local VALUES_MAX, OPS_MAX = 10, 4

-- Takes the value behind the key `before`, which is to have the key `key`. False where there
-- is none, or the row is spoilt.
local function value(t, before, key)
    local k, v = next(t, before)
    if k == nil then
        return false
    elseif k ~= key then
        C.tarn_row_spoil()
        return false
    elseif type(v) == 'number' then
        C.tarn_row_number(v)
    elseif type(v) == 'string' then
        C.tarn_row_string(v, #v)
    elseif type(v) == 'boolean' then
        C.tarn_row_boolean(v)
    elseif rawequal(v, NULL) then
        C.tarn_row_nil()
    else
        C.tarn_row_spoil()
        return false
    end
    return true
end

-- Is it a table that may be an array of so many values?
local function is_plain(t, count_max)
    return type(t) == 'table' and #t <= count_max and getmetatable(t) == nil
end

local function array(t)
    C.tarn_row_array(#t)
    return value(t, nil, 1) and value(t, 1, 2) and value(t, 2, 3) and value(t, 3, 4) and
        value(t, 4, 5) and value(t, 5, 6) and value(t, 6, 7) and value(t, 7, 8) and
        value(t, 8, 9) and value(t, 9, 10) and value(t, 10, nil)
end

local function operation(ops, before, key)
    local k, op = next(ops, before)
    if k == nil then
        return false
    elseif k ~= key or not is_plain(op, VALUES_MAX) then
        C.tarn_row_spoil()
        return false
    end
    array(op)
    return true
end

local function operations(ops)
    C.tarn_row_arrays(#ops)
    return operation(ops, nil, 1) and operation(ops, 1, 2) and operation(ops, 2, 3) and
        operation(ops, 3, 4) and operation(ops, 4, nil)
end

-- Makes a row of a table of numbers, strings, booleans and NULL. Its ticket and size; the
-- size is 0 where it is nothing of the kind, or can't be put in this way.
function M.make(space_id, row)
    if type(space_id) ~= 'number' or not is_plain(row, VALUES_MAX) then
        return 0, 0
    end
    local ticket = C.tarn_row_begin(space_id)
    if ticket == 0 then
        return 0, 0
    end
    array(row)
    return ticket, C.tarn_row_end(ticket)
end

-- The same with the operations of an upsert behind it.
function M.make_upsert(space_id, row, ops)
    if not is_plain(ops, OPS_MAX) then
        return 0, 0
    end
    local ticket, size = M.make(space_id, row)
    if size ~= 0 then
        operations(ops)
    end
    return ticket, size
end

return M
