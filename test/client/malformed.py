# SPDX-License-Identifier: BSD-2-Clause
"""Malformed packets by the thousand, from a seed: malformed.py SERVER [COUNT [SEED]]

Good requests with some bytes changed, and plain noise. In a frame of the right length
each gets one answer and the connection goes on; without one, an answer or the end of
the connection. Afterwards there is as much as before of everything: Lua heap,
coroutines, fibers, connections, streams, memory of the process.
"""
import os
import random
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import iproto
import process
from iproto import encode

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = float(os.environ.get('TARN_TEST_SCALE', 1))
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else int(20000 * SCALE)
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
# Of ten rounds, one sends bytes without a frame, one connection each.
ROUNDS, BATCH = 10, 50
STREAM_ID, BEGIN, COMMIT, ROLLBACK, WATCH, UNWATCH, EVENT, WATCH_ONCE = (
    0x0a, 14, 15, 16, 74, 75, 76, 77)
TUPLE_FORMATS, IS_SYNC = 0x60, 0x61
EVENT_KEY, VERSION, FEATURES, INDEX_BASE, FETCH_POSITION, AFTER_POSITION, AFTER_TUPLE, TIMEOUT = (
    0x57, 0x54, 0x55, 0x15, 0x1f, 0x2e, 0x2f, 0x56)
PING_SYNC = 1 << 40
HEAP_SLACK, MEMORY_SLACK = 64 * 1024, 16 << 20

# Extensions as they should be: decimal, UUID, datetime, interval, tuples, error.
EXTENSIONS = [b'\xd6\x01\x02\x12\x34\x5c', b'\xd8\x02' + bytes(range(16)), b'\xd7\x04' + b'\x01' + b'\0' * 7,
              b'\xd8\x04' + b'\x01' + b'\0' * 15, b'\xc7\x05\x06\x02\x01\x05\x03\x02',
              b'\xc7\x06\x07\xcd\x01\x2c\x92\x01\x02', b'\xd5\x07\x01\x90',
              b'\xc7\x0b\x03\x81\x00\x91\x82\x00\xa1x\x03\xa1y\x05\x20']

R = iproto
GOOD = [
    (R.PING, {}), (R.ID, {VERSION: 2, FEATURES: [0, 1, 2, 3]}),
    (R.SELECT, {R.SPACE_ID: 512, R.INDEX_ID: 0, R.LIMIT: 3, R.OFFSET: 0, R.ITERATOR: 5, R.KEY: [2]}),
    (R.SELECT, {R.SPACE_ID: 512, R.LIMIT: 2, R.KEY: [], FETCH_POSITION: True, AFTER_TUPLE: [2, 'x']}),
    (R.SELECT, {R.SPACE_ID: 512, R.LIMIT: 2, R.KEY: [], FETCH_POSITION: True, AFTER_POSITION: 'kQI='}),
    (R.INSERT, {R.SPACE_ID: 512, R.TUPLE: [21, 'text', 1.5, None, {'a': [1, -2, True]}]}),
    (R.REPLACE, {R.SPACE_ID: 512, R.TUPLE: [22, {'k': {'l': [1, 2, 3]}}, b'bytes', -1 << 40]}),
    (R.UPDATE, {R.SPACE_ID: 512, R.INDEX_ID: 0, R.KEY: [1], INDEX_BASE: 1,
                R.TUPLE: [['=', 2, 'new'], ['!', 3, 5], ['#', 3, 1], [':', 2, 1, 1, 'ab']]}),
    (R.UPDATE, {R.SPACE_ID: 512, R.KEY: [22], R.TUPLE: [['+', 3, 1], ['=', '[2].k.l[1]', 7], ['|', 3, 1]]}),
    (R.UPSERT, {R.SPACE_ID: 512, INDEX_BASE: 1, R.TUPLE: [23, 1], R.OPS: [['+', 2, 1], ['-', 2, 1.5]]}),
    (R.DELETE, {R.SPACE_ID: 512, R.KEY: [23]}),
    (R.CALL, {R.FUNCTION: 'echo', R.TUPLE: [1, 'two', {'three': [4]}, None]}),
    (R.CALL_16, {R.FUNCTION: 'stored', R.TUPLE: [1, 2]}),
    (R.EVAL, {R.EXPR: 'return ...', R.TUPLE: ['x', 2]}),
    (R.CALL, {R.FUNCTION: 'echo', R.TUPLE: ['text', 1], TUPLE_FORMATS: {300: [{'name': 'a', 'type': 'any'}, {'name': 'b'}]}}),
    (R.ID, {VERSION: 9, FEATURES: [2, 7, 8, 9]}), (BEGIN, {IS_SYNC: True}),
    (R.AUTH, {R.USER: 'guest', R.TUPLE: ['chap-sha1', b'x' * 20]}),
    (BEGIN, {TIMEOUT: 1.5}), (COMMIT, {}), (ROLLBACK, {}),
    (WATCH_ONCE, {EVENT_KEY: 'box.status'}),
    (11, {0x43: 'select 1', 0x41: []}), (13, {0x43: 'select 1'}),
]


def good(rng):
    """A request without its length."""
    kind, body = rng.choice(GOOD)
    header = {R.TYPE: kind, R.SYNC: rng.randrange(1 << 30)}
    if rng.random() < 0.15:
        header[STREAM_ID] = rng.randrange(1, 4)
    data = encode(header) + encode(body)
    if rng.random() < 0.2:
        at = data.rfind(encode('text'))
        if at > 0:
            data = data[:at] + rng.choice(EXTENSIONS) + data[at + 5:]
    return data


def spoil(rng, data):
    """Some bytes changed, removed, added, doubled; or all of it noise."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(60))
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, kind = rng.randrange(len(data) + 1), rng.randrange(7)
        if kind == 0:
            data[at:at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            data[at:at + 1] = bytes([rng.choice((0, 0x7f, 0x80, 0x8f, 0x90, 0xc0, 0xc1, 0xc4, 0xc7, 0xcb, 0xcf, 0xd3,
                                                 0xd8, 0xdb, 0xdd, 0xdf, 0xff))])
        elif kind == 2:
            del data[at:at + rng.randrange(1, 4)]
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.randrange(1, 4))
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            data[at:at] = data[at:at + rng.randrange(1, 30)]
        else:
            data[at:at + 1] = bytes([b ^ 1 << rng.randrange(8) for b in data[at:at + 1]])
    return bytes(data)


def memory_of(pid):
    with open(f'/proc/{pid}/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGESIZE')


class Malformed(unittest.TestCase):
    def setUp(self):
        self.port = process.free_port()
        self.server = process.Server(sys.argv[1], os.path.join(HERE, 'soak_server.lua'),
                                     [f'127.0.0.1:{self.port}']).start()
        self.control = iproto.Client(self.port, timeout=60)
        self.rng = random.Random(SEED)
        self.seen = {'errors': 0, 'answers': 0, 'silent': 0, 'closed': 0}

    def tearDown(self):
        self.control.close()
        self.server.crash()

    def count_answer(self, kind):
        self.seen['errors' if kind & iproto.ERROR_FLAG else 'answers'] += 1

    def framed(self, count):
        """In frames, with a ping behind each: one answer between two pings, and no end."""
        client = iproto.Client(self.port, timeout=60)
        for begin in range(0, count, BATCH):
            packets = [spoil(self.rng, good(self.rng)) for _ in range(min(BATCH, count - begin))]
            client.send(b''.join(iproto.frame(p) + iproto.request(iproto.PING, {}, PING_SYNC + i)
                                 for i, p in enumerate(packets)))
            for i, packet in enumerate(packets):
                answers = self.answers_until(client, PING_SYNC + i)
                self.assertIn(answers, (1,) if self.wants_answer(packet) else (0, 1), packet.hex())
        client.close()

    def answers_until(self, client, sync):
        answers = 0
        while True:
            header, body = self.response(client)
            if header[iproto.TYPE] == EVENT:
                continue
            if header[iproto.SYNC] == sync:
                return answers
            answers += 1
            self.count_answer(header[iproto.TYPE])
            if header[iproto.TYPE] & iproto.ERROR_FLAG:
                self.assertTrue(body)

    @staticmethod
    def response(client):
        """(header, bytes of the body): what was stored and comes back need not be of Python's types."""
        d = iproto.Decoder(client.read(iproto.decode(client.read(5))))
        return d.value(), d.data[d.pos:]

    def wants_answer(self, packet):
        """WATCH and UNWATCH have none where they are right."""
        try:
            header = iproto.Decoder(packet).value()
            if header.get(iproto.TYPE) not in (WATCH, UNWATCH):
                return True
        except (ValueError, AttributeError, TypeError):
            return True
        self.seen['silent'] += 1
        return False

    def bare(self, count):
        """Bytes without a frame, then the end of what is sent: the server answers or not, and closes."""
        for begin in range(0, count, BATCH):
            clients = [iproto.Client(self.port, timeout=60) for _ in range(min(BATCH, count - begin))]
            for client in clients:
                data = b''.join(iproto.frame(good(self.rng)) for _ in range(self.rng.randrange(1, 3)))
                try:
                    client.send(spoil(self.rng, data))
                    client.sock.shutdown(socket.SHUT_WR)
                except OSError:  # closed already
                    pass
            for client in clients:
                self.read_to_the_end(client)
                client.close()

    def read_to_the_end(self, client):
        try:
            while True:
                self.count_answer(self.response(client)[0][iproto.TYPE])
        except OSError as e:
            self.assertNotIsInstance(e, socket.timeout)
        self.seen['closed'] += 1

    def round(self, count):
        self.framed(count - count // ROUNDS)
        self.bare(count // ROUNDS)

    def state(self):
        """What is there once all connections but the own have gone."""
        for _ in range(2000):
            net = self.control.eval('return box.stat.net()')[0]
            if net['CONNECTIONS']['current'] == 1:
                break
            time.sleep(0.005)
        self.control.eval('for id = 21, 255 do box.space.test:delete(id) end')
        heap, coroutines = self.control.call('state')
        fibers = self.control.eval("local n = 0 for _ in pairs(require('fiber').info()) do n = n + 1 end return n")[0]
        return {'connections': net['CONNECTIONS']['current'], 'streams': net['STREAMS']['current'],
                'coroutines': coroutines, 'fibers': fibers, 'heap': heap,
                'memory': memory_of(self.server.process.pid)}

    def test_malformed(self):
        for n in range(300):  # EVAL's cache is full then
            self.control.eval(f'return {n}')
        self.round(COUNT // 4)
        before = self.state()
        self.round(COUNT - COUNT // 4)
        after = self.state()
        print(f'{COUNT} packets: {self.seen}\nbefore {before}\nafter  {after}')
        self.assertTrue(self.server.alive(), self.server.log()[-2000:])
        self.assertGreater(self.seen['errors'], COUNT // 3)
        for name in 'connections', 'streams':
            self.assertEqual(after[name], before[name], name)
        for name in 'coroutines', 'fibers':
            self.assertLessEqual(after[name], before[name], name)
        self.assertLess(after['heap'], before['heap'] + HEAP_SLACK)
        if SCALE == 1:  # else a sanitizer keeps what was freed
            self.assertLess(after['memory'], before['memory'] + MEMORY_SLACK)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
