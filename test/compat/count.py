#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts what the differential tests compare: count.py TARN [SEEDS]

Runs each script of this folder, and SEEDS (100) seeds of test/random, and adds up the checks.
"""
import glob
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, '..', 'lib'))
import process  # noqa: E402

RANDOM = os.path.join(FOLDER, '..', 'random')
ENV = dict(os.environ, LUA_PATH=f'{FOLDER}/lib/?.lua;{RANDOM}/?.lua;;', TZ='UTC', LC_ALL='C.UTF-8')


def count(command):
    _, out, _ = process.run(command, 60, cwd=process.temp_dir(), env=ENV)
    last = re.search(r'# (\d+) checks\s*$', out)
    return int(last.group(1)) if last else 0


def main():
    tarn = process.program(sys.argv[1])
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    total = written = 0
    for script in sorted(glob.glob(os.path.join(FOLDER, '*.lua'))):
        checks = count([tarn, script])
        print(f'{checks:7} {os.path.basename(script)}')
        total += checks
        if 'random' not in script:
            written += checks
    drawn = sum(count([tarn, os.path.join(RANDOM, 'schema.lua'), str(first), '10'])
                for first in range(1, seeds, 10))
    print(f'{drawn:7} random/schema.lua, {seeds} seeds')
    print(f'{written:7} written, {total + drawn - written} drawn, {total + drawn} in all')


if __name__ == '__main__':
    main()
