-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `title`: what `ps` shows of the process, made of parts:
--
--     INTERPRETER SCRIPT <STATUS>: TITLE
--
-- A part that is '' or missing is left out.
local C = require('internal.title')

local PARTS = {'interpretor_name', 'script_name', 'status', 'custom_title'}

local parts = {interpretor_name = 'tarn'}
local shown = ''

local function compose()
    local head = {}
    if parts.interpretor_name then
        head[#head + 1] = parts.interpretor_name
    end
    if parts.script_name then
        head[#head + 1] = parts.script_name:match('[^/]*$')
    end
    if parts.status then
        head[#head + 1] = ('<%s>'):format(parts.status)
    end
    local text = table.concat(head, ' ')
    if parts.custom_title then
        text = text .. ': ' .. parts.custom_title
    end
    return text
end

local title = {}

-- The title and its parts.
function title.get()
    local copy = {}
    for name, value in pairs(parts) do
        copy[name] = value
    end
    return shown, copy
end

-- Changes the custom title (a string), or some of the parts (a table).
function title.update(change)
    if type(change) == 'string' then
        change = {custom_title = change}
    elseif type(change) ~= 'table' then
        return
    end
    for _, name in ipairs(PARTS) do
        local value = change[name]
        if value ~= nil then
            value = tostring(value)
            parts[name] = value ~= '' and value or nil
        end
    end
    shown = compose()
    C.set(shown)
end

return title
