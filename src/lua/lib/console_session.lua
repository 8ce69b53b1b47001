-- SPDX-License-Identifier: BSD-2-Clause
--
-- What a console at a terminal and one over a socket share: statements, commands that begin
-- with a backslash, and the state they change. A state has `delimiter`, `language`,
-- `output` (see console_output.lua) and `running`. It is what functions of console.on_start() get, so
-- those of a prompt have methods, too: read(), eval(text), print(text).
local output = require('internal.console_output')

local session = {}

local default_output = {fmt = 'yaml'}

function session.default_output()
    return default_output
end

function session.set_default_output(text)
    local fmt, err = output.parse(text)
    if fmt == nil then
        error(err)
    end
    default_output = fmt
end

function session.new_state(fmt, methods)
    return setmetatable({delimiter = '', language = 'lua', output = fmt, running = true},
                        {__index = methods})
end

local function copy(fmt)
    return {fmt = fmt.fmt, opts = fmt.opts, eos = fmt.eos}
end
session.copy_output = copy

-- The chunk of a line, which may be an expression; nil, the error, and whether more input
-- could make it whole.
function session.compile(text)
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

local function trim(s)
    return (s:gsub('^%s+', ''):gsub('%s+$', ''))
end

-- Commands ------------------------------------------------------------------------------

-- Each gets the state and the words behind its name; what it returns is printed, where it
-- returns nil and a text, as an error.
local set = {}

function set.language(state, name)
    if name == nil then
        return {language = state.language}
    elseif name ~= 'lua' and name ~= 'sql' then
        return nil, ('Invalid language "%s", supported languages: lua and sql.'):format(name)
    end
    state.language = name
    return true
end

function set.output(state, text)
    local fmt, err = output.parse(text)
    if fmt == nil then
        return nil, err
    end
    fmt.eos = state.output.eos
    state.output = fmt
    return true
end

function set.delimiter(state, delimiter)
    state.delimiter = delimiter or ''
    return
end

set.l, set.lang = set.language, set.language
set.o = set.output
set.d, set.delim = set.delimiter, set.delimiter

local commands = {}

function commands.set(state, name, ...)
    if name == nil then
        return nil, 'Invalid set syntax, type \\help for help'
    elseif set[name] == nil then
        return nil, 'Unknown parameter: ' .. name
    end
    return set[name](state, ...)
end

commands.s = commands.set

function commands.quit(state)
    state.running = false
end

commands.q = commands.quit

local function results(state, ...)
    local value, err = ...
    if value == nil and err ~= nil then
        return output.format(state.output, false, err)
    end
    return output.format(state.output, true, ...)
end

-- Carries out a line that begins with a backslash; what to print. `help` is its text.
function session.command(state, line, help)
    local words = {}
    for word in line:sub(2):gmatch('%S+') do
        words[#words + 1] = word
    end
    local name = words[1] or 'help'
    if name == 'help' or name == 'h' or name == '?' then
        return output.format(state.output, true, {help})
    elseif commands[name] == nil then
        local text = ('Invalid command %s. Type \\help for help.'):format(trim(line))
        return output.format(state.output, false, text)
    end
    return results(state, commands[name](state, unpack(words, 2)))
end

-- Statements ----------------------------------------------------------------------------

local function run_sql(text)
    if box.execute == nil then
        return false, 'tarn has no SQL'
    end
    local result, err = box.execute(text)
    if err ~= nil then
        return false, err
    end
    return true, result
end

-- Evaluates a statement and returns what to print, in the format that it leaves behind.
function session.eval(state, text)
    if state.language == 'sql' then
        return output.format(state.output, run_sql(text))
    end
    local chunk, err = session.compile(text)
    if chunk == nil then
        return output.format(state.output, false, err)
    end
    local function finish(...)
        return output.format(state.output, ...)
    end
    return finish(pcall(chunk))
end

return session
