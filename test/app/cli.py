# SPDX-License-Identifier: BSD-2-Clause
"""The command line: cli.py TARN [TEST...]"""
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])


class Cli(unittest.TestCase):
    def setUp(self):
        self.dir = process.temp_dir()

    def script(self, text, name='script.lua'):
        with open(os.path.join(self.dir, name), 'w', encoding='utf-8') as f:
            f.write(text)
        return name

    def tarn(self, *args, stdin='', env=None, expected=0):
        """Run to the end; its standard output and standard error."""
        status, out, err = process.run([TARN, *args], 20, cwd=self.dir, input=stdin,
                                       env=dict(os.environ, **(env or {})))
        self.assertEqual(status, expected, f'{args}\n{out}\n{err}')
        return out, err

    def test_script(self):
        self.script('print(arg[0], arg[1], arg[2], #arg, ...)')
        self.assertEqual(self.tarn('script.lua', 'a', 'b c')[0], 'script.lua\ta\tb c\t2\ta\tb c\n')

    def test_script_gets_what_looks_like_options(self):
        self.script('print(...)')
        self.assertEqual(self.tarn('script.lua', '-v', '-e', '--help')[0], '-v\t-e\t--help\n')

    def test_two_dashes(self):
        self.script('print(arg[0], ...)')
        self.assertEqual(self.tarn('--', 'script.lua', '-v')[0], 'script.lua\t-v\n')

    def test_standard_input(self):
        self.assertEqual(self.tarn(stdin='print("from stdin")')[0], 'from stdin\n')
        self.assertEqual(self.tarn('-', 'a', 'b', stdin='print(...)')[0], 'a\tb\n')

    def test_hash_bang(self):
        self.script('#!/usr/bin/env tarn\nprint(1)')
        self.assertEqual(self.tarn('script.lua')[0], '1\n')
        _, err = self.tarn(self.script('#!x\nerror("second line")'), expected=1)
        self.assertIn('script.lua:2: second line', err)

    def test_executable_script(self):
        path = os.path.join(self.dir, self.script(f'#!{TARN}\nprint("run", ...)'))
        os.chmod(path, 0o755)
        status, out, _ = process.run([path, 'x'], 20)
        self.assertEqual((status, out), (0, 'run\tx\n'))

    def test_expressions(self):
        self.assertEqual(self.tarn('-e', 'print(1)')[0], '1\n')
        self.assertEqual(self.tarn('-e', 'x = 1', '-e', 'print(x + 1)')[0], '2\n')
        self.script('print("script", y)')
        self.assertEqual(self.tarn('-e', 'y = 5', 'script.lua')[0], 'script\t5\n')

    def test_libraries(self):
        self.assertEqual(self.tarn('-l', 'json', '-e', 'print(json.encode({1}))')[0], '[1]\n')
        self.script('return {hello = function() print("hello") end}', 'mylib.lua')
        self.assertEqual(self.tarn('-l', 'mylib', '-e', 'mylib.hello()')[0], 'hello\n')

    def test_exit_status(self):
        self.tarn('-e', 'os.exit(0)')
        self.tarn('-e', 'os.exit(3)', expected=3)
        self.tarn(self.script('os.exit(7)'), expected=7)
        self.assertEqual(self.tarn(self.script('io.write("no newline") os.exit(0)'))[0], 'no newline')

    def test_exit_from_anywhere(self):
        collected = ('local garbage = newproxy(true) '
                     'getmetatable(garbage).__gc = function() os.exit(3) end ')
        database = 'box.cfg{log_level = 1, wal_mode = "none"} '
        cases = [('coroutine.wrap(function() os.exit(3) end)()', 3),
                 ('pcall(os.exit, 3)', 3),
                 (collected + 'garbage = nil collectgarbage()', 3),
                 (collected + 'kept = garbage os.exit(4)', 4),
                 (database + 'box.ctl.on_shutdown(function() os.exit(5) end) os.exit(4)', 4),
                 (database + 'box.begin() box.space._schema:insert{"key"} os.exit(3)', 3),
                 (database + 'box.space._schema:on_replace(function() os.exit(3) end) '
                  'box.space._schema:insert{"key"}', 3)]
        for text, expected in cases:
            with self.subTest(text=text):
                self.tarn(self.script(text), expected=expected)

    def test_exit_beside_busy_fibers(self):
        """Fibers that take every error for granted do not keep the process from its end."""
        self.tarn(self.script("""
            local fiber = require('fiber')
            box.cfg{log_level = 1}
            local space = box.schema.space.create('s')
            space:create_index('pk')
            for i = 1, 3 do
                fiber.create(function() while true do pcall(space.replace, space, {i}) end end)
                fiber.create(function() while true do pcall(fiber.yield) end end)
                fiber.create(function() while true do pcall(fiber.sleep, 0) end end)
            end
            fiber.sleep(0.05)
            os.exit(3)"""), expected=3)

    def test_exit_with_things_in_use(self):
        """At the end of the process what a finalizer looks at may be collected already."""
        out, _ = self.tarn(self.script("""
            local fiber = require('fiber')
            local waiting, tuple, channel = fiber.channel()
            kept = newproxy(true)
            getmetatable(kept).__gc = function()
                io.write(tostring(tuple), ' ', tostring(pcall(channel.put, channel, 1, 0)))
            end
            tuple, channel = box.tuple.new{1, ('x'):rep(5000)}, fiber.channel(1)
            fiber.create(function() waiting:get() end)
            fiber.create(function() fiber.cond():wait() end)
            os.exit(3)"""), expected=3)
        self.assertRegex(out, r"^(\[\]|\[1, 'x+'\]) false$")

    def test_errors(self):
        cases = [('error("boom")', 'script.lua:1: boom'),
                 ('local t = nil\nprint(t.x)', 'script.lua:2: attempt to index'),
                 ('syntax error here', 'script.lua:1:'),
                 ('box.error{code = 5, reason = "the reason"}', 'the reason'),
                 ('error({code = 1})', 'table'),
                 ('require("nosuch.module")', "module 'nosuch.module' not found"),
                 ('require("fiber").sleep(0.01) error("later")', 'script.lua:1: later'),
                 ('box.cfg{listn = 1}', 'listn'),
                 ('box.cfg{memtx_memory = 0/0}', "'memtx_memory': must not be NaN")]
        for text, message in cases:
            with self.subTest(text=text):
                _, err = self.tarn(self.script(text), expected=1)
                self.assertIn(message, err)

    def test_traceback(self):
        _, err = self.tarn(self.script('local function inner()\n  error("deep")\nend\n'
                                       'function outer()\n  inner()\nend\nouter()'), expected=1)
        self.assertIn('script.lua:2: deep', err)
        self.assertIn('traceback', err)
        self.assertIn('script.lua:7', err)

    def test_traceback_begins_with_the_users_frames(self):
        _, err = self.tarn(self.script('box.cfg{listn = 1}'), expected=1)
        self.assertNotIn('builtin/', err)
        self.assertIn('script.lua:1: in main chunk', err)
        _, err = self.tarn(self.script('require("json").decode("{")'), expected=1)
        self.assertIn('script.lua:1: Expected', err)
        self.assertIn("in function 'decode'", err)

    def test_stack_overflow(self):
        recursion = 'local function f(n%s) return 1 + f(n + 1%s) end f(1)'
        # One size of a frame or another may leave no room to tell the place.
        without_place = 0
        for count in range(30):
            text = recursion % (''.join(f', a{i}' for i in range(count)), ', nil' * count)
            _, err = self.tarn('-e', text, expected=1)
            self.assertIn('stack overflow', err)
            without_place += '(command line):1: stack overflow' not in err
        self.assertLess(without_place, 3)

    def read(self, name):
        with open(os.path.join(self.dir, name), encoding='utf-8') as f:
            return f.read()

    def test_errors_go_to_the_log_too(self):
        self.script('box.cfg{log = "t.log"} error("boom")')
        _, err = self.tarn('script.lua', expected=1)
        for text in err, self.read('t.log'):
            self.assertIn('script.lua:1: boom', text)
            self.assertIn('fatal error, exiting the event loop', text)
        self.assertRegex(self.read('t.log'), r' E> LuajitError: script.lua:1: boom\n')
        self.assertRegex(self.read('t.log'), r' F> fatal error')

    def test_failed_start_with_a_log(self):
        with process.socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            s.listen()
            self.script(f'box.cfg{{listen = "127.0.0.1:{s.getsockname()[1]}", log = "t.log"}}')
            _, err = self.tarn('script.lua', expected=1)
        for text in err, self.read('t.log'):
            self.assertRegex(text, r" F> can't initialize storage: .*Address already in use")

    def test_log_is_reopened(self):
        server = process.Server(TARN, os.path.join(self.dir, self.script(
            'box.cfg{log = "t.log"} print("ready") io.stdout:flush()')), directory=self.dir).start()
        os.rename(os.path.join(self.dir, 't.log'), os.path.join(self.dir, 'old.log'))
        server.process.send_signal(signal.SIGHUP)
        import time
        for _ in range(500):
            if os.path.exists(os.path.join(self.dir, 't.log')) and self.read('t.log'):
                break
            time.sleep(0.02)
        self.assertIn('log file has been reopened', self.read('t.log'))
        self.assertEqual(server.stop(), 0)

    def test_snapshot_by_signal(self):
        server = process.Server(TARN, os.path.join(self.dir, self.script(
            'print("ready") io.stdout:flush() require("fiber").sleep(0.1) box.cfg{log = "t.log"} '
            'box.schema.space.create("s") require("fio").open("done", {"O_CREAT"}, 420)')), directory=self.dir).start()
        # Without a database there is nothing to do; it lives.
        server.process.send_signal(signal.SIGUSR1)
        import glob
        import time
        for _ in range(500):
            if os.path.exists(os.path.join(self.dir, 'done')):
                break
            time.sleep(0.02)
        server.process.send_signal(signal.SIGUSR1)
        for _ in range(500):
            if len(glob.glob(os.path.join(self.dir, '*.snap'))) == 2:
                break
            time.sleep(0.02)
        self.assertEqual(len(glob.glob(os.path.join(self.dir, '*.snap'))), 2)
        self.assertEqual(server.stop(), 0)

    def test_pid_file_of_another(self):
        server = process.Server(TARN, os.path.join(self.dir, self.script(
            'box.cfg{pid_file = "t.pid"} print("ready") io.stdout:flush()')), directory=self.dir).start()
        _, err = self.tarn('script.lua', expected=1)
        self.assertIn(f'PID is {server.process.pid}', err)
        self.assertEqual(server.stop(), 0)

    def test_errors_on_the_command_line(self):
        self.assertIn('boom', self.tarn('-e', 'error("boom")', expected=1)[1])
        self.assertIn('nosuch', self.tarn('-l', 'nosuch', expected=1)[1])
        self.assertIn('nosuch.lua', self.tarn('nosuch.lua', expected=2)[1])
        self.assertIn('directory', self.tarn('.', expected=1)[1])
        self.assertIn('nosuch', self.tarn('--nosuch', expected=64)[1])
        self.assertNotEqual(self.tarn('-e', expected=64)[1], '')

    def test_console_without_a_terminal(self):
        out, _ = self.tarn('-i', self.script('x = 5'), stdin='x + 1\nfor i = 7, 8 do\nprint(i) end\nfoo(')
        self.assertIn('- 6\n', out)
        self.assertIn('7\n8\n', out)
        self.assertIn('tarn> \n', self.tarn('-i')[0])
        out, _ = self.tarn('-i', '-e', 'print(1)', stdin='\\quit\nprint("not run")\n',
                           env={'HOME': self.dir})
        self.assertNotIn('not run\n', out.replace('print("not run")', ''))
        self.assertFalse(os.path.exists(os.path.join(self.dir, '.tarn_history')))

    def test_fibers_go_on_after_the_script(self):
        self.script('local fiber = require("fiber") fiber.create(function() fiber.sleep(0.05) '
                    'print("later") os.exit(4) end) print("first")')
        self.assertEqual(self.tarn('script.lua', expected=4)[0], 'first\nlater\n')

    def test_version_and_help(self):
        out, _ = self.tarn('-v')
        self.assertRegex(out, r'(?i)tarn\b.*\d+\.\d+\.\d+')
        self.assertEqual(self.tarn('--version')[0], out)
        out, _ = self.tarn('-h')
        for option in '-e', '-l', '-i', '-v', '-h', 'SCRIPT':
            self.assertIn(option, out)
        self.assertEqual(self.tarn('--help')[0], out)

    def test_serves_after_the_script(self):
        port = process.free_port()
        server = process.Server(TARN, os.path.join(self.dir, self.script(
            f'box.cfg{{listen = "127.0.0.1:{port}"}} print("ready") io.stdout:flush()')), directory=self.dir).start()
        import time
        time.sleep(0.2)
        self.assertTrue(server.alive())
        self.assertEqual(server.stop(), 0)

    def test_sigint(self):
        server = process.Server(TARN, os.path.join(self.dir, self.script(
            'box.cfg{} print("ready") io.stdout:flush()')), directory=self.dir).start()
        server.process.send_signal(signal.SIGINT)
        self.assertEqual(server.process.wait(10), 0)

    def test_paths_of_modules(self):
        os.mkdir(os.path.join(self.dir, 'lib'))
        self.script('return 42', 'lib/answer.lua')
        self.assertEqual(self.tarn('-e', 'print(require("answer"))', env={'LUA_PATH': './lib/?.lua;;'})[0], '42\n')
        self.assertEqual(self.tarn('-e', 'print(require("lib.answer"))')[0], '42\n')


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
