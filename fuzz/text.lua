-- SPDX-License-Identifier: BSD-2-Clause
--
-- The work of text.c: the function gets an input, whose first byte says what it is. What
-- can be read and written must be readable once more; errors are errors, and nothing else.
local console = require('console')
local csv = require('csv')
local json = require('json')
local msgpack = require('msgpack')
local session = require('internal.console_session')
local uri = require('uri')
local yaml = require('yaml')
local output = require('internal.console_output')

-- Each gets `text` and may raise; what a kind returns has to be true.
local kinds = {}

local function round_trip(codec)
    return function(text)
        local ok, value = pcall(codec.decode, text)
        if not ok then
            return true
        end
        local written, again = pcall(codec.encode, value)
        return not written or pcall(codec.decode, again)
    end
end

kinds[0] = round_trip(json)
kinds[1] = round_trip(yaml)

kinds[2] = function(text)
    local ok, rows = pcall(csv.load, text)
    if ok then
        pcall(csv.load, csv.dump(rows), {quote_char = "'", delimiter = ';'})
    end
    return true
end

kinds[3] = function(text)
    local ok, parts = pcall(uri.parse, text)
    if ok and parts ~= nil then
        local formatted = uri.format(parts, true)
        assert(type(formatted) == 'string')
        pcall(uri.parse, formatted)
    end
    pcall(uri.parse_many, text)
    pcall(uri.unescape, text)
    return uri.unescape(uri.escape(text)) == text
end

kinds[4] = round_trip(msgpack)

-- Commands leave a state in which all values can be shown.
kinds[5] = function(text)
    local state = session.new_state(session.copy_output(session.default_output()))
    for line in text:gmatch('[^\n]+') do
        local shown = session.command(state, '\\' .. line, 'help')
        assert(shown == nil or type(shown) == 'string')
    end
    return type(output.format(state.output, true, {1, {a = 'b'}}, nil, text)) == 'string'
end

kinds[6] = function(text)
    local chunk, err, incomplete = session.compile(text)
    return chunk ~= nil or type(err) == 'string' and type(incomplete) == 'boolean'
end

kinds[7] = function(text)
    local found = console.completion_handler(text)
    return found == nil or type(found) == 'table'
end

-- One reads what another wrote.
kinds[8] = function(text)
    local ok, value = pcall(yaml.decode, text)
    if ok then
        pcall(json.encode, value)
        pcall(msgpack.encode, value)
        output.format({fmt = 'lua', opts = 'block'}, true, value)
    end
    return true
end

return function(input)
    local kind = kinds[(input:byte(1) or 0) % (#kinds + 1)]
    assert(kind(input:sub(2)), 'what was written cannot be read')
end
