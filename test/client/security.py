# SPDX-License-Identifier: BSD-2-Clause
"""Logging in, its rules, and no way past access control: security.py SERVER"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import (AUTH, CALL, CALL_16, DATA, DELETE, ERROR_FLAG, EVAL, EXPR, FUNCTION, ID, INDEX_ID, INSERT, KEY,
                    LIMIT, OPS, PING, REPLACE, SELECT, SPACE_ID, TUPLE, TYPE, UPDATE, UPSERT, USER, Client,
                    ServerError, frame, encode)

HERE = os.path.dirname(os.path.abspath(__file__))
EXECUTE, NOP, PREPARE, BEGIN, COMMIT, ROLLBACK, WATCH_ONCE = 11, 12, 13, 14, 15, 16, 77
JOIN, SUBSCRIBE, VOTE, FETCH_SNAPSHOT, REGISTER = 65, 66, 68, 69, 70
WATCH, UNWATCH = 74, 75
AUTH_TYPE, EVENT_KEY, STREAM = 0x5b, 0x57, 0x0a
AFTER_POSITION, AFTER_TUPLE, SPACE_NAME, INDEX_NAME, TUPLE_FORMATS = 0x2e, 0x2f, 0x5e, 0x5f, 0x60
ACCESS_DENIED, REFUSED_CODE, FORMAT_LIMIT = 42, 47, 16
REFUSED = 'User not found or supplied credentials are invalid'
server = port = None


def setUpModule():
    global server, port
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'security_server.lua'), [f'127.0.0.1:{port}']).start()


def ann():
    c = Client(port)
    c.auth('ann', 'secret')
    c.eval("box.session.su('admin')")
    return c


def pap(c, user, password):
    return c.ask(AUTH, {USER: user, TUPLE: ['pap-sha256', password]})


def outcome(f, *args):
    """None for success, else (code, text)."""
    try:
        f(*args)
        return None
    except ServerError as e:
        return e.code, str(e)


class Base(unittest.TestCase):
    def cfg(self, **options):
        """Settings of the server until the test ends."""
        self.addCleanup(self.set, {k: None for k in options})
        self.set(options)

    def set(self, options):
        c = ann()
        c.eval('local new = ... for k, v in pairs(new) do box.cfg{[k] = v} end', options)
        c.close()


class Login(Base):
    def test_failures_are_alike(self):
        for user, password in (('ann', 'wrong'), ('nobody', 'x'), ('off', 'wrong'), ('empty', ''), ('public', ''),
                               ('guest', 'x'), ('x' * 70000, 'x'), ('ann\0', 'secret')):
            for login in (lambda c: c.auth(user, password), lambda c: pap(c, user, password)):
                self.assertEqual(outcome(login, Client(port)), (REFUSED_CODE, REFUSED), user[:20])

    def test_triggers_see_all(self):
        admin = ann()
        admin.call('take_logins')
        outcome(Client(port).auth, 'nobody', 'x')
        outcome(Client(port).auth, 'poor', 'y')
        Client(port).auth('poor', 'x')
        self.assertEqual(admin.call('take_logins'),
                         [[['nobody', False], ['poor', False], ['poor', True]]])

    def test_disabled_user(self):
        self.assertEqual(outcome(Client(port).auth, 'off', 'x'),
                         (ACCESS_DENIED, "Session access to universe '' is denied for user 'off'"))

    def test_pap(self):
        self.cfg(auth_type='pap-sha256')
        c = ann()
        self.assertEqual(c_id(c), 'pap-sha256')
        c.eval("box.schema.user.create('pat', {password = 'secret', if_not_exists = true})")
        pap(Client(port), 'pat', 'secret')
        # What is stored tells by which method one can log in.
        self.assertEqual(outcome(Client(port).auth, 'pat', 'secret'), (REFUSED_CODE, REFUSED))
        self.assertEqual(outcome(pap, Client(port), 'ann', 'secret'), (REFUSED_CODE, REFUSED))
        self.assertEqual(outcome(pap, Client(port), 'pat', 'secreT'), (REFUSED_CODE, REFUSED))
        one, two = (c.eval("box.schema.user.passwd('pat', 'secret') "
                           "return box.space._user.index.name:get('pat')[5]['pap-sha256']")[0] for _ in range(2))
        self.assertNotEqual(one, two)
        for bad in ('{}', "'x'", "{'x', 'y'}", "{'%s'}" % one[0]):
            self.assertIn('invalid user password', outcome(
                c.eval, f"box.space._user:update(box.space._user.index.name:get('pat')[1], "
                f"{{{{'=', 5, {{['pap-sha256'] = {bad}}}}}}})")[1])
        pap(Client(port), 'pat', 'secret')
        c.eval("box.schema.user.drop('pat')")

    def test_delay(self):
        self.cfg(auth_delay=100, auth_retries=1)
        for user in 'poor', 'unknown':
            answers = [outcome(Client(port).auth, user, 'wrong')[1] for _ in range(4)]
            self.assertEqual(answers, [REFUSED] * 2 + ['Too many authentication attempts'] * 2)
        self.assertIn('Too many', outcome(Client(port).auth, 'poor', 'x')[1])
        ann()
        self.set({'auth_delay': None})
        Client(port).auth('poor', 'x')

    def test_delay_many_names(self):
        self.cfg(auth_delay=100)
        c = Client(port)
        for i in range(5000):
            outcome(c.auth, f'n{i}', 'x')
        self.assertEqual(outcome(c.auth, 'n0', 'x')[1], REFUSED)
        self.assertIn('Too many', outcome(c.auth, 'n4999', 'x')[1])

    def test_rules_for_passwords(self):
        c = ann()
        set_password = "box.schema.user.passwd('poor', ...)"
        self.cfg(password_min_length=4, password_enforce_uppercase=True, password_enforce_lowercase=True,
                 password_enforce_digits=True, password_enforce_specialchars=True, password_history_length=3)
        for weak in ('aB1', 'aaB1', 'aaB?', 'aa1?', 'BB1?', ''):
            self.assertIn("Password doesn't meet security requirements", outcome(c.eval, set_password, weak)[1])
            self.assertIn("Password doesn't meet", outcome(
                c.eval, "box.schema.user.create('new', {password = ...})", weak)[1])
        for i in range(4):
            c.eval(set_password, f'aB?{i}')
        for i in 1, 2, 3:
            self.assertIn('must differ from last 3', outcome(c.eval, set_password, f'aB?{i}')[1])
        c.eval(set_password, 'aB?0')
        self.assertIn('must differ', outcome(c.eval, set_password, 'aB?0')[1])
        # A user may change the own password, by the same rules.
        poor = Client(port)
        poor.auth('poor', 'aB?0')
        self.set({'password_enforce_uppercase': None, 'password_enforce_specialchars': None, 'password_min_length': 1,
                  'password_enforce_lowercase': None, 'password_enforce_digits': None, 'password_history_length': None})
        c.eval(set_password, 'x')

    def test_lifetime(self):
        self.cfg(password_lifetime_days=2)
        c = ann()
        c.eval("box.schema.user.passwd('poor', 'x')")
        Client(port).auth('poor', 'x')
        c.eval("local u = box.space._user.index.name:get('poor') "
               "box.space._user:update(u[1], {{'-', 7, 3 * 86400}})")
        self.assertEqual(outcome(Client(port).auth, 'poor', 'x'), (REFUSED_CODE, 'Password expired'))
        self.assertEqual(outcome(Client(port).auth, 'poor', 'y'), (REFUSED_CODE, REFUSED))
        c.eval("box.schema.user.passwd('poor', 'x')")
        Client(port).auth('poor', 'x')

    def test_disable_guest(self):
        self.cfg(disable_guest=True)
        c = Client(port)
        for kind, body in ((PING, {}), (SELECT, {SPACE_ID: 281, KEY: [], LIMIT: 1}), (EVAL, {EXPR: '', TUPLE: []}),
                           (WATCH_ONCE, {EVENT_KEY: 'box.id'})):
            self.assertEqual(outcome(c.ask, kind, body)[0], ACCESS_DENIED)
        self.assertEqual(outcome(c.ask, AUTH, {USER: 'guest', TUPLE: []})[0], REFUSED_CODE)
        self.assertEqual(outcome(c.auth, 'guest', '')[0], REFUSED_CODE)
        c.ask(ID, {})
        c.auth('poor', 'x')
        c.ping()


def c_id(c):
    c.sync += 1
    c.send(frame(encode({TYPE: ID, 1: c.sync}) + encode({})))
    return c.response()[1][AUTH_TYPE]


class Walk(Base):
    """Each type of request, as one who may do nothing. None shows or changes anything."""

    def bodies(self):
        on_space = {SPACE_ID: 600, INDEX_ID: 0}
        yield SELECT, {**on_space, KEY: [], LIMIT: 10}
        yield SELECT, {**on_space, KEY: [1], LIMIT: 1, 0x1f: True}
        yield SELECT, {**on_space, KEY: [], LIMIT: 10, AFTER_POSITION: ''}
        yield SELECT, {**on_space, KEY: [], LIMIT: 10, AFTER_TUPLE: [0]}
        for target in {SPACE_NAME: 'test', INDEX_ID: 0}, {SPACE_NAME: 'test', INDEX_NAME: 'primary'}, \
                {SPACE_ID: 600, INDEX_NAME: 'primary'}:
            yield SELECT, {**target, KEY: [], LIMIT: 10}
            yield UPDATE, {**target, KEY: [1], TUPLE: [['=', 1, 'x']]}
            yield DELETE, {**target, KEY: [1]}
        yield INSERT, {SPACE_NAME: 'test', TUPLE: [2]}
        yield REPLACE, {SPACE_NAME: 'test', TUPLE: [1]}
        yield UPSERT, {SPACE_NAME: 'test', TUPLE: [1], OPS: [['=', 1, 'x']]}
        yield INSERT, {SPACE_ID: 600, TUPLE: [2]}
        yield REPLACE, {SPACE_ID: 600, TUPLE: [1]}
        yield UPDATE, {**on_space, KEY: [1], TUPLE: [['=', 1, 'x']]}
        yield DELETE, {**on_space, KEY: [1]}
        yield UPSERT, {SPACE_ID: 600, TUPLE: [1], OPS: [['=', 1, 'x']]}
        yield CALL, {FUNCTION: 'secret', TUPLE: []}
        yield CALL_16, {FUNCTION: 'secret', TUPLE: []}
        yield CALL, {FUNCTION: 'box.session.su', TUPLE: ['admin']}
        for name in ('os.exit', 'box.space.test:select', 'box.space.test.select', 'box.func.secret:call',
                     'box.sequence.numbers:next', 'box.cfg', 'box.schema.user.grant', 'box.execute', 'loadstring',
                     'box.schema.user.passwd', 'box.broadcast', 'require', 'dofile', 'box.snapshot', ''):
            yield CALL, {FUNCTION: name, TUPLE: []}
            yield CALL_16, {FUNCTION: name, TUPLE: []}
        yield CALL, {FUNCTION: 'secret', TUPLE: [], TUPLE_FORMATS: {1: [{'name': 'a'}]}}
        yield EVAL, {EXPR: 'return 1', TUPLE: [], TUPLE_FORMATS: {}}
        yield EVAL, {EXPR: '\x1bLJ', TUPLE: []}
        yield EVAL, {EXPR: 'return box.space.test:select()', TUPLE: []}
        for kind in EXECUTE, PREPARE, JOIN, SUBSCRIBE, FETCH_SNAPSHOT, REGISTER, NOP, 200, 0:
            yield kind, {}
        # The system's own spaces.
        for space in (272, 276, 280, 284, 288, 296, 304, 312, 320, 330, 340, 356, 364, 372):
            yield SELECT, {SPACE_ID: space, KEY: [], LIMIT: 10}
            yield INSERT, {SPACE_ID: space, TUPLE: [700, 1, 'x', 'memtx', 0, {}, []]}
            yield DELETE, {SPACE_ID: space, KEY: [1]}

    def walk(self, c):
        for kind, body in self.bodies():
            for stream in 0, 1:
                header = {TYPE: kind, 1: 1}
                if stream:
                    header[STREAM] = 1
                c.send(frame(encode(header) + encode(body)))
                header, body_back = c.response()
                # To delete what is not there from some system spaces is allowed to all.
                self.assertTrue(header[TYPE] & ERROR_FLAG or body_back == {DATA: []} and kind == DELETE,
                                (kind, body, body_back))
                self.assertNotIn('secret r', str(body_back))

    def test_walk(self):
        count = ("local out = {} for _, name in ipairs{'test', '_space', '_user', '_sequence_data', '_collation'} do "
                 "table.insert(out, #box.space[name]:select()) end return out")
        before = ann().eval(count)
        for user in 'guest', 'poor':
            c = Client(port)
            if user != 'guest':
                c.auth(user, 'x')
            self.walk(c)
            # In a transaction of a stream neither.
            for kind in BEGIN, SELECT, COMMIT:
                body = {SPACE_ID: 600, KEY: [], LIMIT: 1} if kind == SELECT else {}
                c.send(frame(encode({TYPE: kind, 1: 1, STREAM: 5}) + encode(body)))
                self.assertEqual(bool(c.response()[0][TYPE] & ERROR_FLAG), kind == SELECT)
            # Whatever has another number does nothing, with whatever body.
            harmless = {PING, ID, BEGIN, COMMIT, ROLLBACK, WATCH, UNWATCH, WATCH_ONCE}
            for kind in set(range(128)) - harmless:
                for body in {}, {SPACE_ID: 600, INDEX_ID: 0, KEY: [1], LIMIT: 1, TUPLE: [1], OPS: [], FUNCTION: 'secret',
                                 USER: 'ann'}:
                    c.send(frame(encode({TYPE: kind, 1: 1}) + encode(body)))
                    header, body_back = c.response()
                    self.assertTrue(header[TYPE] & ERROR_FLAG, (kind, body_back))
                    self.assertNotIn('secret r', str(body_back))
            # Events are for all to see; a transaction of nothing is one.
            c.send(frame(encode({TYPE: WATCH}) + encode({EVENT_KEY: 'own'})))
            self.assertEqual(c.response()[1], {EVENT_KEY: 'own'})
            c.send(frame(encode({TYPE: UNWATCH}) + encode({EVENT_KEY: 'own'})))
            self.assertEqual(c.ask(WATCH_ONCE, {EVENT_KEY: 'own'}), [])
            for kind in PING, BEGIN, COMMIT, BEGIN, ROLLBACK:
                c.send(frame(encode({TYPE: kind, 1: 1, STREAM: 6}) + encode({})))
                self.assertEqual(c.response()[0][TYPE], 0)
            for kind in ID, AUTH:
                c.send(frame(encode({TYPE: kind, 1: 1, STREAM: 6}) + encode({USER: 'ann', TUPLE: []})))
                self.assertTrue(c.response()[0][TYPE] & ERROR_FLAG)
            # Views show what is theirs: nothing.
            spaces = [row[2] for row in c.ask(SELECT, {SPACE_ID: 281, KEY: [], LIMIT: 100})]
            self.assertNotIn('test', spaces)
            self.assertEqual(c.ask(SELECT, {SPACE_ID: 305, INDEX_ID: 2, KEY: ['ann'], LIMIT: 100}), [])
        self.assertEqual(ann().eval(count), before)


class Formats(Base):
    """Names of fields that clients tell of stay for good: only those who may call can bring some."""

    def test_formats_of_the_denied(self):
        formats = {i: [{'name': f'stranger {i}'}] for i in range(70000)}
        for kind, body in (CALL, {FUNCTION: 'secret'}), (EVAL, {EXPR: 'return ...'}):
            self.assertEqual(outcome(Client(port).ask, kind, {**body, TUPLE: [], TUPLE_FORMATS: formats})[0],
                             ACCESS_DENIED)
        ask = {EXPR: 'return ...', TUPLE: [1], TUPLE_FORMATS: {1: [{'name': 'a new name'}]}}
        self.assertEqual(ann().ask(EVAL, ask), [1])
        # And those only so many.
        self.assertEqual(outcome(ann().ask, EVAL, {**ask, TUPLE_FORMATS: formats})[0], FORMAT_LIMIT)
        self.assertEqual(ann().ask(EVAL, ask), [1])


class Warning(Base):
    def test_open_guest(self):
        c = ann()
        self.assertEqual(server.log().count("has the rights of 'guest'"), 0)
        c.eval("box.cfg{listen = '0.0.0.0:0'}")
        self.assertEqual(server.log().count("has the rights of 'guest'"), 0)
        c.eval("box.schema.user.grant('guest', 'read', 'space', 'test')")
        self.assertEqual(server.log().count("has the rights of 'guest'"), 1)
        c.eval("box.schema.user.revoke('guest', 'read', 'space', 'test') box.cfg{listen = ...}", f'127.0.0.1:{port}')
        c.eval("box.schema.user.grant('guest', 'read', 'space', 'test')")
        self.assertEqual(server.log().count("has the rights of 'guest'"), 1)
        c.eval("box.schema.user.revoke('guest', 'read', 'space', 'test')")


def tearDownModule():
    assert server.stop() == 0


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
