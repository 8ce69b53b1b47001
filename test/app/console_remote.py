# SPDX-License-Identifier: BSD-2-Clause
"""console.connect() to servers over both protocols: console_remote.py TARN [TEST...]

Where the reference is installed, the consoles of both programs talk to servers of both, and what
they print has to be the same.
"""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])
REFERENCE = shutil.which('tarantool')

SERVER = """
box.cfg{listen = 'unix/:./bin', log_level = 1}
box.schema.user.create('ann', {password = 'secret'})
box.schema.user.grant('ann', 'super')
require('console').listen('unix/:./con')
print('ready')
io.stdout:flush()
"""

LINES = r"""
1+1
box.session.type(), box.session.user()
for i=1,2 do
 x = i
end
x
{a = {1, 2}}
error("q")
1+
\set output lua
{a = {1, 2}}
\set output lua,block
{1}
\set output yaml
box.NULL
"""


def converse(client, uri, lines):
    """What a console prints, without prompts and echoes."""
    directory = process.temp_dir()
    script = os.path.join(directory, 'start.lua')
    with open(script, 'w', encoding='utf-8') as f:
        f.write("io.stdout:setvbuf('no') require('console').start() os.exit()")
    text = f'require("console").connect("{uri}")\n' + lines.strip() + '\n'
    env = dict(os.environ, TERM='dumb', INPUTRC='/dev/null', HOME=directory)
    result = subprocess.run([client, script], input=text, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=20, cwd=directory, env=env, text=True)
    out = result.stdout.splitlines()
    return [line for line in out if '> ' not in line and line.strip() != '']


class Remote(unittest.TestCase):
    def serve(self, binary):
        path = os.path.join(process.temp_dir(), 'server.lua')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(SERVER)
        server = process.Server(binary, path, []).start()
        self.addCleanup(server.stop)
        return server

    def uris(self, server):
        return [f'unix/:{server.dir}/con', f'ann:secret@unix/:{server.dir}/bin']

    def test_both_protocols(self):
        server = self.serve(TARN)
        for uri, kind in zip(self.uris(server), ('console', 'binary')):
            out = converse(TARN, uri, LINES)
            self.assertIn(f'- {kind}', out)
            self.assertIn('- 2', out)
            self.assertIn('{a = {1, 2}};', out)
            self.assertIn('- error: q', out)

    def test_failures(self):
        server = self.serve(TARN)
        out = converse(TARN, f'ann:wrong@unix/:{server.dir}/bin', '1+1')
        self.assertIn("- error: User not found or supplied credentials are invalid", out)
        self.assertIn('- 2', out)
        self.assertIn('- error: Connection is not established', converse(TARN, 'unix/:./nosuch', ''))

    def test_the_server_goes_away(self):
        for i in 0, 1:
            uri = self.uris(self.serve(TARN))[i]
            out = converse(TARN, uri, 'require("fiber").create(os.exit)\n1\n40 + 2\n40 + 2')
            self.assertIn('- 42', out)

    @unittest.skipUnless(REFERENCE, 'tarantool is not here')
    def test_as_the_reference(self):
        for server_binary in REFERENCE, TARN:
            server = self.serve(server_binary)
            for uri in self.uris(server):
                expected, out = converse(REFERENCE, uri, LINES), converse(TARN, uri, LINES)
                self.assertEqual(expected, out, f'{server_binary}: {uri}')


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
