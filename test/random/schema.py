#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random schemas and operations: schema.py TARN REFERENCE [COUNT [FIRST]]

schema.lua is run by both programs for the seeds from FIRST (1) on, 10 in one process, and has to
print the same. Seeds that differ are run again alone, and the first difference of each is shown.
"""
import difflib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')
BATCH = 10


def run(binary, first, count):
    env = dict(os.environ, LUA_PATH=f'{LIB}/?.lua;{FOLDER}/?.lua;;', TZ='UTC', LC_ALL='C.UTF-8')
    status, out, err = process.run([binary, os.path.join(FOLDER, 'schema.lua'), str(first), str(count)],
                                   120, cwd=process.temp_dir(), env=env)
    lines = out.splitlines()
    if status != 0 or not lines or not lines[-1].startswith('# '):
        lines[-1:] = [f'exit status {status}: {err[-300:]}']
    return lines


def same(ours, theirs):
    """Where the reference dies (it does), what came before counts."""
    if theirs[-1].startswith('exit status -'):
        return ours[:len(theirs) - 1] == theirs[:-1]
    return ours == theirs


def show(seed, ours, theirs):
    """What is around the first difference."""
    diff = list(difflib.unified_diff(theirs, ours, f'seed {seed}: reference', f'seed {seed}: tarn',
                                     lineterm='', n=4))
    print('\n'.join(diff[:24]))


def main():
    tarn, reference = process.program(sys.argv[1]), process.program(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    checks, failed = 0, []
    for begin in range(first, first + count, BATCH):
        size = min(BATCH, first + count - begin)
        ours, theirs = run(tarn, begin, size), run(reference, begin, size)
        if ours == theirs and ours[-1].startswith('# '):
            checks += int(ours[-1].split()[1])
            continue
        for seed in range(begin, begin + size):
            ours, theirs = run(tarn, seed, 1), run(reference, seed, 1)
            checks += int(ours[-1].split()[1]) if ours[-1].startswith('# ') else 0
            if not same(ours, theirs):
                failed.append(seed)
                show(seed, ours, theirs)
    if failed:
        print(f'{len(failed)} of {count} seeds differ:', *failed)
        return 1
    print(f'{count} seeds from {first} on: equal, {checks} statements')
    return 0


if __name__ == '__main__':
    sys.exit(main())
