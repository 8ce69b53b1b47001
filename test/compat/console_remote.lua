-- SPDX-License-Identifier: BSD-2-Clause
-- A console over a socket: every byte that comes back.
local check = require('check')
console = require('console')
socket = require('socket')
fiber = require('fiber')
fio = require('fio')

local path = fio.tempdir() .. '/console'
local server = console.listen('unix/:' .. path)
local client

local function connect()
    client = socket.tcp_connect('unix/', path)
    return client:read(128, 5)
end

local function steady(text)
    return text and text:gsub('0x%x+', '0xADDR'):gsub('builtin#%d+', '0xADDR')
        :gsub('builtin/[%w_/]+%.lua:%d+: ', '')
end

-- What a line is answered: it is followed by one whose answer is known, so that nothing is
-- waited for that does not come. `delimiter` is in force behind the line, `eos` ends answers.
local function ask(line, delimiter, eos)
    delimiter = delimiter or ''
    client:write(line .. '\n' .. '"=END="' .. delimiter .. '\n')
    local answer = client:read({delimiter = {'---\n- =END=\n...\n', '"=END="' .. (eos or ';')}}, 5)
    check.values(line, (steady(answer)))
end

local function ask_all(text)
    for line in text:gmatch('[^\n]+') do
        ask(line)
    end
end

check.values('greeting', connect())
ask_all [==[
1
return 1
1,2
nil
nil,nil
x_test=5
x_test
-- comment
function f()
return 7
end
f_nosuch()
error("a")
error({1})
error()
error(nil)
error(setmetatable({}, {__tostring = function() return "text" end}))
box.error(box.error.new(1, "x"))
box.error.new(1, "x")
1+
return return
"a\nb"
{1,2,{a=1}}
print
{}
"x"
true
1.5
1LL
box.NULL
"..."
"\n...\n"
box.session.type()
box.session.user()
box.session.euid()
box.session.peer()
box.session.fd() ~= nil
box.session.id() > 0
box.session.storage.x
box.session.storage.x = 1
box.session.storage.x
local q = 1
q
if 1 then return 5 end
function a() return 1 end a()
"abc
return 1;
1;
1;2
string.rep("a",100)
string.rep("a b ",60)
{1,{2,3},{a={b={c=1}}}}
setmetatable({},{__serialize=function() error("ser") end})
setmetatable({},{__tostring=function() return "ts" end})
function() end
(function() end)
1/0
-1/0,0/0
coroutine.create(print)
" x"
"null"
"1"
"a: b"
"- a"
""
"\200\201"
"\0"
"\t"
nil,1
1,nil
nil,nil,nil
unpack({},1,3)
local t = {} t.t = t return t
local t = {1} return {t, t}
1,2,nil,4,nil
fiber.sleep(0)
require("fiber").name():gsub("%d+$", "N")
]==]

-- Commands.
ask_all [==[
\set
\set output
\set output xml
\set output lua,
\set output ,
\set output yaml,block
\set output yaml
\set   output   yaml
\set language
\set language lua
\set language foo
\set lang lua
\set foo bar
\foo
\set outputx lua
]==]

-- Lua. What depends on the serializer's options is left out: in the reference they have random values.
ask_all [==[
\set output lua
1
1,2
nil
nil,nil
1,nil,2
{1,2}
{a=1}
{}
{{},{{}}}
{a={1,2,{b=3}}}
"x"
"a\nb\t\"q\"\\'"
"\0\1\200"
true,false
x_test=6
error("q")
error({a=1})
error()
1+
1LL,5ULL,-9223372036854775808LL,18446744073709551615ULL
1e100,1e15,123456789012345678,-5,2^53,2^63,1e20
box.NULL
{box.NULL,nil,1}
{1,2,nil,4}
{[2]=1}
{[true]=3}
{["a-b"]=1}
{["1a"]=2}
{_x=3}
{["end"]=4}
local t = {} t.t = t return t
local t = {1} return {t, t}
{1,{2,{3}},"s"}
\set output lua,foo
\set output xml
\set nosuch
\nosuch
\set language
\set output lua,block
1
1,{2}
{1,{},{a={}}}
{a={b={c={1,2}}}}
{}
"x"
error("q")
local t = {} t.t = t return t
\set output lua,line
{1,{2}}
\set output yaml
1
]==]

-- The delimiter, and what ends answers.
ask('\\set delimiter ;', ';')
ask('1;', ';')
ask('x_test = 1\nreturn x_test;', ';')
ask('\\set delimiter;')
ask('\\set delimiter $$', '$$')
ask('5$$', '$$')
ask('\\set output lua$$', '$$')
ask('{1,\n2}$$', '$$')
ask('\\set delimiter$$')
ask('\\set output yaml')
ask('require("console").delimiter("!")', '!')
ask('require("console").delimiter()!', '!')
ask('function f_test()\nreturn 7\nend!', '!')
ask('f_test()!', '!')
ask('require("console").delimiter("")!')
ask('require("console").delimiter(5)')
ask('require("console").eos()')
ask('\\set output lua')
ask('require("console").eos()')
ask('require("console").eos("END")', '', 'END')
ask('1', '', 'END')
ask('require("console").eos(";")')
ask('\\set output yaml')
ask('require("console").ac()')
ask('require("console").get_default_output()')

-- Messages ahead of the answer.
ask('box.session.push(5)')
ask('box.session.push({1, 2}) return 3')
ask('\\set output lua')
ask('box.session.push({1, 2}) return 3')
ask('\\set output yaml')

-- Several lines in one write, a line in several.
client:write('1\n2\n3\n')
check.values('three', client:read('- 3\n...\n', 5))
client:write('"split')
fiber.sleep(0.01)
client:write('ted"\n')
check.values('split', client:read('\n...\n', 5))
client:write('\r\n')
check.values('return', client:read('\n...\n', 5))
client:write('5\r\n')
check.values('number and return', client:read('\n...\n', 5))
client:write('\n')
check.values('empty', client:read('\n...\n', 5))
client:write('\\quit\n')
check.values('quit', client:read(100, 5))
client:close()

-- Each client has its own settings; the default is for those that come.
console.set_default_output('lua')
connect()
ask('{1}')
ask('\\set output yaml')
ask('{1}')
client:close()
connect()
ask('{1}')
console.set_default_output('yaml')
ask('{1}')
client:close()
connect()
ask('{1}')
client:close()

-- The module's functions outside of a console.
check [[
console.eos() == '\n...\n'
console.eos('!')
console.delimiter()
console.delimiter(';')
console.ac()
console.ac(false)
console.get_default_output().fmt
console.set_default_output('xx')
console.set_default_output()
console.eval('return 1,2')
console.eval('1+')
console.eval('')
console.on_start()
console.on_start(5)
console.listen('a b')
console.listen({})
console.listen('1.2.3.4:55')
console.connect()
console.connect('a b')
console.connect('unix/:/nonexistent')
type(console.on_client_disconnect), type(console.start), type(console.completion_handler)
]]

-- Over TCP.
server:close()
server = console.listen('127.0.0.1:0')
client = socket.tcp_connect('127.0.0.1', server:name().port)
check.values('greeting', client:read(128, 5))
ask('box.session.type(), box.session.user(), box.session.peer():gsub("%d+$", "N")')
client:close()

-- Triggers of sessions: a console is a login of the admin.
local seen = {}
local function note(name)
    return function(user, ok)
        table.insert(seen, {name, box.session.type(), box.session.user(), box.session.fd() >= 0,
                            box.session.peer() ~= nil, user or 'none', ok or false})
    end
end
box.session.on_connect(note('connect'))
box.session.on_auth(note('auth'))
box.session.on_disconnect(note('disconnect'))
client = socket.tcp_connect('127.0.0.1', server:name().port)
client:read(128, 5)
client:close()
for _ = 1, 1000 do
    if seen[3] ~= nil then
        break
    end
    fiber.sleep(0.005)
end
check.values('triggers', seen)
server:close()
fio.unlink(path)
check.finish()
