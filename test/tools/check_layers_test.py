# SPDX-License-Identifier: BSD-2-Clause
"""tools/check-layers: each rule is broken once, and noticed."""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

PATH = os.path.join(process.ROOT, 'tools', 'check-layers')
loader = importlib.machinery.SourceFileLoader('check_layers', PATH)
spec = importlib.util.spec_from_loader('check_layers', loader)
check_layers = importlib.util.module_from_spec(spec)
loader.exec_module(check_layers)


class Layers(unittest.TestCase):
    def check(self, layer, line):
        return check_layers.check_line(layer, line)

    def test_downwards_is_fine(self):
        for layer, name in (('db', 'core/fiber.h'), ('db', 'db/txn/txn.h'), ('lua', 'net/iproto.h'),
                            ('main', 'lua/init.h')):
            self.assertIsNone(self.check(layer, f'#include "{name}"'))
        self.assertIsNone(self.check('core', '#include <sys/socket.h>'))
        self.assertIsNone(self.check('lua', '#include <lua.h>'))

    def test_upwards_is_not(self):
        for layer, name in (('core', 'data/mp.h'), ('data', 'db/db.h'), ('db', 'net/iproto.h'),
                            ('net', 'lua/init.h'), ('lua', 'main.h')):
            self.assertIn('may not know', self.check(layer, f'#  include "{name}"'))

    def test_lua_and_sockets(self):
        self.assertIn('Lua', self.check('net', '#include <lua.h>'))
        self.assertIn('Lua', self.check('db', '#include <luajit-2.1/lua.h>'))
        self.assertIn('sockets', self.check('db', '#include <netinet/in.h>'))

    def test_relative_path(self):
        self.assertIn('from src/', self.check('db', '#include "../core/fiber.h"'))

    def test_tree(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(f'{root}/src/core')
            os.makedirs(f'{root}/src/other')
            for name, text in (('core/a.c', '#include "db/db.h"\n'), ('other/b.c', '')):
                with open(f'{root}/src/{name}', 'w', encoding='utf-8') as f:
                    f.write(text)
            bad, files = check_layers.check_tree(root)
            self.assertEqual(files, 2)
            self.assertEqual(len(bad), 2)
            self.assertIn('src/core/a.c:1:', bad[0])
            self.assertIn('belongs to no layer', bad[1])


if __name__ == '__main__':
    unittest.main()
