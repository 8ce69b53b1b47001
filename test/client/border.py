# SPDX-License-Identifier: BSD-2-Clause
"""The border between clients and Lua: border.py SERVER

What procedures cost as box.stat.procedures() tells, exactly where it can be exact.
"""
import os
import sys
import threading
import unittest

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
        for _ in range(100):
            self.call('empty')
        self.assertEqual(self.stat('empty')['lua_bytes'], 0)

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


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=1)
