-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `clock`: wall, monotonic, process and thread time, in seconds or,
-- with 64 in the name, in nanoseconds as a 64-bit integer.
local ffi = require('ffi')

-- None of these yields or runs Lua.
ffi.cdef[[
    double clock_realtime(void);
    double clock_monotonic(void);
    double clock_process(void);
    double clock_thread(void);
    uint64_t clock_realtime64(void);
    uint64_t clock_monotonic64(void);
    uint64_t clock_process64(void);
    uint64_t clock_thread64(void);
]]
local C = ffi.C

local clock = {
    realtime = C.clock_realtime,
    time = C.clock_realtime,
    monotonic = C.clock_monotonic,
    proc = C.clock_process,
    thread = C.clock_thread,
    realtime64 = C.clock_realtime64,
    time64 = C.clock_realtime64,
    monotonic64 = C.clock_monotonic64,
    proc64 = C.clock_process64,
    thread64 = C.clock_thread64,
}

-- The processor seconds that a call takes, followed by its results, in a table.
function clock.bench(fun, ...)
    local start = clock.proc()
    local result = {0, fun(...)}
    result[1] = clock.proc() - start
    return result
end

return clock
