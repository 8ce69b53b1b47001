-- SPDX-License-Identifier: BSD-2-Clause
--
-- Spaces and indexes of another server, as net.box shows them: made from the rows of the
-- server's views, with the methods of local ones.
local core = require('tarn.netbox')

local method = core.method

-- Numbers of the views and of their fields. Manual: "System spaces".
local VSPACE, VINDEX = 281, 289

local ITERATORS = {
    EQ = 0, REQ = 1, ALL = 2, LT = 3, LE = 4, GE = 5, GT = 6, BITS_ALL_SET = 7, BITS_ANY_SET = 8,
    BITS_ALL_NOT_SET = 9, OVERLAPS = 10, NEIGHBOR = 11,
}
local LIMIT_MAX = 0xFFFFFFFF

local schema = {VSPACE = VSPACE, VINDEX = VINDEX}

local function check_space(space, name)
    if type(space) ~= 'table' then
        error(('Use space:%s(...) instead of space.%s(...)'):format(name, name))
    end
end

local function check_index(index, name)
    if type(index) ~= 'table' then
        error(('Use index:%s(...) instead of index.%s(...)'):format(name, name))
    end
end

local function check_primary(space)
    local index = space.index and space.index[0]
    if index == nil then
        box.error(box.error.NO_SUCH_INDEX_ID, 0, space.name)
    end
    return index
end

-- The iterator of select() and its like: by number or name; else by the key.
local function iterator_of(opts, is_key_empty)
    local iterator = opts and opts.iterator
    if iterator == nil then
        return is_key_empty and ITERATORS.ALL or ITERATORS.EQ
    elseif type(iterator) == 'number' then
        iterator = math.floor(iterator)
        if iterator < 0 or iterator > ITERATORS.NEIGHBOR then
            box.error(box.error.ILLEGAL_PARAMS, 'Invalid iterator type')
        end
        return iterator
    end
    local number = type(iterator) == 'string' and ITERATORS[iterator:upper()]
    if not number then
        box.error(box.error.ITERATOR_TYPE, tostring(iterator))
    end
    return number
end

local function is_empty(key)
    return key == nil or (type(key) == 'table' and next(key) == nil)
        or (box.tuple.is(key) and #key == 0)
end

-- Numbers of 32 bits; what is no number counts as if it were not there.
local function number_or(value, default)
    value = tonumber(value)
    if value == nil then
        return default
    end
    return math.floor(value) % 2 ^ 32
end

local function no_buffer(opts, name)
    if opts ~= nil and opts.buffer ~= nil then
        error(("index:%s() doesn't support `buffer` argument"):format(name))
    end
end

-- Requests ------------------------------------------------------------------------------

-- A connection or a stream: what spaces belong to, which has _request().
local function select_from(index, key, opts, how)
    local limit, offset, after, fetch_pos = LIMIT_MAX, 0, nil, nil
    if opts ~= nil then
        limit, offset = number_or(opts.limit, LIMIT_MAX), number_or(opts.offset, 0)
        after, fetch_pos = opts.after, opts.fetch_pos
    end
    local space = index.space
    return space.connection:_request(how, opts, space._dict, space._stream_id, space.id, index.id,
                                     iterator_of(opts, is_empty(key)), offset, limit, key, after,
                                     fetch_pos)
end

local function get_from(index, key, opts)
    local space = index.space
    return space.connection:_request(method.get, opts, space._dict, space._stream_id, space.id,
                                     index.id, ITERATORS.EQ, 0, 2, key)
end

local space_methods, index_methods = {}, {}

function space_methods.select(space, key, opts)
    check_space(space, 'select')
    return select_from(check_primary(space), key, opts, method.select)
end

function space_methods.get(space, key, opts)
    check_space(space, 'get')
    no_buffer(opts, 'get')
    return get_from(check_primary(space), key, opts)
end

function space_methods.insert(space, tuple, opts)
    check_space(space, 'insert')
    return space.connection:_request(method.insert, opts, space._dict, space._stream_id,
                                     space.id, tuple)
end

function space_methods.replace(space, tuple, opts)
    check_space(space, 'replace')
    return space.connection:_request(method.replace, opts, space._dict, space._stream_id,
                                     space.id, tuple)
end

function space_methods.delete(space, key, opts)
    check_space(space, 'delete')
    return check_primary(space):delete(key, opts)
end

function space_methods.update(space, key, ops, opts)
    check_space(space, 'update')
    return check_primary(space):update(key, ops, opts)
end

function space_methods.upsert(space, tuple, ops, opts)
    check_space(space, 'upsert')
    return space.connection:_request(method.upsert, opts, 0, space._stream_id, space.id, tuple,
                                     ops)
end

function space_methods.format(space)
    return space._format
end

function index_methods.select(index, key, opts)
    check_index(index, 'select')
    return select_from(index, key, opts, method.select)
end

function index_methods.get(index, key, opts)
    check_index(index, 'get')
    no_buffer(opts, 'get')
    return get_from(index, key, opts)
end

local function first_by(index, key, opts, iterator)
    local space = index.space
    return space.connection:_request(method.first, opts, space._dict, space._stream_id, space.id,
                                     index.id, iterator, 0, 1, key)
end

function index_methods.min(index, key, opts)
    check_index(index, 'min')
    no_buffer(opts, 'min')
    return first_by(index, key, opts, ITERATORS.GE)
end

function index_methods.max(index, key, opts)
    check_index(index, 'max')
    no_buffer(opts, 'max')
    return first_by(index, key, opts, ITERATORS.LE)
end

function index_methods.count(index, key, opts)
    check_index(index, 'count')
    no_buffer(opts, 'count')
    local space = index.space
    local name = ('box.space.%s.index.%s:count'):format(space.name, index.name)
    -- The iterator is the server's to look at; other options are ours.
    local iterator = opts and opts.iterator
    return space.connection:_request(method.count, opts, 0, space._stream_id, name,
                                     {key == nil and box.NULL or key, {iterator = iterator}})
end

function index_methods.delete(index, key, opts)
    check_index(index, 'delete')
    local space = index.space
    return space.connection:_request(method.delete, opts, space._dict, space._stream_id,
                                     space.id, index.id, key)
end

function index_methods.update(index, key, ops, opts)
    check_index(index, 'update')
    local space = index.space
    return space.connection:_request(method.update, opts, space._dict, space._stream_id,
                                     space.id, index.id, key, ops)
end

local space_mt = {__index = space_methods, __metatable = false}
local index_mt = {__index = index_methods, __metatable = false}

-- The spaces of rows ---------------------------------------------------------------------

local function copy_format(format)
    local names = {}
    for i, field in ipairs(format) do
        local name = field.name or field[1]
        if type(name) ~= 'string' then
            break
        end
        names[i] = name
    end
    return format, names
end

-- Parts are arrays in old forms, {fieldno, type}, maps in the new one; numbers from 0.
local function copy_parts(parts, collations)
    local out = {}
    for i, part in ipairs(parts) do
        local fieldno = (part.field or part[1]) + 1
        local copy = {
            fieldno = fieldno, type = part.type or part[2],
            is_nullable = part.is_nullable or false,
        }
        if part.path ~= nil then
            copy.path = part.path
        end
        if part.collation ~= nil then
            copy.collation = collations[part.collation] or part.collation
        end
        out[i] = copy
    end
    return out
end

-- The tables that a connection's `space` is made of. Rows are lists, as the server sent them;
-- what cannot be understood is left out.
function schema.build(connection, space_rows, index_rows, collation_rows)
    local spaces, collations = {}, {}
    for _, row in ipairs(collation_rows) do
        collations[row[1]] = row[2]
    end
    for _, row in ipairs(space_rows) do
        local flags = type(row[6]) == 'table' and row[6] or {}
        local format, names = copy_format(type(row[7]) == 'table' and row[7] or {})
        local space = setmetatable({
            id = row[1], name = row[3], engine = row[4], field_count = row[5], enabled = true,
            index = {}, temporary = flags.temporary or false, is_sync = flags.is_sync or false,
            connection = connection, _format = format, _dict = core.dictionary(names),
        }, space_mt)
        if row[1] ~= nil and row[3] ~= nil then
            spaces[row[1]], spaces[row[3]] = space, space
        end
    end
    for _, row in ipairs(index_rows) do
        local space = spaces[row[1]]
        if space ~= nil and row[2] ~= nil and row[3] ~= nil then
            local opts = row[5]
            local index = setmetatable({
                space = space, id = row[2], name = row[3],
                type = type(row[4]) == 'string' and row[4]:upper() or row[4],
                parts = type(row[6]) == 'table' and copy_parts(row[6], collations) or {},
                unique = type(opts) == 'table' and opts.unique ~= false and opts.unique ~= 0
                    or opts == 1,
            }, index_mt)
            if type(opts) == 'table' and opts.dimension ~= nil then
                index.dimension = opts.dimension
            end
            space.index[row[2]], space.index[row[3]] = index, index
        end
    end
    return spaces
end

-- Spaces and indexes by name or number, as they are asked for: nobody knows if they are there but
-- the server.
function schema.by_name(connection)
    local function index_by_name(space)
        return setmetatable({}, {__index = function(_, name)
            if type(name) ~= 'string' and type(name) ~= 'number' then
                return nil
            end
            return setmetatable({space = space, id = name, name = name}, index_mt)
        end})
    end
    return setmetatable({}, {__index = function(_, name)
        if type(name) ~= 'string' and type(name) ~= 'number' then
            return nil
        end
        local space = setmetatable({
            connection = connection, id = name, name = name, _dict = 0,
        }, space_mt)
        space.index = index_by_name(space)
        return space
    end})
end

-- The same spaces, for a stream: made as they are asked for.
function schema.for_stream(connection, stream_id)
    local known = {}
    local function wrap_indexes(space)
        return setmetatable({}, {__index = function(list, name)
            local index = space._of.index[name]
            if index == nil then
                return nil
            end
            local copy = setmetatable({space = space}, {
                __index = function(_, k)
                    return index_methods[k] or index[k]
                end,
            })
            rawset(list, index.id, copy)
            rawset(list, index.name, copy)
            return copy
        end})
    end
    return setmetatable({}, {__index = function(_, name)
        local space = connection.space and connection.space[name]
        if space == nil then
            return nil
        end
        local copy = known[space]
        if copy == nil then
            copy = setmetatable({_stream_id = stream_id, _of = space}, {
                __index = function(_, k)
                    return space_methods[k] or space[k]
                end,
            })
            copy.index = wrap_indexes(copy)
            known[space] = copy
        end
        return copy
    end})
end

return schema
