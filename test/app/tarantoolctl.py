# SPDX-License-Identifier: BSD-2-Clause
"""The reference's tarantoolctl, with the LuaRocks it brings, run by tarn: tarantoolctl.py TARN

A large program in Lua that was written for the reference: it makes, lists, packs and removes a rock, and
starts, asks and stops a server through its console.
"""
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])
CTL = '/usr/bin/tarantoolctl'

SPEC = '''
package = 'sample'
version = '1.0-1'
source = {url = 'git://localhost/sample'}
description = {summary = 'a sample', license = 'BSD'}
dependencies = {'lua >= 5.1'}
build = {type = 'builtin', modules = {sample = 'src/sample.lua'}}
'''
DEFAULTS = '''
default_cfg = {pid_file = '%(dir)s/run', wal_dir = '%(dir)s/data', memtx_dir = '%(dir)s/data',
               vinyl_dir = '%(dir)s/data', log = '%(dir)s/log', background = false}
instance_dir = '%(dir)s/instances'
'''
INSTANCE = '''
box.cfg{}
box.once('make', function()
    local s = box.schema.space.create('s')
    s:create_index('pk')
    s:insert{1, 'a'}
end)
'''


def wait_for(condition):
    deadline = time.monotonic() + 20 * process.SLOWNESS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError('it did not come')
        time.sleep(0.05)


@unittest.skipUnless(os.path.exists(CTL), 'no tarantoolctl')
class Tarantoolctl(unittest.TestCase):
    def setUp(self):
        self.dir = process.temp_dir()
        self.env = dict(os.environ, PWD=self.dir)

    def write(self, path, text):
        path = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)

    def ctl(self, *args, text='', expected=0):
        status, out, err = process.run([TARN, CTL, *args], 30, cwd=self.dir, env=self.env, input=text)
        self.assertEqual(status, expected, f'{args}\n{out}\n{err}')
        return out + err

    def test_rocks(self):
        self.write('sample-1.0-1.rockspec', SPEC)
        self.write('src/sample.lua', "return {hello = function() return 'hello' end}")
        self.assertIn('sample 1.0-1 is now installed', self.ctl('rocks', 'make', 'sample-1.0-1.rockspec'))
        self.assertIn('1.0-1 (installed)', self.ctl('rocks', 'list'))
        self.assertIn('a sample', self.ctl('rocks', 'show', 'sample'))
        self.assertIn('Packed:', self.ctl('rocks', 'pack', 'sample'))
        self.assertTrue(os.path.exists(os.path.join(self.dir, 'sample-1.0-1.all.rock')))
        _, out, _ = process.run([TARN, '-e', "print(require('sample').hello()) os.exit()"], 20, cwd=self.dir)
        self.assertEqual(out, 'hello\n')
        self.assertIn('Removal successful', self.ctl('rocks', 'remove', 'sample'))
        self.assertNotIn('1.0-1 (installed)', self.ctl('rocks', 'list'))

    def test_an_instance(self):
        for name in ('run', 'data', 'log'):
            os.mkdir(os.path.join(self.dir, name))
        self.write('.tarantoolctl', DEFAULTS % {'dir': self.dir})
        self.write('instances/app.lua', INSTANCE)
        server = process.start([TARN, CTL, 'start', 'app'], cwd=self.dir, env=self.env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        control = os.path.join(self.dir, 'run', 'app.control')
        wait_for(lambda: os.path.exists(control) and
                         os.path.exists(os.path.join(self.dir, 'data', 'app', '00000000000000000000.xlog')))
        self.assertIn('app is running', self.ctl('status', 'app'))
        self.write('ask.lua', 'return box.space.s and box.space.s:select()')
        wait_for(lambda: "[1, 'a']" in self.ctl('eval', 'app', 'ask.lua'))
        self.assertIn('- running\n', self.ctl('enter', 'app', text='box.info.status\n'))
        self.ctl('stop', 'app')
        self.assertEqual(server.wait(20), 0)
        self.assertIn("[1, 'a']", self.ctl('cat', 'data/app/00000000000000000000.xlog'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
