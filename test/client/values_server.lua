-- SPDX-License-Identifier: BSD-2-Clause
-- The server of values.py, run by both programs. arg[1]: what to listen on.
local msgpack = require('msgpack')
local json = require('json')

box.cfg{listen = arg[1], log_level = 1, wal_mode = 'none'}
box.schema.user.grant('guest', 'super')

function echo(...) return ... end
function as_tuple(...) return box.tuple.new({...}) end
function as_fields(...) return box.tuple.new({...}):unpack() end
function recoded(...)
    local t = {...}
    for i = 1, select('#', ...) do
        t[i] = msgpack.decode(msgpack.encode(t[i]))
    end
    return unpack(t, 1, select('#', ...))
end
function nested(...) return {list = {...}, count = select('#', ...)} end

-- What the values are to a script, as text.
local function describe(v)
    if type(v) ~= 'table' then
        return type(v) .. ' ' .. tostring(v)
    end
    local parts = {}
    for k, x in pairs(v) do
        parts[#parts + 1] = describe(k) .. '=' .. describe(x)
    end
    table.sort(parts)
    return ('{%s}#%d'):format(table.concat(parts, ','), #v)
end
function described(...)
    local t = {}
    for i = 1, select('#', ...) do
        t[i] = describe((select(i, ...)))
    end
    return t
end

-- Errors, each with causes behind it.
local function chain(...)
    local list = {...}
    for i = 1, #list - 1 do
        list[i]:set_prev(list[i + 1])
    end
    return list[1]
end
errors = {
    function() error('text') end,
    function() error({a = 1}) end,
    function() error() end,
    function() box.error(box.error.NO_SUCH_USER, 'joe') end,
    function() box.error({code = 1000, reason = 'mine'}) end,
    function() box.error('MyType', 'of %s', 'mine') end,
    function() box.error({type = ('long'):rep(30), reason = 'long'}) end,
    function() box.space.nosuch:get(1) end,
    function() box.schema.space.create('') end,
    function() box.space._space:insert{1} end,
    function() require('fiber').self():cancel() require('fiber').testcancel() end,
    function()
        error(chain(box.error.new({code = 1, reason = 'first'}), box.error.new('Second', 'second'),
                    box.error.new(box.error.UNKNOWN)))
    end,
    function() box.error(chain(box.error.new('A', 'a'), box.error.new('B', 'b'))) end,
    function()
        local list = {}
        for i = 1, 50 do list[i] = box.error.new({code = i, reason = 'number ' .. i}) end
        box.error(chain(unpack(list)))
    end,
    function()
        local ok, cause = pcall(box.schema.space.create, '')
        local e = box.error.new({code = 5, reason = 'wrapped'})
        e:set_prev(cause)
        box.error(e)
    end,
    function() return print end,
    function() return coroutine.create(print) end,
    function() local t = {} t[1] = t return t end,
    function() box.begin() end,
}
function raise(n) return errors[n]() end

print('ready')
io.stdout:flush()
