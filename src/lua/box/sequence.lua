-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.sequence and box.sequence. A sequence is a row of _sequence; its object
-- in box.sequence is brought up to date from that row by a trigger of the space.
local ffi = require('ffi')
local util = require('tarn.box.util')
local c = require('tarn.sequence')
local box = require('box')
local api = require('tarn.box.api')

local check_param = util.check_param
local M = {}
util.schema.sequence = M

local sequences = {}
api.sequence = sequences

local sequence_mt = {}
sequence_mt.__index = sequence_mt

local INT64_MAX, INT64_MIN = 9223372036854775807LL, -9223372036854775807LL - 1

-- 1 and 1ULL alike as a number where it is exact, else as a signed 64-bit integer.
local function as_int64(v)
    local n = tonumber(v)
    if n > -1e14 and n < 1e14 then
        return n
    end
    return ffi.cast('int64_t', v)
end

-- Objects -------------------------------------------------------------------

local objects = {}

local function fill(object, row)
    object.id, object.uid, object.name = row[1], row[2], row[3]
    object.step, object.min, object.max = as_int64(row[4]), as_int64(row[5]), as_int64(row[6])
    object.start, object.cache, object.cycle = as_int64(row[7]), row[8], row[9]
end

-- Follows a change of _sequence: the row as it is now, or nil.
function M.follow(id, row)
    local object = objects[id]
    if object ~= nil and sequences[object.name] == object then
        sequences[object.name] = nil
    end
    if row == nil then
        objects[id] = nil
        return
    end
    object = object or setmetatable({}, sequence_mt)
    fill(object, row)
    objects[id] = object
    sequences[object.name] = object
end

-- Once the data is there: the objects of what is in it, and then of every change.
function M.follow_all()
    for _, row in box.space._sequence:pairs() do
        M.follow(row[1], row)
    end
    c.follow(M.follow)
end

-- Create, alter, drop -------------------------------------------------------

local function find(name)
    if type(name) == 'string' then
        return box.space._vsequence.index.name:get{name}
    elseif type(name) ~= 'nil' then
        -- What is no number is refused there.
        return box.space._vsequence:get{name}
    end
end

-- The id of a sequence by its name or id, or an error.
function M.resolve(name)
    local row = find(name) or box.error(box.error.NO_SUCH_SEQUENCE, tostring(name))
    return row[1]
end

local OPTIONS = {
    step = 'number', min = 'number', max = 'number', start = 'number', cache = 'number',
    cycle = 'boolean',
}
local CREATE_OPTIONS = util.with_defaults({if_not_exists = 'boolean'}, OPTIONS)
local ALTER_OPTIONS = util.with_defaults({name = 'string'}, OPTIONS)

-- Options of which some are defaults that depend on the direction.
local function complete(options)
    options = util.with_defaults(options, {step = 1, cache = 0, cycle = false})
    local ascends = options.step > 0
    options.min = options.min or (ascends and 1 or INT64_MIN)
    options.max = options.max or (ascends and INT64_MAX or -1)
    options.start = options.start or (ascends and options.min or options.max)
    return options
end

local function insert(name, options)
    local o = complete(options or nil)
    return box.space._sequence:auto_increment{
        box.session.euid(), name, o.step, o.min, o.max, o.start, o.cache, o.cycle}
end

function M.create(name, options)
    check_param(name, 'name', 'string')
    util.check_options(options or nil, CREATE_OPTIONS)
    local old = find(name)
    if old ~= nil then
        if options and options.if_not_exists then
            return sequences[name], 'not created'
        end
        box.error(box.error.SEQUENCE_EXISTS, name)
    end
    insert(name, options)
    return sequences[name]
end

-- The sequence of a space, for `sequence = true` of its primary index.
function M.create_for(name)
    return insert(name, {})[1]
end

function M.alter(name, options)
    local id = M.resolve(name)
    util.check_options(options, ALTER_OPTIONS)
    if options == nil then
        return
    end
    local row = box.space._sequence:get{id}
    local o = util.with_defaults(options, {
        name = row[3], step = row[4], min = row[5], max = row[6], start = row[7],
        cache = row[8], cycle = row[9],
    })
    box.space._sequence:replace{
        id, row[2], o.name, o.step, o.min, o.max, o.start, o.cache, o.cycle}
end

-- Removes all that belongs to a sequence, rights too.
function M.drop_by_id(id)
    util.delete_rights('sequence', id)
    box.space._sequence_data:delete{id}
    box.space._sequence:delete{id}
end

function M.drop(name, options)
    util.check_options(options, {if_exists = 'boolean'})
    local row = util.to_drop(find(name), name, options, box.error.NO_SUCH_SEQUENCE)
    if row == nil then
        return
    end
    if box.space._space_sequence.index.sequence:select({row[1]}, {limit = 1})[1] ~= nil then
        box.error(box.error.DROP_SEQUENCE, row[3], 'the sequence is in use')
    end
    M.drop_by_id(row[1])
end

function M.bless(object)
    setmetatable(object, sequence_mt)
end

-- Methods -------------------------------------------------------------------

function sequence_mt.next(self)
    return c.next(self.id)
end

function sequence_mt.current(self)
    return ffi.cast('int64_t', c.current(self.id))
end

function sequence_mt.set(self, value)
    return c.set(self.id, value)
end

function sequence_mt.reset(self)
    return c.reset(self.id)
end

function sequence_mt.alter(self, options)
    return M.alter(self.name, options)
end

function sequence_mt.drop(self)
    return M.drop(self.name)
end

return M
