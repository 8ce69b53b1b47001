# SPDX-License-Identifier: BSD-2-Clause
"""The graceful shutdown: who is waited for, who is answered, and for how long: shutdown.py SERVER"""
import os
import signal
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import CALL, EVAL, EXPR, FUNCTION, TUPLE, TYPE, Client, encode, frame, request

HERE = os.path.dirname(os.path.abspath(__file__))
WATCH, EVENT, EVENT_KEY, EVENT_DATA = 74, 76, 0x57, 0x58


class Shutdown(unittest.TestCase):
    def setUp(self):
        self.port = process.free_port()
        self.server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [f'127.0.0.1:{self.port}']).start()

    def client(self):
        c = Client(self.port)
        c.auth('ann', 'secret')
        self.addCleanup(c.close)
        return c

    def watcher(self):
        c = self.client()
        watch = frame(encode({TYPE: WATCH, 1: 1}) + encode({EVENT_KEY: 'box.shutdown'}))
        c.send(watch)
        self.assertEqual(c.response()[1], {EVENT_KEY: 'box.shutdown'})
        # The answer to the event: the next one may come.
        c.send(watch)
        c.ping()
        return c

    def signal(self):
        self.server.process.send_signal(signal.SIGTERM)

    def ended(self):
        return self.server.process.wait(20)

    def is_closed(self, c):
        try:
            return c.sock.recv(1) == b''
        except ConnectionResetError:
            return True

    def test_requests_are_answered(self):
        busy, idle, streaming = self.client(), self.client(), self.client()
        busy.send(request(CALL, {FUNCTION: 'sleeps', TUPLE: [0.4]}))
        streaming.send(b''.join(frame(encode({TYPE: CALL, 1: i, 0x0a: 1}) +
                                      encode({FUNCTION: 'sleeps', TUPLE: [0.1]})) for i in range(3)))
        busy.sock.settimeout(0.2)
        with self.assertRaises(socket.timeout):
            busy.sock.recv(1)
        busy.sock.settimeout(10)
        self.signal()
        self.assertTrue(self.is_closed(idle))
        self.assertEqual(busy.result(*busy.response()), ['slept'])
        for _ in range(3):
            self.assertEqual(streaming.result(*streaming.response()), ['slept'])
        self.assertTrue(self.is_closed(busy) and self.is_closed(streaming))
        self.assertEqual(self.ended(), 0)

    def test_large_answer(self):
        c = self.client()
        c.send(request(CALL, {FUNCTION: 'big', TUPLE: [30000000]}))
        time.sleep(0.2)
        self.signal()
        self.assertEqual(len(c.result(*c.response())[0]), 30000000)
        self.assertEqual(self.ended(), 0)

    def test_watchers_are_waited_for(self):
        c, other = self.watcher(), self.client()
        self.signal()
        self.assertEqual(c.response()[1], {EVENT_KEY: 'box.shutdown', EVENT_DATA: True})
        self.assertTrue(self.is_closed(other))
        # Nobody new is let in; who was told may go on.
        with self.assertRaises(OSError):
            Client(self.port)
        self.assertEqual(c.call('echo', 5), [5])
        c.close()
        self.assertEqual(self.ended(), 0)

    def test_not_for_ever(self):
        c, busy = self.watcher(), self.client()
        c.eval('box.ctl.set_on_shutdown_timeout(0.2)')
        busy.send(request(CALL, {FUNCTION: 'sleeps', TUPLE: [1000]}))
        time.sleep(0.1)
        self.signal()
        self.assertEqual(c.response()[1][EVENT_DATA], True)
        self.assertTrue(self.is_closed(c))
        self.assertEqual(self.ended(), 0)
        self.assertIn('2 connections had requests at work', self.server.log())

    def test_exit_by_a_request(self):
        c = self.client()
        started = time.monotonic()
        c.send(request(EVAL, {EXPR: 'box.ctl.set_on_shutdown_timeout(15) os.exit(3)', TUPLE: []}))
        self.assertTrue(self.is_closed(c))
        self.assertEqual(self.ended(), 3)
        # It waits for no answer to that one; half the limit is for slow machines.
        self.assertLess(time.monotonic() - started, 7.5)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
