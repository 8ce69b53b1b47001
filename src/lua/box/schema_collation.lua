-- SPDX-License-Identifier: BSD-2-Clause
-- box.internal.collation: custom collations are made and dropped by rows of _collation.
-- Users of the reference know these functions, and the space, by their names.
local util = require('tarn.box.util')
local box = require('box')

local params = util.params

-- `if_not_exists` stands among the options, and is none of the collation.
local function create(name, kind, locale, options)
    if type(name) ~= 'string' then
        params('name (first arg) must be a string')
    elseif type(kind) ~= 'string' then
        params('type (second arg) must be a string')
    elseif type(locale) ~= 'string' then
        params('locale (third arg) must be a string')
    elseif type(options) ~= 'table' and type(options) ~= 'nil' then
        params('options (fourth arg) must be a table or nil')
    end
    local stored = util.map({})
    for k, v in pairs(options or {}) do
        stored[k] = v
    end
    util.check_options({if_not_exists = stored.if_not_exists}, {if_not_exists = 'boolean'})
    local space = box.space._collation
    if stored.if_not_exists and space.index.name:get{name} ~= nil then
        return
    end
    stored.if_not_exists = nil
    stored.strength = stored.strength or 'tertiary'
    space:auto_increment{name, box.session.euid(), kind, locale, stored}
end

local function drop(name, options)
    util.check_options(options, {if_exists = 'boolean'})
    box.space._collation.index.name:delete{name}
end

local function exists(name)
    return box.space._collation.index.name:get{name} ~= nil
end

local function id_by_name(name)
    return box.space._collation.index.name:get{name}[1]
end

box.internal = box.internal or {}
box.internal.collation = {
    create = create, drop = drop, exists = exists, id_by_name = id_by_name,
}
