# SPDX-License-Identifier: BSD-2-Clause
"""The example application: example.py TARN [TEST...]"""
import os
import re
import shutil
import signal
import sys
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import Client, ServerError
from terminal import Terminal

TARN = process.program(sys.argv[1])
EXAMPLE = os.path.join(process.ROOT, 'examples', 'bookshop.lua')
NO_BOOK, TOO_FEW = 1001, 1002


class Bookshop(unittest.TestCase):
    def setUp(self):
        self.dir = process.temp_dir()
        self.servers = []

    def open(self, password='pass'):
        """Start the example in the foreground, without a terminal; a connection as clerk."""
        self.port = process.free_port()
        env = dict(os.environ, BOOKSHOP_LISTEN=f'127.0.0.1:{self.port}', BOOKSHOP_PASSWORD=password)
        with open(os.path.join(self.dir, 'server.log'), 'ab') as log:
            self.server = process.start([TARN, EXAMPLE], cwd=self.dir, env=env, stdout=log, stderr=log)
        import time
        for _ in range(500):
            try:
                c = Client(self.port)
                c.auth('clerk', password)
                # The log says when the last line of the script is through.
                with open(os.path.join(self.dir, 'server.log'), encoding='utf-8') as f:
                    if 'the bookshop is open' in f.read():
                        return c
            except (OSError, ServerError):
                pass
            time.sleep(0.02)
        with open(os.path.join(self.dir, 'server.log'), encoding='utf-8') as f:
            self.fail('the example did not come up:\n' + f.read())

    def close(self):
        self.server.terminate()
        self.assertEqual(self.server.wait(10), 0)
        os.remove(os.path.join(self.dir, 'server.log'))

    def test_a_day(self):
        c = self.open()
        self.assertEqual([t[0] for t in c.call('bookshop.by_author', 'Ursula K. Le Guin')[0]], [2, 1])
        self.assertEqual(c.call('bookshop.buy', 1, 2, 'ann'), [[1, 1, 2, 'ann', 2598]])
        for book, code in (4, TOO_FEW), (99, NO_BOOK):
            with self.assertRaises(ServerError) as e:
                c.call('bookshop.buy', book, 1, 'ann')
            self.assertEqual(e.exception.code, code)
        self.close()
        # Once more in the same directory: what was there stays.
        c = self.open()
        self.assertEqual(c.call('bookshop.buy', 1, 1, 'bob'), [[2, 1, 1, 'bob', 1299]])
        self.server.kill()
        self.server.wait()
        os.remove(os.path.join(self.dir, 'server.log'))
        c = self.open()
        self.assertEqual(c.call('bookshop.buy', 1, 1, 'cid'), [[3, 1, 1, 'cid', 1299]])
        self.close()

    def test_a_start_writes_nothing(self):
        self.open()
        self.close()
        rows = self.rows()
        self.assertGreater(len(rows), 4)
        for _ in range(2):
            self.open()
            self.close()
            self.assertEqual(self.rows(), rows)

    def rows(self):
        """The log's rows, by their numbers."""
        logs = sorted(name for name in os.listdir(self.dir) if name.endswith('.xlog'))
        status, out, err = process.run([TARN, 'cat', '--show-system', *logs], cwd=self.dir)
        self.assertEqual(status, 0, err)
        return re.findall(r'^  lsn: (\d+)$', out, re.M)

    def test_another_password(self):
        for password in 'first', 'second', 'second':
            self.open(password).call('bookshop.by_author', 'x')
            self.close()

    def test_guest(self):
        self.open()
        guest = Client(self.port)
        for ask in (lambda: guest.call('bookshop.buy', 1, 1, 'x'), lambda: guest.eval('return 1')):
            with self.assertRaises(ServerError) as e:
                ask()
            self.assertEqual(e.exception.code, 42)
        self.close()

    def tree(self):
        """A copy of what `make run` needs, for data of its own."""
        tree = process.temp_dir()
        for name in 'examples', 'tools':
            shutil.copytree(os.path.join(process.ROOT, name), os.path.join(tree, name),
                            ignore=shutil.ignore_patterns('node_modules'))
        return tree

    def test_kill_at_a_terminal(self):
        """The server is killed in its console: the terminal gets its echo back."""
        env = dict(os.environ, BOOKSHOP_LISTEN=f'127.0.0.1:{process.free_port()}', TERM='dumb',
                   INPUTRC='/dev/null', HOME=self.dir)
        t = Terminal([os.path.join(self.tree(), 'tools', 'run-example'), TARN], env=env)
        before = termios.tcgetattr(t.master)
        t.expect(r'tarn> $')
        t.ask('1 + 1', r'- 2\n')
        with open(f'/proc/{t.process.pid}/task/{t.process.pid}/children', encoding='utf-8') as f:
            os.kill(int(f.read()), signal.SIGKILL)
        self.assertEqual(t.wait(), 128 + signal.SIGKILL)
        self.assertEqual(termios.tcgetattr(t.master), before)

    def test_run_without_a_terminal(self):
        """What `make run` does there: serve in the foreground until SIGTERM."""
        tree = self.tree()
        port = process.free_port()
        env = dict(os.environ, BOOKSHOP_LISTEN=f'127.0.0.1:{port}')
        server = process.start([os.path.join(tree, 'tools', 'run-example'), TARN], env=env,
                               stdout=process.subprocess.DEVNULL, stderr=process.subprocess.DEVNULL)
        import time
        for _ in range(500):
            try:
                Client(port).ping()
                break
            except OSError:
                time.sleep(0.02)
        server.terminate()
        self.assertEqual(server.wait(10), 0)
        self.assertTrue(os.listdir(os.path.join(tree, 'var', 'bookshop')))


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
