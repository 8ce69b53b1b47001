-- SPDX-License-Identifier: BSD-2-Clause
-- The module buffer, and msgpack with its buffers and with pointers.
local check = require('check')
local ffi = require('ffi')
buffer, msgpack = require('buffer'), require('msgpack')
b, p = buffer.ibuf(), nil
function fill(s) b:reset() ffi.copy(b:alloc(#s), s, #s) return b.rpos, #s end
function at(f, ...) local n, ptr = f(...) return n, tonumber(ptr - b.rpos) end
empty = ffi.cast('char *', b:reserve(1))
check [[
type(b), tostring(b), b:size(), b:pos(), buffer.READAHEAD
b:alloc(5) ~= nil, b:size(), b:pos()
ffi_copy = require('ffi').copy(b.rpos, 'hello', 5)
require('ffi').string(b.rpos, b:size())
b:checksize(3) == b.rpos, b:size()
p = b:read(2)
buffer.ibuf():alloc(0) == nil, buffer.ibuf():reserve(0) == nil
b:size(), b:pos(), b.rpos - p
require('ffi').string(b:read(3), 3)
b:size(), b:pos()
b:recycle()
b:size(), b:capacity(), b:pos(), b.buf == nil
b:reserve(100000) ~= nil, b:size(), b:unused() >= 100000
b:alloc(100000) ~= nil, b:size(), b:capacity() >= 100000
b:read(99990) ~= nil, b:alloc(50) ~= nil, b:size()
b:reset()
b:size(), b:pos(), b:capacity() > 0
msgpack.encode({1, 2, {a = 3}}, b), b:size()
msgpack.encode('x', b), b:size()
at(msgpack.decode, b.rpos, 3)
at(msgpack.decode, b.rpos, b:size())
select('#', msgpack.decode(b.rpos, b:size()))
msgpack.decode(b.rpos)
msgpack.decode(b.rpos, -1)
msgpack.decode(b.rpos, 0)
msgpack.decode(nil)
msgpack.decode_unchecked(nil)
msgpack.decode(b)
msgpack.encode(1, 'x')
msgpack.encode()
msgpack.encode(print, b)
b:size()
at(msgpack.decode_array_header, fill('\x92\x01\x02'))
at(msgpack.decode_array_header, fill('\xdc\x00\x05'))
at(msgpack.decode_array_header, fill('\xdd\x00\x01\x00\x00'))
msgpack.decode_array_header(fill('\xdc\x00'))
msgpack.decode_array_header(fill('\xdd\x00\x00\x00'))
msgpack.decode_array_header(fill('\x81'))
msgpack.decode_array_header(fill('\xc0'))
msgpack.decode_array_header(b.rpos, 0)
msgpack.decode_array_header(b.rpos, -1)
msgpack.decode_array_header(b.rpos)
msgpack.decode_array_header('\x92', 1)
msgpack.decode_array_header()
at(msgpack.decode_map_header, fill('\x82\x01\x02'))
at(msgpack.decode_map_header, fill('\xde\x00\x05'))
msgpack.decode_map_header(fill('\xdf\x00'))
msgpack.decode_map_header(fill('\x91'))
msgpack.decode_map_header(fill('\xc1'))
msgpack.decode_map_header()
]]
check.finish()
