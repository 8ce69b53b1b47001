#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run a Lua test that speaks TAP: tap.py TARN FILE [TIMEOUT]

The test passes when the program exits with 0, says how many checks it planned,
runs that many, and none is 'not ok'. A check marked '# TODO' or '# SKIP' may fail.
"""
import os
import re
import sys

import process


def judge(status, out):
    """What is wrong with the run, as a list of lines; empty if nothing."""
    lines = out.splitlines()
    plans = [re.match(r'1\.\.(\d+)', line) for line in lines]
    plans = [int(m.group(1)) for m in plans if m]
    # Sub-tests are indented: only lines at the margin count.
    checks = [line for line in lines if re.match(r'(not )?ok\b', line)]
    failed = [line for line in lines if re.match(r'\s*not ok\b', line)
              and not re.search(r'#\s*(TODO|SKIP)', line, re.I)]
    bad = list(failed)
    if status != 0:
        bad.append(f'exit status {status}')
    if not plans:
        bad.append('no plan (1..N)')
    elif plans[0] != len(checks):
        bad.append(f'planned {plans[0]} checks, ran {len(checks)}')
    elif not checks:
        bad.append('no checks')
    return bad


def main():
    binary, script = process.program(sys.argv[1]), os.path.abspath(sys.argv[2])
    timeout = float(sys.argv[3]) if len(sys.argv) > 3 else 50
    here = os.path.dirname(script)
    env = dict(os.environ, LUA_PATH=f'{here}/lib/?.lua;{here}/?.lua;;')
    status, out, err = process.run([binary, script], timeout, cwd=process.temp_dir(), env=env)
    bad = judge(status, out)
    if bad:
        print(out)
        print('--- standard error (its end) ---')
        print(err[-4000:])
        print('--- failed ---')
        print('\n'.join(bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
