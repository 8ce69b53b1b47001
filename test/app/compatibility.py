# SPDX-License-Identifier: BSD-2-Clause
"""docs/compatibility.md names the modules that are missing, all and no others: compatibility.py TARN

The reference's modules are asked for where it is installed.
"""
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])
PAGE = os.path.join(process.ROOT, 'docs', 'compatibility.md')
REFERENCE = shutil.which('tarantool')
# Parts of other modules, which no application asks for.
INSIDE = re.compile(r'^(box|internal|tarn)\.|\.en_US$|\.lib$|^(error|jit\.bcsave)$')


def run(binary, text):
    status, out, err = process.run([binary, '-'], 20, cwd=process.temp_dir(), input=text)
    if status != 0:
        raise SystemExit(f'{binary}: {status}\n{out}\n{err}')
    return out


class Page(unittest.TestCase):
    def setUp(self):
        self.missing = set()
        with open(PAGE, encoding='utf-8') as f:
            for line in f:
                if re.match(r'\| modules? ', line):
                    self.missing.update(re.findall(r'`([^`]+)`', line.split(' | ')[0]))
        self.assertTrue(self.missing)

    def test_the_missing_are_missing(self):
        names = ' '.join(sorted(self.missing))
        out = run(TARN, f"""
            for name in ('{names}'):gmatch('%S+') do
                local ok, err = pcall(require, name)
                if ok or not err:find('tarn does not have the module', 1, true) then
                    print(name)
                end
            end
            os.exit(0)""")
        self.assertEqual(out.split(), [])

    @unittest.skipUnless(REFERENCE, 'tarantool is not here')
    def test_no_others_are_missing(self):
        loaded = run(REFERENCE, """
            for name in pairs(package.loaded) do print(name) end
            os.exit(0)""").split()
        names = ' '.join(sorted(name for name in loaded if not INSIDE.search(name)))
        out = run(TARN, f"""
            for name in ('{names}'):gmatch('%S+') do
                if not pcall(require, name) then print(name) end
            end
            os.exit(0)""")
        self.assertEqual(sorted(set(out.split()) - self.missing), [])


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
