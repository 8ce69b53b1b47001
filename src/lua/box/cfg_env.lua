-- SPDX-License-Identifier: BSD-2-Clause
-- Options of box.cfg{} from the environment: TT_LISTEN is `listen`, and so on. The first box.cfg{}
-- reads them; what it is passed goes before. An empty variable is none.
local options = require('tarn.box.cfg_options')

-- kind of an option -> the value of a text, nil where it is no such value
local readers = {}

function readers.number(text)
    return tonumber(text)
end

function readers.boolean(text)
    return ({['true'] = true, ['false'] = false})[text:lower()]
end

function readers.string(text)
    return text
end

readers['string, number'] = readers.string

-- Values that may be several are separated by commas.
readers['string, number, table'] = function(text)
    return text:split(',')
end

-- NAME=VALUE, separated by commas.
function readers.table(text)
    local out = {}
    for _, pair in ipairs(text:split(',')) do
        local name, value = pair:match('^%s*([^=]-)%s*=%s*(.-)%s*$')
        if name == nil then
            return nil
        end
        out[name] = tonumber(value) or value
    end
    return out
end

-- Options whose kind does not tell how they are written.
local by_name = {
    listen = readers.string, -- it takes several in one text
    log_format = readers.string,
    log_nonblock = readers.boolean,
    log_level = function(text) return tonumber(text) or text end,
}

local expected = {
    number = 'a number', boolean = "'true' or 'false'", table = 'NAME=VALUE,...',
}

-- All options that variables set, by name.
local function read()
    local out = {}
    for name, option in pairs(options.options) do
        local variable = 'TT_' .. name:upper()
        local text = os.getenv(variable)
        if text ~= nil and text ~= '' then
            local value = (by_name[name] or readers[option[1]])(text)
            if value == nil then
                options.wrong(name, 'the environment variable %s should be %s', variable,
                              expected[option[1]] or "'true' or 'false'")
            end
            out[name] = value
        end
    end
    return out
end

return {read = read}
