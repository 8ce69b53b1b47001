-- SPDX-License-Identifier: BSD-2-Clause
-- The module `merger`: ordered streams of tuples made into one.
--
-- A source is a table with a function `next` that gives the next tuple, or nil at the
-- end. A merger is a source over others: a heap of those that are not at their end, each
-- with its tuple that comes next.
local ffi = require('ffi')
local key_def = require('key_def')
local keys = require('tarn.key_def')
local internal = require('tarn.merger')

ffi.cdef[[
/* Neither yield nor run Lua. */
int tarn_key_def_compare(const struct tarn_key_def *key, const struct lua_tuple *a,
			 const struct lua_tuple *b);
struct tarn_key_format *tarn_key_def_format(const struct tarn_key_def *key);
void tarn_format_release(struct tarn_key_format *format);
int tarn_format_check(struct tarn_key_format *format, const struct lua_tuple *t);
]]

local C = ffi.C
local to_tuple = keys.to_tuple
local is_buffer, read_head, read_tuple = internal.is_buffer, internal.read_head, internal.read_tuple
local key_def_t = ffi.typeof('struct tarn_key_def')

local M = {}
local source_mt = {}

local function is_source(value)
    return type(value) == 'table' and getmetatable(value) == source_mt
end

local function new_source(next_tuple)
    return setmetatable({next = next_tuple}, source_mt)
end

-- Chunks and their tuples ------------------------------------------------------

-- Functions that give a table's tuples, or a buffer's, one after the other.
local function table_reader(list)
    local i = 0
    return function()
        i = i + 1
        local value = list[i]
        if value ~= nil then
            return to_tuple(value)
        end
    end
end

local function buffer_reader(buffer)
    local left = read_head(buffer)
    return function()
        if left > 0 then
            left = left - 1
            return read_tuple(buffer)
        end
    end
end

-- The next state and value of an iterator; `what` is what the value should be.
local function step(what, is_good, ...)
    local state, value = ...
    if state == nil then
        return nil
    elseif select('#', ...) ~= 2 then
        keys.raise_illegal(('Expected <state>, <%s>, got %d return values')
                           :format(what, select('#', ...)))
    elseif not is_good(value) then
        keys.raise_illegal(('Expected <state>, <%s>'):format(what))
    end
    return state, value
end

-- The tuples of all chunks that an iterator gives.
local function chunk_source(gen, param, state, what, is_good, new_reader)
    local reader
    return new_source(function()
        while true do
            local tuple = reader and reader()
            if tuple then
                return tuple
            end
            local chunk
            state, chunk = step(what, is_good, gen(param, state))
            if state == nil then
                gen = function() end
                return nil
            end
            reader = new_reader(chunk)
        end
    end)
end

local function is_callable(value)
    if type(value) == 'function' then
        return true
    end
    local mt = type(value) ~= 'cdata' and debug.getmetatable(value)
    return type(mt) == 'table' and mt.__call ~= nil
end

local function check_iterator(name, ...)
    local count = select('#', ...)
    if count < 1 or count > 3 or not is_callable((...)) then
        error(('Usage: merger.%s(gen, param, state)'):format(name), 0)
    end
end

local function is_table(value)
    return type(value) == 'table'
end

function M.new_table_source(...)
    check_iterator('new_table_source', ...)
    local gen, param, state = ...
    return chunk_source(gen, param, state, 'table', is_table, table_reader)
end

function M.new_buffer_source(...)
    check_iterator('new_buffer_source', ...)
    local gen, param, state = ...
    return chunk_source(gen, param, state, 'buffer', is_buffer, buffer_reader)
end

local function anything()
    return true
end

function M.new_tuple_source(...)
    check_iterator('new_tuple_source', ...)
    local gen, param, state = ...
    return new_source(function()
        local value
        state, value = step('tuple', anything, gen(param, state))
        if state == nil then
            gen = function() end
            return nil
        end
        return to_tuple(value)
    end)
end

function M.new_source_fromtable(...)
    local list = ...
    if type(list) ~= 'table' then
        error('Usage: merger.new_source_fromtable(<table>)', 0)
    end
    return new_source(table_reader(list))
end

function M.new_source_frombuffer(...)
    local buffer = ...
    if not is_buffer(buffer) then
        error('Usage: merger.new_source_frombuffer(<cdata<struct ibuf>>)', 0)
    end
    local reader
    return new_source(function()
        reader = reader or buffer_reader(buffer)
        return reader()
    end)
end

-- Merging ---------------------------------------------------------------------------

-- A binary heap of {source, tuple}. Of equal tuples that of the source that has waited
-- longer comes first.
local function new_heap(less)
    local heap, count = {}, 0

    local function sift_up(i)
        local node = heap[i]
        while i > 1 do
            local parent = math.floor(i / 2)
            if not less(node.tuple, heap[parent].tuple) then
                break
            end
            heap[i] = heap[parent]
            i = parent
        end
        heap[i] = node
    end

    local function sift_down()
        local node, i = heap[1], 1
        while 2 * i <= count do
            local child = 2 * i
            if child < count and less(heap[child + 1].tuple, heap[child].tuple) then
                child = child + 1
            end
            if less(node.tuple, heap[child].tuple) then
                break
            end
            heap[i] = heap[child]
            i = child
        end
        heap[i] = node
    end

    local self = {}

    function self.push(node)
        count = count + 1
        heap[count] = node
        sift_up(count)
    end

    function self.top()
        return heap[1]
    end

    -- The top has another tuple now (nil: is at its end).
    function self.update()
        if heap[1].tuple == nil then
            heap[1] = heap[count]
            heap[count] = nil
            count = count - 1
        end
        if count > 1 then
            sift_down()
        end
    end
    return self
end

local NEW_USAGE = 'use: merger.new(key_def, {source, source, ...}[, {reverse = <boolean> or <nil>}])'

local function check_new(...)
    local key, sources, options = ...
    local count = select('#', ...)
    if count < 2 or count > 3 or not ffi.istype(key_def_t, key) or type(sources) ~= 'table' or
       (type(options) ~= 'nil' and type(options) ~= 'table') then
        error('Bad params, ' .. NEW_USAGE, 0)
    end
    local reverse = options and options.reverse
    if type(reverse) ~= 'nil' and type(reverse) ~= 'boolean' then
        error('Bad param "reverse", ' .. NEW_USAGE, 0)
    end
    for _, source in ipairs(sources) do
        if not is_source(source) then
            error('expected cdata as 3 argument', 0)
        end
    end
    return key, sources, reverse
end

local function new_less(key, reverse)
    local compare = C.tarn_key_def_compare
    if reverse then
        return function(a, b)
            return compare(key, a, b) > 0
        end
    end
    return function(a, b)
        return compare(key, a, b) < 0
    end
end

-- Gives a source's tuples, each of which must have the key.
local function new_fetch(key)
    local format = C.tarn_key_def_format(key)
    if format == nil then
        keys.raise()
    end
    ffi.gc(format, C.tarn_format_release)
    return function(source)
        local tuple = source.next()
        if tuple and C.tarn_format_check(format, tuple) ~= 0 then
            keys.raise()
        end
        return tuple
    end
end

function M.new(...)
    local key, sources, reverse = check_new(...)
    local list = {}
    for i, source in ipairs(sources) do
        list[i] = source
    end
    local fetch, heap, is_started = new_fetch(key), new_heap(new_less(key, reverse)), false
    return new_source(function()
        if not is_started then
            is_started = true
            for _, source in ipairs(list) do
                local tuple = fetch(source)
                if tuple then
                    heap.push({source = source, tuple = tuple})
                end
            end
        end
        local node = heap.top()
        if node == nil then
            return nil
        end
        local tuple = node.tuple
        node.tuple = fetch(node.source)
        heap.update()
        return tuple
    end)
end

-- Methods -------------------------------------------------------------------------------

local SELECT_USAGE = 'use: merge_source:select([{buffer = <cdata<struct ibuf>> or <nil>, ' ..
    'limit = <number> or <nil>}])'

local function check_select(...)
    local self, options = ...
    local count = select('#', ...)
    if count < 1 or count > 2 or (type(options) ~= 'nil' and type(options) ~= 'table') then
        error('Bad params, ' .. SELECT_USAGE, 3)
    elseif not is_source(self) then
        error('expected cdata as 1 argument', 0)
    elseif options == nil then
        return
    elseif type(options.buffer) ~= 'nil' and not is_buffer(options.buffer) then
        error('Bad param "buffer", ' .. SELECT_USAGE, 3)
    elseif type(options.limit) ~= 'nil' and type(options.limit) ~= 'number' then
        error('Bad param "limit", ' .. SELECT_USAGE, 3)
    end
    local limit = options.limit
    return options.buffer, limit and limit >= 0 and limit or nil
end

local function source_select(...)
    local buffer, limit = check_select(...)
    local next_tuple, list, count = (...).next, {}, 0
    while not limit or count < limit do
        local tuple = next_tuple()
        if not tuple then
            break
        end
        count = count + 1
        list[count] = tuple
    end
    if buffer == nil then
        return list
    end
    internal.write_tuples(buffer, list)
end

local function next_pair(source)
    local tuple = source.next()
    if tuple then
        return source, tuple
    end
end

local function source_ipairs(...)
    if select('#', ...) ~= 1 then
        error('Usage: merge_source:ipairs()', 0)
    elseif not is_source((...)) then
        error('expected cdata as 1 argument', 0)
    end
    return require('fun').wrap(next_pair, ..., ...)
end

source_mt.__index = {select = source_select, pairs = source_ipairs, ipairs = source_ipairs}
function source_mt.__tostring()
    return 'cdata<struct merge_source &>'
end

M.internal = {select = source_select, ipairs = source_ipairs}
return M
