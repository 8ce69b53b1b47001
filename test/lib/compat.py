#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Differential test: compat.py TARN REFERENCE FILE...

Each Lua file is run by both programs, each time in a fresh directory. The test
passes when both exit with 0, print the same, and the last line is the count that
check.finish() prints (so that two runs that stop early do not count as equal).
Give the same program twice to see whether a test is deterministic.
"""
import difflib
import os
import re
import sys

import process

LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')


def run(binary, script):
    env = dict(os.environ, LUA_PATH=f'{LIB}/?.lua;;', TZ='UTC', LC_ALL='C.UTF-8')
    return process.run([binary, script], 40, cwd=process.temp_dir(), env=env)


def compare(tarn, reference, script):
    """True if both behave the same; otherwise says what differs."""
    name = os.path.basename(script)
    (sa, oa, ea), (sb, ob, eb) = run(tarn, script), run(reference, script)
    a, b = oa.splitlines(), ob.splitlines()
    complete = all(lines and re.fullmatch(r'# \d+ checks', lines[-1]) for lines in (a, b))
    if sa == sb == 0 and a == b and complete:
        print(f'{name}: equal, {b[-1][2:]}')
        return True
    diff = list(difflib.unified_diff(b, a, f'{name}: reference', f'{name}: tarn', lineterm='', n=3))
    if len(diff) > 400:
        diff[400:] = [f'... {len(diff) - 400} more lines']
    print('\n'.join(diff))
    for who, status, err in ((tarn, sa, ea), (reference, sb, eb)):
        if status != 0:
            print(f'{who}: exit status {status}; the end of its standard error:\n{err[-2000:]}')
    if not complete:
        print(f'{name}: did not reach check.finish()')
    return False


def main():
    tarn, reference = process.program(sys.argv[1]), process.program(sys.argv[2])
    results = [compare(tarn, reference, os.path.abspath(f)) for f in sys.argv[3:]]
    return 0 if results and all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
