-- SPDX-License-Identifier: BSD-2-Clause
-- What the server adds to Lua's own libraries.
local check = require('check')
check [[
('a b  c'):split(), ('a,b,,c'):split(','), ('a,b,c'):split(',', 1), (''):split(','), ('abc'):split('')
('a'):split(5)
('a'):split('a', 'x')
('abc'):startswith('ab'), ('abc'):startswith('bc', 2), ('abc'):startswith(''), ('abc'):startswith('ab', 2), ('abc'):startswith('bc', 2, 2)
('abc'):startswith(5)
('abc'):startswith('a', 'x')
('abc'):endswith('bc'), ('abc'):endswith('ab', 1, 2), ('abc'):endswith(''), ('abc'):endswith('abcd')
('a\0\255'):hex(), (''):hex(), ('616200ff'):fromhex(), (''):fromhex()
('abc'):fromhex()
('zz'):fromhex()
string.hex(5)
('  a b\t\n'):strip(), ('  a '):lstrip(), ('  a '):rstrip(), ('xxaxx'):strip('x'), ('abcab'):lstrip('ab'), (''):strip()
string.strip(5)
('a'):strip(5)
('a'):ljust(4), ('a'):rjust(4, '.'), ('a'):center(4), ('ab'):center(5, '-'), ('abc'):ljust(2), ('a'):rjust(-1)
('a'):ljust('x')
('a'):rjust(4, 'ab')
('a'):center(4, {})
t = {1, {2, x = {3}}}
c = table.deepcopy(t)
c[2].x[1] = 4
t[2].x[1], c[2].x[1]
u = {}
u.me = u
v = table.deepcopy(u)
v.me == v, v ~= u
s = table.copy(t)
s[2] == t[2], s ~= t
table.copy(setmetatable({}, {__copy = function() return 'own' end}))
table.deepcopy(setmetatable({}, {__deepcopy = function() return 'own' end}))
table.copy(5)
table.deepcopy('x')
table.move({1, 2, 3}, 2, 3, 1), table.move({1}, 1, 1, 3, {7})
table.move(5, 1, 1, 1)
os.setenv('LANGUAGE_TEST', 'a'), os.getenv('LANGUAGE_TEST'), os.environ().LANGUAGE_TEST
os.setenv('LANGUAGE_TEST', nil), os.getenv('LANGUAGE_TEST'), os.environ().LANGUAGE_TEST
os.setenv(5, {})
tonumber64('18446744073709551615'), tonumber64('-5'), tonumber64('0xff'), tonumber64('0b101'), tonumber64('ff', 16)
tonumber64('x'), tonumber64('1.5'), tonumber64('99999999999999999999'), tonumber64({})
tonumber64()
tonumber64('1', 1)
dostring('return ...', 1, 'a'), dostring('local x = 5 return x')
dostring('return +')
dostring('error({})')
type(debug.sourcefile()), type(debug.sourcedir())
]]
check.finish()
