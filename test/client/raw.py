# SPDX-License-Identifier: BSD-2-Clause
"""Bytes on a socket, right and wrong: raw.py SERVER [--reference]

Malformed packets get the error, or the end of the connection, that a client of the
reference sees; meanwhile the server goes on serving others. With --reference what
only newer servers know is left out.
"""
import base64
import os
import re
import socket
import struct
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import (AUTH, CALL, CALL_16, DATA, DELETE, ERROR, ERROR_FLAG, EVAL, EXPR, FUNCTION, ID, INDEX_ID,
                    INSERT, ITERATOR, KEY, LIMIT, OFFSET, OPS, PING, REPLACE, SCHEMA_VERSION, SELECT, SPACE_ID,
                    SYNC, TUPLE, TYPE, UPDATE, UPSERT, USER, Client, Decoder, ServerError, decode, encode, frame,
                    request)

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = '--reference' in sys.argv
FETCH_POSITION, AFTER_POSITION, AFTER_TUPLE, POSITION = 0x1f, 0x2e, 0x2f, 0x35
KEY_PART_TYPE, ITERATOR_POSITION = 18, 247
ILLEGAL_PARAMS, INVALID_MSGPACK, PASSWORD, UNKNOWN_TYPE, MISSING_FIELD, SCHEMA = (
    1, 20, 47, 48, 69, 109)
REFUSED = 'User not found or supplied credentials are invalid'
HEADER = encode({TYPE: PING, SYNC: 7})
server = port = None


def setUpModule():
    global server, port
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [f'127.0.0.1:{port}']).start()


def ann():
    c = Client(port)
    c.auth('ann', 'secret')
    return c


class Base(unittest.TestCase):
    def tearDown(self):
        self.assertTrue(server.alive(), server.log()[-2000:])

    def answer(self, data, client=None):
        """Send the bytes; the answer's code (0: fine), sync and data or message."""
        c = client or Client(port)
        c.send(data)
        header, body = c.response()
        kind = header[TYPE]
        self.assertTrue(kind == 0 or kind & ERROR_FLAG)
        self.assertIn(SCHEMA_VERSION, header)
        # The connection stays usable: the next request is answered.
        c.send(request(PING, {}, 99))
        after, _ = c.response()
        self.assertEqual((after[TYPE], after[SYNC]), (0, 99))
        return kind & ~ERROR_FLAG, header[SYNC], body.get(ERROR if kind else DATA)

    def closes(self, data, shut=False):
        """Send the bytes; the server has to close the connection. The last error's code, if it sent one."""
        c = Client(port)
        c.send(data)
        if shut:
            c.sock.shutdown(socket.SHUT_WR)
        code = None
        try:
            while True:
                header, _ = c.response()
                code = header[TYPE] & ~ERROR_FLAG
        except ConnectionError:
            return code


class Greeting(Base):
    def test_greeting(self):
        text = Client(port).greeting
        self.assertEqual(len(text), 128)
        self.assertEqual(text[63:64], b'\n')
        self.assertEqual(text[127:128], b'\n')
        self.assertRegex(text[:63].decode(), r'^Tarantool \d+\.\d+\.\d+ \(Binary\) '
                         r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} *$')
        self.assertRegex(text[64:127].decode(), r'^[A-Za-z0-9+/]{43}= *$')

    def test_salts_differ(self):
        self.assertNotEqual(Client(port).greeting[64:], Client(port).greeting[64:])

    def test_silent_client(self):
        for _ in range(20):
            Client(port).close()
        Client(port).ping()

    def test_half_a_request(self):
        c = Client(port)
        data = request(PING, {}, 3)
        for i in range(len(data)):
            c.send(data[i:i + 1])
        self.assertEqual(c.response()[0][SYNC], 3)


class Length(Base):
    def test_forms_of_the_length(self):
        n = len(HEADER)
        for head in (bytes([n]), b'\xcc' + bytes([n]), b'\xcd' + struct.pack('>H', n),
                     b'\xce' + struct.pack('>I', n), b'\xcf' + struct.pack('>Q', n)):
            self.assertEqual(self.answer(head + HEADER), (0, 7, None))

    def test_not_a_number(self):
        for head in (b'\xa5hello', b'\xc1' * 20, b'\xff' + HEADER, b'\xc0' * 8, b'\x80' * 8, b'\xcb' + b'\0' * 8,
                     b'\xd3' + b'\xff' * 8):
            self.assertEqual(self.closes(head), INVALID_MSGPACK, head)
        self.assertRegex(server.log(), 'packet length')

    def test_huge(self):
        for head in b'\xce\xff\xff\xff\xff', b'\xcf' + b'\xff' * 8:
            self.assertEqual(self.closes(head + HEADER), INVALID_MSGPACK)
        self.assertRegex(server.log(), 'too big packet')

    def test_cut_short(self):
        for data in (frame(HEADER)[:-3], frame(HEADER)[:3], b'\xce', request(SELECT, {SPACE_ID: 600})[:-1]):
            self.assertIsNone(self.closes(data, shut=True))

    def test_closed_in_the_middle_by_many(self):
        for i in range(200):
            c = Client(port)
            c.send(request(EVAL, {EXPR: 'return 1', TUPLE: []})[:5 + i % 20])
            c.close()
        self.assertIsNone(Client(port).ping())

    def test_another_protocol(self):
        c = Client(port)
        c.send(b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
        c.sock.shutdown(socket.SHUT_WR)
        try:
            while True:
                c.response()
        except (ConnectionError, ValueError, KeyError):
            pass


class Header(Base):
    def test_not_a_header(self):
        for payload in (b'\x91\x01', b'\x01', b'\xc1\xc1', b'\x82\x00', b'\x82\x00\xa1x\x01\x05',
                        b'\x83\xa1x\x01\x00\x40\x01\x05', b'\xdf\xff\xff\xff\xff'):
            code, sync, _ = self.answer(frame(payload))
            self.assertEqual((code, sync), (INVALID_MSGPACK, 0), payload)

    def test_defaults(self):
        self.assertEqual(self.answer(frame(b'\x81\x00\x40')), (0, 0, None))
        self.assertEqual(self.answer(frame(b'\x80'))[:2], (UNKNOWN_TYPE, 0))
        self.assertEqual(self.answer(frame(b'\x81\x01\x40'))[:2], (UNKNOWN_TYPE, 0x40))

    def test_sync(self):
        for sync in (0, 1, 127, 2 ** 32, 2 ** 64 - 1):
            self.assertEqual(self.answer(frame(encode({TYPE: PING, SYNC: sync}))), (0, sync, None))

    def test_unknown_keys_of_the_header(self):
        self.assertEqual(self.answer(frame(encode({TYPE: PING, SYNC: 3, 0x0f: 2}))), (0, 3, None))

    def test_unknown_types(self):
        for kind in (0, 14, 15, 63, 100, 127, 200) if REFERENCE else (0, 17, 63, 100, 127, 200):
            code, sync, text = self.answer(request(kind, {}, 5))
            self.assertEqual((code, sync), (UNKNOWN_TYPE, 5), kind)
            self.assertEqual(text, f'Unknown request type {kind}')

    def test_schema_version(self):
        def select(version):
            return self.answer(frame(encode({TYPE: SELECT, SYNC: 1, SCHEMA_VERSION: version}) + encode(
                {SPACE_ID: 600, KEY: [1], LIMIT: 1})), ann())
        self.assertEqual(select(0), (0, 1, [[1, 'row1', 10]]))
        code, _, text = select(1)
        self.assertEqual(code, SCHEMA)
        self.assertRegex(text, r'^Wrong schema version, current: \d+, in request: \d+$')
        c = ann()
        c.send(request(PING, {}))
        current = c.response()[0][SCHEMA_VERSION]
        self.assertEqual(select(current)[0], 0)

    @unittest.skipIf(REFERENCE, 'newer than the reference')
    def test_id(self):
        code, sync, _ = self.answer(request(ID, {0x54: 2, 0x55: [0, 1]}, 5))
        self.assertEqual((code, sync), (0, 5))


class Body(Base):
    def test_broken(self):
        for body in b'\xc1', b'\x86\x10', b'\x90', b'\x05', b'\x80\x80', b'\x81\x10', b'\xa5ab', b'\xdf\xff\xff\xff\xff':
            for kind in SELECT, INSERT, CALL, EVAL, AUTH:
                code, sync, _ = self.answer(frame(encode({TYPE: kind, SYNC: 5}) + body))
                self.assertEqual((code, sync), (INVALID_MSGPACK, 5), (kind, body))

    def test_missing_fields(self):
        expected = {SELECT: 'space id', INSERT: 'space id', REPLACE: 'space id', UPDATE: 'space id',
                    DELETE: 'space id', UPSERT: 'space id', CALL: 'function name', CALL_16: 'function name',
                    EVAL: 'expression', AUTH: 'user name'}
        for kind, name in expected.items():
            code, _, text = self.answer(request(kind, {}))
            self.assertEqual((code, text), (MISSING_FIELD, f"Missing mandatory field '{name}' in request"))
            code, _, text = self.answer(frame(encode({TYPE: kind, SYNC: 5})))
            if kind in (CALL, CALL_16, EVAL, AUTH):
                self.assertEqual((code, text), (INVALID_MSGPACK, 'Invalid MsgPack - missing request body'))
            else:
                self.assertEqual(code, MISSING_FIELD)
        for kind, body, name in ((SELECT, {SPACE_ID: 600, LIMIT: 1}, 'key'), (SELECT, {SPACE_ID: 600, KEY: []}, 'limit'),
                                 (INSERT, {SPACE_ID: 600}, 'tuple'), (UPDATE, {SPACE_ID: 600, KEY: [1]}, 'tuple'),
                                 (DELETE, {SPACE_ID: 600}, 'key'), (UPSERT, {SPACE_ID: 600, TUPLE: [1]}, 'operations'),
                                 (AUTH, {USER: 'ann'}, 'tuple')):
            code, _, text = self.answer(request(kind, body))
            self.assertEqual((code, text), (MISSING_FIELD, f"Missing mandatory field '{name}' in request"))

    def test_wrong_types(self):
        for kind, body in ((SELECT, {SPACE_ID: 'x', LIMIT: 1, KEY: []}), (SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: {}}),
                           (SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: 5}), (SELECT, {SPACE_ID: 600, LIMIT: 'x', KEY: []}),
                           (SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: [], ITERATOR: 'EQ'}),
                           (SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: [], ITERATOR: -1}),
                           (SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: [], OFFSET: -1}),
                           (SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: [], INDEX_ID: 1.5}),
                           (INSERT, {SPACE_ID: 600, TUPLE: {}}), (INSERT, {SPACE_ID: 600, TUPLE: 5}),
                           (UPDATE, {SPACE_ID: 600, KEY: [1], TUPLE: 'x'}), (UPSERT, {SPACE_ID: 600, TUPLE: [1], OPS: 5}),
                           (CALL, {FUNCTION: 5, TUPLE: []}), (CALL, {FUNCTION: 'echo', TUPLE: {}}),
                           (EVAL, {EXPR: 5, TUPLE: []}), (AUTH, {USER: 5, TUPLE: ['chap-sha1', b'x' * 20]})):
            self.assertEqual(self.answer(request(kind, body), ann())[0], INVALID_MSGPACK, (kind, body))

    def test_iterator_out_of_range(self):
        self.assertEqual(self.answer(request(SELECT, {SPACE_ID: 600, LIMIT: 1, KEY: [], ITERATOR: 99}), ann())[0],
                         ILLEGAL_PARAMS)

    def test_defaults(self):
        self.assertEqual(self.answer(request(SELECT, {SPACE_ID: 600, KEY: [1], LIMIT: 1, 0x77: 'x'}), ann())[2],
                         [[1, 'row1', 10]])
        self.assertEqual(self.answer(request(CALL, {FUNCTION: 'echo'}), ann()), (0, 1, []))
        self.assertEqual(self.answer(request(EVAL, {EXPR: 'return 1'}), ann()), (0, 1, [1]))

    @unittest.skipIf(REFERENCE, 'takes them unseen')
    def test_extensions(self):
        """An extension of a known type with other content than that type has is no MessagePack."""
        head = encode({TYPE: INSERT, SYNC: 5}) + b'\x82' + encode(SPACE_ID) + encode(600) + encode(TUPLE)
        c = ann()
        for value in (b'\xd5\x01\x00\x11', b'\xd5\x01\x27\x1c', b'\xd4\x01\x00', b'\xc7\x00\x01', b'\xd7\x02' + b'x' * 8,
                      b'\xd7\x04' + b'\x7f' * 8, b'\xd8\x04' + b'\0' * 8 + b'\xff' * 8, b'\xc7\x00\x04', b'\xd5\x06\x02\0',
                      b'\xc7\x03\x06\x01\x09\x01', b'\xc7\x0b\x06\x01\x01\xcf' + b'\x7f' * 8):
            for row in b'\x94\x63\xa1x\x05' + value, b'\x94\x63\xa1x\x05\x91' + value, b'\x91' + value:
                code, sync, _ = self.answer(frame(head + row), c)
                self.assertEqual((code, sync), (INVALID_MSGPACK, 5), row)

    def test_deep_nesting(self):
        """A row nested too deep may be refused; it must not bring the server down."""
        c = ann()

        def insert(depth):
            row = b'\x94\x63\xa1x\x05' + b'\x91' * depth + b'\x90'
            head = encode({TYPE: INSERT, SYNC: 5}) + b'\x82' + encode(SPACE_ID) + encode(600) + encode(TUPLE)
            c.send(frame(head + row))
            # The answer is as deep as the row: look at its header only.
            code = Decoder(c.read(decode(c.read(5)))).value()[TYPE] & ~ERROR_FLAG
            c.send(request(DELETE, {SPACE_ID: 600, KEY: [0x63]}))
            self.assertEqual(Decoder(c.read(decode(c.read(5)))).value()[TYPE], 0)
            return code

        self.assertEqual(insert(100), 0)
        self.assertIn(insert(10000), (0, INVALID_MSGPACK))
        self.assertIn(insert(1000000), (0, INVALID_MSGPACK))
        self.assertIsNone(c.ping())


@unittest.skipIf(REFERENCE, 'of a later version')
class Pages(Base):
    """A select that begins behind a tuple or a position, and tells the position of its last."""

    def select(self, **more):
        names = {'fetch': FETCH_POSITION, 'position': AFTER_POSITION, 'tuple': AFTER_TUPLE, 'index': INDEX_ID}
        body = {SPACE_ID: 280, KEY: [], LIMIT: 3}
        body.update((names[k], v) for k, v in more.items())
        c = ann()
        c.send(request(SELECT, body))
        header, body = c.response()
        if header[TYPE]:
            return header[TYPE] & ~ERROR_FLAG
        return [row[0] for row in body[DATA]], body.get(POSITION)

    def test_positions(self):
        for index in (0, 1, 2):
            rows, position = [], ''
            while position is not None:
                page, position = self.select(index=index, fetch=True, position=position)
                rows += page
            c = ann()
            c.send(request(SELECT, {SPACE_ID: 280, INDEX_ID: index, KEY: [], LIMIT: 1000}))
            self.assertEqual(rows, [row[0] for row in c.response()[1][DATA]], index)

    def test_base64(self):
        _, position = self.select(fetch=True)
        text = base64.b64encode(position.encode(errors='surrogateescape')).decode()
        self.assertEqual(self.select(position=text), self.select(position=position))

    def test_tuple(self):
        self.assertEqual(self.select(tuple=[280, 'x']), ([281, 284, 285], None))
        self.assertEqual(self.select(tuple=[100000], fetch=True), ([], None))
        self.assertEqual(self.select(fetch=False), ([257, 272, 276], None))

    def test_bad(self):
        for position in ('nonsense', '\udc91', '\udcdd' * 5, '\udc91\udcc1', '!', ('\udc91' * 600)):
            self.assertEqual(self.select(position=position), ITERATOR_POSITION, position)
        for more in ({'position': 5}, {'position': [1]}, {'tuple': 'x'}, {'tuple': 5}, {'fetch': 1}):
            self.assertEqual(self.select(**more), INVALID_MSGPACK, more)
        self.assertEqual(self.select(tuple=['x']), KEY_PART_TYPE)
        self.assertEqual(self.select(tuple=[]), KEY_PART_TYPE)


class Authentication(Base):
    def test_broken(self):
        for chap, expected in (([], INVALID_MSGPACK), (['chap-sha1'], INVALID_MSGPACK),
                               (['chap-sha1', b'x' * 5], INVALID_MSGPACK), (['chap-sha1', 5], INVALID_MSGPACK),
                               (['md5', b'x' * 20], PASSWORD), (['chap-sha1', b'x' * 20], PASSWORD)):
            self.assertEqual(self.answer(request(AUTH, {USER: 'ann', TUPLE: chap}))[0], expected, chap)

    def test_right_and_wrong(self):
        c = Client(port)
        with self.assertRaises(ServerError) as e:
            c.auth('ann', 'wrong')
        self.assertEqual((e.exception.code, str(e.exception)), (PASSWORD, REFUSED))
        with self.assertRaises(ServerError) as e:
            c.auth('nobody', 'x')
        self.assertEqual((e.exception.code, str(e.exception)), (PASSWORD, REFUSED))
        # The connection is still the guest's, and may try again.
        with self.assertRaises(ServerError):
            c.eval('return 1')
        c.auth('ann', 'secret')
        self.assertEqual(c.eval('return box.session.user()'), ['ann'])

    def test_guest_without_password(self):
        self.assertEqual(self.answer(request(AUTH, {USER: 'guest', TUPLE: []}))[0], 0)


class Load(Base):
    def test_pipeline(self):
        c = ann()
        n = 5000
        c.send(b''.join(request(EVAL, {EXPR: 'return ...', TUPLE: [i]}, i) for i in range(n)))
        got = {}
        for _ in range(n):
            header, body = c.response()
            got[header[SYNC]] = body[DATA]
        self.assertEqual(got, {i: [i] for i in range(n)})

    def test_reader_that_does_not_read(self):
        """A client that asks a lot and reads nothing neither blocks nor bloats the server."""
        lazy = ann()
        lazy.sock.setblocking(False)
        ask = request(CALL, {FUNCTION: 'big', TUPLE: [100000]}) * 10
        try:
            for _ in range(200):
                lazy.send(ask)
        except BlockingIOError:
            pass
        other = ann()
        for i in range(100):
            self.assertEqual(other.call('echo', i), [i])
        lazy.close()
        self.assertIsNone(other.ping())

    def test_garbage_beside_work(self):
        """Connections that send noise do not disturb one that works."""
        stop = threading.Event()

        def noise(seed):
            import random
            dice = random.Random(seed)
            while not stop.is_set():
                try:
                    c = Client(port, timeout=2)
                    c.send(bytes(dice.getrandbits(8) for _ in range(dice.randint(1, 300))))
                    c.close()
                except OSError:
                    pass

        threads = [threading.Thread(target=noise, args=(i,)) for i in range(3)]
        for t in threads:
            t.start()
        try:
            c = ann()
            for i in range(2000):
                self.assertEqual(c.call('echo', i), [i])
        finally:
            stop.set()
            for t in threads:
                t.join()

    def test_mutated_requests(self):
        """Each byte of good requests is changed: an answer or a closed connection, and the server lives."""
        samples = [request(SELECT, {SPACE_ID: 600, INDEX_ID: 0, LIMIT: 3, OFFSET: 0, ITERATOR: 2, KEY: []}),
                   request(UPDATE, {SPACE_ID: 600, INDEX_ID: 0, KEY: [1], TUPLE: [['=', 9, 'x'], ['+', 2, 1]]}),
                   request(UPSERT, {SPACE_ID: 600, TUPLE: [1, 'row1'], OPS: [[':', 1, 1, 1, 'x']]}),
                   request(INSERT, {SPACE_ID: 600, TUPLE: [1, 'x', -5, [1, {'a': 1.5}]]}),
                   request(CALL, {FUNCTION: 'echo', TUPLE: [1, [2]]})]
        for sample in samples:
            for i in range(5, len(sample)):
                for x in 0x00, 0x7f, 0xc1, 0xdd, 0xff:
                    c = getattr(self, 'mutant', None) or ann()
                    self.mutant = c
                    c.send(sample[:i] + bytes([x]) + sample[i + 1:])
                    try:
                        c.response()
                    except (ConnectionError, ValueError):
                        self.mutant = None
        self.assertIsNone(Client(port).ping())


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + [a for a in sys.argv[2:] if a != '--reference'])
