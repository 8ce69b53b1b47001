-- SPDX-License-Identifier: BSD-2-Clause
-- The methods of an index object, over the functions of index.c, and box.index.
local ffi = require('ffi')
local c = require('tarn.index')
local throw = require('tarn.txn').throw
local row = require('tarn.box.row')
local make_row, make_upsert = row.make, row.make_upsert
local box = require('box')

ffi.cdef[[
    int tarn_index_get_number(uint32_t space_id, uint32_t index_id, double key,
                              struct lua_tuple *out, uint32_t size);
    int tarn_index_get_string(uint32_t space_id, uint32_t index_id, const char *key, uint32_t len,
                              struct lua_tuple *out, uint32_t size);
    int tarn_index_next(void *state, struct lua_tuple *out, uint32_t size);
    int64_t db_index_len(uint32_t space_id, uint32_t index_id);
    int tarn_row_upsert(uint32_t ticket, uint32_t space_id, uint32_t size);
    int tarn_row_put(uint32_t ticket, uint32_t type, uint32_t space_id, struct lua_tuple *out);
]]
local C = ffi.C

-- box.index: the kinds of iterators by name; numbers are the protocol's.
local iterators = {
    EQ = 0, REQ = 1, ALL = 2, LT = 3, LE = 4, GE = 5, GT = 6,
    BITS_ALL_SET = 7, BITS_ANY_SET = 8, BITS_ALL_NOT_SET = 9,
    OVERLAPS = 10, NEIGHBOR = 11, NP = 12, PP = 13,
}
box.index = iterators

local M = {}

-- The number of the iterator that options ask for. `opts` may be its name.
local function iterator_type(opts, is_empty_key)
    local name
    if type(opts) == 'string' then
        name = opts
    elseif not opts or opts == nil or not opts.iterator then
        return is_empty_key and iterators.ALL or iterators.EQ
    else
        name = opts.iterator
    end
    if type(name) == 'number' then
        if not (name < 2 ^ 32) then
            box.error(box.error.ILLEGAL_PARAMS, 'Invalid iterator type')
        end
        return name
    end
    local number = type(name) == 'string' and (iterators[name] or iterators[name:upper()])
    if not number then
        box.error(box.error.ITERATOR_TYPE, tostring(name))
    end
    return number
end

local function is_empty(key)
    return key == nil or type(key) == 'table' and next(key) == nil
end

local LIMIT_MAX = 4294967295

-- iterator, offset, limit of a select.
local function select_options(key, opts)
    local iterator = iterator_type(opts, is_empty(key))
    local offset, limit
    if opts ~= nil and type(opts) ~= 'string' then
        offset, limit = opts.offset, opts.limit
    end
    return iterator, offset ~= nil and offset or 0, limit ~= nil and limit or LIMIT_MAX
end

-- What a scan begins behind; nil: it begins at the beginning.
local function after_option(opts)
    local after
    if opts and opts ~= nil and type(opts) ~= 'string' then
        after = opts.after
    end
    return after ~= nil and after ~= '' and after or nil
end

function M.select(space_id, index_id, key, opts)
    if type(opts) == 'table' and (opts.after ~= nil or opts.fetch_pos) then
        local iterator, offset, limit = select_options(key, opts)
        return c.select(space_id, index_id, key, iterator, offset, limit, after_option(opts),
                        opts.fetch_pos and true or false)
    end
    return c.select(space_id, index_id, key, select_options(key, opts))
end

-- The generator, its parameter and its first state; in a `fun` iterator where
-- that module is there.
local fun_wrap
local function wrap(gen, param, state)
    if fun_wrap == nil then
        local ok, fun = pcall(require, 'fun')
        fun_wrap = ok and fun.wrap or false
    end
    if fun_wrap then
        return fun_wrap(gen, param, state)
    end
    return gen, param, state
end
M.wrap = wrap

function M.count(space_id, index_id, key, opts)
    return c.count(space_id, index_id, key, iterator_type(opts, is_empty(key)))
end

-- C copies a tuple into a cdata made before, so that compiled code makes it, not a call
-- from C to Lua. How large it is to be, is learned by space: like the last tuple.
local tuple_t = ffi.typeof('struct lua_tuple')
local FOUND, NONE, FAILED = 0, 1, -1
local STRING_MAX, SIZE_MIN, SIZE_MAX = 256, 16, 1024
local sizes = {}

-- A tuple had `bsize` bytes where there was room for `size`: too few, or far too many.
local function learn(space_id, bsize, size)
    if bsize <= SIZE_MAX and (bsize > size or bsize + 64 < size) then
        sizes[space_id] = bsize
    end
end

-- One cdata that was not needed, for the next read.
local spare, spare_size

local function take(size)
    local tuple = spare
    if tuple ~= nil and spare_size == size then
        spare = nil
        return tuple
    end
    return tuple_t(size)
end

local function give(tuple, size)
    spare, spare_size = tuple, size
end

-- What a change gave back: `room` filled in, or a tuple that did not fit into it, from
-- which is learned how large those of the space are; or nothing.
local function changed(space_id, room, size, tuple)
    if not rawequal(tuple, room) then
        give(room, size)
        if not tuple then
            return
        end
    end
    learn(space_id, tuple.__size, size)
    return tuple
end

-- What the functions of row.c return; else there is an error.
local DONE, OTHER_WAY = 0, 1

-- The tuple that was put; nothing where that has to go through the C interface (row.c).
local function put_plain(kind, space_id, value)
    local ticket, size = make_row(space_id, value)
    if size == 0 then
        return
    end
    local room = take(size)
    local rc = C.tarn_row_put(ticket, kind, space_id, room)
    if rc == DONE then
        return room
    end
    give(room, size)
    if rc ~= OTHER_WAY then
        throw()
    end
end

-- `kind` is the request's number, `change` the function for all that is not plain.
local function put(kind, change, space_id, value)
    local tuple = put_plain(kind, space_id, value)
    if tuple then
        return tuple
    end
    local size = sizes[space_id] or SIZE_MIN
    local room = take(size)
    tuple = change(space_id, value, room, size)
    return changed(space_id, room, size, tuple)
end

local INSERT, REPLACE = 2, 3

function M.insert(space_id, tuple)
    return put(INSERT, c.insert, space_id, tuple)
end

function M.replace(space_id, tuple)
    return put(REPLACE, c.replace, space_id, tuple)
end

function M.upsert(space_id, tuple, ops)
    local ticket, size = make_upsert(space_id, tuple, ops)
    local rc = size ~= 0 and C.tarn_row_upsert(ticket, space_id, size) or OTHER_WAY
    if rc == OTHER_WAY then
        c.upsert(space_id, tuple, ops)
    elseif rc ~= DONE then
        throw()
    end
end

function M.update(space_id, index_id, key, ops)
    local size = sizes[space_id] or SIZE_MIN
    local room = take(size)
    local result = c.update(space_id, index_id, key, ops, room, size)
    return changed(space_id, room, size, result)
end

function M.delete(space_id, index_id, key)
    local size = sizes[space_id] or SIZE_MIN
    local room = take(size)
    local result = c.delete(space_id, index_id, key, room, size)
    return changed(space_id, room, size, result)
end

-- {key} as key, where nothing is lost by it.
local function single(key)
    if type(key) == 'table' and #key == 1 and getmetatable(key) == nil then
        return key[1]
    end
    return key
end

function M.get(space_id, index_id, key)
    local k = single(key)
    local size = sizes[space_id] or SIZE_MIN
    local rc, tuple
    if type(k) == 'number' then
        tuple = take(size)
        rc = C.tarn_index_get_number(space_id, index_id, k, tuple, size)
    elseif type(k) == 'string' and #k <= STRING_MAX then
        tuple = take(size)
        rc = C.tarn_index_get_string(space_id, index_id, k, #k, tuple, size)
    else
        return c.get(space_id, index_id, key)
    end
    if rc == FOUND then
        learn(space_id, tuple.__size, size)
        return tuple
    end
    give(tuple, size)
    if rc == NONE then
        return
    elseif rc == FAILED then
        throw()
    end
    learn(space_id, rc, size)
    return c.get(space_id, index_id, key)
end

local SCAN_SIZE = 64

-- The generator of a scan. A tuple larger than the usual is asked for again.
local function next_tuple(_, state)
    if getmetatable(state) ~= 'index iterator' then
        error('usage: next(param, state)', 2)
    end
    local tuple = take(SCAN_SIZE)
    local rc = C.tarn_index_next(state, tuple, SCAN_SIZE)
    if rc == FOUND then
        return state, tuple
    end
    give(tuple, SCAN_SIZE)
    if rc == NONE then
        return nil
    elseif rc == FAILED then
        throw()
    elseif rc > SIZE_MAX then
        return state, c.iterator_pending(state)
    end
    tuple = tuple_t(rc)
    C.tarn_index_next(state, tuple, rc)
    return state, tuple
end

function M.pairs(space_id, index_id, key, opts)
    local iterator = iterator_type(opts, is_empty(key))
    return wrap(next_tuple, nil,
                c.iterator(space_id, index_id, key, iterator, after_option(opts)))
end

function M.len(space_id, index_id)
    local n = C.db_index_len(space_id, index_id)
    if n < 0 then
        throw()
    end
    return tonumber(n)
end

local index_mt = {}
index_mt.__index = index_mt
M.index_mt = index_mt

-- Errors point at the script's line that called the method.
local function check_self(index, method)
    if type(index) ~= 'table' or index.id == nil or index.space_id == nil then
        error(('Use index:%s(...) instead of index.%s(...)'):format(method, method), 3)
    end
end
M.check_self = check_self

function index_mt.get(index, key)
    check_self(index, 'get')
    return M.get(index.space_id, index.id, key)
end

function index_mt.select(index, key, opts)
    check_self(index, 'select')
    return M.select(index.space_id, index.id, key, opts)
end

function index_mt.pairs(index, key, opts)
    check_self(index, 'pairs')
    return M.pairs(index.space_id, index.id, key, opts)
end

function index_mt.min(index, key)
    check_self(index, 'min')
    return c.min(index.space_id, index.id, key)
end

function index_mt.max(index, key)
    check_self(index, 'max')
    return c.max(index.space_id, index.id, key)
end

function index_mt.random(index, seed)
    check_self(index, 'random')
    return c.random(index.space_id, index.id, seed ~= nil and seed or 0)
end

function index_mt.count(index, key, opts)
    check_self(index, 'count')
    return M.count(index.space_id, index.id, key, opts)
end

function index_mt.tuple_pos(index, tuple)
    check_self(index, 'tuple_pos')
    return c.tuple_pos(index.space_id, index.id, tuple)
end

function index_mt.len(index)
    check_self(index, 'len')
    return M.len(index.space_id, index.id)
end

function index_mt.bsize(index)
    check_self(index, 'bsize')
    return c.bsize(index.space_id, index.id)
end

function index_mt.update(index, key, ops)
    check_self(index, 'update')
    return M.update(index.space_id, index.id, key, ops)
end

function index_mt.delete(index, key)
    check_self(index, 'delete')
    return M.delete(index.space_id, index.id, key)
end

-- An index in memory is always compact, and keeps no statistics: as in the
-- reference, the first does nothing and the second is empty.
function index_mt.compact(index)
    check_self(index, 'compact')
end

function index_mt.stat(index)
    check_self(index, 'stat')
    return {}
end

return M
