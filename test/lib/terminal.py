# SPDX-License-Identifier: BSD-2-Clause
"""A program at a terminal: type lines, wait for what it shows."""
import os
import pty
import re
import select
import subprocess
import time

import process


class Terminal:
    def __init__(self, cmd, terminal=None, **kwargs):
        """Start it at a new terminal, or at that of another Terminal."""
        self.master, slave = pty.openpty() if terminal is None else (
            terminal.master, terminal.slave)
        kwargs.setdefault('env', dict(os.environ, TERM='dumb', INPUTRC='/dev/null'))
        self.process = process.start(cmd, stdin=slave, stdout=slave, stderr=slave, **kwargs)
        self.slave = slave
        self.seen = ''

    def expect(self, pattern, timeout=15):
        """Read until the pattern matches what came since the last match; the match."""
        deadline = time.monotonic() + timeout
        while True:
            m = re.search(pattern, self.seen)
            if m:
                self.seen = self.seen[m.end():]
                return m
            left = deadline - time.monotonic()
            ready = select.select([self.master], [], [], max(left, 0))[0]
            chunk = b''
            if ready:
                try:
                    chunk = os.read(self.master, 65536)
                except OSError:
                    pass
            if not chunk:
                raise AssertionError(f'{pattern!r} did not come; seen:\n{self.seen}')
            self.seen += chunk.decode(errors='replace').replace('\r\n', '\n')

    def type(self, text):
        os.write(self.master, text.encode())

    def ask(self, line, answer):
        """Type a line, wait for the answer and the next prompt."""
        self.type(line + '\n')
        m = self.expect(answer)
        self.expect(r'> $')
        return m

    def wait(self, timeout=10):
        """The exit status; what is still shown is read and kept in .seen."""
        deadline = time.monotonic() + timeout
        while self.process.poll() is None and time.monotonic() < deadline:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors='replace')
                except OSError:
                    break
        try:
            return self.process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill(self.process)
            return 'timeout'
