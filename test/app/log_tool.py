# SPDX-License-Identifier: BSD-2-Clause
"""`tarn cat`, against the reference's tool, and `tarn play`: log_tool.py TARN [TEST...]"""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import Client

TARN = process.program(sys.argv[1])
REFERENCE = shutil.which('tarantoolctl')
JOURNAL = '00000000000000000000.xlog'

WRITE = r'''
box.cfg{log_level = 2}
local s = box.schema.space.create('s')
s:create_index('pk')
local l = box.schema.space.create('l', {is_local = true})
l:create_index('pk')
s:insert{1, 'x'}
s:replace{2, -5, 1.5, box.NULL, true, {a = {1, {2}}}, 18446744073709551615ULL, 'a\0\n"\''}
s:update(1, {{'=', 2, 'zz'}})
s:upsert({3, 'q'}, {{'=', 2, 'w'}})
s:delete{2}
box.begin() s:insert{4} s:insert{5, string.rep('long ', 1000)} box.commit()
box.begin() s:insert{6} l:insert{1} box.commit()
box.snapshot()
s:insert{7}
os.exit(0)
'''


def run(*args):
    status, out, err = process.run(list(args), 20, cwd=directory)
    return status, out, err


def setUpModule():
    global directory, files
    directory = process.temp_dir()
    status, _, err = run(TARN, '-e', WRITE)
    assert status == 0, err
    files = sorted(f for f in os.listdir(directory) if f.endswith(('.xlog', '.snap')))
    assert len(files) == 4, files


SERVE = r'''
box.cfg{log_level = 2, listen = '127.0.0.1:' .. arg[1]}
box.schema.user.grant('guest', 'read,write,execute', 'universe')
box.schema.user.create('ann', {password = 'secret'})
box.schema.user.grant('ann', 'read,write', 'universe')
box.schema.space.create('s'):create_index('pk')
box.schema.space.create('l'):create_index('pk')
print('ready')
io.stdout:flush()
'''


class Play(unittest.TestCase):
    def setUp(self):
        self.port = process.free_port()
        script = os.path.join(process.temp_dir(), 'serve.lua')
        with open(script, 'w', encoding='utf-8') as f:
            f.write(SERVE)
        self.server = process.Server(sys.argv[1], script, [self.port]).start()
        self.client = Client(self.port)

    def tearDown(self):
        self.client.close()
        self.assertEqual(self.server.stop(), 0)

    def ids(self):
        return self.client.eval("""local ids = {}
            for _, t in box.space.s:pairs() do table.insert(ids, t[1]) end
            return ids, box.space.l:len(), box.space.s:get(1)""")

    def test_all(self):
        status, _, err = run(TARN, 'play', f'127.0.0.1:{self.port}', JOURNAL)
        self.assertEqual(status, 0, err)
        self.assertEqual(self.ids(), [[1, 3, 4, 5, 6], 1, [1, 'zz']])

    def test_snapshot(self):
        """Rows of a snapshot, then those of the journal behind it; in one call."""
        status, _, err = run(TARN, 'play', f'127.0.0.1:{self.port}', *files[-2:])
        self.assertEqual(status, 0, err)
        self.assertEqual(self.ids(), [[1, 3, 4, 5, 6, 7], 1, [1, 'zz']])

    def test_from_and_to(self):
        rows = [json.loads(line) for line in run(TARN, 'cat', JOURNAL, '--format=json', '--space=512')[1].splitlines()]
        lsns = [row['HEADER']['lsn'] for row in rows]
        status, _, err = run(TARN, 'play', f'127.0.0.1:{self.port}', JOURNAL, '--space=512', f'--to={lsns[1]}')
        self.assertEqual(status, 0, err)
        self.assertEqual(self.ids()[:2], [[1], 0])
        status, _, err = run(TARN, 'play', f'127.0.0.1:{self.port}', JOURNAL, '--space=512', f'--from={lsns[1]}')
        self.assertEqual(status, 0, err)
        self.assertEqual(self.ids()[:2], [[1, 3, 4, 5, 6], 0])

    def test_some_as_a_user(self):
        status, _, err = run(TARN, 'play', f'ann:secret@127.0.0.1:{self.port}', JOURNAL, '--space=513')
        self.assertEqual(status, 0, err)
        self.assertEqual(self.ids()[:2], [[], 1])

    def test_errors(self):
        status, _, err = run(TARN, 'play', f'127.0.0.1:{process.free_port()}', JOURNAL)
        self.assertEqual(status, 1)
        self.assertIn('Error while connecting', err)
        # The second time a row is there already.
        run(TARN, 'play', f'127.0.0.1:{self.port}', JOURNAL)
        status, _, err = run(TARN, 'play', f'127.0.0.1:{self.port}', JOURNAL)
        self.assertEqual(status, 1)
        self.assertIn('tarn play: Duplicate key exists', err)


class Cat(unittest.TestCase):
    def cat(self, *args):
        status, out, err = run(TARN, 'cat', *args)
        self.assertEqual(status, 0, err)
        return out, err

    def rows(self, *args):
        return [json.loads(line) for line in self.cat(*args, '--format=json')[0].splitlines()]

    def test_as_the_reference(self):
        for options in ([], ['--show-system'], ['--space=512'], ['--space=512', '--space=513'],
                        ['--from=5', '--to=8', '--show-system'], ['--replica=0'], ['--replica=1', '--from=9']):
            args = ['cat', *files, '--format=json', *options]
            status, out, err = run(REFERENCE, *args)
            self.assertEqual(status, 0, err)
            expected = [json.loads(line) for line in out.splitlines()]
            self.assertEqual(len(expected) > 0, options != ['--replica=0'], options)
            self.assertEqual(self.rows(*args[1:]), expected, options)

    def test_yaml(self):
        for name in (JOURNAL, files[-1]):
            _, expected, expected_err = run(REFERENCE, 'cat', name, '--space=512')
            out, err = self.cat(name, '--space=512')
            self.assertEqual(sorted(out.splitlines()), sorted(expected.splitlines()))
            self.assertEqual(err, expected_err)
            self.assertTrue(out.startswith('---\nHEADER:\n  lsn: '), out)
            self.assertTrue(out.endswith('\n...\n\n'), out)

    def test_lua(self):
        _, expected, _ = run(REFERENCE, 'cat', *files, '--format=lua')
        out, _ = self.cat(*files, '--format=lua')
        # The reference prints a null in a form that Lua can't read.
        self.assertEqual(out, expected.replace('cdata<void *>: NULL', 'box.NULL'))

    def test_time(self):
        rows = self.rows(JOURNAL)
        last = rows[-1]['HEADER']['timestamp']
        self.assertEqual(self.rows(JOURNAL, f'--timestamp={last + 1}'), rows)
        self.assertEqual(self.rows(JOURNAL, '--timestamp=1'), [])
        self.assertEqual(self.rows(JOURNAL, '--timestamp=2020-01-01T00:00:00'), [])
        self.assertEqual(self.rows(JOURNAL, '--timestamp=2999-01-01T00:00:00'), rows)

    def test_what_is_cut_and_damaged(self):
        with open(os.path.join(directory, JOURNAL), 'rb') as f:
            data = f.read()
        with open(os.path.join(directory, 'cut'), 'wb') as f:
            f.write(data[:-20])
        out, err = self.cat('cut', '--format=json')
        self.assertIn('cut: the last write was cut off: ', err)
        rows = self.rows(JOURNAL)
        kept = [json.loads(line) for line in out.splitlines()]
        # The last write had three rows.
        self.assertEqual(kept, rows[:-3])
        middle = len(data) // 4
        with open(os.path.join(directory, 'flipped'), 'wb') as f:
            f.write(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:])
        status, _, err = run(TARN, 'cat', 'flipped')
        self.assertEqual(status, 1)
        self.assertRegex(err, r'tarn cat: flipped: damaged at offset \d+: ')

    def test_errors(self):
        for args, text in ((['cat'], 'Not enough arguments'), (['play', 'localhost:1'], 'Not enough arguments'),
                           (['cat', 'no.xlog'], "failed to open 'no.xlog'"),
                           (['cat', JOURNAL, '--space=x'], 'Bad value for parameter "space"'),
                           (['cat', JOURNAL, '--no'], 'unknown options: no'),
                           (['cat', JOURNAL, '--timestamp=x'], 'Bad value for parameter "timestamp"'),
                           (['cat', JOURNAL, '--format=x'], "Unknown formatter 'x'")):
            status, out, err = run(TARN, *args)
            self.assertEqual((status, out), (1, ''), args)
            self.assertIn(text, err)
        status, out, _ = run(TARN, 'cat', '--help')
        self.assertEqual(status, 0)
        self.assertIn('--show-system', out)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
