# SPDX-License-Identifier: BSD-2-Clause
"""A hot standby takes over: standby.py SERVER REFERENCE [TEST...]"""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import Client

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, 'server.lua')


class Standby(unittest.TestCase):
    def primary(self, binary, wal_mode='write'):
        self.dir, self.port = process.temp_dir(), process.free_port()
        server = process.Server(binary, SCRIPT, [self.port, wal_mode], self.dir).start()
        return server, Client(self.port)

    def standby(self, binary, wal_mode='write'):
        """Start it and wait until it follows."""
        server = process.Server(binary, SCRIPT, [self.port, wal_mode, 'standby'], self.dir)
        server.launch()
        deadline = time.monotonic() + 20
        while 'ntering hot standby mode' not in server.log():
            self.assertIsNone(server.process.poll(), server.log())
            self.assertLess(time.monotonic(), deadline, server.log())
            time.sleep(0.01)
        return server

    def fill(self, c, first, last):
        for i in range(first, last + 1):
            c.eval('box.space.rows:insert{...}', i, f'row {i}', i * 7)

    def connect(self, server):
        """The new primary's address is that of the old one."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            self.assertIsNone(server.process.poll(), server.log())
            try:
                return Client(self.port)
            except OSError:
                time.sleep(0.01)
        self.fail(server.log())

    def take_over(self, first, second, wal_mode, stop):
        server, c = self.primary(first, wal_mode)
        self.fill(c, 1, 100)
        standby = self.standby(second, wal_mode)
        # Files end and begin, snapshots are made, old files go.
        self.fill(c, 101, 300)
        c.eval('box.snapshot()')
        self.fill(c, 301, 500)
        c.eval('box.snapshot()')
        for n in range(50):
            c.call('put_parts', n, 1 + n % 7)
        c.call('make_late')
        self.assertIsNone(standby.process.poll(), standby.log())
        stop(server)
        c = self.connect(standby)
        self.assertEqual(c.call('check_rows', 1), [[], 500, 500, 500])
        bad, parts, fits = c.call('check_parts')
        self.assertEqual((bad, sorted(parts), fits), ([], list(range(50)), True))
        self.assertEqual(c.eval('return box.space.late:len(), box.info.status, box.info.ro'), [1, 'running', False])
        self.fill(c, 501, 600)
        c.eval('box.snapshot()')
        c.close()
        self.assertEqual(standby.stop(), 0)
        again = process.Server(sys.argv[1], SCRIPT, [self.port], self.dir).start()
        c = self.connect(again)
        self.assertEqual(c.call('check_rows', 1), [[], 600, 600, 600])
        c.close()
        self.assertEqual(again.stop(), 0)

    def test_killed(self):
        self.take_over(sys.argv[1], sys.argv[1], 'write', lambda server: server.crash())

    def test_killed_fsync(self):
        self.take_over(sys.argv[1], sys.argv[1], 'fsync', lambda server: server.crash())

    def test_stopped(self):
        self.take_over(sys.argv[1], sys.argv[1], 'write', lambda server: server.stop())

    def test_of_the_reference(self):
        self.take_over(sys.argv[2], sys.argv[1], 'write', lambda server: server.crash())

    def test_for_the_reference(self):
        """The reference stands by while tarn writes."""
        self.take_over(sys.argv[1], sys.argv[2], 'write', lambda server: server.crash())

    def test_stop_while_standing_by(self):
        server, c = self.primary(sys.argv[1])
        standby = self.standby(sys.argv[1])
        self.assertEqual(standby.stop(), 0)
        self.fill(c, 1, 10)
        c.close()
        self.assertEqual(server.stop(), 0)

    def test_alone(self):
        """Without another process it is a server like any."""
        self.dir, self.port = process.temp_dir(), process.free_port()
        server = process.Server(sys.argv[1], SCRIPT, [self.port, 'write', 'standby'], self.dir).start()
        self.assertNotIn('hot standby', server.log())
        self.assertEqual(server.stop(), 0)

    def test_refused_without_the_option(self):
        server, c = self.primary(sys.argv[1])
        status, _, err = process.run([process.program(sys.argv[1]), '-e', 'box.cfg{}'], 20, cwd=self.dir)
        self.assertEqual(status, 1)
        self.assertIn('another instance uses the directory', err)
        c.close()
        self.assertEqual(server.stop(), 0)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
