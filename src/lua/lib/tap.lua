-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `tap`: tests that print the Test Anything Protocol, version 13.
-- Subtests are indented. Manual: module tap.
local ffi = require('ffi')
local yaml = require('yaml')

local NULL = ffi.cast('void *', 0)

local methods = {}
local test_mt = {__index = methods}

local function say(test, text)
    local pad = (' '):rep(4 * test.level)
    io.write((text:gsub('[^\n]+', pad .. '%0')), '\n')
    io.flush()
end

-- The stack of the assertion's caller, outermost last.
local function traceback(level)
    local frames = {}
    level = level or 3
    while true do
        local info = debug.getinfo(level, 'nSl')
        if info == nil then
            return frames
        end
        frames[#frames + 1] = {
            source = info.source, src = info.short_src, line = info.linedefined or 0,
            what = info.what, name = info.name, namewhat = info.namewhat,
            filename = info.source:sub(1, 1) == '@' and info.source:sub(2) or 'eval',
        }
        level = level + 1
    end
end

local function merge(into, extra)
    for k, v in pairs(type(extra) == 'table' and extra or {}) do
        into[k] = v
    end
    return into
end

local function report(test, cond, message, details)
    test.total = test.total + 1
    if cond then
        say(test, ('ok - %s'):format(message))
        return true
    end
    test.failed = test.failed + 1
    say(test, ('not ok - %s'):format(message))
    local trace = traceback()
    local last = trace[#trace] or {}
    local more = merge({trace = trace, filename = last.filename, line = last.line}, details)
    say(test, (yaml.encode(more):gsub('[^\n]+', '  %0'):gsub('\n$', '')))
    return false
end

function methods.ok(test, cond, message, extra)
    return report(test, cond, message, extra)
end

function methods.fail(test, message, extra)
    return report(test, false, message, extra)
end

function methods.skip(test, message)
    return report(test, true, ('%s # skip'):format(message))
end

function methods.diag(test, format, ...)
    say(test, '# ' .. (select('#', ...) > 0 and format:format(...) or format))
end

function methods.plan(test, planned)
    test.planned = planned
    say(test, ('1..%d'):format(planned))
end

local function or_null(v)
    if v == nil then
        return NULL
    end
    return v
end

local function is_container(v)
    return type(v) == 'table'
end

-- Are the values equal, tables by content? On the first difference, its place
-- and both values go to `where`. Loosely, box.NULL equals nil.
local function deep_equal(got, expected, strict, where, path)
    if is_container(got) and is_container(expected) then
        for k, v in pairs(got) do
            if not deep_equal(v, expected[k], strict, where, path .. '/' .. tostring(k)) then
                return false
            end
        end
        for k, v in pairs(expected) do
            if got[k] == nil and not deep_equal(nil, v, strict, where,
                                                path .. '/' .. tostring(k)) then
                return false
            end
        end
        return true
    end
    local equal = got == expected
    if strict and equal and type(got) ~= type(expected) then
        equal = false
    end
    if not equal and got ~= got and expected ~= expected then
        equal = true -- both are NaN
    end
    if not equal then
        where.path = path ~= '/' and path or nil
        where.got, where.expected = or_null(got), or_null(expected)
    end
    return equal
end

-- nil and box.NULL are the same unless the test is strict: then types count, too.
local function is_same(test, got, expected)
    return got == expected and (not test.strict or type(got) == type(expected))
end

function methods.is(test, got, expected, message, extra)
    return report(test, is_same(test, got, expected), message,
                  merge({got = got, expected = expected}, extra))
end

function methods.isnt(test, got, unexpected, message, extra)
    return report(test, not is_same(test, got, unexpected), message,
                  merge({got = got, unexpected = unexpected}, extra))
end

function methods.is_deeply(test, got, expected, message, extra)
    local where = {strict = test.strict}
    local equal = deep_equal(got, expected, test.strict, where, '/')
    return report(test, equal, message, merge(where, extra))
end

function methods.like(test, got, pattern, message, extra)
    return report(test, string.match(tostring(got), pattern) ~= nil, message,
                  merge({got = or_null(got), expected = pattern}, extra))
end

function methods.unlike(test, got, pattern, message, extra)
    return report(test, string.match(tostring(got), pattern) == nil, message,
                  merge({got = or_null(got), expected = pattern}, extra))
end

function methods.isnil(test, value, message, extra)
    return report(test, value == nil, message,
                  merge({expected = 'nil', got = or_null(value)}, extra))
end

local function typed(of)
    return function(test, value, message, extra)
        return report(test, type(value) == of, message,
                      merge({expected = of, got = type(value)}, extra))
    end
end

methods.isstring = typed('string')
methods.isnumber = typed('number')
methods.istable = typed('table')
methods.isboolean = typed('boolean')
methods.isfunction = typed('function')

function methods.isudata(test, value, kind, message, extra)
    local got = type(value) == 'userdata' and ('userdata<%s>'):format(
        tostring(getmetatable(value))) or type(value)
    local ok = type(value) == 'userdata' and getmetatable(value) == kind
    return report(test, ok, message,
                  merge({expected = ('userdata<%s>'):format(tostring(kind)), got = got}, extra))
end

function methods.iscdata(test, value, kind, message, extra)
    local ctype = ffi.typeof(kind)
    local ok = type(value) == 'cdata' and ffi.istype(ctype, value)
    local got = type(value) == 'cdata' and tostring(ffi.typeof(value)) or type(value)
    return report(test, ok, message,
                  merge({expected = tostring(ctype), got = got}, extra))
end

-- Did everything that was planned run, and pass? Says so in comments if not.
function methods.check(test)
    if test.checked then
        error('check called twice')
    end
    test.checked = true
    if test.planned ~= test.total then
        if test.parent ~= nil then
            report(test.parent, false, 'bad plan',
                   {planned = test.planned, run = test.total})
        else
            say(test, ('# bad plan: planned %d run %d'):format(test.planned, test.total))
        end
        return false
    elseif test.failed > 0 then
        if test.parent ~= nil then
            report(test.parent, false, 'failed subtests',
                   {failed = test.failed, planned = test.planned})
        else
            say(test, ('# failed subtest: %d'):format(test.failed))
        end
        return false
    end
    if test.parent ~= nil then
        report(test.parent, true, test.name)
    end
    return true
end

local new_test

-- A test, run by `fun(test, ...)` and checked if that is given.
function methods.test(parent, name, fun, ...)
    local test = new_test(parent, name)
    if fun == nil then
        return test
    end
    test:diag(name)
    fun(test, ...)
    test:diag('%s: end', name)
    return test:check()
end

function new_test(parent, name)
    return setmetatable({
        parent = parent, level = parent and parent.level + 1 or 0, name = name,
        total = 0, failed = 0, planned = 0, checked = false,
        strict = parent and parent.strict or false,
    }, test_mt)
end

return {
    test = function(name, func, ...)
        io.write('TAP version 13\n')
        local test = new_test(nil, name)
        if func ~= nil then
            func(test, ...)
            return test:check()
        end
        return test
    end,
}
