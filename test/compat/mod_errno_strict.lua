-- SPDX-License-Identifier: BSD-2-Clause
-- errno and strict.
local check = require('check')
errno = require('errno')
strict = require('strict')
check [[
errno.ENOENT, errno.EINTR, errno.EAGAIN, errno.EEXIST, errno.EINVAL, errno.ECONNREFUSED, errno.ETIMEDOUT, errno.EPIPE
errno.strerror(errno.ENOENT), errno.strerror(errno.EINVAL), errno.strerror(0)
errno(errno.ENOENT), errno()
errno.NOSUCH
errno(0)
type(errno.strerror()), errno.strerror(99999)
strict.on()
undefined_variable
pcall(function() return undefined_variable end)
rawget(_G, 'undefined_variable')
known = 5
known
known = nil
known
pcall(function() assigned_in_function = 1 end)
strict.off()
undefined_variable
]]
check.finish()
