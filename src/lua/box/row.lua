-- SPDX-License-Identifier: BSD-2-Clause
-- Rows that compiled code makes: the walk over the table, whose values go to row.c.
local ffi = require('ffi')
local box = require('box')

ffi.cdef[[
    /* These neither yield nor run Lua. */
    uint32_t tarn_row_begin(uint32_t space_id);
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

-- Takes the value behind the key `before`, which is to have the key `key`. False where there
-- is none, or the row is spoilt.
local function step(row, before, key)
    local k, v = next(row, before)
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

-- All keys have to be seen to know that there is no other. Written out, since LuaJIT ends a
-- trace at an inner loop.
local function walk(row)
    return step(row, nil, 1) and step(row, 1, 2) and step(row, 2, 3) and step(row, 3, 4) and
        step(row, 4, 5) and step(row, 5, 6) and step(row, 6, 7) and step(row, 7, 8) and
        step(row, 8, 9) and step(row, 9, 10) and step(row, 10, nil)
end
local FIELDS_MAX = 10

-- Makes a row of a table of numbers, strings, booleans and NULL for tarn_row_put(). Its ticket
-- and size; the size is 0 where it is nothing of the kind, or can't be put in this way.
function M.plain(space_id, row)
    if type(row) ~= 'table' or #row > FIELDS_MAX or getmetatable(row) ~= nil then
        return 0, 0
    end
    local ticket = C.tarn_row_begin(space_id)
    if ticket == 0 then
        return 0, 0
    end
    walk(row)
    return ticket, C.tarn_row_end(ticket)
end

return M
