# SPDX-License-Identifier: BSD-2-Clause
"""Yields by FFI from compiled Lua: a clean stop with a message. ffi_yield.py TARN [TEST...]"""
import os
import re
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])

HEAD = '''
local ffi, fiber = require('ffi'), require('fiber')
ffi.cdef('void fiber_reschedule(void); int abs(int);')
local func = ffi.typeof('void (*)(int)')
local early, late = ffi.cast(func, ffi.C.abs), ffi.cast(func, ffi.C.fiber_reschedule)
local function run(p)
    for i = 1, 1000 do p(i) end
end
'''


class FfiYield(unittest.TestCase):
    def tarn(self, text):
        """Runs the script: status, standard output, standard error."""
        directory = process.temp_dir()
        with open(os.path.join(directory, 'script.lua'), 'w', encoding='utf-8') as f:
            f.write(HEAD + text)
        return process.run([TARN, 'script.lua'], 20, cwd=directory)

    def assert_stopped(self, text, place):
        status, out, err = self.tarn(text)
        self.assertEqual(status, -signal.SIGABRT, f'{out}\n{err}')
        message = [row for row in err.splitlines() if 'compiled Lua code' in row]
        self.assertEqual(len(message), 1, err)
        self.assertIn('fiber_reschedule() was called by FFI', message[0])
        self.assertRegex(message[0], r"fiber \d+ '")
        self.assertIn(f' in {place}. ', message[0])
        self.assertIn('jit.off(func)', message[0])
        self.assertNotIn('went on', out)

    def test_call_that_begins_to_yield_later(self):
        self.assert_stopped('run(early) run(early) run(late) print("went on")',
                            "function 'run', script.lua:7")

    def test_in_a_coroutine(self):
        self.assert_stopped('coroutine.wrap(function() run(early) run(early) run(late) end)()'
                            ' print("went on")', "function 'run', script.lua:7")

    def test_in_a_named_fiber(self):
        self.assert_stopped('fiber.create(function() fiber.name("culprit") run(early) run(late) '
                            'print("went on") end)', "function 'run', script.lua:7")
        err = self.tarn('fiber.create(function() fiber.name("culprit") run(early) run(late) end)')[2]
        self.assertTrue(re.search(r"fiber \d+ 'culprit'", err), err)

    def test_main_chunk(self):
        self.assert_stopped('for i = 1, 1000 do early(i) if i == 900 then early = late end end '
                            'print("went on")', 'the main chunk, script.lua:9')

    def test_function_without_a_name(self):
        self.assert_stopped('for k = 1, 3 do '
                            '(function(p) for i = 1, 1000 do p(i) end end)(k == 3 and late or early) '
                            'end print("went on")', 'a function defined at line 9, script.lua:9')

    def test_in_a_metamethod(self):
        text = ('local call = early local t = setmetatable({}, '
                '{__index = function(_, i) call(i) return i * 2 end})\n'
                'local function sum(n) local s = 0 for i = 1, n do s = s + t[i] end return s end\n')
        self.assert_stopped(text + 'sum(1000) call = late sum(1000) print("went on")',
                            "function 'sum', script.lua:10")
        status, out, err = self.tarn(text + 'call = late print(sum(1000)) os.exit(0)')
        self.assertEqual((status, out), (0, '1001000\n'), err)

    def test_callback_that_yields(self):
        """C calls Lua, which switches to fibers that are in the middle of the same."""
        text = '''
ffi.cdef('void qsort(void *, size_t, size_t, int (*)(const int *, const int *));')
local function sorted(seed)
    local list, count = ffi.new('int[50]'), 0
    for i = 0, 49 do list[i] = (i * seed) % 53 end
    local compare = ffi.cast('int (*)(const int *, const int *)', function(a, b)
        count = count + 1
        fiber.yield()
        return a[0] - b[0]
    end)
    ffi.C.qsort(list, 50, 4, compare)
    compare:free()
    for i = 1, 49 do assert(list[i - 1] <= list[i]) end
    return count
end
jit.off(sorted)
local fibers = {}
for i = 1, 20 do
    fibers[i] = fiber.new(sorted, i)
    fibers[i]:set_joinable(true)
end
for i = 1, 20 do
    local ok, count = fibers[i]:join()
    assert(ok and count >= 49, count)
end
print('went on') os.exit(0)
'''
        status, out, err = self.tarn(text)
        self.assertEqual((status, out), (0, 'went on\n'), err)

    def test_jit_off_is_safe(self):
        status, out, err = self.tarn('jit.off(run) run(early) run(early) run(late) '
                                     'print("went on") os.exit(0)')
        self.assertEqual((status, out), (0, 'went on\n'), err)

    def test_yield_while_recorded(self):
        status, out, err = self.tarn('fiber.create(function() for _ = 1, 100 do fiber.yield() end end) '
                                     'local n = 0 local function count() '
                                     'for i = 1, 1000 do late(i) n = n + i end end '
                                     'for _ = 1, 10 do count() end print(n) os.exit(0)')
        self.assertEqual((status, out), (0, '5005000\n'), err)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
