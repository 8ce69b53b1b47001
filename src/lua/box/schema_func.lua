-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.func: stored functions are rows of _func. Their objects, box.func, and
-- how they are called are the matter of call.c.
local util = require('tarn.box.util')
local box = require('box')

local M = util.schema.func or {}
util.schema.func = M

local function find(name)
    if type(name) == 'string' then
        return box.space._vfunc.index.name:get{name}
    elseif type(name) == 'nil' then
        return box.space._vfunc.index.name:get{}
    end
    -- What is no number is refused there.
    return box.space._vfunc:get{name}
end

local CREATE_OPTIONS = {
    if_not_exists = 'boolean', setuid = 'boolean', language = 'string', body = 'string',
    is_deterministic = 'boolean', is_sandboxed = 'boolean', comment = 'string',
    param_list = 'table', returns = 'string', exports = 'table', opts = 'table',
}

local DEFAULTS = {
    language = 'LUA', body = '', returns = 'any', is_deterministic = false,
    is_sandboxed = false, exports = {'LUA'}, comment = '',
}

function M.create(name, options)
    if type(name) ~= 'string' then
        box.space._vfunc.index.name:get{name}
    end
    options = options or nil
    util.check_options(options, CREATE_OPTIONS)
    local o = util.with_defaults(options, DEFAULTS)
    if box.space._vfunc.index.name:get{name} ~= nil then
        if not o.if_not_exists then
            box.error(box.error.FUNCTION_EXISTS, name)
        end
        return
    end
    local now = os.date('%Y-%m-%d %H:%M:%S')
    box.space._func:auto_increment{
        box.session.euid(), name, o.setuid and 1 or 0, o.language:upper(), o.body,
        'function', o.param_list or {}, o.returns, 'none', 'none',
        o.is_deterministic, o.is_sandboxed, true, o.exports,
        o.opts or util.map({}), o.comment, now, now}
end

function M.exists(name)
    return (type(name) == 'string' or type(name) == 'number') and find(name) ~= nil
end

function M.drop(name, options)
    util.check_options(options, {if_exists = 'boolean'})
    local row = util.to_drop(find(name), name, options, box.error.NO_SUCH_FUNCTION)
    if row == nil then
        return
    end
    util.delete_rights('function', row[1])
    box.space._func:delete{row[1]}
end

function M.call(name, ...)
    if type(name) ~= 'string' and type(name) ~= 'number' then
        error('Use func:call(...)', 2)
    end
    local func = box.func[name] or
                 box.error(box.error.NO_SUCH_FUNCTION, tostring(name))
    return func:call({...})
end

M.reload = require('tarn.func_c').reload

return M
