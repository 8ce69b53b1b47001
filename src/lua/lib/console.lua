-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `console`: an interactive prompt that evaluates Lua and prints the
-- results as YAML. Manual: module console, "Interactive console".
local core = require('tarn.console')
local yaml = require('yaml')
local fiber = require('fiber')

local console = {}

-- Results print like YAML documents; what has no form of its own as text.
local formatter = yaml.new()
formatter.cfg({encode_invalid_numbers = true, encode_load_metatables = true,
               encode_use_tostring = true, encode_invalid_as_nil = true})

local HELP = [[
To leave the console, type \quit or press Ctrl-D. That stops the server, too.

A line is a Lua expression or statement; a statement that is not complete goes on
in the next line. Results are printed as YAML.

Commands:

  \help, \?                  this text
  \set delimiter DELIMITER   a statement ends with DELIMITER (empty: with the line)
  \quit, \q                  leave
]]

local function format(ok, ...)
    local count = select('#', ...)
    if not ok then
        local message = ...
        if message == nil then
            message = 'unknown error'
        end
        return formatter.encode({{error = message}})
    elseif count == 0 then
        return '---\n...\n'
    end
    local values = {...}
    for i = 1, count do
        if values[i] == nil then
            values[i] = box.NULL
        end
    end
    local encoded, text = pcall(formatter.encode, values)
    if not encoded then
        return formatter.encode({{error = 'console: the result cannot be shown: ' ..
                                          tostring(text)}})
    end
    return text
end

-- The chunk of a line, which may be an expression; nil, the error, and whether
-- more input could make it whole.
local function compile(text)
    local chunk = loadstring('return ' .. text)
    if chunk ~= nil then
        return chunk
    end
    local err
    chunk, err = loadstring(text)
    if chunk ~= nil then
        return chunk
    end
    local incomplete = err:sub(-7) == "'<eof>'"
        or err:find('unfinished long string', 1, true) ~= nil
        or err:find('unfinished long comment', 1, true) ~= nil
    return nil, err, incomplete
end

-- Evaluates a statement and returns what to print.
function console.eval(text)
    local chunk, err = compile(text)
    if chunk == nil then
        return format(false, err)
    end
    return format(pcall(chunk))
end

-- Words that newcomers try; with a meaning of their own they are Lua like the rest.
local function is_call_for_help(text)
    local word = text:match('^%s*(%a+)%s*$')
    return (word == 'help' or word == 'exit' or word == 'quit') and rawget(_G, word) == nil
end

-- Completion ----------------------------------------------------------------

local function fields_of(object)
    local names = {}
    local seen = 0
    while object ~= nil and seen < 10 do
        if type(object) == 'table' then
            for name in pairs(object) do
                if type(name) == 'string' then
                    names[name] = true
                end
            end
        end
        local mt = getmetatable(object)
        object = type(mt) == 'table' and rawget(mt, '__index') or nil
        seen = seen + 1
    end
    return names
end

local function is_function(object, name)
    local ok, value = pcall(function() return object[name] end)
    return ok and type(value) == 'function'
end

local function common_prefix(list)
    local prefix = list[1]
    for _, s in ipairs(list) do
        while s:sub(1, #prefix) ~= prefix do
            prefix = prefix:sub(1, -2)
        end
    end
    return prefix
end

-- Names that begin with the text, e.g. 'box.sp': looked up, never called. After a colon
-- only functions.
function console.completion_handler(text)
    local path, last = text:match('^(.-)([%w_]*)$')
    local is_method = path:sub(-1) == ':'
    local object = _G
    for name in path:gmatch('[%w_]+') do
        if type(object) ~= 'table' then
            return nil
        end
        local ok, value = pcall(function() return object[name] end)
        if not ok then
            return nil
        end
        object = value
    end
    local matches = {}
    for name in pairs(fields_of(object)) do
        if name:sub(1, #last) == last and name:match('^[%a_][%w_]*$')
           and (name:sub(1, 2) ~= '__' or last:sub(1, 1) == '_')
           and (not is_method or is_function(object, name)) then
            matches[#matches + 1] = path .. name
        end
    end
    if #matches == 0 then
        return nil
    end
    table.sort(matches)
    if #matches > 1 then
        table.insert(matches, 1, common_prefix(matches))
    end
    return matches
end

-- The prompt ------------------------------------------------------------------

local function history_file()
    local home = os.getenv('HOME')
    return home and home .. '/.tarn_history'
end

local function trim(s)
    return (s:gsub('^%s+', ''):gsub('%s+$', ''))
end

-- Carries out a line that begins with a backslash; true where it ends the console.
local function command(state, line)
    local name, rest = line:match('^\\(%S*)%s*(.*)$')
    if name == 'quit' or name == 'q' then
        return true
    elseif name == 'help' or name == '?' then
        io.stdout:write(HELP)
    elseif name == 'set' and rest:match('^delimiter') then
        state.delimiter = trim(rest:sub(#'delimiter' + 1))
    else
        io.stdout:write(format(false, 'Unknown command: ' .. line .. '. Type \\help for help.'))
    end
    return false
end

-- Has the text its end: the delimiter, or no need for more lines?
local function is_complete(state, text)
    if state.delimiter ~= '' then
        local tail = trim(text):sub(-#state.delimiter)
        return tail == state.delimiter
    end
    local chunk, _, incomplete = compile(text)
    return chunk ~= nil or not incomplete
end

local function without_delimiter(state, text)
    if state.delimiter == '' then
        return text
    end
    return trim(text):sub(1, -#state.delimiter - 1)
end

-- Reads one statement; nil at the end of input, '' where there is nothing to run.
local function read_statement(state)
    local text = ''
    while true do
        local line, was_empty = core.readline(text == '' and 'tarn> ' or '    > ')
        if line == nil then
            return nil
        elseif line == false then
            if was_empty and text == '' then
                io.stdout:write('(To leave, press Ctrl-D or type \\quit.)\n')
            end
            return ''
        elseif text == '' and line:sub(1, 1) == '\\' then
            return line
        end
        text = text == '' and line or text .. '\n' .. line
        if trim(text) == '' then
            return ''
        elseif is_complete(state, text) then
            return text
        end
    end
end

-- Reads and runs statements; `file` keeps the history, where there is one.
local function loop(state, file)
    while true do
        local text = read_statement(state)
        if text == nil then
            io.stdout:write('\n')
            return
        elseif text ~= '' then
            if file then
                core.add_history(text)
                core.save_history(file)
            end
            if text:sub(1, 1) == '\\' then
                if command(state, text) then
                    return
                end
            elseif is_call_for_help(text) then
                io.stdout:write(HELP)
            else
                io.stdout:write(console.eval(without_delimiter(state, text)), '\n')
            end
            io.stdout:flush()
        end
    end
end

-- The interactive console on standard input, a terminal or not; returns when the user
-- leaves it or the input ends.
function console.start()
    local state = {delimiter = ''}
    local storage = fiber.self().storage
    if storage.console ~= nil then
        error('console is already started', 2)
    end
    storage.console = state
    local file = core.is_terminal() and history_file()
    if file then
        core.load_history(file)
    end
    core.set_completion(console.completion_handler)
    if core.is_terminal() then
        core.repair_terminal()
        io.stdout:write('Tarn ', core.version, '. Type \\help for help, press Ctrl-D to leave.\n')
    end
    local ok, err = pcall(loop, state, file)
    storage.console = nil
    if not ok then
        error(err, 0)
    end
end

-- Sets or tells what ends a statement of this fiber's console.
function console.delimiter(delimiter)
    local state = fiber.self().storage.console
    if state == nil then
        error('console.delimiter(): need existing console', 2)
    elseif delimiter == nil then
        return state.delimiter
    end
    state.delimiter = delimiter
end

return console
