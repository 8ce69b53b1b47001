-- SPDX-License-Identifier: BSD-2-Clause
-- Random schemas and random operations from seeds: schema.lua FIRST COUNT. Each seed makes some
-- spaces with formats and indexes of all kinds, changes rows and schema in and out of
-- transactions, and in the end shows every index and every row of _space and _index that is
-- left. What an index does not order is sorted before it is shown. Left out is what
-- docs/compatibility.md lists as different.
local check = require('check')
local draw = require('draw')
local decimal = require('decimal')

local random, chance, pick = draw.random, draw.chance, draw.pick

-- Spaces by name, as they are meant to be: {name, fields = {{name, type}}, ...}.
local spaces = {}

-- Schema ------------------------------------------------------------------------

-- Not UUIDs, which the reference does not take for scalars.
local TYPES = {'unsigned', 'string', 'integer', 'number', 'boolean', 'scalar', 'any', 'array',
               'map', 'decimal', 'double', 'varbinary'}
local KEY_TYPES = {'unsigned', 'unsigned', 'string', 'string', 'integer', 'number', 'scalar',
                   'boolean', 'decimal'}
local COLLATIONS = {'unicode', 'unicode_ci', 'binary', 'none'}

local function random_fields()
    local fields = {}
    for i = 1, 2 + random(5) do
        fields[i] = {name = 'f' .. i, type = chance(70) and pick(KEY_TYPES) or pick(TYPES)}
    end
    return fields
end

local function random_format(fields)
    local format = {}
    for i, field in ipairs(fields) do
        local f = {name = field.name, type = field.type}
        if chance(5) then
            f.type = pick(TYPES)
        end
        if i > 1 and chance(50) then
            f.is_nullable = chance(90)
        end
        if chance(10) then
            f.collation = pick(COLLATIONS)
        end
        if chance(2) then
            f.nullable_action = pick{'none', 'abort', 'nosuch'}
        end
        if chance(2) then
            f.name = pick{'f1', '', 'f' .. i}
        end
        format[i] = f
    end
    if chance(20) then
        table.remove(format)
    end
    return format
end

local function random_part(space)
    local i = 1 + random(#space.fields)
    local field = space.fields[i]
    local part = {chance(20) and field.name or i, chance(90) and field.type or pick(KEY_TYPES)}
    if chance(25) then
        part.is_nullable = true
    end
    if part[2] == 'string' and chance(20) then
        part.collation = pick(COLLATIONS)
    end
    if chance(8) then
        part[1] = i
        part.path, part[2] = pick{'a', 'a.b', '[1]', 'a[2]', '[*]', 'a[*]', '[*].b', 'a..b'},
                             pick(KEY_TYPES)
    end
    return part
end

-- A decimal and the equal double or integer, or decimal of another scale, are two keys of a HASH
-- index of the reference.
local function settle_type(options)
    for _, part in ipairs(options.type == 'hash' and options.parts or {}) do
        if part[2] == 'scalar' or part[2] == 'number' or part[2] == 'decimal' then
            options.type = 'tree'
        end
    end
    return options
end

local function random_index(space, is_primary)
    local options = {parts = {}, type = pick{'tree', 'tree', 'tree', 'hash'}}
    for i = 1, chance(65) and 1 or 1 + random(3) do
        options.parts[i] = random_part(space)
        if is_primary and chance(90) then
            options.parts[i].is_nullable = nil
        end
    end
    if chance(50) then
        options.unique = is_primary or chance(40)
    end
    if not is_primary and chance(6) then
        options = {type = 'rtree', unique = false, parts = {{1 + random(#space.fields), 'array'}}}
    elseif not is_primary and chance(6) then
        options = {type = 'bitset', unique = false,
                   parts = {{1 + random(#space.fields), pick{'unsigned', 'string'}}}}
    elseif is_primary and chance(70) then
        options = {parts = {{1, space.fields[1].type}}, type = pick{'tree', 'tree', 'hash'}}
    end
    if is_primary and chance(8) then
        options.sequence = true
    end
    return settle_type(options)
end

local function show(v)
    return check.show(v)
end

local function object(space)
    return box.space[space.name]
end

local function call(space, method, ...)
    local args, count = {...}, select('#', ...)
    local texts = {}
    for i = 1, count do
        texts[i] = show(args[i])
    end
    check.call(('%s:%s(%s)'):format(space.name, method, table.concat(texts, ', ')), function()
        local s = object(space)
        local result = s[method](s, unpack(args, 1, count))
        -- Objects of the schema show themselves in the end.
        return type(result) == 'table' and result.id and true or result
    end)
end

local BUILD_ERRORS = {
    [box.error.TUPLE_FOUND] = true, [box.error.FIELD_TYPE] = true, [box.error.FIELD_MISSING] = true,
    [box.error.MULTISTATEMENT_TRANSACTION] = true, [box.error.INDEX_PART_TYPE_MISMATCH] = true,
    [box.error.FORMAT_MISMATCH_INDEX_PART] = true, [box.error.RTREE_RECT] = true,
}

-- Of several rows that keep an index or format from being made, either program finds its own first.
local function build(name, f)
    check.call(name, function()
        local ok, e = pcall(f)
        if not ok and BUILD_ERRORS[e.code] then
            return 'refused'
        elseif not ok then
            error(e)
        end
        return true
    end)
end

local function create_index(space, name, options)
    build(('%s:create_index(%s, %s)'):format(space.name, name, show(options)), function()
        object(space):create_index(name, options)
    end)
end

local function index_of(space)
    local s, names = object(space), {}
    for key, index in pairs(s and s.index or {}) do
        if type(key) == 'string' then
            names[#names + 1] = key
        end
    end
    table.sort(names)
    return #names > 0 and s.index[pick(names)] or nil
end

local function create_space(name)
    local space = {name = name, fields = random_fields()}
    if chance(60) then
        space.fields[1].type = 'unsigned'
    end
    spaces[#spaces + 1] = space
    local options = {}
    if chance(70) then
        options.format = random_format(space.fields)
    end
    if chance(10) then
        options.field_count = random(8)
    end
    if chance(10) then
        options.temporary = true
    end
    check.call('create ' .. name .. ' ' .. show(options), function()
        return box.schema.space.create(name, options).name
    end)
    if object(space) == nil then
        check.call('create ' .. name, function()
            return box.schema.space.create(name).name
        end)
    end
    create_index(space, 'pk', random_index(space, true))
    for i = 1, random(4) do
        create_index(space, 'i' .. i, random_index(space, false))
    end
end

-- Values ------------------------------------------------------------------------

local VALUES = {}

function VALUES.unsigned()
    return chance(94) and random(12) or pick{2 ^ 53, 2ULL ^ 63, 18446744073709551615ULL, 255, 256,
                                             65536, 4294967296}
end

function VALUES.integer()
    return chance(94) and random(14) - 7 or pick{-2 ^ 53, -9223372036854775808LL, -129, 2ULL ^ 63}
end

function VALUES.number()
    return chance(60) and VALUES.integer() or random(20) / 4 - 2
end

function VALUES.double()
    return random(20) / 8 + 0.0625
end

function VALUES.decimal()
    return decimal.new(random(20)) / 8
end

function VALUES.string()
    return chance(95) and pick{'', 'a', 'A', 'b', 'B', 'ab', 'Ab', 'ё', 'е', 'Ё', 'abc', 'z', '1', '2'}
           or ('x'):rep(random(300))
end

function VALUES.boolean()
    return chance(50)
end

function VALUES.scalar()
    return VALUES[pick{'unsigned', 'string', 'boolean', 'integer'}]()
end

function VALUES.array()
    local out = {}
    for i = 1, random(4) do
        out[i] = chance(85) and random(9) or VALUES.scalar()
    end
    return out
end

-- One key: the order of several is chance.
function VALUES.map()
    return {[pick{'a', 'b', 'c'}] = chance(50) and VALUES.scalar() or
                                    pick{{b = random(9)}, {random(9), random(9)}}}
end

function VALUES.any()
    return VALUES[pick{'scalar', 'array', 'map'}]()
end

function VALUES.varbinary()
    return chance(50) and box.NULL or 'x'
end

local function value_of(kind)
    if chance(4) then
        kind = pick(TYPES)
    elseif chance(4) then
        return box.NULL
    end
    return VALUES[kind]()
end

local function random_row(space)
    local row, count = {}, #space.fields
    if chance(15) then
        count = random(count + 2)
    end
    for i = 1, count do
        local field = space.fields[i]
        row[i] = value_of(field and field.type or 'any')
    end
    return setmetatable(row, {__serialize = 'seq'})
end

local function random_key(space, index, is_partial)
    local key = {}
    for i, part in ipairs(index and index.parts or {}) do
        if is_partial and chance(15) then
            break
        end
        local kind = part.type
        key[i] = VALUES[kind] ~= nil and value_of(kind) or value_of('any')
    end
    if chance(2) then
        table.insert(key, value_of('scalar'))
    end
    return key
end

local function random_target(space, depth)
    local i = 1 + random(#space.fields)
    if chance(15) then
        i = -random(#space.fields + 1)
    elseif chance(25) then
        return space.fields[i].name
    elseif chance(15) then
        return pick{'[%d]', 'f%d', '[%d].a', 'f%d.a', 'f%d[1]', '[%d].a[1]', 'f%d.a.b', 'f%d[2].x',
                    '[%d]['}:format(i)
    elseif chance(4) then
        return pick{0, 'nosuch', #space.fields + 2, -20, ''}
    end
    return i
end

local function random_op(space)
    local op = pick{'=', '=', '=', '+', '-', '+', '&', '|', '^', '!', '#', ':', '=', '+'}
    local target = random_target(space)
    if op == ':' then
        return {op, target, random(6) - 2, random(4), pick{'', 'x', 'yz'}}
    elseif op == '#' then
        return {op, target, chance(90) and 1 + random(2) or pick{0, -1, 'x'}}
    elseif op == '+' or op == '-' then
        return {op, target, chance(85) and random(6) or VALUES[pick{'number', 'decimal', 'string'}]()}
    elseif op == '&' or op == '|' or op == '^' then
        return {op, target, chance(92) and random(16) or VALUES.scalar()}
    end
    local field = type(target) == 'number' and space.fields[target]
    return {op, target, value_of(field and field.type or 'any')}
end

-- Which field a path begins with: 'f2.a' and '[2].a' say 2; nil for what is no path.
local function path_field(target)
    return type(target) == 'string' and tonumber(target:match('^f(%d+)[.[]') or target:match('^%[(%d+)%]'))
end

-- Does the operation concern the field as a whole? Perhaps, if it moves fields or counts from the end.
local function touches(op, field)
    local target = op[2]
    if type(target) ~= 'number' then
        local other = path_field(target) or tonumber(tostring(target):match('^f(%d+)$'))
        return other == field
    end
    return target < 0 or target == field or op[1] == '!' or op[1] == '#'
end

-- The reference mistakes what is in a field for something else, and may die, where another
-- operation of the same update has changed that field: such paths are left out.
local function drop_mixed_paths(ops)
    for i = #ops, 1, -1 do
        local field = type(ops[i]) == 'table' and path_field(ops[i][2])
        for j = 1, field and #ops or 0 do
            if j ~= i and type(ops[j]) == 'table' and touches(ops[j], field) then
                table.remove(ops, i)
                break
            end
        end
    end
end

local function random_ops(space)
    local ops = setmetatable({}, {__serialize = 'seq'})
    for i = 1, chance(75) and 1 or random(4) do
        ops[i] = random_op(space)
    end
    if chance(1) then
        ops[1] = pick{{'?', 1, 1}, {'='}, 5, {'=', 2}, {1, 1, 1}}
    end
    drop_mixed_paths(ops)
    return ops
end

-- Operations --------------------------------------------------------------------

local ITERATORS = {'EQ', 'REQ', 'ALL', 'LT', 'LE', 'GE', 'GT', 'EQ', 'GE'}
local SPATIAL = {'EQ', 'ALL', 'OVERLAPS', 'GE', 'LT', 'LE', 'GT'}
local BITS = {'EQ', 'ALL', 'BITS_ALL_SET', 'BITS_ANY_SET', 'BITS_ALL_NOT_SET'}

-- The rows as text, in order.
local function rows_of(rows, is_ordered)
    local out = {}
    for i, row in ipairs(rows) do
        out[i] = show(row)
    end
    if not is_ordered then
        table.sort(out)
    end
    return table.concat(out, ' ')
end

local function select(space, index)
    local options = {iterator = pick(ITERATORS)}
    local key = random_key(space, index, true)
    if index.type == 'RTREE' then
        options.iterator = pick(SPATIAL)
        key = {{random(8), random(8), random(8), random(8)}}
    elseif index.type == 'BITSET' then
        options.iterator = pick(BITS)
        key = {random(16)}
    elseif index.type == 'TREE' and chance(20) then
        options.limit, options.offset = random(5), random(3)
    elseif index.type == 'HASH' then
        options.iterator = pick{'EQ', 'EQ', 'ALL', 'REQ', 'LE'}
    end
    local is_ordered = index.type == 'TREE'
    local name = ('%s.%s %s %s'):format(space.name, index.name, show(key), show(options))
    check.call('select ' .. name, function()
        return rows_of(index:select(key, options), is_ordered)
    end)
    options.limit, options.offset = nil, nil
    if chance(30) then
        check.call('count ' .. name, function() return index:count(key, options) end)
    end
end

local OPERATIONS = {}

function OPERATIONS.insert(space)
    call(space, 'insert', random_row(space))
end

function OPERATIONS.replace(space)
    call(space, 'replace', random_row(space))
end

function OPERATIONS.upsert(space)
    call(space, 'upsert', random_row(space), random_ops(space))
end

local function by_key(method)
    return function(space)
        local index = chance(70) and object(space).index[0] or index_of(space)
        if index == nil then
            return
        end
        local args = {random_key(space, index, chance(3))}
        args[2] = method == 'update' and random_ops(space) or nil
        check.call(('%s %s.%s %s'):format(method, space.name, index.name, show(args)), function()
            return index[method](index, unpack(args))
        end)
    end
end
OPERATIONS.update = by_key('update')
OPERATIONS.delete = by_key('delete')
OPERATIONS.get = by_key('get')

function OPERATIONS.select(space)
    local index = index_of(space)
    if index ~= nil then
        select(space, index)
    end
end

function OPERATIONS.bound(space)
    local index = index_of(space)
    if index ~= nil and index.type == 'TREE' then
        local key, method = random_key(space, index, true), pick{'min', 'max'}
        check.call(('%s %s.%s %s'):format(method, space.name, index.name, show(key)), function()
            return index[method](index, chance(50) and key or nil)
        end)
    end
end

function OPERATIONS.transaction(space)
    if box.is_in_txn() then
        local what = pick{'commit', 'commit', 'rollback'}
        check.call(what, box[what])
    else
        check.call('begin', box.begin)
    end
end

local savepoint
function OPERATIONS.savepoint()
    if savepoint == nil then
        check.call('savepoint', function() savepoint = box.savepoint() end)
    else
        check.call('rollback to', function() box.rollback_to_savepoint(savepoint) end)
        savepoint = nil
    end
end

local DDL = {}

function DDL.format(space)
    local format = random_format(space.fields)
    build(('%s:format(%s)'):format(space.name, show(format)), function()
        object(space):format(format)
    end)
end

function DDL.create_index(space)
    create_index(space, 'i' .. random(6), random_index(space, false))
end

function DDL.drop_index(space)
    local index = index_of(space)
    if index ~= nil and chance(index.id == 0 and 10 or 100) then
        check.call('drop index ' .. space.name .. '.' .. index.name, function() index:drop() end)
    end
end

-- Between kinds of keys that the reference can change without harm.
local function is_plain(parts)
    for _, part in ipairs(parts) do
        if part.path ~= nil then
            return false
        end
    end
    return true
end

local function has_nullable(parts)
    for _, part in ipairs(parts) do
        if part.is_nullable then
            return true
        end
    end
    return false
end

-- Does the reference keep an order that does not hold, or need not be kept? A nullable key may get
-- or lose parts unseen, and a HASH index hashes by the types that it had.
local function is_mistaken(index, options)
    return #options.parts ~= #index.parts and (has_nullable(index.parts) or has_nullable(options.parts))
           or index.type == 'HASH' and options.type == 'hash'
end

function DDL.alter_index(space)
    local index = index_of(space)
    if index == nil or index.sequence_id ~= nil then
        return
    end
    local options = random_index(space, index.id == 0)
    options.sequence = nil
    if not is_plain(index.parts) or not is_plain(options.parts) then
        options = {unique = chance(50)}
    elseif is_mistaken(index, options) then
        options.parts = nil
    end
    build(('alter %s.%s %s'):format(space.name, index.name, show(options)), function()
        index:alter(options)
    end)
end

function DDL.rename_index(space)
    local index = index_of(space)
    if index ~= nil then
        local name = pick{'i1', 'i2', 'renamed', ''}
        check.call(('rename %s.%s %s'):format(space.name, index.name, name), function()
            index:rename(name)
        end)
    end
end

function DDL.truncate(space)
    call(space, 'truncate')
end

local FREQUENT = {'insert', 'insert', 'insert', 'replace', 'replace', 'upsert', 'update', 'update',
                  'update', 'delete', 'get', 'select', 'select', 'bound'}
local DDL_NAMES = {'format', 'create_index', 'drop_index', 'alter_index', 'rename_index', 'truncate'}

local function step()
    local space = pick(spaces)
    if object(space) == nil or object(space).index[0] == nil and chance(80) then
        return
    end
    if chance(4) then
        OPERATIONS.transaction(space)
    elseif chance(2) and box.is_in_txn() then
        OPERATIONS.savepoint()
    elseif chance(4) then
        DDL[pick(DDL_NAMES)](space)
    else
        OPERATIONS[pick(FREQUENT)](space)
    end
end

-- The end -----------------------------------------------------------------------

local function show_space(space)
    local s = object(space)
    if s == nil then
        return
    end
    local row = box.space._space:get(s.id)
    check.values('space ' .. space.name, row[3], row[4], row[5], row[6], row[7])
    for _, index in ipairs(box.space._index:select(s.id)) do
        check.values('index ' .. space.name, index[2], index[3], index[4], index[5], index[6])
        local object_ = s.index[index[3]]
        check.call('rows of ' .. index[3], function()
            return rows_of(object_:select({}, {iterator = 'ALL'}), object_.type == 'TREE')
        end)
        check.call('count', function() return object_:len(), object_:count() end)
    end
end

local function drop_space(space)
    local s = object(space)
    if s ~= nil then
        check.call('drop ' .. space.name, function() s:drop() end)
    end
end

local function run(seed)
    draw.start(seed)
    spaces, savepoint = {}, nil
    check.values('seed', seed)
    for i = 1, 1 + random(3) do
        create_space('s' .. i)
    end
    for _ = 1, 250 do
        step()
    end
    if box.is_in_txn() then
        check.call('commit', box.commit)
    end
    for _, space in ipairs(spaces) do
        show_space(space)
    end
    for _, space in ipairs(spaces) do
        drop_space(space)
    end
end

box.cfg{log_level = 0, wal_mode = 'none'}
local first, count = tonumber(arg[1]), tonumber(arg[2])
for seed = first, first + count - 1 do
    run(seed)
end
check.finish()
