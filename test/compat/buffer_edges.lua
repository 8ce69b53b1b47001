-- SPDX-License-Identifier: BSD-2-Clause
-- The module buffer, and msgpack with buffers and pointers: arguments of every kind, buffers after recycle().
local check = require('check')
local ffi = require('ffi')
buffer, msgpack, NULL = require('buffer'), require('msgpack'), box.NULL
b = buffer.ibuf()
function text(x) return ffi.string(x.rpos, x:size()) end
function put(x, s) ffi.copy(x:alloc(#s), s, #s) return x:size() end
function filled(s) local x = buffer.ibuf() put(x, s) return x end
check [[
buffer.ibuf(1):alloc(1) ~= nil
buffer.ibuf(1.5):alloc(100) ~= nil
buffer.ibuf(nil):size()
buffer.ibuf('x')
buffer.ibuf('5')
buffer.ibuf({})
buffer.ibuf(5LL):size()
buffer.ibuf(NULL):size()
buffer.ibuf(true)
buffer.ibuf(print)
b:size(), b:capacity(), b:unused(), b:pos()
b.size()
b.size(1)
b.size({})
b.size(NULL)
b.capacity()
b.capacity('x')
b.unused()
b.unused(5)
b.pos()
b.pos({})
b.alloc()
b.alloc(5)
b.reserve()
b.reserve(5)
b.checksize()
b.checksize(5)
b.read()
b.read(5)
b.reset()
b.reset({})
b.recycle()
b.recycle(5)
b:read(1)
b:read(0) == b.rpos
b:read(0.5) == b.rpos
b:read(1e10)
b:checksize(1)
b:checksize(0) == b.rpos
b:checksize(-1)
b:checksize(1e10)
put(b, 'hello')
b:read(6)
b:checksize(6)
b:checksize(5) == b.rpos
b:read(5LL)
b:size()
b:checksize(5LL) == b.rpos
b:alloc(1LL) ~= nil
b:reserve(1LL) ~= nil
b:reset()
b:read(1)
b:recycle()
b:recycle()
b:size(), b:capacity(), b:unused(), b:pos()
b:reset()
b:read(1)
b:checksize(1)
b:read(0) == NULL
b:reserve(10) ~= NULL
put(b, 'after')
text(b)
b:recycle('x')
b.nosuch
b.nosuch = 1
b.rpos = 'x'
b.size = 1
tostring(b)
type(b.buf), type(b.rpos), type(b.wpos), type(b.epos)
#b
b()
b + 1 > b
b == b
b == buffer.ibuf()
b == 1
msgpack.encode({1}, b)
text(b)
msgpack.encode({1}, b, 5)
msgpack.encode({1}, NULL)
msgpack.encode({1}, 5)
msgpack.encode({1}, 'x')
msgpack.encode({print}, b)
text(b)
b:recycle()
msgpack.encode({1}, b)
text(b)
msgpack.encode(setmetatable({}, {__serialize = function() error('no') end}), b)
text(b)
msgpack.decode(b.rpos, b:size())
msgpack.decode(filled('\x91').rpos, 1)
msgpack.ibuf_decode()
msgpack.ibuf_decode(5)
msgpack.ibuf_decode('x')
msgpack.ibuf_decode({})
(select(2, msgpack.ibuf_decode(filled('\x91\x05').rpos)))
(select(2, msgpack.decode_unchecked(filled('\x91\x05').rpos)))
(select(2, msgpack.decode_array_header(filled('\x91').rpos, 1)))
(select(1, msgpack.decode_array_header(filled('\x91').rpos, 1)))
(select(1, msgpack.decode_map_header(filled('\x81').rpos, 1)))
msgpack.decode_map_header('x', 1)
msgpack.decode_map_header(filled('\x81').rpos)
msgpack.decode_map_header(filled('\x81').rpos, 0)
msgpack.decode_map_header(filled('\x81').rpos, 'x')
msgpack.decode_map_header({}, 5)
msgpack.decode_array_header(filled('\x91').rpos, 'x')
msgpack.decode_array_header({}, 5)
buffer.READAHEAD
]]
check.refused [[
b:alloc()
b:alloc(nil)
b:alloc('x')
b:alloc({})
b:alloc(NULL)
b:alloc(print)
b:reserve()
b:reserve(nil)
b:reserve('x')
b:reserve({})
b:reserve(true)
b:checksize()
b:checksize('x')
b:checksize({})
b:checksize(NULL)
b:read()
b:read('x')
b:read({})
b:read(NULL)
msgpack.decode(filled('').rpos, 0)
msgpack.decode(filled('\xc1').rpos, 1)
msgpack.decode_array_header(filled('').rpos, 0)
]]
check.finish()
