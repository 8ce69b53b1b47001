# SPDX-License-Identifier: BSD-2-Clause
"""Where require() looks, and what the environment sets: loading.py TARN [TEST...]"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])

ROCK = '''
local checks = require('checks')
local helper = require('a_rock.helper')
local M = {_VERSION = '1.0.0'}
function M.greet(name)
    checks('string')
    return helper.decorate('hello, ' .. name)
end
return M
'''
HELPER = "return {decorate = function(text) return require('fun').iter{text, '!'}:totable() end}"


class Base(unittest.TestCase):
    def setUp(self):
        self.dir = process.temp_dir()

    def write(self, path, text):
        path = os.path.join(self.dir, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)

    def tarn(self, *args, env=None, cwd='', expected=0):
        status, out, err = process.run([TARN, *args], 20, cwd=os.path.join(self.dir, cwd),
                                       env=dict(os.environ, **(env or {})))
        self.assertEqual(status, expected, f'{args}\n{out}\n{err}')
        return out if expected == 0 else err

    def eval(self, text, **kwargs):
        return self.tarn('-e', text, '-e', 'os.exit()', **kwargs).strip()


class Loading(Base):
    def test_a_rock(self):
        self.write('.rocks/share/tarantool/a_rock/init.lua', ROCK)
        self.write('.rocks/share/tarantool/a_rock/helper.lua', HELPER)
        os.mkdir(os.path.join(self.dir, 'below'))
        use = "local r = require('a_rock') print(unpack(r.greet('you'))) print(r._VERSION, pcall(r.greet, 1))"
        for cwd in ('', 'below'):
            lines = self.eval(use, cwd=cwd).split('\n')
            self.assertEqual(lines[0], 'hello, you\t!')
            self.assertEqual(lines[1].split('\t', 2)[:2], ['1.0.0', 'false'])
            self.assertIn('bad argument #1 to', lines[1])

    def test_next_to_the_script(self):
        self.write('app/main.lua', "print(require('part'), require('rock')) os.exit()")
        self.write('app/part.lua', "return 'part'")
        self.write('app/.rocks/share/tarantool/rock.lua', "return 'rock'")
        self.assertEqual(self.tarn('app/main.lua'), 'part\trock\n')
        self.write('part.lua', "return 'of the working directory'")
        self.assertEqual(self.tarn('app/main.lua'), 'of the working directory\trock\n')
        # The script itself is no module.
        self.write('app/json2.lua', "print(pcall(require, 'json2')) os.exit()")
        self.assertEqual(self.tarn('app/json2.lua').split('\t')[0], 'false')
        # The directory stays where it was when the working directory changes.
        self.write('app/move.lua', "require('fio').chdir('/') print(require('part')) os.exit()")
        self.assertEqual(self.tarn('app/move.lua'), 'part\n')
        err = self.tarn('-', cwd='app', expected=0)
        self.assertEqual(err, '')

    def test_not_next_to_what_is_no_script(self):
        self.write('bin/part.lua', "return 'part'")
        self.assertEqual(self.eval("print(pcall(require, 'part'))").split('\t')[0], 'false')

    def test_search_root(self):
        self.write('root/x.lua', "return 'x'")
        self.write('root/.rocks/share/tarantool/y.lua', "return 'y'")
        self.assertEqual(self.eval("package.setsearchroot('root') print(require('x'), require('y'), "
                                   "package.searchroot():match('/root$'))"), 'x\ty\t/root')
        self.assertIn('Search root must be a string', self.eval('print(pcall(package.setsearchroot, 1))'))

    def test_paths_of_the_environment(self):
        self.write('far/z.lua', "return 'z'")
        path = os.path.join(self.dir, 'far', '?.lua')
        self.assertEqual(self.eval("print(require('z'), package.path:match(';/usr/share') ~= nil)",
                                   env={'LUA_PATH': path + ';;'}), 'z\ttrue')
        self.assertEqual(self.eval("print(require('z'), package.path)", env={'LUA_PATH': path}), f'z\t{path}')
        # A directory is no module, and a path without a place for the name does no harm.
        os.mkdir(os.path.join(self.dir, 'dir.lua'))
        env = {'LUA_PATH': self.dir + '/;;'}
        self.assertIn("module 'dir' not found", self.eval("print(pcall(require, 'dir'))", env=env))
        self.assertEqual(self.eval("print(require('fun').range(3):sum(), require('uri').parse('h:1').host)",
                                   env=env), '6\th')

    def test_override(self):
        own = ("local b = require('internal.loaders').builtin['%s'] "
               "return setmetatable({own = true}, {__index = b})")
        self.write('override/uri.lua', own % 'uri')
        self.write('.rocks/share/tarantool/override/fun.lua', own % 'fun')
        self.write('override/net/box.lua', own % 'net.box')
        self.write('override/table.lua', 'error("never loaded")')
        self.assertEqual(
            self.eval("local u, f, n = require('uri'), require('fun'), require('net.box') "
                      "print(u.own, f.own, n.own, require('json').own) "
                      "print(u.parse('h:1').host, f.range(3):sum(), type(n.connect), require('table') == table) "
                      "print(require('uri') == u, require('internal.loaders').builtin.uri.own)"),
            'true\ttrue\ttrue\tnil\nh\t6\tfunction\ttrue\ntrue\tnil')

    def test_override_next_to_the_script(self):
        self.write('app/main.lua', "print(require('csv')) os.exit()")
        self.write('app/override/csv.lua', "return 'own'")
        self.assertEqual(self.tarn('app/main.lua'), 'own\n')

    def test_a_module_that_was_unloaded(self):
        self.assertEqual(self.eval("package.loaded.uri = nil print(require('uri').parse('h:1').host)"), 'h')

    def test_preload(self):
        self.assertEqual(self.eval("package.preload.fun = function() return 'mine' end print(require('fun'))"),
                         'mine')

    def test_errors_in_modules(self):
        self.write('bad.lua', 'return +')
        self.write('raises.lua', "error('no luck')")
        self.assertIn('bad.lua:1:', self.eval("print(pcall(require, 'bad'))"))
        self.assertIn('no luck', self.eval("print(pcall(require, 'raises'))"))


class Environment(Base):
    CFG = "box.cfg%s print(%s)"

    def cfg(self, given, show, expected=0, **env):
        return self.eval(self.CFG % (given, show), env=env, expected=expected)

    def test_values(self):
        self.assertEqual(
            self.cfg('{}', 'box.cfg.readahead, box.cfg.strip_core, box.cfg.wal_mode, box.cfg.log_level',
                     TT_READAHEAD='10000', TT_STRIP_CORE='FALSE', TT_WAL_MODE='none', TT_LOG_LEVEL='error'),
            '10000\tfalse\tnone\terror')
        self.assertEqual(self.cfg('{}', 'box.cfg.log_level', TT_LOG_LEVEL='2'), '2')
        self.assertEqual(self.cfg('{log_level = 1}', 'box.cfg.log_modules.a, box.cfg.log_modules.b',
                                  TT_LOG_MODULES='a=info,b=7'), 'info\t7')
        self.assertEqual(self.cfg('{log_level = 1}', "box.cfg.listen:match('tt.sock')", TT_LISTEN='unix/:./tt.sock'),
                         'tt.sock')

    def test_what_is_passed_goes_before(self):
        self.assertEqual(self.cfg('{readahead = 5000, log_level = 1}', 'box.cfg.readahead', TT_READAHEAD='10000'),
                         '5000')
        self.assertEqual(self.eval("require('log').cfg{level = 1} box.cfg{} print(box.cfg.log_level)",
                                   env={'TT_LOG_LEVEL': '2'}), '1')

    def test_an_empty_variable(self):
        self.assertEqual(self.cfg('{log_level = 1}', 'box.cfg.readahead', TT_READAHEAD=''), '16320')

    def test_wrong_values(self):
        for value, text in (('many', 'the environment variable TT_READAHEAD should be a number'),
                            ('1', 'specified value is out of bounds')):
            self.assertIn(text, self.cfg('{}', '1', expected=1, TT_READAHEAD=value))
        self.assertIn("should be 'true' or 'false'", self.cfg('{}', '1', expected=1, TT_STRIP_CORE='maybe'))
        self.assertIn('NAME=VALUE', self.cfg('{}', '1', expected=1, TT_LOG_MODULES='a'))


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
