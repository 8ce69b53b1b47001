-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `csv`: reading and writing comma-separated values. Manual: module csv.
local log = require('log')
local new_parser = require('tarn.csv').new

local CHUNK_SIZE = 4096

local function first_char(option, name)
    option = tostring(option):sub(1, 1)
    if option == '' then
        error(('csv: the option %s must not be empty'):format(name), 4)
    end
    return option
end

local function options_of(options)
    options = options or {}
    return {
        delimiter = first_char(options.delimiter or ',', 'delimiter'),
        quote = first_char(options.quote_char or '"', 'quote_char'),
        chunk_size = options.chunk_size or CHUNK_SIZE,
        skip = options.skip_head_lines or 0,
    }
end

local function escape(char)
    return '%' .. char
end

-- Characters as a set for patterns. A zero is %z there; a letter or digit must not be escaped.
local function set_of(...)
    local set = {}
    for _, char in ipairs({...}) do
        set[#set + 1] = char == '\0' and '%z' or (char:gsub('[^%w]', escape))
    end
    return '[' .. table.concat(set) .. ']'
end

-- Reading (the parser is in csv.c) --------------------------------------------

local READ_USAGE = 'Usage: load(string or object with method read(num)returns string)'

-- A function that returns a piece of the text at each call, and '' at its end.
local function pieces_of(readable, size)
    if type(readable) == 'string' then
        local rest = readable
        return function()
            local piece
            piece, rest = rest, ''
            return piece
        end
    elseif type(readable.read) ~= 'function' then
        error(READ_USAGE, 4)
    end
    return function()
        local piece = readable:read(size)
        if type(piece) ~= 'string' then
            error(READ_USAGE, 0)
        end
        return piece
    end
end

local function finish(parser)
    local count = parser:finish()
    if count == nil then
        log.warn('CSV file has errors')
    end
    return count
end

-- A function that returns the next row, or nil.
local function rows_of(readable, options)
    options = options_of(options)
    local next_piece = pieces_of(readable, options.chunk_size)
    local rows, taken, count, is_over = {}, 0, 0, false
    local parser, skip = new_parser(options.delimiter, options.quote, rows), options.skip
    return function()
        while true do
            if taken < count then
                taken = taken + 1
                local row = rows[taken]
                rows[taken] = nil
                if skip <= 0 then
                    return row
                end
                skip = skip - 1
            elseif is_over then
                return nil
            else
                local piece = next_piece()
                is_over = piece == ''
                if not is_over then
                    count = parser:feed(piece)
                else
                    count = finish(parser) or count
                end
            end
        end
    end
end

local function next_row(next_of, number)
    local row = next_of()
    if row == nil then
        return nil
    end
    return number + 1, row
end

local csv = {}

function csv.iterate(readable, options)
    return next_row, rows_of(readable, options), 0
end

function csv.load(readable, options)
    local rows = {}
    for row in rows_of(readable, options) do
        rows[#rows + 1] = row
    end
    return rows
end

-- Writing -------------------------------------------------------------------

local function row_text(row, options, special)
    local fields, quote = {}, options.quote
    for _, value in pairs(row) do
        local text = tostring(value)
        if text:find(quote, 1, true) then
            text = text:gsub(options.quote_pattern, options.quote_pair)
        end
        if text:find(special) then
            text = quote .. text .. quote
        end
        fields[#fields + 1] = text
    end
    return table.concat(fields, options.delimiter) .. '\n'
end

-- A list of rows, or one row; to a string, or to an object with a method write(string).
function csv.dump(rows, options, writable)
    if type(rows) ~= 'table' or (writable ~= nil and type(writable.write) ~= 'function') then
        error('Usage: dump(table[, opts, writable])', 2)
    end
    options = options_of(options)
    options.quote_pattern = set_of(options.quote)
    options.quote_pair = (options.quote:rep(2):gsub('%%', '%%%%'))
    local special = set_of(options.delimiter, '\r', '\n')
    if type(rows[1]) ~= 'table' then
        rows = {rows}
    end
    local out = {}
    for _, row in pairs(rows) do
        local text = row_text(row, options, special)
        if writable ~= nil then
            writable:write(text)
        else
            out[#out + 1] = text
        end
    end
    if writable == nil then
        return table.concat(out)
    end
end

return csv
