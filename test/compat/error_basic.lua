-- SPDX-License-Identifier: BSD-2-Clause
-- box.error: making, raising, looking at errors.
local check = require('check')
box.cfg{}
check [[
box.error(box.error.UNKNOWN)
box.error(box.error.NO_SUCH_SPACE, 'here')
box.error(box.error.UNSUPPORTED, 'this', 'that')
box.error(box.error.UNSUPPORTED)
box.error(0)
box.error(-1)
box.error(100000)
box.error(box.error.PROC_LUA, 'text')
box.error{code = 123, reason = 'mine'}
box.error{reason = 'mine'}
box.error{code = 123}
box.error{}
box.error{code = 'x', reason = 'y'}
box.error{type = 'Own', reason = 'custom', code = 5}
box.error('text')
box.error('Own', 'text %s', 'formatted')
box.error()
box.error(nil)
e = box.error.new{code = 7, reason = 'made'}
e, e.code, e.type, e.message, e.reason, type(e), tostring(e)
e.nosuch
e.base_type, e.prev, e.errno
e:raise()
box.error(e)
error(e)
box.error.raise(box.error.UNKNOWN)
e = box.error.new(box.error.NO_SUCH_SPACE, 'gone')
e.message, e.code
box.error.new()
box.error.new('x', 'y').type
box.error.new('x', 'y').message
box.error.new('x', 'y').code
u = e:unpack()
u.type, u.code, u.message, u.base_type, #u.trace, u.prev
pcall(box.error, box.error.ILLEGAL_PARAMS, 'p')
ok, err = pcall(box.error, box.error.ILLEGAL_PARAMS, 'p')
ok, err.code, err.type
err == err
e == box.error.new(box.error.NO_SUCH_SPACE, 'gone')
e == 'x'
e == nil
pcall(error, e)
select(2, pcall(error, {code = 5})).code
pcall(error)
pcall(error, nil)
type(box.error.UNKNOWN), box.error.UNKNOWN, box.error.NOPE
]]
check.finish()
