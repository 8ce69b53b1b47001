# SPDX-License-Identifier: BSD-2-Clause
"""Streams, watchers, ID and names instead of numbers, by bytes on a socket: streams.py SERVER

What the reference of 2.6 does not know; by the public description of the protocol.
"""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import (DATA, ERROR, ERROR_FLAG, EVAL, EXPR, ID, INSERT, KEY, LIMIT, PING, REPLACE, SELECT, SPACE_ID, SYNC,
                    TUPLE, TYPE, AUTH, USER, Client, ServerError, encode, frame)

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, COMMIT, ROLLBACK, WATCH, UNWATCH, EVENT, WATCH_ONCE = 14, 15, 16, 74, 75, 76, 77
STREAM, VERSION, FEATURES, TIMEOUT, EVENT_KEY, EVENT_DATA, ISOLATION, AUTH_TYPE, SPACE_NAME, INDEX_NAME = (
    0x0a, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5b, 0x5e, 0x5f)
ILLEGAL_PARAMS, NO_SUCH_SPACE, MISSING_FIELD, YIELDED, NO_SUCH_INDEX, IN_STREAM, OUT_OF_STREAM = (
    1, 36, 69, 154, 148, 229, 230)
SPACE = 600
server = port = None


def setUpModule():
    global server, port
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [f'127.0.0.1:{port}']).start()


def packet(kind, body, sync, stream=0):
    header = {TYPE: kind, SYNC: sync}
    if stream:
        header[STREAM] = stream
    return frame(encode(header) + encode(body))


class Peer(Client):
    """A connection of ann's that can send several requests at once."""

    def __init__(self):
        super().__init__(port)
        self.auth('ann', 'secret')

    def all(self, *requests):
        """Send (kind, body, stream) in one write; the answers by order of the requests."""
        self.send(b''.join(packet(kind, body, i, stream) for i, (kind, body, stream) in enumerate(requests)))
        got = {}
        while len(got) < len(requests):
            header, body = self.response()
            kind = header[TYPE]
            got[header[SYNC]] = (kind & ~ERROR_FLAG, body.get(ERROR)) if kind & ERROR_FLAG else body.get(DATA)
        return [got[i] for i in range(len(requests))]

    def one(self, kind, body, stream=0):
        return self.all((kind, body, stream))[0]

    def ids(self):
        return [row[0] for row in self.one(SELECT, {SPACE_ID: SPACE, KEY: [], LIMIT: 1000}) if row[0] >= 1000]


def insert(n):
    return {SPACE_ID: SPACE, TUPLE: [n, f'row {n}', None]}


class Base(unittest.TestCase):
    def setUp(self):
        self.c = Peer()

    def tearDown(self):
        self.c.eval('for _, t in box.space.test:pairs({1000}, "GE") do box.space.test:delete(t[1]) end')
        self.c.close()
        self.assertTrue(server.alive(), server.log()[-2000:])


class Streams(Base):
    def test_requests_of_a_stream_keep_their_order(self):
        c = self.c
        c.eval('trace = {} function step(n) trace[#trace + 1] = n require("fiber").sleep(0.01) '
               'trace[#trace + 1] = n end')
        c.all(*[(EVAL, {EXPR: f'step({n})', TUPLE: []}, 7) for n in range(5)])
        self.assertEqual(c.eval('return unpack(trace)'), [n for n in range(5) for _ in range(2)])

    def test_streams_run_beside_each_other(self):
        c = self.c
        c.eval('trace = {} function step(n) trace[#trace + 1] = n require("fiber").sleep(0.05) '
               'trace[#trace + 1] = n end')
        c.all(*[(EVAL, {EXPR: f'step({n})', TUPLE: []}, n) for n in (1, 2, 3)])
        self.assertEqual(c.eval('return unpack(trace)')[:3], [1, 2, 3])

    def test_a_transaction_sent_at_once(self):
        c = self.c
        self.assertEqual(c.all((BEGIN, {}, 5), (INSERT, insert(1000), 5), (INSERT, insert(1001), 5), (COMMIT, {}, 5)),
                         [None, [[1000, 'row 1000', None]], [[1001, 'row 1001', None]], None])
        self.assertEqual(c.ids(), [1000, 1001])

    def test_a_rollback(self):
        c = self.c
        c.all((BEGIN, {}, 5), (INSERT, insert(1000), 5), (ROLLBACK, {}, 5))
        self.assertEqual(c.ids(), [])

    def test_others_in_between_end_a_transaction(self):
        c = self.c
        self.assertEqual(c.one(BEGIN, {}, 5), None)
        self.assertEqual(c.one(INSERT, insert(1000), 5)[0][0], 1000)
        self.assertEqual(c.ids(), [], 'nobody sees what is not committed')
        self.assertEqual(c.one(INSERT, insert(1001), 5)[0], YIELDED)
        self.assertEqual(c.one(COMMIT, {}, 5), (YIELDED, 'Transaction has been aborted by a fiber yield'))
        self.assertEqual(c.ids(), [])
        self.assertEqual(c.one(INSERT, insert(1001), 5)[0][0], 1001, 'the stream goes on')

    def test_two_at_once_do_not_mix(self):
        c = self.c
        got = c.all((BEGIN, {}, 1), (INSERT, insert(1000), 1), (BEGIN, {}, 2), (INSERT, insert(1001), 2),
                    (COMMIT, {}, 1), (COMMIT, {}, 2))
        self.assertEqual(got[4][0], YIELDED)
        self.assertEqual(sorted(c.ids()), [1001] if got[5] is None else [])

    def test_a_begin_may_wait(self):
        c = self.c
        self.assertEqual(c.one(BEGIN, {}, 5), None)
        time.sleep(0.02)
        self.assertEqual(c.all((INSERT, insert(1000), 5), (COMMIT, {}, 5))[1], None)
        self.assertEqual(c.ids(), [1000])

    def test_timeouts(self):
        c = self.c
        self.assertEqual(c.one(BEGIN, {TIMEOUT: 0.01}, 5), None)
        time.sleep(0.05)
        self.assertEqual(c.one(COMMIT, {}, 5)[1], 'Transaction has been aborted by timeout')
        self.assertEqual(c.one(BEGIN, {TIMEOUT: 0}, 5)[0], ILLEGAL_PARAMS)
        self.assertEqual(c.one(BEGIN, {TIMEOUT: -1.5}, 5)[0], ILLEGAL_PARAMS)
        self.assertEqual(c.one(BEGIN, {TIMEOUT: 'x'}, 5)[0], 20)
        self.assertEqual(c.one(BEGIN, {ISOLATION: 1000}, 5)[0], ILLEGAL_PARAMS)
        self.assertEqual(c.all((BEGIN, {ISOLATION: 1}, 5), (ROLLBACK, {}, 5)), [None, None], 'none is left open')

    def test_only_in_a_stream(self):
        for kind, name in (BEGIN, 'BEGIN'), (COMMIT, 'COMMIT'), (ROLLBACK, 'ROLLBACK'):
            self.assertEqual(self.c.one(kind, {}), (OUT_OF_STREAM, f'Unable to process {name} request out of stream'))

    def test_not_in_a_stream(self):
        self.assertEqual(self.c.one(ID, {}, 3), (IN_STREAM, 'Unable to process ID request in stream'))
        self.assertEqual(self.c.one(AUTH, {USER: 'ann', TUPLE: []}, 3)[0], IN_STREAM)

    def test_begin_twice(self):
        got = self.c.all((BEGIN, {}, 5), (BEGIN, {}, 5), (ROLLBACK, {}, 5))
        self.assertEqual(got[1], (79, "Operation is not permitted when there is an active transaction "))

    def test_commit_of_nothing(self):
        self.assertEqual(self.c.all((COMMIT, {}, 5), (ROLLBACK, {}, 5)), [None, None])

    def test_scripts_use_the_streams_transaction(self):
        c = self.c
        got = c.all((EVAL, {EXPR: 'box.begin()', TUPLE: []}, 9), (INSERT, insert(1000), 9),
                    (EVAL, {EXPR: 'return box.is_in_txn()', TUPLE: []}, 9), (COMMIT, {}, 9),
                    (EVAL, {EXPR: 'return box.is_in_txn()', TUPLE: []}, 9))
        self.assertEqual([got[2], got[4]], [[True], [False]])
        self.assertEqual(c.ids(), [1000])

    def test_a_closed_connection_rolls_back(self):
        other = Peer()
        other.all((BEGIN, {}, 5), (INSERT, insert(1000), 5))
        other.close()
        deadline = time.monotonic() + 5
        while self.c.eval('return box.stat.net().CONNECTIONS.current')[0] > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.c.ids(), [])

    def test_too_many_transactions(self):
        other = Peer()
        for begin in range(0, 10500, 500):
            got = other.all(*[(BEGIN, {}, begin + i + 1) for i in range(500)])
            if begin < 10000:
                self.assertEqual(got, [None] * 500)
        self.assertEqual(got, [(ILLEGAL_PARAMS, 'Illegal parameters, too many streams on a connection')] * 500)
        self.assertEqual(other.all((COMMIT, {}, 1), (BEGIN, {}, 20000), (COMMIT, {}, 20000)), [None] * 3)
        self.assertEqual(other.one(PING, {}, 20001), None)
        other.close()

    def test_many_streams(self):
        got = self.c.all(*[(PING, {}, 1 + i % 500) for i in range(3000)])
        self.assertEqual(len(got), 3000)


class Events(Base):
    def watch(self, name):
        self.c.send(frame(encode({TYPE: WATCH}) + encode({EVENT_KEY: name})))

    def event(self):
        header, body = self.c.response()
        self.assertEqual(header, {TYPE: EVENT})
        return body[EVENT_KEY], body.get(EVENT_DATA)

    def test_a_value_and_its_changes(self):
        name = 'own'
        other = Peer()
        self.watch(name)
        self.assertEqual(self.event(), (name, None))
        other.eval('box.broadcast(...)', name, {'a': [1, 2]})
        other.eval('box.broadcast(...)', name, 2)
        self.assertEqual(self.c.ping(), None, 'none before the acknowledgement')
        self.watch(name)
        self.assertEqual(self.event(), (name, 2), 'then the newest')
        self.watch(name)
        other.eval('box.broadcast(...)', name, 3)
        self.assertEqual(self.event(), (name, 3))
        self.watch(name)
        self.c.send(frame(encode({TYPE: UNWATCH}) + encode({EVENT_KEY: name})))
        self.c.ping()
        other.eval('box.broadcast(...)', name, 4)
        self.assertEqual(self.c.ping(), None)
        self.assertEqual(self.c.ask(WATCH_ONCE, {EVENT_KEY: name}), [4])
        self.assertEqual(self.c.ask(WATCH_ONCE, {EVENT_KEY: 'nothing of that name'}), [])
        other.close()

    def test_the_servers_own(self):
        self.assertEqual(self.c.ask(WATCH_ONCE, {EVENT_KEY: 'box.status'}),
                         [{'status': 'running', 'is_ro': False, 'is_ro_cfg': False}])
        me = self.c.ask(WATCH_ONCE, {EVENT_KEY: 'box.id'})[0]
        uuid = bytes.fromhex(self.c.eval('return box.info.uuid')[0].replace('-', ''))
        self.assertEqual((me['id'], me['instance_uuid']), (1, (2, uuid)))
        before = self.c.ask(WATCH_ONCE, {EVENT_KEY: 'box.schema'})[0]['version']
        self.c.eval('box.schema.space.create("fresh"):drop()')
        self.assertGreater(self.c.ask(WATCH_ONCE, {EVENT_KEY: 'box.schema'})[0]['version'], before)

    def test_what_is_wrong(self):
        for kind in WATCH, UNWATCH, WATCH_ONCE:
            with self.assertRaises(ServerError) as e:
                self.c.ask(kind, {})
            self.assertEqual((e.exception.code, str(e.exception)),
                             (MISSING_FIELD, "Missing mandatory field 'event key' in request"))
            with self.assertRaises(ServerError) as e:
                self.c.ask(kind, {EVENT_KEY: 5})
            self.assertEqual(e.exception.code, 20)

    def test_too_many(self):
        for i in range(10001):
            self.watch(f'key {i}')
        events, error = 0, None
        while error is None:
            header, body = self.c.response()
            if header[TYPE] == EVENT:
                events += 1
            else:
                error = header[TYPE] & ~ERROR_FLAG
        self.assertEqual(error, ILLEGAL_PARAMS)
        self.assertGreater(events, 0)

    def test_too_long_names(self):
        for round in range(2):
            for i in range(10):
                self.watch(str(i) * 100000)
                self.assertEqual(self.event(), (str(i) * 100000, None))
            self.watch('x' * 100000)
            self.assertEqual(self.c.response()[0][TYPE] & ~ERROR_FLAG, ILLEGAL_PARAMS)
            for i in range(10):
                self.c.send(frame(encode({TYPE: UNWATCH}) + encode({EVENT_KEY: str(i) * 100000})))

    def test_a_watcher_that_leaves(self):
        for _ in range(20):
            other = Peer()
            other.send(frame(encode({TYPE: WATCH}) + encode({EVENT_KEY: 'left'})))
            other.close()
            self.c.eval('box.broadcast(...)', 'left', 1)


    def test_one_that_left_before_its_turn(self):
        self.c.eval('box.cfg{net_msg_max = 2}')
        try:
            for _ in range(5):
                other = Peer()
                other.send(b''.join(packet(EVAL, {EXPR: 'require("fiber").sleep(0.01)', TUPLE: []}, i) for i in range(4)) +
                           b''.join(frame(encode({TYPE: WATCH}) + encode({EVENT_KEY: f'late {i}'})) for i in range(20)))
                other.close()
        finally:
            self.c.eval('box.cfg{net_msg_max = 768}')
        deadline = time.monotonic() + 10
        while self.c.eval('return box.stat.net().REQUESTS.current')[0] > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.c.eval('for i = 0, 19 do box.broadcast("late " .. i, i) end require("fiber").sleep(0.01)')
        self.c.ping()


class Identity(Base):
    def test_id(self):
        self.c.send(packet(ID, {VERSION: 8, FEATURES: [0, 1, 2, 3, 99]}, 1))
        header, body = self.c.response()
        self.assertEqual(header[TYPE], 0)
        self.assertEqual(body, {VERSION: 9, FEATURES: [*range(10), 11], AUTH_TYPE: 'chap-sha1'})
        self.assertEqual(self.c.one(ID, {FEATURES: 'x'})[0], 20)
        self.assertEqual(self.c.one(ID, {FEATURES: ['x']})[0], 20)


class Names(Base):
    def test_of_spaces_and_indexes(self):
        c = self.c
        self.assertEqual(c.ask(SELECT, {SPACE_NAME: 'test', INDEX_NAME: 'name', KEY: ['row2'], LIMIT: 1}),
                         [[2, 'row2', 20]])
        self.assertEqual(c.ask(SELECT, {SPACE_ID: SPACE, INDEX_NAME: 'name', KEY: ['row2'], LIMIT: 1}),
                         [[2, 'row2', 20]])
        self.assertEqual(c.ask(REPLACE, {SPACE_NAME: 'test', TUPLE: [1000, 'x', None]}), [[1000, 'x', None]])
        self.assertEqual(c.one(SELECT, {SPACE_NAME: 'nosuch', KEY: [], LIMIT: 1}),
                         (NO_SUCH_SPACE, "Space 'nosuch' does not exist"))
        self.assertEqual(c.one(SELECT, {SPACE_NAME: 'test', INDEX_NAME: 'nosuch', KEY: [], LIMIT: 1}),
                         (NO_SUCH_INDEX, "No index 'nosuch' is defined in space 'test'"))
        self.assertEqual(c.one(SELECT, {SPACE_NAME: 5, KEY: [], LIMIT: 1})[0], 20)
        self.assertEqual(c.one(SELECT, {KEY: [], LIMIT: 1})[0], MISSING_FIELD)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
