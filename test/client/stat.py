# SPDX-License-Identifier: BSD-2-Clause
"""box.stat.net and box.stat.latency by what clients do: stat.py SERVER"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import CALL, FUNCTION, SYNC, TUPLE, TYPE, Client, ServerError, encode, frame

HERE = os.path.dirname(os.path.abspath(__file__))
STREAM = 0x0a
THREADS = int(os.environ.get('TT_IPROTO_THREADS', 0))
server = port = None


def setUpModule():
    global server, port
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [f'127.0.0.1:{port}']).start()


def tearDownModule():
    assert server.stop() == 0


class Stat(unittest.TestCase):
    def setUp(self):
        self.c = Client(port)
        self.c.auth('ann', 'secret')
        self.addCleanup(self.c.close)

    def net(self):
        return self.c.eval('return box.stat.net()')[0]

    def test_fields(self):
        net = self.net()
        self.assertEqual(sorted(net), ['CONNECTIONS', 'RECEIVED', 'REQUESTS', 'REQUESTS_IN_PROGRESS',
                                       'REQUESTS_IN_STREAM_QUEUE', 'SENT', 'STREAMS'])
        for name, value in net.items():
            expected = ['rps', 'total'] if name in ('SENT', 'RECEIVED') else ['current', 'rps', 'total']
            self.assertEqual(sorted(value), expected, name)
        thread, first = self.c.eval('return box.stat.net.thread(), box.stat.net.thread[1].SENT.total > 0')
        self.assertEqual((len(thread), sorted(thread[0]), first), (max(THREADS, 1), sorted(net), True))
        self.assertEqual(self.c.eval('return box.stat.net.STREAMS.total >= 0, box.stat.net.thread[...] == nil, '
                                     'box.stat.net.nosuch == nil', max(THREADS, 1) + 1), [True] * 3)

    def test_threads(self):
        """The threads' rows add up, and connections are spread over them."""
        others = [Client(port) for _ in range(4 * max(THREADS, 1) - 1)]
        for c in others:
            c.ping()
        net, thread = self.c.eval('return box.stat.net(), box.stat.net.thread()')
        for name, value in net.items():
            for key in value:
                if key != 'rps':
                    self.assertEqual(sum(t[name][key] for t in thread), value[key], (name, key))
        self.assertEqual([t['CONNECTIONS']['current'] for t in thread], [4] * max(THREADS, 1))
        for c in others:
            c.close()

    def test_streams(self):
        other = Client(port)
        other.auth('ann', 'secret')
        before = self.net()
        body = encode({FUNCTION: 'sleeps', TUPLE: [0.3]})
        other.send(b''.join(frame(encode({TYPE: CALL, SYNC: i, STREAM: 7}) + body) for i in range(1, 4)))
        for _ in range(1000):
            now = self.net()
            if now['REQUESTS_IN_STREAM_QUEUE']['current'] == 2:
                break
        self.assertEqual(now['STREAMS']['current'], 1)
        self.assertEqual(now['REQUESTS']['current'], 4)
        self.assertEqual(now['REQUESTS_IN_PROGRESS']['current'], 2)
        for _ in range(3):
            other.response()
        now = self.net()
        self.assertEqual(now['STREAMS']['total'] - before['STREAMS']['total'], 1)
        self.assertEqual(now['REQUESTS_IN_STREAM_QUEUE']['total'] - before['REQUESTS_IN_STREAM_QUEUE']['total'], 2)
        self.assertEqual([now[k]['current'] for k in ('STREAMS', 'REQUESTS_IN_STREAM_QUEUE', 'REQUESTS')], [0, 0, 1])
        other.close()

    def test_latency(self):
        self.c.eval('box.stat.reset()')
        for _ in range(50):
            self.c.ping()
        self.c.call('sleeps', 0.05)
        with self.assertRaises(ServerError):
            self.c.call('nosuch')
        got = self.c.eval('return box.stat.latency()')[0]
        self.assertEqual(sorted(got), ['CALL', 'EVAL', 'PING'])
        self.assertEqual([got[k]['count'] for k in ('CALL', 'PING')], [2, 50])
        self.assertGreaterEqual(got['CALL']['max'], 0.05)
        for v in got.values():
            self.assertTrue(0 < v['p50'] <= v['p99'] <= v['p999'] <= v['max'], v)
        self.assertLess(got['PING']['p50'], 1)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
