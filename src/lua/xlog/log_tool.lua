-- SPDX-License-Identifier: BSD-2-Clause
-- The commands `tarn cat` and `tarn play`: journals and snapshots to the terminal, or to
-- another server. Options are those of the reference's tool.
local argparse = require('argparse')
local box = require('box')
local c = require('tarn.xlog')
local json = require('json')
local yaml = require('yaml')

local usage = [[
Usage: tarn cat FILE... [OPTIONS]
       tarn play URI FILE... [OPTIONS]

cat prints the rows of .snap and .xlog files; play sends their changes to another server.

Options:
  --space=ID          only rows of the space; may be given more than once
  --show-system       rows of system spaces, too
  --from=LSN          only rows with this number or a higher one
  --to=LSN            only rows with a lower number: a file ends at the first other
  --replica=ID        only rows of the instance; may be given more than once
  --timestamp=TIME    only rows from before the time, in seconds or as YYYY-MM-DDThh:mm:ss
                      in the local zone: a file ends at the first other
  --format=FORMAT     of cat: yaml (the default), json or lua
]]

-- Spaces with a lower number are the system's.
local FIRST_SPACE = 512

-- Which rows ------------------------------------------------------------------

local function set_of(list)
    if list == nil or #list == 0 then
        return nil
    end
    local set = {}
    for _, value in ipairs(list) do
        set[value] = true
    end
    return set
end

local function time_of(text)
    local number = tonumber(text)
    if number ~= nil then
        return number
    end
    local year, month, day, hour, min, sec =
        text:match('^(%d%d%d%d)-(%d%d)-(%d%d)[T ](%d%d):(%d%d):(%d%d)$')
    if year == nil then
        error(('Bad value for parameter "timestamp": %q'):format(text), 0)
    end
    return os.time{year = year, month = month, day = day, hour = hour, min = min, sec = sec}
end

local function filter_of(options)
    return {
        spaces = set_of(options.space),
        replicas = set_of(options.replica),
        show_system = options['show-system'],
        from = options.from or 0,
        to = options.to or math.huge,
        time = options.timestamp ~= nil and time_of(options.timestamp) or math.huge,
    }
end

-- Is the file over for us?
local function is_behind(filter, header)
    return (header.lsn or 0) >= filter.to or header.timestamp >= filter.time
end

local function is_wanted(filter, row)
    local header, space = row.HEADER, row.BODY and row.BODY.space_id
    if (header.lsn or 0) < filter.from then
        return false
    elseif filter.replicas ~= nil and
           (header.replica_id == nil or not filter.replicas[header.replica_id]) then
        return false
    elseif filter.spaces ~= nil then
        return filter.spaces[space] == true
    end
    return filter.show_system or space == nil or space >= FIRST_SPACE
end

-- Calls f with each row of the file that is wanted.
local function each_row(path, filter, f)
    io.stderr:write(("Processing file '%s'\n"):format(path))
    local cursor = c.open(path)
    for _, row in c.next, cursor do
        if is_behind(filter, row.HEADER) then
            break
        end
        if is_wanted(filter, row) then
            f(row)
        end
    end
    local offset, size = c.torn(cursor)
    if offset ~= nil then
        io.stderr:write(("%s: the last write was cut off: %d bytes at offset %d are no rows\n")
                        :format(path, size, offset))
    end
    c.close(cursor)
end

-- Forms -----------------------------------------------------------------------

-- The order in which fields are shown.
local header_fields = {'lsn', 'group_id', 'commit', 'replica_id', 'type', 'tsn', 'timestamp'}
local body_fields = {'space_id', 'operations', 'index_id', 'index_base', 'key', 'tuple'}

-- Calls f with name and value of each field: those of the list first.
local function each_field(map, list, f)
    local seen = {}
    for _, name in ipairs(list) do
        seen[name] = true
        if map[name] ~= nil then
            f(name, map[name])
        end
    end
    for name, value in pairs(map) do
        if not seen[name] then
            f(name, value)
        end
    end
end

local out = {}

-- A map of maps, the inner ones with their fields in order.
local function write_yaml_map(title, map, fields)
    io.write(title, ':\n')
    each_field(map, fields, function(name, value)
        local text = yaml.encode({[name] = value}):match('^%-%-%-\n(.*)%.%.%.\n$')
        io.write((text:gsub('[^\n]+', '  %0')))
    end)
end

out.yaml = {
    row = function(row)
        io.write('---\n')
        write_yaml_map('HEADER', row.HEADER, header_fields)
        if row.BODY ~= nil then
            write_yaml_map('BODY', row.BODY, body_fields)
        end
    end,
    finish = function() io.write('...\n\n') end,
}

local function json_map(map, fields)
    local parts = {}
    each_field(map, fields, function(name, value)
        table.insert(parts, json.encode(tostring(name)) .. ':' .. json.encode(value))
    end)
    return '{' .. table.concat(parts, ',') .. '}'
end

out.json = {
    row = function(row)
        io.write('{"HEADER":', json_map(row.HEADER, header_fields))
        if row.BODY ~= nil then
            io.write(',"BODY":', json_map(row.BODY, body_fields))
        end
        io.write('}\n')
    end,
    finish = function() end,
}

local function lua_text(value)
    if value == nil then
        return 'box.NULL'
    elseif type(value) == 'string' then
        return "'" .. value:gsub('.', function(ch) return ('\\x%02x'):format(ch:byte()) end) .. "'"
    elseif box.tuple.is(value) then
        return lua_text(value:totable())
    elseif type(value) == 'table' then
        local parts = {}
        for key, item in pairs(value) do
            table.insert(parts, ('[%s] = %s'):format(lua_text(key), lua_text(item)))
        end
        return '{' .. table.concat(parts, ', ') .. '}'
    end
    return tostring(value)
end

-- The arguments of the change as a call.
local function arguments_of(row)
    local kind, body = row.HEADER.type, row.BODY
    if kind == 'INSERT' or kind == 'REPLACE' then
        return {body.tuple}
    elseif kind == 'DELETE' then
        return {body.key}
    elseif kind == 'UPDATE' then
        return {body.key, body.tuple}
    elseif kind == 'UPSERT' then
        return {body.tuple, body.operations}
    end
end

out.lua = {
    row = function(row)
        local arguments = arguments_of(row)
        if arguments == nil then
            return
        end
        for i, value in ipairs(arguments) do
            arguments[i] = lua_text(value)
        end
        io.write(('box.space[%d]:%s(%s)\n'):format(row.BODY.space_id, row.HEADER.type:lower(),
                                                   table.concat(arguments, ', ')))
    end,
    finish = function() end,
}

-- Commands --------------------------------------------------------------------

local commands = {}

function commands.cat(options)
    local format = out[options.format or 'yaml']
    if format == nil then
        error(("Unknown formatter '%s'"):format(options.format), 0)
    end
    local filter = filter_of(options)
    for _, path in ipairs(options) do
        each_row(path, filter, format.row)
    end
    format.finish()
end

local function send(connection, row)
    local arguments = arguments_of(row)
    if arguments == nil then
        return
    end
    local space = connection.space[row.BODY.space_id]
    if space == nil then
        error(('space %d is not there'):format(row.BODY.space_id), 0)
    end
    space[row.HEADER.type:lower()](space, unpack(arguments))
end

function commands.play(options)
    local uri = table.remove(options, 1)
    local filter = filter_of(options)
    local connection = require('net.box').connect(uri)
    if not connection:ping() then
        error(("Error while connecting to host '%s'"):format(uri), 0)
    end
    for _, path in ipairs(options) do
        each_row(path, filter, function(row) send(connection, row) end)
    end
    connection:close()
end

local files_from = {cat = 1, play = 2}

local function run(name, ...)
    local options = argparse.parse({...}, {
        {'space', 'number+'}, {'show-system', 'boolean'}, {'from', 'number'}, {'to', 'number'},
        {'replica', 'number+'}, {'format', 'string'}, {'timestamp', 'string'},
        {'help', 'boolean'}, {'h', 'boolean'},
    })
    if options.help or options.h then
        io.write(usage)
        return
    end
    if #options < files_from[name] then
        error(("Not enough arguments for '%s' command\n\n%s"):format(name, usage), 0)
    end
    commands[name](options)
end

-- Runs a command with the words behind it. Ends the process where it fails.
return function(name, ...)
    local ok, e = pcall(run, name, ...)
    io.flush()
    if not ok then
        io.stderr:write(('tarn %s: %s\n'):format(name, tostring(e)))
        os.exit(1)
    end
end
