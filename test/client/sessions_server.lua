-- SPDX-License-Identifier: BSD-2-Clause
-- The server of sessions.lua: it notes what its session triggers see. arg[1]: what to listen on.
local fiber = require('fiber')

box.cfg{listen = arg[1], log_level = 4}

events = {}
refuse_session, refuse_user = false, false

local function note(event, ...)
    local s = box.session
    table.insert(events, {event, s.id(), s.type(), s.user(), s.effective_user(), s.sync(),
                          s.peer() ~= nil, s.fd() >= 0, ...})
end

box.session.on_connect(function(...)
    note('connect', ...)
    if refuse_session then error('no session') end
end)
box.session.on_disconnect(function(...) note('disconnect', ...) end)
box.session.on_auth(function(...)
    -- One of us calls it for users that are not there, too.
    if ... == 'nobody' then return end
    note('auth', ...)
    if refuse_user then error('no user') end
end)

-- Waits until there are so many events, and returns them session by session.
function wait_events(count)
    for _ = 1, 1000 do
        if #events >= count then break end
        fiber.sleep(0.01)
    end
    for i, e in ipairs(events) do e.at = i end
    table.sort(events, function(a, b)
        if a[2] ~= b[2] then return a[2] < b[2] end
        return a.at < b.at
    end)
    for _, e in ipairs(events) do e.at = nil end
    return events
end

function as_admin(text)
    box.session.su('admin', loadstring(text))
end

function slow()
    local sync = box.session.sync()
    -- Until the trigger has seen its client go, at most ten seconds.
    for _ = 1, 1000 do
        local last = events[#events]
        if last[1] == 'disconnect' and last[2] == box.session.id() then
            break
        end
        fiber.sleep(0.01)
    end
    table.insert(events, {'slow', box.session.id(), box.session.user(), sync > 0,
                          box.session.peer() ~= nil, box.session.fd() >= 0})
end

function values() return 1, nil, {1, 2, {a = 1}}, box.space.test:get(1), box.NULL end

local s = box.schema.space.create('test', {format = {{'id', 'unsigned'}, {'name', 'string'}}})
s:create_index('pk')
for i = 1, 5 do s:insert{i, 'row' .. i} end
box.schema.func.create('whoami', {setuid = true, body = [[function()
    local s = box.session
    return s.user(), s.uid(), s.effective_user(), s.euid()
end]]})
box.schema.func.create('values')
box.schema.user.create('bob', {password = 'secret'})
box.schema.user.create('adm', {password = 'secret'})
box.schema.user.grant('adm', 'super')

print('ready')
io.stdout:flush()
