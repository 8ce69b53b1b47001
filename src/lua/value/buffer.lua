-- SPDX-License-Identifier: BSD-2-Clause
-- The module `buffer`: ibuf objects. `rpos` and `wpos` are fields that scripts move
-- themselves; whoever leaves the memory with them does what FFI allows to do anyway.
local ffi = require('ffi')

ffi.cdef[[
/* Neither yield nor run Lua. */
char *tarn_ibuf_reserve(struct ibuf *b, double size);
void tarn_ibuf_free(struct ibuf *b);
]]

local reserve, free = ffi.C.tarn_ibuf_reserve, ffi.C.tarn_ibuf_free
local ibuf_t = ffi.typeof('struct ibuf')
local READAHEAD = 16320

local methods = {}

local function check(buf, name)
    if not ffi.istype(ibuf_t, buf) then
        error(('Attempt to call method without object, use ibuf:%s()'):format(name), 3)
    end
end

-- The size as a number; integers of 64 bits are sizes, too.
local function check_size(size, name)
    if type(size) ~= 'number' then
        size = type(size) == 'cdata' and tonumber(size) or nil
        if size == nil then
            error(('Usage: ibuf:%s(size)'):format(name), 3)
        end
    end
    return size
end

function methods.size(buf)
    check(buf, 'size')
    return tonumber(buf.wpos - buf.rpos)
end

function methods.capacity(buf)
    check(buf, 'capacity')
    return tonumber(buf.epos - buf.buf)
end

function methods.unused(buf)
    check(buf, 'unused')
    return tonumber(buf.epos - buf.wpos)
end

-- How much of it has been read.
function methods.pos(buf)
    check(buf, 'pos')
    return tonumber(buf.rpos - buf.buf)
end

local function checked_reserve(buf, size)
    local p = reserve(buf, size)
    if p == nil and not (size == 0 and buf.wpos == nil) then
        error('ibuf: no memory, or the size or the positions are wrong', 3)
    end
    return p
end

function methods.reserve(buf, size)
    check(buf, 'reserve')
    size = check_size(size, 'reserve')
    return checked_reserve(buf, size)
end

function methods.alloc(buf, size)
    check(buf, 'alloc')
    size = check_size(size, 'alloc')
    local p = checked_reserve(buf, size)
    buf.wpos = buf.wpos + size
    return p
end

local function check_left(buf, size)
    if not (size >= 0 and buf.rpos + size <= buf.wpos) then
        error(('Attempt to read out of range bytes: needed=%d size=%d'):format(
            size, tonumber(buf.wpos - buf.rpos)), 3)
    end
end

function methods.checksize(buf, size)
    check(buf, 'checksize')
    size = check_size(size, 'checksize')
    check_left(buf, size)
    return buf.rpos
end

function methods.read(buf, size)
    check(buf, 'read')
    size = check_size(size, 'read')
    check_left(buf, size)
    local p = buf.rpos
    buf.rpos = p + size
    return p
end

-- Forgets the data.
function methods.reset(buf)
    check(buf, 'reset')
    buf.rpos = buf.buf
    buf.wpos = buf.buf
end

-- The same, and gives the memory back.
function methods.recycle(buf)
    check(buf, 'recycle')
    free(buf)
end

local function serialize(buf)
    return {
        rpos = tostring(buf.rpos), wpos = tostring(buf.wpos), size = methods.size(buf),
    }
end

methods.__serialize = serialize

ffi.metatype(ibuf_t, {
    __index = methods,
    __gc = free,
    __tostring = function() return '<ibuf>' end,
    __serialize = serialize,
})

local function ibuf(size)
    if size ~= nil and type(size) ~= 'number' then
        error('Usage: ibuf([size])', 2)
    end
    local buf = ibuf_t()
    if size == nil or not (size > 0 and size < 2 ^ 46) then
        size = READAHEAD
    end
    buf.start_capacity = size
    return buf
end

return {ibuf = ibuf, READAHEAD = READAHEAD}
