-- SPDX-License-Identifier: BSD-2-Clause
-- The module `trigger`: events by name, each with a list of named functions. What happens in
-- the server is an event, too: box.space.NAME.on_replace, box.space[ID].before_replace,
-- box.session.on_connect and so on. Source: the manual of 3.0, "Triggers".
--
-- The server knows nothing of names: where an event of its own has functions, one function of
-- this module is among its triggers and calls them.
local c = require('tarn.space')
local api = require('tarn.box.api')

-- `internal` is for space.lua.
local internal = {}
local M = {internal = internal}

-- Event -> list of {name, handler}, in the order of calls.
local events = {}

local function is_callable(v)
    local mt = getmetatable(v)
    return type(v) == 'function' or type(mt) == 'table' and type(mt.__call) == 'function'
end

local function check_name(v, no, method)
    if type(v) ~= 'string' then
        error(("bad argument #%d to 'trigger.%s' (string expected, got %s)")
              :format(no, method, v == nil and 'nil' or type(v)), 3)
    end
end

local function find(list, name)
    for i, entry in ipairs(list or {}) do
        if entry[1] == name then
            return i
        end
    end
end

-- Calls that run see the list as it was when they began.
local function copy(list)
    local out = {}
    for i, entry in ipairs(list or {}) do
        out[i] = entry
    end
    return out
end

function M.call(event, ...)
    check_name(event, 1, 'call')
    for _, entry in ipairs(copy(events[event])) do
        entry[2](...)
    end
end

-- Spaces ------------------------------------------------------------------------

local KINDS = {'on_replace', 'before_replace'}

local function handlers_of(id, name, kind)
    local list = copy(events[('box.space[%d].%s'):format(id, kind)])
    for _, entry in ipairs(events[('box.space.%s.%s'):format(name, kind)] or {}) do
        list[#list + 1] = entry
    end
    return list
end

local function on_replace(id)
    return function(old, new, name, op)
        for _, entry in ipairs(handlers_of(id, name, 'on_replace')) do
            entry[2](old, new, name, op)
        end
    end
end

-- What a function returns is the new row for those behind it; no value leaves that as it is.
local function before_replace(id)
    return function(old, new, name, op)
        local is_changed = false
        local function take(...)
            if select('#', ...) > 0 then
                is_changed, new = true, (...)
            end
        end
        for _, entry in ipairs(handlers_of(id, name, 'before_replace')) do
            take(entry[2](old, new, name, op))
            if new ~= nil and not box.tuple.is(new) then
                break
            end
        end
        if is_changed then
            return new
        end
    end
end

local MAKE = {on_replace = on_replace, before_replace = before_replace}

-- Id -> the functions that are among the space's triggers, by kind.
local attached = {}

-- Brings a space's triggers up to date with the events that are about it.
function internal.follow_space(id, name)
    local own = attached[id] or {}
    attached[id] = own
    for _, kind in ipairs(KINDS) do
        local wants = name ~= nil and #handlers_of(id, name, kind) > 0
        if wants and own[kind] == nil then
            own[kind] = MAKE[kind](id)
            c[kind]({id = id}, own[kind])
        elseif not wants and own[kind] ~= nil then
            if name ~= nil then
                c[kind]({id = id}, nil, own[kind])
            end
            own[kind] = nil
        end
    end
    if next(own) == nil then
        attached[id] = nil
    end
end

local function follow_space_event(event)
    local id = event:match('^box%.space%[(%d+)%]%.')
    local name = event:match('^box%.space%.(.*)%.[%a_]+$')
    local space = rawget(api.space, tonumber(id) or name or '')
    if space ~= nil then
        internal.follow_space(space.id, space.name)
    end
end

-- Transactions ----------------------------------------------------------------------

-- By kind: the event of all transactions, and how many events of spaces have functions.
local TXN = {['box.before_commit'] = 'before_commit', ['box.on_commit'] = 'on_commit',
             ['box.on_rollback'] = 'on_rollback'}
local txn_events, txn_served = {}, {}

-- The event, or its part before ".space.NAME" or ".space[ID]".
local function txn_event(event)
    if TXN[event] ~= nil then
        return event
    end
    local prefix = event:match('^(box%.[%a_]+)%.space[.%[]')
    return TXN[prefix] ~= nil and prefix or nil
end

-- Ids of the spaces that the transaction has changed, in that order.
local function changed_spaces(iterator)
    local ids, seen = {}, {}
    for _, _, _, id in iterator() do
        if not seen[id] then
            seen[id], ids[#ids + 1] = true, id
        end
    end
    return ids
end

local function run_txn(event)
    return function(iterator)
        local has_spaces = txn_events[event] > (events[event] ~= nil and 1 or 0)
        for _, id in ipairs(has_spaces and changed_spaces(iterator) or {}) do
            local space = rawget(api.space, id)
            M.call(('%s.space[%d]'):format(event, id), iterator)
            if space ~= nil then
                M.call(('%s.space.%s'):format(event, space.name), iterator)
            end
        end
        M.call(event, iterator)
    end
end

local known = {}

local function follow_txn_event(event, base)
    local is_set = events[event] ~= nil
    if is_set ~= (known[event] ~= nil) then
        known[event] = is_set or nil
        txn_events[base] = (txn_events[base] or 0) + (is_set and 1 or -1)
    end
    local wants = txn_events[base] > 0
    if wants and txn_served[base] == nil then
        txn_served[base] = run_txn(base)
        require('tarn.txn').on_all(TXN[base], txn_served[base])
    elseif not wants and txn_served[base] ~= nil then
        require('tarn.txn').on_all(TXN[base], nil, txn_served[base])
        txn_served[base] = nil
    end
end

-- Sessions and the life of the server --------------------------------------------

local SERVER = {
    ['box.session.on_connect'] = true, ['box.session.on_disconnect'] = true,
    ['box.session.on_auth'] = true, ['box.session.on_access_denied'] = true,
    ['box.ctl.on_schema_init'] = true, ['box.ctl.on_shutdown'] = true,
    ['box.ctl.on_recovery_state'] = true,
}

-- Event -> the function that is among the server's triggers.
local served = {}

local function follow_server_event(event)
    local library, method = event:match('^box%.(%a+)%.([%a_]+)$')
    local register = box[library][method]
    if events[event] ~= nil and served[event] == nil then
        served[event] = function(...)
            M.call(event, ...)
        end
        register(served[event])
    elseif events[event] == nil and served[event] ~= nil then
        register(nil, served[event])
        served[event] = nil
    end
end

-- The interface -------------------------------------------------------------------

local ON_CHANGE = 'tarantool.trigger.on_change'

local function changed(event)
    local base = txn_event(event)
    if SERVER[event] then
        follow_server_event(event)
    elseif base ~= nil then
        follow_txn_event(event, base)
    else
        follow_space_event(event)
    end
    M.call(ON_CHANGE, event)
end

-- Sets a function by name: in front of the others, or in the place of that which has the name.
function M.set(event, name, handler)
    check_name(event, 1, 'set')
    check_name(name, 2, 'set')
    if not is_callable(handler) then
        error(("bad argument #3 to 'trigger.set' (callable expected, got %s)")
              :format(handler == nil and 'nil' or type(handler)), 2)
    end
    local list = copy(events[event])
    local i = find(list, name)
    if i ~= nil then
        list[i] = {name, handler}
    else
        table.insert(list, 1, {name, handler})
    end
    events[event] = list
    changed(event)
    return handler
end

-- Deletes a function by name and returns it, or nothing where there is none.
function M.del(event, name)
    check_name(event, 1, 'del')
    check_name(name, 2, 'del')
    local list = copy(events[event])
    local i = find(list, name)
    if i == nil then
        return
    end
    local handler = table.remove(list, i)[2]
    events[event] = #list > 0 and list or nil
    changed(event)
    return handler
end

-- for name, handler in trigger.pairs(event)
function M.pairs(event)
    check_name(event, 1, 'pairs')
    local list, i = copy(events[event]), 0
    return function()
        i = i + 1
        if list[i] ~= nil then
            return list[i][1], list[i][2]
        end
    end
end

-- {event = {{name, handler}, ...}}: all events that have any, or the one that is asked for.
function M.info(event)
    if event ~= nil then
        check_name(event, 1, 'info')
    end
    local out = {}
    for name, list in pairs(events) do
        if event == nil or event == name then
            out[name] = {}
            for i, entry in ipairs(list) do
                out[name][i] = {entry[1], entry[2]}
            end
        end
    end
    return out
end

-- space:on_replace() and space:before_replace(): a function, one to take away, or names:
-- (function, nil, name) or {func = function, name = name}.
function internal.space_method(kind)
    return function(space, new, old, name)
        local is_table = type(new) == 'table' and not is_callable(new) and
                         (new.func ~= nil or new.name ~= nil)
        if is_table then
            new, name = new.func, new.name
        end
        if not is_table and name == nil then
            return c[kind](space, new, old)
        end
        check_name(name, 3, kind)
        local event = ('box.space[%d].%s'):format(space.id, kind)
        if new == nil then
            return M.del(event, name)
        end
        return M.set(event, name, new)
    end
end

return M
