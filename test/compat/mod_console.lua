-- SPDX-License-Identifier: BSD-2-Clause
-- console: its functions with bad input, and the console that scripts drive by on_start().
local check = require('check')
console = require('console')
fio = require('fio')
socket = require('socket')
fiber = require('fiber')
require('log').level(0)
path = fio.pathjoin(fio.cwd(), 's.sock')
binary = fio.pathjoin(fio.cwd(), 'b.sock')
box.cfg{log = 'log', listen = 'unix/:' .. binary}
box.schema.user.grant('guest', 'execute', 'universe')
-- Starts a console that reads the lines, and gives what it prints.
function typed(...)
    local lines, printed = {...}, {}
    console.on_start(function(self)
        if self.client ~= nil then
            return
        end
        self.read = function(self)
            local line = table.remove(lines, 1)
            if line == nil then
                self.running = false
                return '\\set output yaml'
            end
            return line
        end
        self.print = function(self, text)
            table.insert(printed, (text:gsub('builtin/[%w_/]+%.lua:%d+: ', '')))
        end
    end)
    console.start()
    console.on_start(nil)
    table.remove(printed)
    return printed
end
-- Starts a console in which f runs, and ends it.
function inside(f, ...)
    local arguments, results = {...}, nil
    console.on_start(function(self)
        if self.client == nil then
            results = {pcall(f, self, unpack(arguments))}
            self.running = false
        end
    end)
    console.start()
    console.on_start(nil)
    return unpack(results)
end
function connect_to(where)
    return function(self)
        local ok, err = pcall(console.connect, where)
        local text = self:eval('1 + 1')
        return ok, (tostring(err):gsub('^builtin/.-: ', '')), text, self.remote ~= nil
    end
end
check [[
console.connect()
console.connect('unix/:/nosuch')
console.delimiter()
console.delimiter(';')
console.ac()
console.ac(true)
console.on_start(5)
console.on_start({})
console.on_start()
console.on_client_disconnect(5)
console.on_client_disconnect('x')
console.on_client_disconnect()
console.listen('nonsense:nonsense:nonsense')
console.listen({})
console.listen(true)
(pcall(console.listen, 'unix/:/no/such/dir/sock'))
console.eval('1 + 1'), console.eval('x ='), console.eval('error("text")'), console.eval(''), console.eval()
console.eval('return'), console.eval('nil'), console.eval('nil, 1, nil'), console.eval('error()')
(pcall(console.eval, 5))
(pcall(console.eval, {}))
console.eval('\\nonsense'), console.eval('\\set'), console.eval('\\set nonsense x'), console.eval('\\set output nonsense')
console.eval('\\set output lua'), console.eval('{1, a = 2}'), console.eval('\\set output yaml'), console.eval('{1}')
console.eval('\\set language nonsense'), console.eval('\\set language lua')
console.eos(5)
console.eos({})
console.eos()
console.eval('\\set output lua'), console.eos(), console.eos('#'), console.eos(), console.eval('1'), console.eos(';'), console.eval('\\set output yaml')
console.get_default_output(5)
console.set_default_output()
console.set_default_output('nonsense')
console.set_default_output({})
console.set_default_output('lua,block')
console.get_default_output()
console.set_default_output('yaml')
console.get_default_output()
console.completion_handler('consol', 0, 6), console.completion_handler('nosuchname', 0, 10), console.completion_handler('', 0, 0) ~= 5
console.completion_handler('console.on_s', 0, 12), console.completion_handler('fio.nosuch.is_', 0, 12)
]]
check [[
typed('1', 'x = 5', 'x', 'nosuch()', 'return 1, nil, 3')
typed('{a = 1}', '\\set output lua', '{a = 1}', '\\nonsense')
typed('require("console").delimiter("!")', '1!', '2 !', 'require("console").delimiter("")!', '3')
typed('require("console").delimiter()', 'require("console").delimiter(5)')
typed('require("console").ac()', 'require("console").ac(true)', 'require("console").ac("x")')
typed('box.error(1, "x")', 'error{code = 5}')
inside(function(self) return self:eval('1'), self:eval('error("x")'), self:eval(''), self:eval('if true then') end)
inside(function(self) return self:eval(nil) end)
(inside(function(self) return self:eval(5) end))
inside(function(self) return self.running, self.remote, self.client, type(self.read), type(self.print), type(self.eval) end)
inside(function(self) return self:eval('\\set output lua'), self:eval('1'), self:eval('\\set output yaml'), self:eval('1') end)
server = console.listen('unix/:' .. path)
inside(connect_to('unix/:' .. path))
inside(connect_to('unix/:' .. binary))
inside(connect_to('unix/:/nosuch'))
inside(connect_to('nonsense'))
inside(connect_to({}))
inside(connect_to(nil))
typed('y = 7', ('require("console").connect("unix/:%s")'):format(path), 'y', 'return 1, 2', 'nosuch()', '\\set output lua', '{1}')
typed(('require("console").connect("unix/:%s")'):format(binary), 'y', 'nosuch()', 'box.session.user()')
left = {} console.on_client_disconnect(function(self) table.insert(left, {type(self), self.remote == nil}) end)
#typed(('require("console").connect("unix/:%s")'):format(path), '\\quit') > 0
left
console.on_client_disconnect(nil)
server:close()
]]
check.finish()
