# SPDX-License-Identifier: BSD-2-Clause
"""Procedures that misbehave: bad.py SERVER [ROUNDS OF THE SOAK]

Each gets a clear error as its answer, the next request is served as if nothing had
been, and nothing is left behind: Lua heap and coroutines are counted.
"""
import os
import random
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))

import process
from iproto import CALL, FUNCTION, TUPLE, Client, ServerError, request

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
PROC_LUA, NO_SUCH_PROC, LOAD_FUNCTION, TX_ACTIVE, TX_YIELD = 32, 33, 99, 30, 154

# What a procedure of bad_server.lua answers: code and message, None for any.
ERRORS = {
    'nothing': (PROC_LUA, 'nil'), 'null': (PROC_LUA, 'cdata<void *>: NULL'), 'text': (PROC_LUA, 'text'),
    'zeros': (PROC_LUA, None), 'number': (PROC_LUA, None), 'boolean': (PROC_LUA, 'false'),
    'table': (PROC_LUA, None), 'func': (PROC_LUA, None), 'thread': (PROC_LUA, None),
    'userdata': (PROC_LUA, None), 'cdata': (PROC_LUA, '1ULL'), 'struct': (PROC_LUA, None),
    'box_error': (5, 'this does not support that'), 'own_text': (PROC_LUA, 'my text'),
    'no_text': (PROC_LUA, None), 'odd_text': (PROC_LUA, None), 'long_text': (PROC_LUA, None),
    'tuple': (PROC_LUA, '[1]'),
    'returns_func': (PROC_LUA, "unsupported Lua type 'function'"),
    'returns_func_inside': (PROC_LUA, "unsupported Lua type 'function'"),
    'returns_func_key': (PROC_LUA, "unsupported Lua type 'function'"),
    'returns_thread': (PROC_LUA, "unsupported Lua type 'thread'"),
    'returns_userdata': (PROC_LUA, "unsupported Lua type 'userdata'"),
    'returns_pointer': (PROC_LUA, "unsupported Lua type 'cdata'"),
    'returns_struct': (PROC_LUA, "unsupported Lua type 'cdata'"),
    'returns_cycle': (PROC_LUA, 'Too high nest level - 129'),
    'returns_serialize_error': (PROC_LUA, 'in __serialize'),
    'returns_serialize_word': (PROC_LUA, 'invalid __serialize value'),
    'returns_serialize_self': (PROC_LUA, None), 'recursion': (PROC_LUA, None),
    'yields_outside': (PROC_LUA, None), 'cancels_itself': (PROC_LUA, 'fiber is cancelled'),
    'transaction': (TX_ACTIVE, None), 'transaction_error': (PROC_LUA, 'in transaction'),
    'yields_in_transaction': (TX_YIELD, None),
}
NAMES = ['', '.', ':', '::', 'ok.', '.ok', 'ok..ok', 'ok:', ':ok', 'a\0b', 'ok\0', '\0', 'ok ', 'bad.text.x',
         'bad:text:x', 'bad.text:x', 'bad["text"]', 'print(1)', 'nobody', 'a.' * 1000, '.' * 1000,
         'bad' + '.x' * 1000, 'x' * 100000, 'ok.' + 'x' * 70000]
TEXTS = ['syntax error', 'return 1,', 'x' * 100000, 'local a\0 = 1', 'goto x', 'break', 'return 1 return 2',
         'return ' + '(' * 10000 + '1' + ')' * 10000, 'return ' + '{' * 300 + '}' * 300,
         'local ' + ','.join(f'a{i}' for i in range(300)), b'\xff\xfe'.decode('latin1'), 'error()', '\x1bLJ\x02']
server = port = None


def setUpModule():
    global server, port
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'bad_server.lua'), [f'127.0.0.1:{port}']).start()


class Base(unittest.TestCase):
    def setUp(self):
        self.client = Client(port, timeout=60)

    def tearDown(self):
        self.client.close()
        self.assertTrue(server.alive(), server.log()[-2000:])

    def fails(self, f, *args):
        """The call fails, and the next one on the connection is fine; the error."""
        with self.assertRaises(ServerError) as caught:
            f(*args)
        self.assertEqual(self.client.call('ok', 1, {'a': [None]}), [1, {'a': [None]}])
        return caught.exception


class Each(Base):
    def test_errors_and_results(self):
        for name, (code, text) in ERRORS.items():
            with self.subTest(name):
                error = self.fails(self.client.call, 'bad.' + name)
                self.assertEqual(error.code, code)
                self.assertTrue(str(error))
                if text is not None:
                    self.assertEqual(str(error), text)

    def test_codes(self):
        for code in (1, 5, 32, 300, 32767):
            self.assertEqual(self.fails(self.client.call, 'bad.code', code).code, code)
        for code in (0, 32768, 65535, 70000, -1):
            self.assertEqual(str(self.fails(self.client.call, 'bad.code', code)), 'r')

    def test_names(self):
        for name in NAMES:
            with self.subTest(name[:20]):
                self.assertEqual(self.fails(self.client.call, name).code, NO_SUCH_PROC)

    def test_texts(self):
        for text in TEXTS:
            with self.subTest(text[:20]):
                self.assertEqual(self.fails(self.client.eval, text).code, PROC_LUA)
        self.assertEqual(self.client.eval(''), [])
        self.assertEqual(self.client.eval('return "a\0b"'), ['a\0b'])

    def test_bytecode(self):
        dump = self.client.eval('return string.dump(ok)')[0]
        error = self.fails(self.client.eval, dump)
        self.assertIn('bytecode', str(error))
        error = self.fails(self.client.eval, "box.schema.func.create('f', {body = string.dump(ok)})")
        self.assertEqual(error.code, LOAD_FUNCTION)

    def test_depth(self):
        for depth in (1, 100, 127):
            self.client.call('bad.deep', depth)
        for depth in (128, 1000, 10000, 1000000):
            self.assertIn('nest level', str(self.fails(self.client.call, 'bad.deep', depth)))

    def test_number_of_values(self):
        for count in (0, 1, 200, 5000, 7900):
            self.assertEqual(len(self.client.call('bad.values', count)), count)
            self.assertEqual(len(self.client.call('ok', *range(count))), count)
        for count in (9000, 100000, 1000000):
            self.fails(self.client.call, 'bad.values', count)
            self.fails(self.client.call, 'ok', *range(count))

    def test_long_strings(self):
        size = 100 * 1024 * 1024
        result = self.client.call('bad.string', size)[0]
        self.assertTrue(len(result) == size and result == 'x' * size)
        self.assertEqual(self.client.call('ok'), [])

    def test_a_procedure_replaced_while_it_runs(self):
        self.client.eval('bad.redefined = bad.redefines')
        self.assertEqual(self.client.call('bad.redefined'), ['old', False])
        self.assertEqual(self.client.call('bad.redefined'), ['new'])
        # A stored one dropped, and made anew, by itself.
        self.client.eval("box.schema.func.create('suicide', {body = [[function()"
                         " box.schema.func.drop('suicide')"
                         " box.schema.func.create('suicide', {body = 'function() return 2 end'})"
                         ' collectgarbage() return 1 end]]})')
        self.assertEqual(self.client.call('suicide'), [1])
        self.assertEqual(self.client.call('suicide'), [2])
        self.client.eval("box.schema.func.drop('suicide')")

    def test_cancelled_half_way(self):
        errors = []

        def sleep():
            client = Client(port)
            try:
                client.call('bad.sleeps')
            except ServerError as e:
                errors.append(str(e))
            client.close()
        sleeper = threading.Thread(target=sleep)
        sleeper.start()
        self.client.call('bad.kills')
        sleeper.join()
        self.assertEqual(errors, ['fiber is cancelled'])

    def test_a_client_that_leaves(self):
        client = Client(port)
        client.call('ok')
        before = self.client.eval('return box.stat.net().CONNECTIONS.current')[0]
        client.send(request(CALL, {FUNCTION: 'bad.sleeps', TUPLE: []}))
        client.close()
        self.client.call('bad.kills')
        for _ in range(1000):
            if self.client.eval('return box.stat.net().CONNECTIONS.current')[0] < before:
                break
            time.sleep(0.005)
        else:
            self.fail('the connection is still there')

    def test_hooks_and_environments_end_with_the_request(self):
        self.client.call('bad.hooks')
        self.assertEqual(self.client.eval('return select(3, debug.gethook())'), [0])
        self.client.call('bad.changes_environment')
        self.assertEqual(self.client.eval('x = 5 return x'), [5])
        self.client.eval('setfenv(1, {}) y = 1')
        self.assertEqual(self.client.eval('return y'), [None])


class Cache(Base):
    def test_numbers(self):
        def cache():
            return self.client.eval('return box.stat.lua().eval_cache')[0]
        cache()
        first = cache()
        self.assertGreater(first['hits'], 0)
        for i in range(3):
            self.client.eval('return "cached", ...', i)
        second = cache()
        self.assertEqual((second['hits'] - first['hits'], second['misses'] - first['misses']), (3, 1))
        for i in range(1000):
            self.client.eval(f'return {i}')
        self.assertEqual(cache()['size'], cache()['size_max'])


class Slice(Base):
    """Scripts that run on and on, where the time without a yield has a bound."""

    LOOPS = ('while true do end', 'local i = 0 while true do i = i + 1 end',
             'local t = {} while true do t = {t = 1} end', 'jit.off(true) while true do end',
             "local s = '' while true do s = ('x'):rep(100) end",
             'local function f(...) return f(...) end f(1, 2)',
             'for _ = 1, 3 do pcall(function() while true do end end) end while true do end',
             'coroutine.wrap(function() while true do end end)()',
             "while true do require('fiber').check_slice() end")

    def assert_ended(self, f, *args):
        self.assertEqual(str(self.fails(f, *args)), 'fiber slice is exceeded')

    def test_eval(self):
        for loop in self.LOOPS:
            with self.subTest(loop):
                self.assert_ended(self.client.eval, "require('fiber').set_slice(0.02) " + loop)

    def test_all_fibers(self):
        self.client.eval("require('fiber').set_max_slice(0.02)")
        self.client.eval('function endless() while true do end end')
        self.assert_ended(self.client.eval, 'while true do end')
        self.assert_ended(self.client.call, 'endless')
        # Others wait no longer than the slice.
        other = Client(port, timeout=60)
        self.client.send(request(CALL, {FUNCTION: 'endless', TUPLE: []}))
        self.assertEqual(other.call('ok', 5), [5])
        other.close()
        self.assert_ended(lambda: self.client.result(*self.client.response()))
        self.client.eval("require('fiber').set_max_slice({})")


class Soak(Base):
    def request(self, rng, client):
        kind = rng.randrange(6)
        try:
            if kind == 0:
                client.call('bad.' + rng.choice(self.names))
            elif kind == 1:
                client.call(rng.choice(NAMES))
            elif kind == 2:
                client.eval(rng.choice(TEXTS))
            elif kind == 3:
                client.call(rng.choice(('bad.values', 'bad.deep', 'bad.string')), rng.randrange(200))
            elif kind == 4:
                client.eval('return ...', rng.random(), 'x' * rng.randrange(1000))
            else:
                client.call('ok', *range(rng.randrange(50)))
        except ServerError:
            pass

    def counts(self):
        self.client.eval('for _ = 1, 4 do collectgarbage() end')
        stat = self.client.eval('return box.stat.lua()')[0]
        return stat['heap'], stat['coroutines']

    @classmethod
    def setUpClass(cls):
        setUpModule()

    def test_nothing_stays(self):
        # Compiled code is memory that grows as it likes.
        self.client.eval('jit.off() jit.flush()')
        self.names = [n for n in ERRORS if n not in ('long_text', 'recursion')]
        rng = random.Random(1)
        clients = [Client(port, timeout=60) for _ in range(4)]
        seen = []
        for rounds in (1000, ROUNDS):
            for i in range(rounds):
                self.request(rng, clients[i % 4])
            seen.append(self.counts())
        for client in clients:
            client.close()
        (heap, coroutines), (heap_after, coroutines_after) = seen
        print(f'after 1000 requests: {heap} bytes, {coroutines} coroutines; '
              f'after {ROUNDS} more: {heap_after} bytes, {coroutines_after}')
        self.assertLess(abs(heap_after - heap), 20000)
        self.assertEqual(coroutines_after, coroutines)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=1)
