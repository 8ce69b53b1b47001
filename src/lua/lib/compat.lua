-- SPDX-License-Identifier: BSD-2-Clause
-- The module `compat`: behaviours that later versions of the reference changed, each to
-- be chosen. Manual: module compat.
local internal = require('tarn.compat')

-- Options by name, and their names in the order they came.
local options, names = {}, {}
local VALUES = {old = true, new = true, default = true}

local function check_option(name, level)
    local option = options[name]
    if option == nil then
        error(("Invalid option %s"):format(tostring(name)), level + 1)
    end
    return option
end

local function resolve(option, value)
    return value == 'default' and option.default or value
end

local function set(name, value, level)
    local option = check_option(name, level + 1)
    if not VALUES[value] then
        error(("Invalid argument '%s' in option %s"):format(tostring(value), name), level + 1)
    end
    local result = resolve(option, value)
    if option.obsolete ~= nil and result == 'old' then
        error(('Chosen option %s is no longer available'):format(name), level + 1)
    end
    option.action(result == 'new', value)
    option.current = value
end

local function add_option(definition)
    if type(definition) ~= 'table' or type(definition.name) ~= 'string' then
        error('Usage: compat.add_option({name = <string>, default = <string>, ...})', 2)
    elseif definition.default ~= 'old' and definition.default ~= 'new' then
        error(("Invalid option %s: default must be 'old' or 'new'"):format(definition.name), 2)
    elseif type(definition.action) ~= 'function' then
        error(('Invalid option %s: action must be a function'):format(definition.name), 2)
    end
    local name = definition.name
    local known = options[name]
    if known == nil then
        table.insert(names, name)
    end
    local option = {
        default = definition.default, brief = definition.brief or '', obsolete = definition.obsolete,
        action = definition.action, current = known ~= nil and known.current or 'default',
    }
    options[name] = option
    if definition.run_action_now then
        option.action(resolve(option, option.current) == 'new')
    end
end

-- The state of all options, as a call of this module.
local function dump(mode)
    if mode ~= nil and mode ~= 'current' and not VALUES[mode] then
        error(("Invalid argument '%s'"):format(tostring(mode)), 2)
    end
    local out, longest = {}, 0
    for _, name in ipairs(names) do
        longest = math.max(longest, #name)
    end
    for _, name in ipairs(names) do
        local option = options[name]
        local value = mode or option.current
        if mode == 'current' then
            value = resolve(option, option.current)
        elseif option.obsolete ~= nil and mode == 'old' then
            value = 'new'
        end
        local note = option.obsolete ~= nil and (' -- obsolete since %s'):format(option.obsolete) or ''
        table.insert(out, ("    %s = '%s',%s\n"):format(name .. (' '):rep(longest - #name), value, note))
    end
    return "require('compat')({\n" .. table.concat(out) .. '})'
end

local function help()
    return "compat{option = 'old' | 'new' | 'default'} sets options, compat.option tells of one, " ..
           'compat.dump() makes a command of the present state'
end

-- What the console shows: the new before the old before those that were not set.
local function serialize()
    local ranks = {new = {}, old = {}, default = {}}
    for _, name in ipairs(names) do
        local option = options[name]
        if option.obsolete == nil then
            local text = option.current == 'default' and ('default (%s)'):format(option.default) or option.current
            table.insert(ranks[option.current], {[name] = text})
        end
    end
    local result = {}
    for _, rank in ipairs({ranks.new, ranks.old, ranks.default}) do
        for _, row in ipairs(rank) do
            table.insert(result, row)
        end
    end
    return result
end

local functions = {add_option = add_option, dump = dump, help = help}

local compat = setmetatable({}, {
    __call = function(_, values)
        if type(values) ~= 'table' then
            error('Usage: compat({<option_name> = <value>})', 2)
        end
        for name, value in pairs(values) do
            set(name, value, 2)
        end
    end,
    __newindex = function(_, name, value) set(name, value, 2) end,
    __index = function(_, name)
        if functions[name] ~= nil then
            return functions[name]
        end
        local option = check_option(name, 2)
        return {current = option.current, default = option.default, brief = option.brief}
    end,
    __serialize = serialize,
    __tostring = function() return 'compat' end,
})

for _, row in ipairs({
    {'json_escape_forward_slash', 'JSON leaves a slash as it is (new), or writes a backslash before it (old).'},
    {'yaml_pretty_multiline', 'YAML writes strings of several lines as blocks (new), or quotes them (old).'},
    {'binary_data_decoding', 'Binary data of MessagePack and YAML becomes a varbinary (new), or a string (old).'},
    {'box_tuple_extension',
     'net.box has tuples with the names of their fields in calls (new), or tables (old); by ' ..
     'default it has tables, and clients of this server have what they ask for.'},
    {'box_session_push_deprecation', 'box.session.push() is an error (new), or works (old).'},
}) do
    add_option({name = row[1], default = 'old', brief = row[2], action = internal[row[1]]})
end

require('tarantool').compat = compat
return compat
