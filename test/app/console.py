# SPDX-License-Identifier: BSD-2-Clause
"""The interactive console at a terminal: console.py TARN [TEST...]"""
import os
import signal
import sys
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from terminal import Terminal

TARN = process.program(sys.argv[1])


class Console(unittest.TestCase):
    def setUp(self):
        self.dir = process.temp_dir()

    def open(self, *args):
        env = dict(os.environ, TERM='dumb', INPUTRC='/dev/null', HOME=self.dir)
        t = Terminal([TARN, *args], cwd=self.dir, env=env)
        t.expect(r'> $')
        return t

    def test_values(self):
        t = self.open()
        t.ask('1 + 1', r'---\n- 2\n\.\.\.\n')
        t.ask('1, "two", {3}, {four = 4}, nil, true', r"---\n- 1\n- two\n- - 3\n- four: 4\n- null\n- true\n\.\.\.\n")
        t.ask('x = 5', r'---\n\.\.\.\n')
        t.ask('x', r'---\n- 5\n\.\.\.\n')
        t.ask('return x, x', r'---\n- 5\n- 5\n\.\.\.\n')
        t.ask('nil', r'---\n- null\n\.\.\.\n')
        t.ask('', r'')
        t.ask('print("printed")', r'printed\n---\n\.\.\.\n')
        t.ask('{}', r'---\n- \[\]\n\.\.\.\n')

    def test_errors(self):
        t = self.open()
        t.ask('error("boom")', r"---\n- error: '?.*boom'?\n\.\.\.\n")
        t.ask('nosuch.field', r"---\n- error: .*attempt to index global '+nosuch'")
        t.ask('1 +* 2', r'---\n- error: .*unexpected symbol')
        t.ask('box.error{code = 5, reason = "the reason"}', r'---\n- error: the reason\n\.\.\.\n')
        t.ask('1', r'---\n- 1\n')

    def test_several_lines(self):
        t = self.open()
        t.type('for i = 1, 2 do\n')
        t.expect(r'> $')
        t.type('print("line " .. i)\n')
        t.expect(r'> $')
        t.ask('end', r'line 1\nline 2\n---\n\.\.\.\n')

    def test_database(self):
        t = self.open()
        t.ask('box.cfg{log_level = 1}', r'---\n\.\.\.\n')
        t.ask('s = box.schema.space.create("s")', r'---\n\.\.\.\n')
        t.ask('s:create_index("pk") ~= nil', r'- true')
        t.ask('s:insert{1, "one"}', r"---\n- \[1, 'one'\]\n\.\.\.\n")
        t.ask('s:select{}', r"---\n- - \[1, 'one'\]\n\.\.\.\n")
        t.ask('s:insert{1}', r"- error: Duplicate key exists in unique index 'pk' in space 's'")
        t.ask('box.space.s.id', r'- 512')

    def test_history(self):
        t = self.open()
        t.ask('40 + 2', r'- 42\n')
        t.type('\x1b[A\n')
        t.expect(r'- 42\n')
        t.expect(r'> $')

    def test_fibers_run_while_it_waits(self):
        t = self.open()
        t.ask('f = require("fiber").create(function() while true do n = (n or 0) + 1 require("fiber").sleep(0.001) end end)',
              r'\.\.\.\n')
        import time
        time.sleep(0.1)
        t.ask('n > 5', r'- true\n')

    def test_end_of_input(self):
        t = self.open()
        t.type('\x04')
        self.assertEqual(t.wait(), 0)

    def test_exit(self):
        t = self.open()
        t.type('os.exit(3)\n')
        self.assertEqual(t.wait(), 3)

    def test_after_a_script(self):
        with open(os.path.join(self.dir, 'script.lua'), 'w', encoding='utf-8') as f:
            f.write('box.cfg{log_level = 1} value = "from the script"')
        t = self.open('-i', 'script.lua')
        t.ask('value', r'- from the script\n')
        t.type('\x04')
        self.assertEqual(t.wait(), 0)

    def test_banner_and_help(self):
        env = dict(os.environ, TERM='dumb', INPUTRC='/dev/null', HOME=self.dir)
        t = Terminal([TARN], cwd=self.dir, env=env)
        t.expect(r'^Tarn \d+\.\d+\.\d+.*help.*Ctrl-D.*\n')
        t.expect(r'> $')
        for text in 'exit', ' quit ', '\\help':
            t.ask(text, r'To leave the console.*Ctrl-D(.|\n)*\\set delimiter')
        for text in 'help', 'help()':
            t.ask(text, r'\\help lists the commands(.|\n)*\.\.\.\n')
        t.ask('tutorial', r'1\. Start\.(.|\n)*\.\.\.\n')
        t.ask('help = 5', r'\.\.\.\n')
        t.ask('help', r'- 5\n')

    def test_interrupt(self):
        t = self.open()
        t.type('x = 1 half typed')
        t.expect('half typed')
        t.process.send_signal(signal.SIGINT)
        t.expect(r'\n(?!.*To leave).*> $')
        t.ask('x', r'- null\n')
        t.type('for i = 1, 2 do\n')
        t.expect(r'    > $')
        t.process.send_signal(signal.SIGINT)
        t.expect(r'tarn> $')
        t.ask('40 + 2', r'- 42\n')
        t.process.send_signal(signal.SIGINT)
        t.expect(r'To leave, press Ctrl-D')
        t.expect(r'> $')
        t.ask('box.cfg{log_level = 1}', r'\.\.\.\n')
        t.process.send_signal(signal.SIGINT)
        t.expect(r'To leave, press Ctrl-D')
        t.expect(r'> $')
        t.ask('box.info.status', r'- running\n')

    def test_terminal_left_without_echo(self):
        env = dict(os.environ, TERM='dumb', INPUTRC='/dev/null', HOME=self.dir)
        t = Terminal([TARN], cwd=self.dir, env=env)
        t.expect(r'> $')
        process.kill(t.process)
        self.assertFalse(termios.tcgetattr(t.master)[3] & termios.ICANON)
        t = Terminal([TARN], cwd=self.dir, env=env, terminal=t)
        t.expect(r'> $')
        t.type('1 + 1\n')
        t.expect(r'1 \+ 1\n---\n- 2\n')

    def test_box(self):
        t = self.open()
        t.ask('box', r'---\n(.*\n)*[- ] cfg: .function(.*\n)*\.\.\.\n')
        t.ask('box.cfg{log_level = 1}', r'\.\.\.\n')
        t.ask('box.space', r'---\n- \[\]\n\.\.\.\n')
        t.ask('s = box.schema.space.create("s")', r'\.\.\.\n')
        t.ask('box.space', r'---\n- s:\n(    (engine: memtx|(is_local|is_sync|temporary): false)\n){4}\.\.\.\n')
        t.ask('box.info.replication', r'---\n- 1:\n    \w+: ')
        t.type('box.func\n')
        self.assertNotIn('SQL_BUILTIN', t.expect(r'(.*\n)*\.\.\.\n').group())

    def test_completion(self):
        t = self.open()
        t.ask('o = setmetatable({name = 1, name_of = print}, {__index = {nameless = print}})', r'\.\.\.\n')
        ask = 'require("console").completion_handler("%s")'
        t.ask(ask % 'o:n', r'- - o:name\n  - o:name_of\(\n  - o:nameless\(\n\.\.\.\n')
        t.ask(ask % 'o.n', r'- - o\.name\n  - o\.name\n  - o\.name_of\(\n  - o\.nameless\(\n\.\.\.\n')
        t.ask('p = {__index = 1, a = 2}', r'\.\.\.\n')
        t.ask(ask % 'p.', r'- - p\.a\n  - p\.a\n\.\.\.\n')

    def test_sigterm(self):
        t = self.open()
        t.ask('box.cfg{log_level = 1}', r'---\n')
        t.process.terminate()
        self.assertEqual(t.wait(), 0)


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + sys.argv[2:])
