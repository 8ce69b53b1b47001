# SPDX-License-Identifier: BSD-2-Clause
"""An installed tarn runs from anywhere: install.py TARN"""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])


@unittest.skipUnless(shutil.which('cmake'), 'cmake is not here')
class Install(unittest.TestCase):
    def test_install(self):
        prefix = process.temp_dir()
        status, out, err = process.run([shutil.which('cmake'), '--install', os.path.dirname(TARN), '--prefix', prefix], 30)
        self.assertEqual(status, 0, out + err)
        installed = os.path.join(prefix, 'bin', 'tarn')
        status, out, err = process.run([installed, '-e', 'box.cfg{log_level = 1} print(box.info.status) os.exit(0)'],
                                       20, cwd=process.temp_dir())
        self.assertEqual((status, out), (0, 'running\n'), err)


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
