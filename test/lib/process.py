# SPDX-License-Identifier: BSD-2-Clause
"""Start programs for tests so that none outlives its test.

Every program gets a process group of its own and dies with this process; temp_dir()
and free_port() give each test a directory and a port of its own.
"""
import atexit
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG = 1
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# How much longer things may take than they do in a plain build.
SLOWNESS = float(os.environ.get('TARN_TEST_SLOWNESS', 1))
_libc = ctypes.CDLL(None)
_started = []
_dirs = []


def _die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def program(name):
    """The absolute path of a program given as a path or as a name to find in PATH."""
    path = shutil.which(name)
    if path is None:
        raise SystemExit(f'no such program: {name}')
    return os.path.abspath(path)


def mask_login(out):
    """What programs print, with any text of a refused login made the same."""
    return re.sub(r"Incorrect password supplied for user '\w+'|User '\w+' is not found|"
                  'User not found or supplied credentials are invalid', '(login refused)', out)


def temp_dir():
    """A new directory that is removed when the test ends."""
    path = tempfile.mkdtemp(prefix='tarn-test-')
    _dirs.append(path)
    return path


def free_port():
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def start(cmd, **kwargs):
    """subprocess.Popen in a process group that is killed when the test ends."""
    kwargs.setdefault('stdin', subprocess.DEVNULL)
    p = subprocess.Popen(cmd, start_new_session=True, preexec_fn=_die_with_parent, **kwargs)
    _started.append(p)
    return p


def kill(p):
    """End a started program and its children, at once."""
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()


def run(cmd, timeout=60, **kwargs):
    """Run a program to its end: (status, stdout, stderr). Status is 'timeout' if killed for that."""
    data = kwargs.pop('input', None)
    if data is not None:
        kwargs['stdin'] = subprocess.PIPE
    p = start(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
              **kwargs)
    try:
        out, err = p.communicate(data, timeout=timeout * SLOWNESS)
        return p.returncode, out, err
    except subprocess.TimeoutExpired:
        kill(p)
        out, err = p.communicate()
        return 'timeout', out, err


class Server:
    """A server that runs a Lua script which prints 'ready' once it serves.

    The script gets its arguments in `arg`. Files stay in .dir between restarts;
    what it says on standard error is in .log().
    """

    def __init__(self, binary, script, args=(), directory=None, env=None):
        self.cmd = [program(binary), script, *map(str, args)]
        self.dir = directory or temp_dir()
        self.env = dict(os.environ, **(env or {}))
        self.process = None

    def launch(self):
        """Start the program without waiting for it."""
        with open(os.path.join(self.dir, 'server.log'), 'ab') as log:
            self.process = start(self.cmd, cwd=self.dir, env=self.env, stderr=log,
                                 stdout=subprocess.PIPE)
        return self.process

    def start(self, timeout=30):
        """Start it and wait for 'ready'; SystemExit with its log if it does not come up."""
        self.launch()
        deadline = time.monotonic() + timeout * SLOWNESS
        os.set_blocking(self.process.stdout.fileno(), False)
        seen = b''
        while time.monotonic() < deadline:
            chunk = self.process.stdout.read()
            seen += chunk or b''
            if b'ready' in seen:
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.005)
        kill(self.process)
        raise SystemExit(f'{self.cmd[0]} did not come up (status {self.process.returncode})\n'
                         f'{seen.decode(errors="replace")}\n{self.log()}')

    def alive(self):
        return self.process.poll() is None

    def crash(self):
        """SIGKILL, as a power cut of this process."""
        kill(self.process)

    def stop(self, timeout=10):
        """SIGTERM; the exit status, or 'timeout' if it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout * SLOWNESS)
        except subprocess.TimeoutExpired:
            kill(self.process)
            return 'timeout'

    def log(self):
        try:
            with open(os.path.join(self.dir, 'server.log'), errors='replace') as f:
                return f.read()
        except FileNotFoundError:
            return ''


@atexit.register
def _clean_up():
    for p in _started:
        if p.poll() is None:
            kill(p)
    for path in _dirs:
        shutil.rmtree(path, ignore_errors=True)


# ctest ends a test that runs too long with SIGTERM or SIGKILL; leave through atexit where we can.
signal.signal(signal.SIGTERM, lambda *_: exit(1))
