# SPDX-License-Identifier: BSD-2-Clause
"""Values and errors over the wire, the same from both programs: values.py SERVER REFERENCE [ROUNDS [SEED]]

Thousands of values from a seed go there and back through CALL and EVAL; every scalar
must come back in the same bytes. Errors come with their stacks.
"""
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import iproto
import process

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else int(1000 * float(os.environ.get('TARN_TEST_SCALE', 1)))
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
ERROR_STACK = 0x52
programs = []


def setUpModule():
    for binary in sys.argv[1:3]:
        port = process.free_port()
        server = process.Server(binary, os.path.join(HERE, 'values_server.lua'),
                                [f'127.0.0.1:{port}']).start()
        programs.append((server, iproto.Client(port, timeout=60)))


class Raw(bytes):
    """MessagePack that is ready."""


class Decoder(iproto.Decoder):
    """Scalars as their bytes, maps as lists in an order of their own."""

    def value(self):
        begin = self.pos
        v = super().value()
        if isinstance(v, (tuple, list)):
            return v
        return self.data[begin:self.pos]

    def array(self, n):
        return ['array'] + [self.value() for _ in range(n)]

    def map(self, n):
        return ('map', sorted(((self.value(), self.value()) for _ in range(n)), key=repr))


for code, size in zip(range(0xd4, 0xd9), (1, 2, 4, 8, 16)):
    setattr(Decoder, f'on_{code:02x}', lambda self, n=size: self.take(n + 1))
for code, fmt in ((0xc7, '>B'), (0xc8, '>H'), (0xc9, '>I')):
    setattr(Decoder, f'on_{code:02x}', lambda self, f=fmt: self.take(self.number(f) + 1))


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def integer(self):
        r = self.r
        edge = r.choice([0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 2**31, 2**32, 2**53, 10**14,
                         10**15, 2**63, 2**64 - 1])
        n = r.choice([edge + r.randint(-2, 2), -edge + r.randint(-2, 2), r.randint(-2**63, 2**64 - 1),
                      r.randint(-200, 200)])
        n = max(-2**63, min(n, 2**64 - 1))
        if r.random() < 0.2:
            return self.wide(n)
        return iproto.encode_int(n)

    def wide(self, n):
        """In more bytes than it needs."""
        fits = [(h, f) for h, f, low, high in (
            (b'\xd1', '>h', -2**15, 2**15), (b'\xd2', '>i', -2**31, 2**31), (b'\xd3', '>q', -2**63, 2**63),
            (b'\xcd', '>H', 0, 2**16), (b'\xce', '>I', 0, 2**32), (b'\xcf', '>Q', 0, 2**64)) if low <= n < high]
        head, fmt = self.r.choice(fits)
        return head + struct.pack(fmt, n)

    def real(self):
        r = self.r
        x = r.choice([0.0, -0.0, 0.5, 1.0, -1.0, 1e15, 1e300, -1e-300, 2.0**53, 2.0**63, 2.0**64, float('inf'),
                      float('-inf'), float('nan'), r.uniform(-1e6, 1e6), float(r.randint(-10**6, 10**6))])
        if r.random() < 0.3 and abs(x) < 1e38:
            return b'\xca' + struct.pack('>f', x)
        return b'\xcb' + struct.pack('>d', x)

    def text(self):
        r = self.r
        n = r.choice([0, 1, 5, 31, 32, 255, 256, r.randint(0, 100)])
        if r.random() < 0.3:
            return iproto.encode(r.randbytes(n))
        return iproto.encode(''.join(r.choice('aé0\0"\\\n') for _ in range(n)))

    def uuid(self):
        data = bytearray(self.r.randbytes(16))
        data[8] = data[8] & 0x3f | 0x80  # the variant of RFC 4122, which the reference insists on
        return b'\xd8\x02' + bytes(data)

    def key(self):
        return self.r.choice([self.text, self.integer])()

    def value(self, depth=0):
        r = self.r
        kinds = [self.integer, self.integer, self.real, self.text, self.uuid, lambda: b'\xc0',
                 lambda: r.choice([b'\xc2', b'\xc3'])]
        if depth < 6 and r.random() < 0.3:
            n = r.choice([0, 1, 2, 3, 5, 17 if depth == 0 else 4])
            if r.random() < 0.5:
                return (iproto.encode_head(n, 0x90, 16, None, b'\xdc', b'\xdd') +
                        b''.join(self.value(depth + 1) for _ in range(n)))
            return (iproto.encode_head(n, 0x80, 16, None, b'\xde', b'\xdf') +
                    b''.join(self.key() + self.value(depth + 1) for _ in range(n)))
        return r.choice(kinds)()


def ask(client, kind, name, args):
    """The body of the answer, as Decoder has it; errors by code and text."""
    key = iproto.FUNCTION if kind == iproto.CALL else iproto.EXPR
    body = (b'\x82' + iproto.encode(key) + iproto.encode(name) + iproto.encode(iproto.TUPLE) +
            iproto.encode_head(len(args), 0x90, 16, None, b'\xdc', b'\xdd') + b''.join(args))
    client.send(iproto.frame(iproto.encode({iproto.TYPE: kind, iproto.SYNC: 1}) + body))
    data = client.read(iproto.decode(client.read(5)))
    plain = iproto.Decoder(data)
    header = plain.value()
    if header[iproto.TYPE] & iproto.ERROR_FLAG:
        return header[iproto.TYPE], plain.value()
    return header[iproto.TYPE], Decoder(data[plain.pos:]).value()


class Values(unittest.TestCase):
    def test_there_and_back(self):
        generator = Generator(SEED)
        ways = [(iproto.CALL, 'echo'), (iproto.EVAL, 'return ...'), (iproto.CALL, 'as_tuple'),
                (iproto.CALL, 'as_fields'), (iproto.CALL, 'recoded'), (iproto.CALL, 'nested'),
                (iproto.CALL, 'described')]
        for n in range(ROUNDS):
            args = [generator.value() for _ in range(generator.r.randint(0, 4))]
            for kind, name in ways:
                ours, theirs = (self.shown(ask(client, kind, name, args)) for _, client in programs)
                self.assertEqual(ours, theirs, f'seed {SEED}, round {n}, {name}: {b"".join(args).hex()}')

    @staticmethod
    def shown(answer):
        code, body = answer
        if code & iproto.ERROR_FLAG:
            return code, body.get(iproto.ERROR)
        return code, body


class Errors(unittest.TestCase):
    def stack(self, body):
        """The stack without the places in a program's own files."""
        stack = []
        for e in body[ERROR_STACK][0]:
            e = dict(e)
            if '_server.lua' not in e[1]:
                e[1] = e[2] = None
            stack.append(e)
        return stack

    def test_stacks(self):
        for n in range(1, 20):
            (our_code, ours), (their_code, theirs) = (
                ask(client, iproto.CALL, 'raise', [iproto.encode(n)]) for _, client in programs)
            with self.subTest(n):
                self.assertEqual(our_code, their_code)
                self.assertEqual(self.text(ours[iproto.ERROR]), self.text(theirs[iproto.ERROR]))
                for a, b in zip(self.stack(ours), self.stack(theirs)):
                    a[3], b[3] = self.text(a[3]), self.text(b[3])
                    # Ours has more fields.
                    a[6] = {k: v for k, v in a.get(6, {}).items() if k in b.get(6, {})}
                    b.setdefault(6, {})
                    self.assertEqual(a, b)
                self.assertEqual(len(self.stack(ours)), len(self.stack(theirs)))

    @staticmethod
    def text(message):
        return message if 'table: 0x' not in message else 'table'

    def test_alive(self):
        for server, client in programs:
            self.assertTrue(server.alive())
            client.ping()


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
