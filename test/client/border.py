# SPDX-License-Identifier: BSD-2-Clause
"""The border between clients and Lua: border.py SERVER

What procedures cost as box.stat.procedures() tells, exactly where it can be exact.
"""
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import Client, ServerError

HERE = os.path.dirname(os.path.abspath(__file__))
server = port = None


def setUpModule():
    global server, port
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'border_server.lua'),
                            [f'127.0.0.1:{port}']).start()


class Base(unittest.TestCase):
    def setUp(self):
        self.client = Client(port, timeout=60)

    def tearDown(self):
        self.client.close()
        self.assertTrue(server.alive(), server.log()[-2000:])

    def call(self, name, *args):
        return self.client.call(name, *args)

    def eval(self, text, *args):
        return self.client.eval(text, *args)

    def fails(self, f, *args):
        """The call fails; its error."""
        with self.assertRaises(ServerError) as caught:
            f(*args)
        return caught.exception


class Cost(Base):
    """box.stat.procedures()"""

    def setUp(self):
        super().setUp()
        self.eval('box.stat.procedures.reset()')

    def stat(self, name):
        return self.eval('return box.stat.procedures()[...]', name)[0]

    def test_calls_and_errors(self):
        for _ in range(5):
            self.call('empty')
        for _ in range(3):
            self.fails(self.call, 'fails')
        self.assertEqual(self.stat('empty')['calls'], 5)
        self.assertEqual(self.stat('empty')['errors'], 0)
        self.assertEqual((self.stat('fails')['calls'], self.stat('fails')['errors']), (3, 3))
        self.assertIsNone(self.stat('echo'))

    def test_an_empty_call_allocates_nothing(self):
        for _ in range(100):
            self.call('empty')
        self.eval('box.stat.procedures.reset()')
        self.assertEqual(self.garbage('empty', lambda: self.call('empty')), 0)

    def garbage(self, name, f):
        """Bytes of Lua heap for one of 100 calls, which `f` makes."""
        # The collector shrinks the stacks of coroutines, which then grow again; and what
        # the compiler makes is not the call's.
        self.eval("collectgarbage('stop') jit.off()")
        for _ in range(100):
            f()
        before = self.stat(name)['lua_bytes']
        for _ in range(100):
            f()
        after = self.stat(name)['lua_bytes']
        self.eval("collectgarbage('restart') jit.on()")
        return (after - before) / 100

    def test_calls_make_no_garbage(self):
        self.eval("box.schema.func.create('add', {body = 'function(a, b) return a + b end', if_not_exists = true})"
                  ' function give() return box.space.test:get(1) end'
                  " local f, t = box.func.add, {1, 2} function locally() f:call(t) end"
                  ' t200 = {} for i = 1, 200 do t200[i] = i end function many() return unpack(t200) end')
        garbage = {
            'CALL': self.garbage('echo', lambda: self.call('echo', 42, True, None)),
            'CALL of a stored function': self.garbage('add', lambda: self.call('add', 1, 2)),
            'CALL, 200 results': self.garbage('many', lambda: self.call('many')),
            'func:call()': self.garbage('locally', lambda: self.call('locally')),
            'CALL that returns a tuple': self.garbage('give', lambda: self.call('give')),
        }
        tuple_bytes = garbage.pop('CALL that returns a tuple')
        self.assertEqual(set(garbage.values()), {0})
        # The copy of the tuple: 8 bytes of data, and its head.
        self.assertLessEqual(tuple_bytes, 56)

    def test_eval_makes_no_garbage(self):
        self.eval("collectgarbage('stop') jit.off()")

        def used():
            return self.eval("return box.stat.procedures()['(eval)'].lua_bytes")[0]
        # What reading it allocates is told by reading it twice.
        self.eval('return ...', 42)
        used()
        first, second = used(), used()
        for _ in range(100):
            self.eval('return ...', 42)
        third = used()
        self.eval("collectgarbage('restart') jit.on()")
        self.assertEqual(third - second, second - first)

    def test_bytes_are_the_procedures_own(self):
        """Fibers that take turns do not get each other's bytes."""
        self.eval("jit.off() fiber = require('fiber')"
                  ' function small() for i = 1, 10 do fiber.sleep(0.001) end end'
                  ' function large() for i = 1, 10 do n = (n or 0) + 1; ("x"):rep(100000 + n) fiber.sleep(0.001) end end')
        def call(name):
            client = Client(port)
            client.call(name)
            client.close()

        threads = [threading.Thread(target=call, args=(n,)) for n in ('small', 'large') * 4]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.eval('jit.on()')
        self.assertEqual(self.stat('small')['calls'], 4)
        self.assertLess(self.stat('small')['lua_bytes'], 20000)
        self.assertGreater(self.stat('large')['lua_bytes'], 4 * 10 * 100000)
        self.assertEqual(self.stat('small')['yields'], 40)

    def test_rows(self):
        self.call('rows')
        self.assertEqual((self.stat('rows')['rows_read'], self.stat('rows')['rows_written']), (8, 2))

    def test_yields_and_seconds(self):
        self.call('yields', 7)
        stat = self.stat('yields')
        self.assertEqual(stat['yields'], 7)
        self.call('yields', 0)
        self.eval("require('fiber').sleep(0.02)")
        stat = self.stat('(eval)')
        self.assertGreaterEqual(stat['seconds'], 0.0199)
        self.assertLessEqual(stat['seconds_max'], stat['seconds'])

    def test_response_bytes(self):
        self.call('echo')
        empty = self.stat('echo')['response_bytes']
        self.call('echo', 'x' * 1000)
        # A string of 1000 bytes has a head of 3.
        self.assertEqual(self.stat('echo')['response_bytes'], 2 * empty + 1003)

    def test_stored_functions(self):
        self.eval("box.schema.func.create('stored', {body = 'function() return 1 end', if_not_exists = true})")
        self.call('stored')
        self.eval('box.func.stored:call() box.func.stored:call()')
        self.assertEqual(self.stat('stored')['calls'], 3)

    def test_invented_names_share_one_record(self):
        for i in range(50):
            self.fails(self.call, f'nobody{i}')
        self.assertEqual(self.stat('(refused)')['calls'], 50)
        self.assertIsNone(self.stat('nobody1'))

    def test_limit(self):
        self.assertEqual(self.eval('return box.stat.procedures.limit(3)'), [3])
        self.eval('t = {} for i = 1, 10 do t["f" .. i] = empty end')
        for i in range(1, 11):
            self.call(f't.f{i}')
        names = self.eval('return box.stat.procedures()')[0]
        self.eval('box.stat.procedures.limit(1000)')
        self.assertLessEqual(len(names), 3 + 1)
        self.assertEqual(sum(v['calls'] for k, v in names.items() if k != '(eval)'), 10)
        self.fails(self.eval, 'box.stat.procedures.limit(-1)')
        self.fails(self.eval, 'box.stat.procedures.limit("x")')

    def test_reset(self):
        self.call('empty')
        self.eval('box.stat.reset()')
        self.assertIsNone(self.stat('empty'))


class Memory(Base):
    """box.cfg{lua_memory}"""
    LIMIT = 32 * 1024 * 1024
    NO_MEMORY = 'Not enough memory for Lua: lua_memory is 33554432 bytes'

    def setUp(self):
        super().setUp()
        self.eval('collectgarbage() collectgarbage() box.cfg{lua_memory = ...}', self.LIMIT)

    def tearDown(self):
        self.eval('box.cfg{lua_memory = box.NULL} hold = nil jit.on() collectgarbage() collectgarbage()')
        super().tearDown()

    def used(self):
        # Each collection halves the buffer that LuaJIT keeps for concatenating strings.
        return self.eval('for _ = 1, 8 do collectgarbage() end return box.runtime.info().lua')[0]

    def check_eater(self, body):
        """The procedure runs out of memory, again and again; others are served, nothing stays."""
        self.eval(f'function eater() {body} end')
        other = Client(port)
        error = self.fails(self.call, 'eater')
        before = self.used()
        for _ in range(3):
            error = self.fails(self.call, 'eater')
            self.assertEqual(str(error), self.NO_MEMORY)
            self.assertEqual(other.call('echo', 'x' * 100000), ['x' * 100000])
            self.assertEqual(self.call('echo', {'a': [1, 2]}), [{'a': [1, 2]}])
        self.assertLess(abs(self.used() - before), 300000)
        other.close()

    def test_tables(self):
        self.check_eater('local t = {} while true do t = {t} end')

    def test_tables_interpreted(self):
        self.check_eater('jit.off() local t = {} while true do t = {t} end')

    def test_an_array(self):
        self.check_eater('local t = {} for i = 1, 1e9 do t[i] = i end')

    def test_a_map(self):
        self.check_eater('local t = {} for i = 1, 1e9 do t["key" .. i] = true end')

    def test_a_string(self):
        self.check_eater('local s = "x" while true do s = s .. s end')

    def test_rep(self):
        self.check_eater('return ("x"):rep(1e9)')

    def test_closures(self):
        self.check_eater('local f while true do local g = f f = function() return g end end')

    def test_coroutines(self):
        self.check_eater('local t = {} while true do t[#t + 1] = coroutine.create(print) end')

    def test_cdata(self):
        self.check_eater("local t, ffi = {}, require('ffi')"
                         " while true do t[#t + 1] = ffi.new('char[1000]') end")

    def test_tuples(self):
        self.check_eater('local t = {} while true do t[#t + 1] = box.tuple.new{#t, 2, 3} end')

    def test_rows_of_a_space(self):
        self.check_eater('local t = {} while true do t[#t + 1] = box.space.test:select() end')

    def test_decoding(self):
        self.check_eater("local m = require('msgpack') local s = m.encode({{}, {}, {}, {}, {}, {}, {}})"
                         ' local t = {} while true do t[#t + 1] = m.decode(s) end')

    def test_fibers(self):
        """One that makes fibers, and the fibers themselves."""
        self.eval("fiber = require('fiber') function child() local t = {} while true do t[#t + 1] = {} end end")
        self.check_eater('for i = 1, 10 do fiber.create(child) end local t = {}'
                         ' while true do t[#t + 1] = {} if #t % 1e5 == 0 then fiber.create(child) end end')

    def test_a_large_argument(self):
        self.eval('hold = ("x"):rep(8 * 1024 * 1024)')
        error = self.fails(self.call, 'echo', 'y' * (30 * 1024 * 1024))
        self.assertEqual(str(error), self.NO_MEMORY)
        self.assertEqual(self.call('echo', 1), [1])

    def test_a_procedure_may_catch_it(self):
        ok, text = self.eval('local ok, e = pcall(string.rep, "x", 1e9) return ok, tostring(e)')
        self.assertEqual((ok, text), (False, 'not enough memory'))

    def test_garbage_is_not_an_error(self):
        """With much of the limit live, garbage many times the limit can be made."""
        self.eval('hold = {} for i = 1, 18 do hold[i] = {} for k = 1, 16000 do hold[i][k] = {} end end')
        self.assertGreater(self.used(), self.LIMIT * 0.5)
        for n in range(20):
            self.assertEqual(self.eval('local n = 0 for i = 1, 200000 do local t = {i} n = n + #t end return n'),
                             [200000])

    def test_a_heap_full_of_live_data(self):
        """Small requests are served still, and the limit can be raised."""
        for step in (1000000, 1000, 10):
            self.fails(self.eval, 'hold = {hold} local h = hold for i = 1, 1e9 do'
                                  ' local t = {} for k = 1, ... do t[k] = k end h = {h, t} hold = h end', step)
        for i in range(100):
            self.assertEqual(self.call('echo', i, [i]), [i, [i]])
        self.fails(self.call, 'echo', 'x' * 2000000)
        self.eval('box.cfg{lua_memory = ...}', 4 * self.LIMIT)
        self.assertEqual(self.call('echo', 'x' * 2000000), ['x' * 2000000])

    def test_the_settings(self):
        info = self.eval('return box.runtime.info(), box.cfg.lua_memory')
        self.assertEqual((info[0]['maxalloc'], info[1]), (self.LIMIT, self.LIMIT))
        self.assertIn('lua_memory', str(self.fails(self.eval, 'box.cfg{lua_memory = 1000}')))
        self.assertIn('lua_memory', str(self.fails(self.eval, 'box.cfg{lua_memory = -1}')))
        self.assertIn('lua_memory', str(self.fails(self.eval, 'box.cfg{lua_memory = "1"}')))
        self.assertEqual(self.eval('return box.cfg.lua_memory'), [self.LIMIT])
        # Raised, and lowered again.
        self.eval('box.cfg{lua_memory = ...}', 4 * self.LIMIT)
        self.eval('hold = ("x"):rep(...)', self.LIMIT * 3 // 2)
        self.fails(self.eval, 'box.cfg{lua_memory = ...}', self.LIMIT)
        self.eval('hold = nil box.cfg{lua_memory = ...}', self.LIMIT)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=1)
