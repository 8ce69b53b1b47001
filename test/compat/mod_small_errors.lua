-- SPDX-License-Identifier: BSD-2-Clause
-- title, pwd, tap, argparse, iconv, tarantool: the functions with bad input.
local check = require('check')
title, pwd, tap, iconv = require('title'), require('pwd'), require('tap'), require('iconv')
tarantool = require('tarantool')
parse = require('internal.argparse').parse
check [[
title.get(5) ~= 5, title.get({}) ~= 5
title.update({script_name = 5})
title.update({script_name = {}})
title.update({status = {}})
title.update(true)
title.update(print)
title.update('a\0b'), #title.get() > 0
title.update(('x'):rep(100)), #title.get() > 0
title.update(''), title.update('', true), title.update({status = 'run'}, true)
pwd.getpw({})
pwd.getpw(true)
pwd.getpw(print)
pwd.getpw(-5), pwd.getpw(1e9), pwd.getpw('a\0b')
pwd.getgr({})
pwd.getgr(true)
pwd.getgr(-5), pwd.getgr(1e9), pwd.getgr('')
#pwd.getpwall(5) > 0, #pwd.getgrall({}) > 0, #pwd.getpwall() == #pwd.getpwall(), pwd.getpwall()[1].name, pwd.getgrall()[1].name
pwd.getpw(0).workdir, pwd.getpw(0).shell ~= nil, pwd.getpw(0).group.name, pwd.getgr(0).members
tap.test() ~= nil, tap.test({}) ~= nil, tap.test(5) ~= nil
type(tap.test), tap.nosuch
parse()
parse('x')
parse({'a', '-b', '--c', '--d=1', '--e', '2'})
parse({'-x', '--', 'y', '--z'})
parse({'--a=1'}, {{'a', 'number'}}), parse({'--a=x'}, {{'b'}})
parse({'--a=x'}, {{'a', 'number'}})
parse({'--a'}, {{'a', 'number'}})
parse({'--a=maybe'}, {{'a', 'boolean'}})
parse({'--a', '--b', 'x'}, {{'a', 'boolean'}, {'b', 'string'}})
parse({'--a=1', '--a=2'}, {{'a', 'number+'}}), parse({'--a=1', '--a=2'}, {{'a', 'number'}})
parse({'--a'}, {{'a', 'nosuch'}})
parse({'--a'}, {'a'})
parse({'-abc', '-d5', '---x', '--=', '-'})
iconv.new({}, 'UTF-8')
iconv.new('UTF-8', {})
iconv.new('UTF-8', 'nosuch')
iconv.new('', '') ~= 5
i = iconv.new('UTF-16LE', 'UTF-8')
i('\255\254')
i('\226\130')
i(('a'):rep(5)):hex(), i('\0'):hex()
tarantool.uptime() >= 0, tarantool.uptime(5) >= 0, tarantool.pid() == tarantool.pid({}), type(tarantool.version), tarantool.nosuch
type(tarantool.build), type(tarantool.build.target), tarantool.build.mod_format, tarantool.uptime > 5
tarantool.pid.x
tarantool()
]]
check.finish()
