-- SPDX-License-Identifier: BSD-2-Clause
-- net.box.self: the connection to the server itself, well used and badly.
local check = require('check')
netbox = require('net.box')
box.cfg{log = 'log'}
self = netbox.self
s = box.schema.space.create('s')
s:create_index('pk')
function add(a, b) return a + b end
function many() return 1, nil, 'three' end
function none() end
function tuples() return s:get{1}, {s:get{1}}, s:select() end
function fails(e) error(e, 0) end
object = {method = function(self, x) return self == object, x end, deep = {f = function() return 'deep' end}}
-- Texts of errors may be objects of either kind.
function told(ok, err)
    return ok, type(err) == 'cdata' and err.message or err
end
check [[
self:ping(), self:ping({timeout = 1}), self.is_connected(), self:is_connected(), self:wait_connected(), self:wait_connected(1)
self:close(), self:reload_schema(), self:is_connected()
self:call('add', {1, 2}), self:call('many'), self:call('none')
self:call('object:method', {5}), self:call('object.deep.f'), self:call('box.space.s:insert', {{1}})
self:eval('return 1, 2'), self:eval('return ...', {1, nil, 3}), self:eval(''), self:eval('x = 5'), x
self:eval('return select("#", ...)', {}), self:eval('return select("#", ...)')
self:call('tuples'), self:eval('return tuples()'), self:call('box.space.s:get', {1})
self:timeout(1) == self, self.space.s.name, self.space.s:get{1}, self.space == box.space
told(pcall(self.call, self, 'nosuch'))
told(pcall(self.call, self, 'object.nosuch'))
told(pcall(self.call, self, 'object.nosuch.deep'))
told(pcall(self.call, self, 'object:nosuch'))
told(pcall(self.call, self, 'fails', {'text'}))
told(pcall(self.call, self, 'add', {1}))
(pcall(self.call, self))
(pcall(self.call, self, {}))
(pcall(self.call, self, 5))
told(pcall(self.eval, self, 'error("text", 0)'))
(pcall(self.eval, self, 'return +'))
(pcall(self.eval, self))
(pcall(self.eval, self, {}))
(pcall(self.call))
(pcall(self.eval))
(pcall(self.ping))
self.nosuch
self.host, self.port, self.state, type(self)
]]
check.finish()
