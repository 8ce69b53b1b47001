-- SPDX-License-Identifier: BSD-2-Clause
-- debug, errno and strict: every function, well used and badly.
local check = require('check')
errno = require('errno')
strict = require('strict')
function two(a, b)
    local c = a
    return debug.getlocal(1, 1), debug.getlocal(1, 3), debug.getlocal(1, 4)
end
function set(a)
    local name = debug.setlocal(1, 1, 'changed')
    return name, a, debug.setlocal(1, 50, 1)
end
local up1, up2 = 'one', 'two'
function first() return up1 end
function second() return up2, up1 end
function at(chunk, text)
    return loadstring(text, chunk)()
end
function counted(mask, count)
    local seen = {}
    debug.sethook(function(event, line) table.insert(seen, event .. (line and line > 0 and ' line' or '')) end, mask, count)
    local x = math.abs(-1)
    debug.sethook()
    return #seen > 0, seen[1], debug.gethook()
end
function lines_of(f)
    local lines = {}
    for l in pairs(debug.getinfo(f, 'L').activelines) do table.insert(lines, l) end
    table.sort(lines)
    return lines
end
function short(text)
    return (text:gsub('\n.*', ''))
end
check [[
two('x', 'y')
debug.getlocal(two, 1), debug.getlocal(two, 2), debug.getlocal(two, 3), debug.getlocal(print, 1)
debug.getlocal(100, 1)
debug.getlocal()
debug.getlocal('x', 1)
debug.getlocal(1)
debug.getlocal(-1, 1)
set('a')
debug.setlocal(100, 1, 1)
debug.setlocal()
debug.setlocal(1, 'x', 1)
debug.getupvalue(first, 1), debug.getupvalue(second, 2), debug.getupvalue(first, 2), debug.getupvalue(first, 0)
debug.getupvalue(5, 1)
debug.getupvalue(first)
debug.getupvalue(first, 'x')
debug.getupvalue(string.gmatch('a', 'a'), 1) == '', debug.getupvalue(print, 1)
debug.setupvalue(first, 1, 'ONE'), first(), second()
debug.setupvalue(first, 5, 1)
debug.setupvalue(5, 1, 1)
debug.setupvalue(first)
debug.upvalueid(first, 1) == debug.upvalueid(second, 2), debug.upvalueid(first, 1) == debug.upvalueid(second, 1)
debug.upvalueid(first, 5)
debug.upvalueid(5, 1)
debug.upvalueid()
debug.upvaluejoin(first, 1, second, 1), first()
debug.upvaluejoin(first, 5, second, 1)
debug.upvaluejoin(first, 1, second, 9)
debug.upvaluejoin(print, 1, second, 1)
debug.upvaluejoin(first, 1, 5, 1)
debug.upvaluejoin()
debug.getfenv(first) == _G, debug.getfenv(print) == _G, debug.getfenv(5), debug.getfenv(coroutine.create(print)) == _G
debug.getfenv()
env = {up = 5} f = loadstring('return up')
debug.setfenv(f, env) == f, f(), debug.getfenv(f) == env
debug.setfenv(5, env)
debug.setfenv(f)
debug.setfenv(f, 5)
debug.setfenv('x', {})
debug.getmetatable('').__index == string, debug.getmetatable({}), debug.getmetatable(5), debug.getmetatable(nil)
debug.getmetatable()
t = {} mt = {__metatable = 'locked', __index = {x = 1}}
debug.setmetatable(t, mt) == t, t.x, getmetatable(t), debug.getmetatable(t) == mt, debug.setmetatable(t, nil) == t, t.x
debug.setmetatable(5, {__index = {half = 2}}), (5).half, debug.setmetatable(5, nil), debug.getmetatable(5)
debug.setmetatable(t)
debug.setmetatable(t, 5)
debug.setmetatable()
type(debug.getregistry()), debug.getregistry(5) == debug.getregistry()
counted('c')
counted('r')
counted('l')
counted('', 1)
counted('', 0)
counted('x')
debug.sethook(5)
debug.sethook(tostring)
debug.sethook(tostring, {})
debug.sethook(tostring, '', 'x')
debug.sethook(coroutine.create(tostring), tostring, 'l'), debug.gethook()
debug.gethook(5)
debug.sethook(), debug.gethook()
i = debug.getinfo(first)
i.what, i.nups, i.namewhat, i.linedefined > 0, i.lastlinedefined > 0, i.currentline, i.func == first, i.short_src ~= nil
debug.getinfo(print).what, debug.getinfo(print, 'S').source, debug.getinfo(print).currentline
debug.getinfo(1, 'n').name, debug.getinfo(1, 'S').source, debug.getinfo(1, 'l').currentline, debug.getinfo(1, 'f').func ~= nil
lines_of(loadstring('local a = 1\nlocal b\nreturn a'))
debug.getinfo(1000), debug.getinfo(1e9)
debug.getinfo()
debug.getinfo('x')
debug.getinfo(1, 'X')
debug.getinfo(1, '>S')
debug.getinfo(1, {})
debug.getinfo(-1)
debug.getinfo(coroutine.create(print), 0)
debug.getinfo(coroutine.create(print), 0, 'Z')
at('@chunk', 'local function f() return debug.getinfo(1, "nSlu") end local i = f() return i.name, i.namewhat, i.source, i.short_src, i.currentline, i.nups')
short(debug.traceback()), short(debug.traceback('told')), short(debug.traceback('told', 1)), short(debug.traceback('told', 500))
debug.traceback({}) ~= nil, debug.traceback(nil), debug.traceback(5):match('^5'), debug.traceback(true)
debug.traceback('told', 'x')
debug.traceback(coroutine.create(print), 'of another')
debug.traceback(coroutine.create(print), 'of another', 0)
debug.traceback('x', 500)
at('@/a/b/c.lua', 'return debug.sourcefile(), debug.sourcedir()')
at('@/a/b/c.lua', 'return debug.sourcefile(0), debug.sourcedir(0)')
at('@/a/b/c.lua', 'return debug.sourcefile(1), debug.sourcedir(1)')
at('@/a/b/c.lua', 'return debug.sourcefile(100), debug.sourcedir(100)')
at('=stdin', 'return debug.sourcefile(), debug.sourcedir()')
at('text', 'return debug.sourcefile(), debug.sourcedir()')
at('@./rel/c.lua', 'return debug.sourcefile(), debug.sourcedir(), debug.__file__, debug.__dir__')
at('@c.lua', 'return debug.sourcefile(), debug.sourcedir(), debug.__file__, debug.__dir__')
at('@/c.lua', 'return debug.sourcefile(), debug.sourcedir(), debug.__file__, debug.__dir__')
at('@/a/c.lua', 'return debug.sourcefile("x")')
at('@/a/c.lua', 'return debug.sourcefile({})')
at('@/a/c.lua', 'return debug.sourcedir(-5)')
debug.nothing, debug.__nothing__
errno(), errno(5), errno(), errno(0), errno()
errno('x')
errno({})
errno(2.7), errno(), errno(-1), errno()
errno.strerror(), errno.strerror(0), errno.strerror(2), errno.strerror(12345), errno.strerror(-5)
errno.strerror('x')
errno.strerror({})
errno.strerror('2'), errno.strerror(2.7), errno.strerror(nil)
errno.EINVAL, errno.EAGAIN == errno.EWOULDBLOCK, errno.ETIMEDOUT, errno.ENOSUCH
type(errno), getmetatable(errno) ~= nil
strict.on(), pcall(loadstring('return undefined_name')), pcall(loadstring('undefined_name = 5'))
pcall(loadstring('local f = function() undefined_name = 5 end f()'))
rawset(_G, 'declared', 5) == _G, declared
strict.on(1, 2), strict.off(5), strict.off()
undefined_name
strict.on(), pcall(loadstring('return another_name')), strict.off()
pcall(strict.nothing)
]]
check.finish()
