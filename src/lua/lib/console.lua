-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `console`: an interactive prompt that evaluates Lua and prints the
-- results as YAML or Lua; the module's functions. Manual: module console, "Interactive console".
-- Consoles over sockets are in console_remote.lua.
local core = require('tarn.console')
local fiber = require('fiber')
local output = require('internal.console_output')
local remote = require('internal.console_remote')
local session = require('internal.console_session')

local console = {}

local HELP = [[
To leave the console, type \quit or press Ctrl-D. That stops the server, too.

A line is a Lua expression or statement; a statement that is not complete goes on
in the next line. Results are printed as YAML, or as Lua.

Commands:

  \help, \?                  this text
  \set delimiter DELIMITER   a statement ends with DELIMITER (empty: with the line)
  \set output FORMAT         print results as yaml, lua, or lua,block
  \set language LANGUAGE     statements are lua, or sql
  \quit, \q                  leave
]]

-- The state of the fiber's console, or of the session where that evaluates for a client of the
-- binary protocol.
local function current_state()
    local state = fiber.self().storage.console
    if state ~= nil then
        return state
    end
    local storage = box.session.storage
    if storage.console == nil then
        storage.console = session.new_state(session.copy_output(session.default_output()))
    end
    return storage.console
end

-- Evaluates a statement or a command and returns what to print.
function console.eval(text)
    if text == nil then
        return nil
    end
    local state = current_state()
    if text:sub(1, 1) == '\\' then
        return session.command(state, text, HELP)
    end
    return session.eval(state, text)
end

-- Words that newcomers try; with a meaning of their own they are Lua like the rest.
local function is_call_for_help(text)
    local word = text:match('^%s*(%a+)%s*$')
    return (word == 'exit' or word == 'quit') and rawget(_G, word) == nil
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

-- Names that begin with the text, e.g. 'box.sp', behind what they have in common: looked up,
-- never called. Functions end with a parenthesis. After a colon only functions.
function console.completion_handler(text)
    local path, last = text:match('^(.-)([%w_]*)$')
    local is_method = path:sub(-1) == ':'
    local object = _G
    for name in path:gmatch('[%w_]+') do
        if type(object) ~= 'table' then
            return
        end
        local ok, value = pcall(function() return object[name] end)
        if not ok then
            return
        end
        object = value
    end
    local matches = {}
    for name in pairs(fields_of(object)) do
        if name:sub(1, #last) == last and name:match('^[%a_][%w_]*$')
           and (name:sub(1, 2) ~= '__' or last:sub(1, 1) == '_')
           and (not is_method or is_function(object, name)) then
            matches[#matches + 1] = path .. name .. (is_function(object, name) and '(' or '')
        end
    end
    if #matches == 0 then
        return
    end
    table.sort(matches)
    table.insert(matches, 1, common_prefix(matches))
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

-- Has the text its end: the delimiter, or no need for more lines?
local function is_complete(state, text)
    if state.delimiter ~= '' then
        local tail = trim(text):sub(-#state.delimiter)
        return tail == state.delimiter
    end
    if state.language == 'sql' then
        return true
    end
    local chunk, _, incomplete = session.compile(text)
    return chunk ~= nil or not incomplete
end

local function without_delimiter(state, text)
    if state.delimiter == '' then
        return text
    end
    return trim(text):sub(1, -#state.delimiter - 1)
end

local prompt_methods = {completion = console.completion_handler}

-- Reads one statement, without its delimiter; nil at the end of input, '' where there is nothing
-- to run.
function prompt_methods.read(state)
    local text = ''
    while true do
        local prompt = state.prompt or 'tarn'
        local line, was_empty = core.readline(text == '' and prompt .. '> '
                                              or (' '):rep(#prompt) .. '> ')
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
            return without_delimiter(state, text)
        end
    end
end

-- What console.on_client_disconnect() set.
local on_client_disconnect

-- Back from another server's console to this one.
local function disconnect(state)
    state.remote:close()
    state.remote, state.prompt = nil, nil
    if on_client_disconnect ~= nil then
        on_client_disconnect(state)
    end
end

-- Has the other server evaluate; it keeps the format of output, we its end.
local function eval_remote(state, text)
    if text:sub(1, 1) == '\\' then
        local name, what = text:match('^\\(%S*)%s*(%S*)')
        if name == 'quit' or name == 'q' then
            disconnect(state)
            return
        elseif (name == 'set' or name == 's') and (what == 'delimiter' or what == 'd') then
            return session.command(state, text, HELP)
        end
        session.command(state, text, HELP)
    end
    local ok, answer = pcall(state.remote.eval, state.remote, text)
    if not ok then
        answer = output.format(state.output, false, answer)
        disconnect(state)
    end
    return answer
end

local function is_help(text)
    local name = text:match('^\\(%S*)')
    return name == 'help' or name == '?' or name == 'h' or name == ''
end

-- Runs a statement or a command, here or on the server that the prompt is connected to; what to
-- print, nil where there is nothing.
function prompt_methods.eval(state, text)
    if text == nil then
        return nil
    elseif state.remote ~= nil then
        return eval_remote(state, text)
    elseif text:sub(1, 1) == '\\' then
        local was_running = state.running
        local answer = session.command(state, text, HELP)
        return state.running == was_running and answer or nil
    end
    return session.eval(state, text)
end

function prompt_methods.print(_, text)
    io.stdout:write(text, '\n')
end

-- What to print of a statement that was typed.
local function answer_to(state, text)
    if state.remote == nil and (is_help(text) or is_call_for_help(text)) then
        return (HELP:gsub('\n$', ''))
    end
    return state:eval(text)
end

-- Reads and runs statements; `file` keeps the history, where there is one.
local function loop(state, file)
    while state.running do
        local text = state:read()
        if text == nil then
            io.stdout:write('\n')
            if state.remote == nil then
                return
            end
            disconnect(state)
        elseif text ~= '' then
            if file then
                core.add_history(text)
                core.save_history(file)
            end
            local answer = answer_to(state, text)
            if answer ~= nil then
                state:print(answer)
            end
            io.stdout:flush()
        end
    end
end

-- The interactive console on standard input, a terminal or not; returns when the user
-- leaves it or the input ends.
function console.start()
    local state = session.new_state(session.copy_output(session.default_output()), prompt_methods)
    local storage = fiber.self().storage
    if storage.console ~= nil then
        error('console is already started', 2)
    end
    storage.console = state
    local file = core.is_terminal() and history_file()
    if file then
        core.load_history(file)
    end
    core.set_completion(function(...)
        if not state.is_without_completion then
            local matches = console.completion_handler(...)
            -- readline wants a single one alone.
            return matches ~= nil and #matches == 2 and {matches[2]} or matches
        end
    end)
    if core.is_terminal() then
        core.repair_terminal()
        io.stdout:write('Tarn ', core.version, '. Type \\help for help, press Ctrl-D to leave.\n')
    end
    local ok, err = pcall(function()
        remote.run_on_start(state)
        loop(state, file)
    end)
    if state.remote ~= nil then
        state.remote:close()
    end
    storage.console = nil
    if not ok then
        error(err, 0)
    end
end

-- The state of this fiber's console. [raises] where it has none.
local function need_console(what)
    local state = fiber.self().storage.console
    if state == nil then
        error(what .. ' need existing console')
    end
    return state
end

-- Sets or tells what ends a statement of this fiber's console.
function console.delimiter(delimiter)
    local state = need_console('console.delimiter():')
    if delimiter == nil then
        return state.delimiter
    elseif type(delimiter) ~= 'string' then
        error('invalid delimiter')
    end
    state.delimiter = delimiter
end

-- Sets or tells what ends an answer where the output is Lua.
function console.eos(text)
    local fmt = current_state().output
    if text == nil then
        return output.eos(fmt)
    elseif fmt.fmt == 'yaml' then
        error('console.eos(): is immutable for output yaml')
    elseif type(text) ~= 'string' then
        error('invalid eos')
    end
    fmt.eos = text
end

-- Switches the completion of words at this console on or off.
function console.ac(yesno)
    local state = need_console('console.ac():')
    state.is_without_completion = not yesno and true or nil
end

function console.get_default_output(...)
    if select('#', ...) > 0 then
        error('Arguments provided while prohibited')
    end
    local fmt = session.default_output()
    return {fmt = fmt.fmt, opts = fmt.opts}
end

function console.set_default_output(text)
    if text == nil then
        error('Nil output value passed')
    end
    session.set_default_output(text)
end

-- A function that is called with its state when a console starts, here or over a socket.
function console.on_start(func)
    if func ~= nil and type(func) ~= 'function' then
        error('Wrong type of on_start hook: ' .. type(func))
    end
    remote.set_on_start(func)
end

-- A function that is called with a console's state when that leaves another server.
function console.on_client_disconnect(func)
    if func ~= nil and type(func) ~= 'function' then
        error('Wrong type of on_client_disconnect hook: ' .. type(func))
    end
    on_client_disconnect = func
end

function console.listen(where)
    return remote.listen(where)
end

function console.connect(where, opts)
    return remote.connect(need_console('console.connect()'), where, opts)
end

return console
