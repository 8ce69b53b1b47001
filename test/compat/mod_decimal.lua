-- SPDX-License-Identifier: BSD-2-Clause
-- The module decimal.
local check = require('check')
d = require('decimal')
msgpack = require('msgpack')
x = d.new('1.5')
check [[
d.new(), d.new(1)
d.new()
d.new(nil)
d.new({})
d.new(true)
d.new(box.NULL)
d.new('')
d.new('abc')
d.new(' 1')
d.new('1 ')
d.new('0x10')
d.new('1e400')
d.new('1e38')
d.new('inf')
d.new('nan')
d.new(0/0)
d.new(1/0)
d.new(1e38)
d.new('99999999999999999999999999999999999999.5')
d.new('+1'), d.new('.5'), d.new('5.'), d.new('1e5'), d.new('1E+5'), d.new('00012.500'), d.new('-0'), d.new(-0.0)
d.new('1e-38'), d.new('1e-39'), d.new('5e-39'), d.new('0e100'), d.new('0e-100'), d.new('0.00')
d.new(1.1), d.new(1/3), d.new(1e-20), d.new(123456789012345680000), d.new(5e-324), d.new(2^53), d.new(1e37)
d.new(18446744073709551615ULL), d.new(-5LL), d.new(x), d.new(require('ffi').new('uint8_t', 7))
d.new('0.123456789012345678901234567890123456789'), d.new('99999999999999999999999999999999999999.4')
type(x), tostring(x), d.is_decimal(x), d.is_decimal(1), d.is_decimal('1'), d.is_decimal(nil)
d.is_decimal()
x + x, x + 1, 1 + x, x + '2', '2' + x, x + 3LL, 3ULL + x, x + 1.25
x - x, 1 - x, x - '1e37', x * x, x * 0, x * '1e37', 1 / x, x / 3, 0 / x, x % 1, -7 % x, 2 ^ x, x ^ 2, x ^ -1, x ^ 0, -x
-d.new(0), -d.new('-0.0')
x + nil
x + {}
{} + x
x + true
x + box.NULL
x + 'a'
'a' + x
x + 0/0
x / 0
x % 0
x * '99999999999999999999999999999999999999'
d.new(0) ^ 0
d.new('-0.0') ^ '75083657160992263418377640810525', d.new('-0.0') ^ '2e10'
d.new('0.0051') ^ -871609534
d.new('0.0051') ^ 871609534, d.new('-0.9') ^ 999999999, d.new('1.000000001') ^ 999999999
d.new('51e-6') ^ -20e7
d.new(-8) ^ '0.5'
d.new('1e37') % '1e-37'
x == x, x == 1.5, x == '1.50', x == 1, x == nil, x == box.NULL, nil == x, d.new('1.50') == x, x ~= 1.5
x < 2, x < '1', 1 < x, x <= 1.5, x > 1, x >= 2LL
x == {}
x == 'a'
'a' == x
x < nil
x < {}
{} < x
x < 'a'
d.abs(-1), d.abs('-0'), d.abs('-1.50')
d.abs()
d.abs('a')
d.exp(1), d.exp('-1'), d.exp(0), d.exp('1e-38'), d.exp('87.4'), d.exp(-100)
d.exp('87.5')
d.ln(10), d.ln(1), d.ln('1e-38'), d.ln(1.5)
d.ln(0)
d.ln(-1)
d.log10(2), d.log10(1000), d.log10('0.001'), d.log10('1000.00')
d.log10(0)
d.sqrt(2), d.sqrt('2.25'), d.sqrt('0.00'), d.sqrt('1e37'), d.sqrt('100.00'), d.sqrt('-0')
d.sqrt(-1)
d.precision(x), d.precision(d.new('0.001')), d.precision(d.new('1e5')), d.precision(d.new('100'))
d.precision()
d.precision(1)
d.precision(1LL)
d.scale(x), d.scale(d.new('1e5')), d.scale(d.new('0.00'))
d.scale('1')
d.round(x, 0), d.round(x, 1), d.round(x, 5), d.round(x, -1), d.round(x, nil), d.round(x, '0'), d.round(x, 1.5)
d.round(d.new('0.95'), 1), d.round(d.new('99.99'), 1), d.round(d.new('-0.04'), 1), d.round(d.new('0.05'), 1)
d.round(x)
d.round(1, 1)
d.rescale(x, 0), d.rescale(x, 3), d.rescale(x, 39), d.rescale(d.new(1), 37), d.rescale(d.new(1), 38)
d.rescale(d.new('1e5'), 2), d.rescale(d.new('0.1'), 38), d.rescale(x, {}), d.rescale(d.new('0e5'), 2)
d.rescale(x)
d.trim(d.new('1.500')), d.trim(d.new('100')), d.trim(d.new('100.00')), d.trim(d.new('-0.0'))
d.trim(1)
msgpack.encode(x):hex(), msgpack.encode(d.new('-0')):hex(), msgpack.encode(d.new('1e37')):hex()
msgpack.encode(d.new('-12345678901234567890123456789012345678')):hex()
msgpack.decode('\xd5\x01\x01\x1c'), msgpack.decode('\xd5\x01\x01\x1b'), msgpack.decode('\xd5\x01\x01\x1a')
msgpack.decode('\xd5\x01\x01\x11')
msgpack.decode('\xd5\x01\x27\x1c')
msgpack.decode('\xc7\x02\x01\x00\xac')
msgpack.decode('\xd8\x02123456789012345')
require('json').encode({x, a = x}), require('yaml').encode({x}), require('yaml').encode(x)
box.tuple.new{x}[1], box.tuple.new(x):totable(), box.tuple.new{x, 1}:update{{'+', 1, 1}, {'-', 2, x}}:totable()
pcall(function() return #x end) == false, pcall(function() return x.nosuch end) == false
]]
check.finish()
