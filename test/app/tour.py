# SPDX-License-Identifier: BSD-2-Clause
"""The README's tour does what it says: tour.py TARN

Each console block that follows a <!-- tour --> mark is typed into the example's console, and the
answers are compared; then the server is killed, and the blocks marked <!-- tour after restart -->
are typed into a new one. The client of the tour runs in between, where Node.js and its connector are.
"""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from terminal import Terminal

TARN = process.program(sys.argv[1])
EXAMPLES = os.path.join(process.ROOT, 'examples')
MODULES = os.path.join(process.ROOT, 'test', 'client', 'node_modules')


def steps(text, mark):
    """(line to type, text of the answer) of the marked blocks."""
    out = []
    for block in re.findall(rf'<!-- {mark} -->\n```\n(.*?)```', text, re.S):
        for part in block.split('tarn> ')[1:]:
            line, answer = part.split('\n', 1)
            out.append((line, answer.rstrip('\n') + '\n'))
    return out


def open_shop(directory, env):
    t = Terminal([TARN, '-i', os.path.join(EXAMPLES, 'bookshop.lua')], cwd=directory, env=env)
    # A line of the log may come behind the prompt.
    t.expect(r'tarn> ')
    return t


def walk(t, todo):
    for line, answer in todo:
        t.type(line + '\n')
        # The line is echoed, and the terminal may have wrapped it.
        t.expect(re.escape(answer) + r'\n?.*> $')
        print('ok', line)


def main():
    with open(os.path.join(process.ROOT, 'README.md'), encoding='utf-8') as f:
        text = f.read()
    first, second = steps(text, 'tour'), steps(text, 'tour after restart')
    if len(first) < 8 or not second:
        raise SystemExit('the tour was not found in README.md')
    directory = process.temp_dir()
    env = dict(os.environ, TERM='dumb', INPUTRC='/dev/null', HOME=directory,
               BOOKSHOP_LISTEN=f'127.0.0.1:{process.free_port()}', NODE_PATH=MODULES)
    t = open_shop(directory, env)
    walk(t, first)
    node = shutil.which('node')
    if node and os.path.isdir(MODULES):
        status, out, err = process.run([node, os.path.join(EXAMPLES, 'client.js')], 20, env=env)
        if status != 0 or 'The Dispossessed' not in out or 'refused: Only 0' not in out:
            raise SystemExit(f'the client: {status}\n{out}\n{err}')
        print('ok node examples/client.js')
    process.kill(t.process)
    walk(open_shop(directory, env), second)


if __name__ == '__main__':
    main()
