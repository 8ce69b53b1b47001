# SPDX-License-Identifier: BSD-2-Clause
"""A start that cannot succeed: start.py SERVER [TEST...]

Each cause gives a message that names the thing and what to do, exit status 1, and
leaves all files as they were.
"""
import os
import socket
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from damage import fingerprint
from iproto import Client

HERE = os.path.dirname(os.path.abspath(__file__))


class Start(unittest.TestCase):
    def setUp(self):
        self.dir = process.temp_dir()

    def run_script(self, text, expected=1):
        """Run a script in the directory: what it says on standard error."""
        script = os.path.join(process.temp_dir(), 'script.lua')
        with open(script, 'w', encoding='utf-8') as f:
            f.write(text)
        status, _, err = process.run([process.program(sys.argv[1]), script], 20, cwd=self.dir)
        self.assertEqual(status, expected, err)
        return err

    def fill(self):
        """A data directory with something in it, closed."""
        server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [process.free_port()],
                                self.dir).start()
        self.assertEqual(server.stop(), 0)
        os.remove(os.path.join(self.dir, 'server.log'))

    def test_port_in_use(self):
        self.fill()
        before = fingerprint(self.dir)
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            s.listen()
            port = s.getsockname()[1]
            err = self.run_script(f"box.cfg{{listen = '127.0.0.1:{port}'}}")
        self.assertRegex(err, rf'127\.0\.0\.1:{port}')
        self.assertRegex(err, r'(?i)in use')
        self.assertEqual(fingerprint(self.dir), before)

    def test_bad_address(self):
        err = self.run_script("box.cfg{listen = '203.0.113.1:3301'}")
        self.assertRegex(err, r'203\.0\.113\.1:3301')

    def test_signal_while_loading(self):
        """SIGTERM during recovery is a clean end that changes nothing."""
        self.run_script("""
            box.cfg{log_level = 1, wal_max_size = 1000 * 1000}
            local space = box.schema.space.create('s')
            space:create_index('pk')
            local noise = io.open('/dev/urandom')
            for i = 1, 80 do
                space:insert{i, noise:read(500 * 1000)}
            end
            os.exit(0)""", 0)
        before = fingerprint(self.dir)
        for sig in 2, 15:
            err = self.run_script(f"""
                local ffi = require('ffi')
                ffi.cdef[[int getpid(void); int kill(int pid, int sig);]]
                box.ctl.on_schema_init(function() ffi.C.kill(ffi.C.getpid(), {sig}) end)
                box.cfg{{}}""", 0)
            self.assertRegex(err, f'got signal {sig}')
            self.assertNotRegex(err, 'ready to accept requests')
            self.assertEqual(fingerprint(self.dir), before)

    def test_not_enough_memory(self):
        """What does not fit is not passed over, not even with force_recovery: the setting is named."""
        self.run_script("""
            box.cfg{log_level = 1}
            local s = box.schema.space.create('s')
            s:create_index('pk')
            for i = 1, 4000 do s:insert{i, ('x'):rep(1000)} if i == 2000 then box.snapshot() end end
            os.exit(0)""", expected=0)
        before = fingerprint(self.dir)
        for megabytes in 1, 3:  # in the snapshot; in the journal behind it
            for force in 'false', 'true':
                err = self.run_script(f'box.cfg{{memtx_memory = {megabytes} * 1024 * 1024, '
                                      f'force_recovery = {force}}}')
                self.assertRegex(err, r'not enough memory to recover .*; raise memtx_memory')
                self.assertEqual(fingerprint(self.dir), before)
        self.run_script('box.cfg{} assert(box.space.s:len() == 4000) os.exit(0)', expected=0)

    def test_progress(self):
        """A start that takes long says how far it is, and how long it may take still."""
        self.run_script("""
            box.cfg{log_level = 1}
            local s = box.schema.space.create('s')
            s:create_index('pk')
            for i = 1, 3000 do s:insert{i, require('digest').urandom(200)} end
            os.exit(0)""", expected=0)
        # It has its turn between the snapshot and the journal.
        err = self.run_script("""
            box.ctl.on_recovery_state(function(state)
                if state == 'snapshot_recovered' then require('fiber').sleep(3.1) end
            end)
            box.cfg{}
            os.exit(0)""", expected=0)
        self.assertRegex(err, r'\d+\.\dM rows processed, \d+%, about \d+ s to go')

    def test_missing_directories(self):
        for option in 'wal_dir', 'memtx_dir', 'work_dir':
            with self.subTest(option=option):
                err = self.run_script(f"box.cfg{{{option} = 'no/such/place'}}")
                self.assertIn('no/such/place', err)
                self.assertEqual(os.listdir(self.dir), [])

    def test_a_file_where_a_directory_should_be(self):
        with open(os.path.join(self.dir, 'file'), 'w', encoding='utf-8') as f:
            f.write('mine')
        err = self.run_script("box.cfg{wal_dir = 'file'}")
        self.assertIn('file', err)
        self.assertEqual(os.listdir(self.dir), ['file'])

    def test_directory_held_by_another(self):
        port = process.free_port()
        first = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [port], self.dir).start()
        c = Client(port)
        c.eval('box.space.rows:insert{1, "row 1", 7}')
        before = fingerprint(self.dir)
        second = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [process.free_port()],
                                process.temp_dir())
        log = second.dir
        second.cmd = [process.program(sys.argv[1]), '-e',
                      f"box.cfg{{work_dir = '{self.dir}', listen = {process.free_port()}}}"]
        second.launch()
        self.assertEqual(second.process.wait(20), 1)
        self.assertIn(self.dir, second.log(), log)
        self.assertEqual(fingerprint(self.dir), before)
        # The first one did not notice.
        c.eval('box.space.rows:insert{2, "row 2", 14}')
        self.assertEqual(c.eval('return box.space.rows:len()'), [2])
        c.close()
        self.assertEqual(first.stop(), 0)

    def test_held_directory_is_free_after_a_kill(self):
        server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [process.free_port()],
                                self.dir).start()
        server.crash()
        self.fill()

    @unittest.skipIf(os.geteuid() == 0, 'root may write anywhere')
    def test_read_only_directory(self):
        os.chmod(self.dir, 0o500)
        err = self.run_script('box.cfg{}')
        self.assertIn('ermission', err)

    def test_unknown_option_changes_nothing(self):
        err = self.run_script('box.cfg{listn = 3301}')
        self.assertIn('listn', err)
        self.assertEqual(os.listdir(self.dir), [])

    def test_signals(self):
        import signal
        for number in signal.SIGTERM, signal.SIGINT:
            server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [process.free_port()],
                                    self.dir).start()
            server.process.send_signal(number)
            self.assertEqual(server.process.wait(10), 0, server.log()[-1000:])

    def test_stop_while_clients_are_busy(self):
        port = process.free_port()
        server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [port], self.dir).start()
        from iproto import EVAL, EXPR, TUPLE, request
        clients = [Client(port) for _ in range(10)]
        for c in clients:
            c.send(request(EVAL, {EXPR: 'require("fiber").sleep(100)', TUPLE: []}) * 10)
        self.assertEqual(server.stop(), 0)


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
