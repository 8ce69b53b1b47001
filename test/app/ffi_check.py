# SPDX-License-Identifier: BSD-2-Clause
"""No C function that Lua reaches by FFI runs Lua or yields: ffi_check.py TARN [TEST...]

Scripts that use all of them run with TARN_CHECK_FFI in the environment, which stops
the program where one does.
"""
import glob
import os
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])
ROOT = process.ROOT
ENV = dict(os.environ, TARN_CHECK_FFI='1', COMPAT_LIB=os.path.join(ROOT, 'test', 'compat', 'lib'))
# Load or time is what they are about, or FFI calls of their own that yield.
LEFT_OUT = {'fiber_many', 'fiber_stress', 'fiber_slice', 'fiber_sleep', 'fiber_where'}
CALLS = 'print("FFI calls: " .. require("tarn.ffi_check").calls()) '


def run(text, directory=None):
    status, out, err = process.run([TARN, '-e', text], 60, cwd=directory or process.temp_dir(), env=ENV)
    return status, out, err


class FfiCheck(unittest.TestCase):
    def script(self, path):
        """Run it to its end; how many calls were watched."""
        exit_with_count = ("local exit = os.exit os.exit = function(...) " + CALLS + "exit(...) end "
                           "package.path = os.getenv('COMPAT_LIB') .. '/?.lua;' .. package.path "
                           f"dofile('{path}') " + CALLS)
        status, out, err = run(exit_with_count)
        self.assertEqual(status, 0, f'{path}\n{out[-2000:]}\n{err[-3000:]}')
        self.assertIn('FFI calls: ', out, path)
        return int(out.rsplit('FFI calls: ', 1)[1].split()[0])

    def all_in(self, folder):
        paths = [path for path in sorted(glob.glob(os.path.join(ROOT, 'test', folder, '*.lua')))
                 if os.path.basename(path)[:-4] not in LEFT_OUT]
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(self.script, paths))

    def test_scripts(self):
        self.assertGreater(self.all_in('lua'), 1000)

    def test_differential_scripts(self):
        self.assertGreater(self.all_in('compat'), 1000)

    def test_one_that_yields_is_found(self):
        text = ("local ffi = require('ffi') ffi.cdef'void fiber_sleep(double);' "
                "jit.off() ffi.C.fiber_sleep(0.001)")
        status, _, err = run(text)
        self.assertNotEqual(status, 0)
        # Where the collector rests, a yield that asks whether it may is refused.
        self.assertRegex(err, r"fiber_sleep\(\) was called by FFI and has (yielded|run Lua)|can't yield")


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
