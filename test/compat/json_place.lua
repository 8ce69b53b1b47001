-- SPDX-License-Identifier: BSD-2-Clause
-- Errors of encode() and decode() begin with the place of the Lua function that called them.
local check = require('check')
json, yaml, msgpack = require('json'), require('yaml'), require('msgpack')
-- Called as the first thing of a line, so that nothing but the place differs.
function message(name, module, ...)
    local func, args = require(module)[name], {...}
    local _, called = pcall(function() local result = func(unpack(args)) return result end)
    local _, direct = pcall(func, ...)
    return called:match('^[%w_./]*json_place.lua:%d+: (.*)$') or 'no place: ' .. called, direct
end
check [[
message('decode', 'json', '{')
message('decode', 'json', '[1,}')
message('decode', 'json', ('['):rep(200))
message('encode', 'json', print)
message('encode', 'json', {[{}] = 1})
message('encode', 'yaml', print)
message('decode', 'yaml', '{')
message('encode', 'msgpack', print)
message('decode', 'msgpack', '\x92')
message('encode', 'msgpack')
message('decode', 'msgpack', 1)
]]
check.finish()
