-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `internal.argparse` (`argparse`): command lines to tables.
--
--     parse(arg, {{'port', 'number'}, {'file', 'string+'}, 'verbose'})
--
-- `--name value`, `--name=value` and `--name` are options, `-abc` three that have no value;
-- all else stays, in order. A kind is number, string or boolean; with a '+' all values are kept.

local KINDS = {string = true, number = true, boolean = true}

local function bad_value(name, expected, got)
    local shown = type(got) == 'string' and ('"%s"'):format(got) or 'nothing'
    error(('Bad value for parameter "%s". %s, got %s'):format(name, expected, shown), 0)
end

-- Values are strings, or true where none was given.
local function convert(name, kind, value)
    if kind == 'boolean' then
        if type(value) == 'string' then
            bad_value(name, 'No value expected', value)
        end
        return true
    elseif type(value) ~= 'string' then
        bad_value(name, 'Expected ' .. kind, value)
    elseif kind == 'string' then
        return value
    end
    return tonumber(value) or bad_value(name, 'Expected number', value)
end

local function result_of(name, kind, values)
    if kind == nil then
        return #values > 1 and values or values[1]
    end
    local base, is_list = kind:match('^(%a+)(%+?)$')
    if not KINDS[base] then
        error(('Bad conversion format "%s" provided for %s'):format(kind, name), 0)
    end
    local all = {}
    for i, value in ipairs(values) do
        all[i] = convert(name, base, value)
    end
    return is_list == '+' and all or all[#all]
end

-- name -> kind, false where it has none; nil where anything is allowed.
local function kinds_of(options)
    if options == nil then
        return nil
    end
    local kinds = {}
    for _, option in ipairs(options) do
        if type(option) == 'table' then
            kinds[option[1]] = type(option[2]) == 'string' and option[2] or false
        else
            kinds[option] = false
        end
    end
    return kinds
end

local function bad_name(position)
    error(('bad argument #%d: ID not valid'):format(position), 0)
end

local function check_known(kinds, names)
    local unknown = {}
    for _, name in ipairs(names) do
        if kinds[name] == nil then
            unknown[#unknown + 1] = name
        end
    end
    if #unknown > 0 then
        error('unknown options: ' .. table.concat(unknown, ', '), 0)
    end
end

-- The options in order of appearance, their values, and what is no option.
local function split(arguments, kinds)
    local names, values, rest = {}, {}, {}
    local function add(name, value)
        if values[name] == nil then
            values[name] = {}
            names[#names + 1] = name
        end
        table.insert(values[name], value)
    end
    local i = 1
    while i <= #arguments do
        local argument = arguments[i]
        local name, value = argument:match('^%-%-([^=]*)=?(.*)$')
        if name ~= nil then
            if not name:match('^%a[%w_-]+$') then
                bad_name(i)
            end
            local follower = arguments[i + 1]
            local takes_follower = kinds == nil or not tostring(kinds[name]):match('^boolean')
            if argument:find('=', 1, true) then
                add(name, value)
            elseif takes_follower and follower ~= nil and follower:sub(1, 1) ~= '-' then
                add(name, follower)
                i = i + 1
            else
                add(name, true)
            end
        elseif argument:match('^%-.') then
            if not argument:match('^%-%a+$') then
                bad_name(i)
            end
            for letter in argument:gmatch('%a') do
                add(letter, true)
            end
        else
            rest[#rest + 1] = argument
        end
        i = i + 1
    end
    return names, values, rest
end

-- arguments: a list of strings; options: the options there are, nil: any.
local function parse(arguments, options)
    for _, argument in ipairs(arguments or {}) do
        if type(argument) ~= 'string' then
            error(('bad argument #1: a string expected, got %s'):format(type(argument)), 2)
        end
    end
    local kinds = kinds_of(options)
    local names, values, result = split(arguments or {}, kinds)
    for _, name in ipairs(names) do
        result[name] = result_of(name, kinds and kinds[name] or nil, values[name])
    end
    if kinds ~= nil then
        check_known(kinds, names)
    end
    return result
end

return {parse = parse}
