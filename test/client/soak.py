# SPDX-License-Identifier: BSD-2-Clause
"""Good and failing requests by the hundred thousand leave nothing behind: soak.py SERVER [COUNT [SEED]]

After COUNT of them, from a seed and over several connections, the Lua heap has the
size and there are as many coroutines as after the first thousand.
"""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import iproto
import process

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else int(100000 * float(os.environ.get('TARN_TEST_SCALE', 1)))
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
CONNECTIONS, BATCH, FIRST = 4, 50, 1000
# Blocks that LuaJIT's tables and strings of the moment take more or less.
SLACK = 16 * 1024


def call(name, *args):
    return iproto.CALL, {iproto.FUNCTION: name, iproto.TUPLE: list(args)}


def evaluate(text, *args):
    return iproto.EVAL, {iproto.EXPR: text, iproto.TUPLE: list(args)}


# (does it fail?, what makes the request)
KINDS = [
    (False, lambda r: call('echo', r.randint(0, 1 << 60), 'x' * r.randint(0, 300), None, {'a': [1, 2.5]})),
    (False, lambda r: call('stored', 1, 2)),
    (False, lambda r: call('many')),
    (False, lambda r: call('rows', r.randint(1, 20))),
    (False, lambda r: call('yields')),
    (False, lambda r: call('spawns')),
    (False, lambda r: call('redefined', r.randint(1, 9))),
    (False, lambda r: evaluate('return ...', r.random())),
    (False, lambda r: evaluate(f'return {r.randint(0, 100000)}')),
    (False, lambda r: evaluate('debug.sethook(function() end, "l") return 1')),
    (True, lambda r: call('raise', r.randint(1, 12))),
    (True, lambda r: call('give', r.randint(1, 8))),
    (True, lambda r: call(r.choice(['', 'a.b.c', 'nosuch', 'box.', '.', 'echo\0', 'x' * 1000, '.'.join('a' * 1000)]))),
    (True, lambda r: call('cancelled')),
    (True, lambda r: call('begins')),
    (True, lambda r: evaluate(f'return = {r.randint(0, 100000)}')),
    (True, lambda r: evaluate('\x1bLJ')),
    (True, lambda r: evaluate('local function f() return f() + 1 end return f()')),
    (True, lambda r: (iproto.INSERT, {iproto.SPACE_ID: 512, iproto.TUPLE: ['wrong']})),
    (True, lambda r: (77, {})),
]


class Soak(unittest.TestCase):
    def setUp(self):
        port = process.free_port()
        self.server = process.Server(sys.argv[1], os.path.join(HERE, 'soak_server.lua'),
                                     [f'127.0.0.1:{port}']).start()
        self.clients = [iproto.Client(port, timeout=60) for _ in range(CONNECTIONS)]
        self.random = random.Random(SEED)

    def tearDown(self):
        for c in self.clients:
            c.close()
        self.server.crash()

    def round(self, count):
        """`count` requests, in batches on all connections; each answer is of the kind it should be."""
        for _ in range(0, count, BATCH * CONNECTIONS):
            asked = []
            for c in self.clients:
                batch = [self.random.choice(KINDS) for _ in range(BATCH)]
                packets = b''
                for n, (_, make) in enumerate(batch):
                    kind, body = make(self.random)
                    packets += iproto.request(kind, body, n)
                c.send(packets)
                asked.append(batch)
            for c, batch in zip(self.clients, asked):
                for _ in batch:
                    header = iproto.Decoder(c.read(iproto.decode(c.read(5)))).value()
                    is_failed = header[iproto.TYPE] & iproto.ERROR_FLAG != 0
                    self.assertEqual(is_failed, batch[header[iproto.SYNC]][0],
                                     f'request {KINDS.index(batch[header[iproto.SYNC]])}')

    def burst(self):
        """As many requests at once as there ever are: what the server keeps for them is there then."""
        for c in self.clients:
            c.send(b''.join(iproto.request(*call(name)) for name in ('spawns', 'yields') * (BATCH // 2)))
        for c in self.clients:
            for _ in range(BATCH):
                c.response()

    def state(self):
        heap, coroutines = self.clients[0].call('state')
        return heap, coroutines

    def test_soak(self):
        for n in range(300):  # EVAL's cache is full then
            self.clients[0].eval(f'return {n}')
        self.burst()
        self.round(FIRST)
        heap, coroutines = self.state()
        self.round(COUNT - FIRST)
        heap_after, coroutines_after = self.state()
        print(f'{COUNT} requests: Lua heap {heap} -> {heap_after} bytes, '
              f'coroutines {coroutines} -> {coroutines_after}')
        self.assertTrue(self.server.alive(), self.server.log()[-2000:])
        self.assertLess(heap_after, heap + SLACK)
        self.assertLessEqual(coroutines_after, coroutines)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
