-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `csv`: reading and writing comma-separated values. Manual: module csv.
--
-- The reader takes its text in pieces of any size. Two quotes in a row are one quote, in
-- a quoted part or out of it; any other quote begins or ends a quoted part. Spaces around a field
-- are dropped, unless quoted. A line ends with \n, \r or both.
local log = require('log')

local CHUNK_SIZE = 4096
local SPACE, LF, CR = (' '):byte(), ('\n'):byte(), ('\r'):byte()

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

-- Reading -------------------------------------------------------------------

local parser_mt = {}
parser_mt.__index = parser_mt

local function parser_new(options)
    return setmetatable({
        delimiter = options.delimiter:byte(),
        quote = options.quote:byte(),
        special = set_of(options.delimiter, options.quote, ' ', '\r', '\n'),
        rows = {},      -- read and not yet taken, from first to last
        first = 1, last = 0,
        row = {},
        parts = {},     -- of the field; those behind `kept` are spaces
        count = 0, kept = 0,
        is_quoted = false,
        has_quote = false,      -- the last character was a quote that may begin a pair
        line_end = nil,         -- the last character, where it ended a line
        is_begun = false,       -- the row has a character
    }, parser_mt)
end

function parser_mt:append(text)
    self.count = self.count + 1
    self.parts[self.count] = text
    self.kept = self.count
end

function parser_mt:append_space()
    if self.kept > 0 then
        self.count = self.count + 1
        self.parts[self.count] = ' '
    end
end

-- Begins or ends a quoted part; spaces before it are the field's.
function parser_mt:toggle()
    self.is_quoted = not self.is_quoted
    self.kept = self.count
end

function parser_mt:end_field()
    self.row[#self.row + 1] = table.concat(self.parts, '', 1, self.kept)
    self.count, self.kept = 0, 0
end

function parser_mt:end_row()
    self:end_field()
    self.last = self.last + 1
    self.rows[self.last] = self.row
    self.row, self.is_begun = {}, false
end

function parser_mt:special_char(char, byte)
    if byte == self.quote then
        self.has_quote = true
    elseif self.is_quoted then
        self:append(char)
    elseif byte == self.delimiter and not (byte == SPACE and self.count == 0) then
        self:end_field()
    elseif byte == SPACE then
        self:append_space()
    end
end

function parser_mt:feed(text)
    local pos, size = 1, #text
    while pos <= size do
        local byte = text:byte(pos)
        local line_end = self.line_end
        self.line_end = nil
        if self.has_quote then
            self.has_quote = false
            if byte == self.quote then
                self:append(text:sub(pos, pos))
                pos = pos + 1
            else
                self:toggle()
            end
        elseif (byte == LF or byte == CR) and not self.is_quoted then
            if line_end == nil or line_end == byte then
                self:end_row()
                self.line_end = byte
            end
            pos = pos + 1
        else
            local stop = text:find(self.special, pos) or size + 1
            if stop > pos then
                self:append(text:sub(pos, stop - 1))
                pos = stop
            else
                self:special_char(text:sub(pos, pos), byte)
                pos = pos + 1
            end
            self.is_begun = true
        end
    end
end

-- The text is over: what is there of a row is one, unless a quoted part is open.
function parser_mt:finish()
    if self.has_quote then
        self:toggle()
    elseif self.is_quoted then
        log.warn('CSV file has errors')
        return
    end
    if self.is_begun then
        self:end_row()
    end
end

function parser_mt:take()
    if self.first > self.last then
        return nil
    end
    local row = self.rows[self.first]
    self.rows[self.first] = nil
    self.first = self.first + 1
    return row
end

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

-- A function that returns the next row, or nil.
local function rows_of(readable, options)
    options = options_of(options)
    local next_piece = pieces_of(readable, options.chunk_size)
    local parser = parser_new(options)
    local skip, is_over = options.skip, false
    return function()
        while true do
            local row = parser:take()
            if row ~= nil then
                if skip <= 0 then
                    return row
                end
                skip = skip - 1
            elseif is_over then
                return nil
            else
                local piece = next_piece()
                is_over = piece == ''
                if is_over then
                    parser:finish()
                else
                    parser:feed(piece)
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
    local fields = {}
    for _, value in pairs(row) do
        local quote = options.quote
        local text = tostring(value):gsub(options.quote_pattern, function() return quote .. quote end)
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
