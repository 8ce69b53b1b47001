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

    def assert_stopped(self, text, line):
        status, out, err = self.tarn(text)
        self.assertEqual(status, -signal.SIGABRT, f'{out}\n{err}')
        message = [row for row in err.splitlines() if 'compiled Lua code' in row]
        self.assertEqual(len(message), 1, err)
        self.assertIn('fiber_reschedule() was called by FFI', message[0])
        self.assertRegex(message[0], r"fiber \d+ '")
        self.assertIn(f'script.lua:{line}.', message[0])
        self.assertIn('jit.off(func)', message[0])
        self.assertNotIn('went on', out)

    def test_call_that_begins_to_yield_later(self):
        self.assert_stopped('run(early) run(early) run(late) print("went on")', 7)

    def test_in_a_coroutine(self):
        self.assert_stopped('coroutine.wrap(function() run(early) run(early) run(late) end)()'
                            ' print("went on")', 7)

    def test_in_a_named_fiber(self):
        self.assert_stopped('fiber.create(function() fiber.name("culprit") run(early) run(late) '
                            'print("went on") end)', 7)
        err = self.tarn('fiber.create(function() fiber.name("culprit") run(early) run(late) end)')[2]
        self.assertTrue(re.search(r"fiber \d+ 'culprit'", err), err)

    def test_jit_off_is_safe(self):
        status, out, err = self.tarn('jit.off(run) run(early) run(early) run(late) '
                                     'print("went on") os.exit(0)')
        self.assertEqual((status, out), (0, 'went on\n'), err)

    def test_yield_while_recorded(self):
        status, out, err = self.tarn('fiber.create(function() for _ = 1, 100 do fiber.yield() end end) '
                                     'for _ = 1, 10 do run(late) end print("went on") os.exit(0)')
        self.assertEqual((status, out), (0, 'went on\n'), err)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
