-- SPDX-License-Identifier: BSD-2-Clause
-- clock.
local check = require('check')
clock = require('clock')
check [[
type(clock.time()), type(clock.realtime()), type(clock.monotonic()), type(clock.proc()), type(clock.thread())
type(clock.time64()), type(clock.realtime64()), type(clock.monotonic64()), type(clock.proc64()), type(clock.thread64())
clock.monotonic() <= clock.monotonic(), clock.monotonic64() <= clock.monotonic64()
math.abs(clock.time() - os.time()) < 3
math.abs(tonumber(clock.time64()) / 1e9 - clock.time()) < 1
select('#', clock.bench(function(a) return a, a end, 5)), select(2, unpack(clock.bench(function(a) return a, a end, 5)))
require('ffi').istype('uint64_t', clock.time64()) or require('ffi').istype('int64_t', clock.time64())
]]
check.finish()
