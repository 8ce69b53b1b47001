-- SPDX-License-Identifier: BSD-2-Clause
-- Stored functions: create, call, drop, what box.func shows.
local check = require('check')
box.cfg{}
function plain(a, b) return a, b end
check [[
box.schema.func.create('sum', {body = 'function(a, b) return a + b end'})
box.func.sum:call{1, 2}
box.func.sum:call({1})
box.func.sum:call()
box.func.sum:call('x')
box.func.sum(1, 2)
box.schema.func.create('sum', {body = 'function() end'})
box.schema.func.create('sum', {if_not_exists = true})
box.schema.func.create('multi', {body = 'function(...) return ..., 7 end'})
box.func.multi:call{1, 2, 3}
box.schema.func.create('none', {body = 'function() end'})
box.func.none:call{}
box.schema.func.create('fails', {body = 'function() error("oops") end'})
box.func.fails:call{}
box.schema.func.create('box_fails', {body = 'function() box.error(box.error.UNSUPPORTED, "a", "b") end'})
box.func.box_fails:call{}
box.schema.func.create('returns_table', {body = 'function() return {1, 2, {a = 1}} end'})
box.func.returns_table:call{}
box.schema.func.create('returns_nil', {body = 'function() return nil, 1 end'})
box.func.returns_nil:call{}
box.schema.func.create('plain')
box.func.plain:call{1, 2}
box.schema.func.create('absent')
box.func.absent:call{}
box.schema.func.create('bad', {body = 'this is not lua'})
box.schema.func.create('bad', {body = 'function( end'})
box.schema.func.create('bad', {body = '5'})
box.schema.func.create('bad', {body = 5})
box.schema.func.create('bad', {language = 'COBOL'})
box.schema.func.create('bad', {nonsense = true})
box.schema.func.create('bad', {is_deterministic = 1})
box.schema.func.create('bad', {aggregate = 'none'})
box.schema.func.create('bad', {routine_type = 'function'})
box.schema.func.create('bad', {sql_data_access = 'none'})
box.schema.func.create('bad', {is_null_call = true})
box.schema.func.create()
box.schema.func.create('')
box.schema.func.create('det', {body = 'function(x) return x * 2 end', is_deterministic = true, is_sandboxed = true})
box.func.det:call{21}
box.schema.func.create('sandbox', {body = 'function() return box, print, require, type(math), type(string) end', is_sandboxed = true})
box.func.sandbox:call{}
f = box.func.det
f.name, f.id, f.language, f.setuid, f.is_deterministic, f.is_sandboxed, f.is_multikey, f.body, f.returns, f.aggregate
box.func.plain.language, box.func.plain.body, box.func.plain.setuid
f.exports
box.func.nosuch
box.func.nosuch:call{}
box.schema.func.exists('sum'), box.schema.func.exists('nosuch'), box.schema.func.exists(1), box.schema.func.exists(f.id)
box.schema.func.exists()
f:drop()
box.func.det
f:call{1}
box.schema.func.drop('sum')
box.schema.func.drop('sum')
box.schema.func.drop('sum', {if_exists = true})
box.schema.func.drop()
box.func.sum
box.schema.func.create('su', {body = 'function() return box.session.effective_user() end', setuid = true})
box.func.su:call{}
box.schema.func.create('Lua language', {language = 'LUA', body = 'function() return 1 end'})
box.func['Lua language']:call{}
box.schema.func.create('counter', {body = 'function() n = (n or 0) + 1 return n end'})
box.func.counter:call(), box.func.counter:call(), n
box.schema.func.call('multi', 1)
]]

-- How a function shows itself.
check [[
box.schema.func.create('plain')
box.schema.func.create('body', {body = 'function() end'})
box.schema.func.create('pure', {body = 'function() end', is_sandboxed = true, is_deterministic = true, comment = 'c'})
box.func.plain, box.func.body, box.func.pure
box.schema.func.drop('plain') box.schema.func.drop('body') box.schema.func.drop('pure')
]]
check.finish()
