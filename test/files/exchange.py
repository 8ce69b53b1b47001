# SPDX-License-Identifier: BSD-2-Clause
"""Data directories move both ways: exchange.py TARN REFERENCE

Each program writes a directory, ending cleanly or by SIGKILL; copies of it are read by
both, and both have to find the same. Then each reads what the other added to it.
"""
import difflib
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')
ENV = dict(os.environ, COMPAT_LIB=LIB)


def write(binary, how):
    directory = process.temp_dir()
    status, out, err = process.run([binary, os.path.join(HERE, 'write.lua'), how], 30, cwd=directory, env=ENV)
    if status != (-9 if how == 'kill' else 0):
        raise SystemExit(f'{binary} write.lua {how}: status {status}\n{out}\n{err[-3000:]}')
    return directory


def read(binary, directory, *args):
    status, out, err = process.run([binary, os.path.join(HERE, 'read.lua'), *args], 30, cwd=directory, env=ENV)
    if status != 0 or not out.endswith('end\n'):
        return out.splitlines() + [f'status {status}', *err[-3000:].splitlines()]
    return out.splitlines()


def copy(directory):
    target = os.path.join(process.temp_dir(), 'copy')
    shutil.copytree(directory, target)
    return target


def differ(what, a, b):
    diff = list(difflib.unified_diff(b, a, f'{what}: read by the reference', f'{what}: read by tarn',
                                     lineterm='', n=2))
    print('\n'.join(line[:300] for line in diff[:120]) if diff else f'{what}: equal, {len(a)} lines')
    return bool(diff)


def relay(tarn, reference):
    """Written by the reference, handed to tarn, handed back: sums over all rows stay the same."""
    directory = write(reference, 'stop')
    before = read(reference, copy(directory), 'sum')
    # Rows come and go, so that tarn has a journal and a snapshot of its own to write.
    touch = ("box.cfg{} box.space.things:insert{3000, 'x'} box.snapshot() "
             "box.space.things:delete(3000) box.space.any:replace(box.space.any:get(1)) os.exit(0)")
    for i in range(3):
        for binary in tarn, reference:
            status, _, err = process.run([binary, '-e', touch], 30, cwd=directory)
            if status != 0:
                print(f'relay, {binary}: status {status}\n{err[-2000:]}')
                return True
    after = read(reference, directory, 'sum')
    if before == after:
        rows = sum(int(line.split('\t')[1]) for line in before if line.count('\t') == 2 and 'seq' not in line)
        print(f'reference, tarn, reference, three times: {rows} rows with equal sums')
        return False
    return differ('reference, tarn, reference', after, before)


def main():
    tarn, reference = process.program(sys.argv[1]), process.program(sys.argv[2])
    bad = False
    for writer, name in ((reference, 'written by the reference'), (tarn, 'written by tarn')):
        for how in 'stop', 'kill':
            directory = write(writer, how)
            other = copy(directory)
            bad |= differ(f'{name}, {how}', read(tarn, directory), read(reference, other))
            # Each goes on where the other stopped.
            fresh = copy(directory)
            remove_new = ("box.cfg{} box.space.things:delete(1000) box.space.new:drop() box.snapshot() "
                          "box.space.things:insert{2000, 'after'} os.exit(0)")
            for first, second, label in ((reference, tarn, 'reference, then tarn'), (tarn, reference, 'tarn, then reference')):
                one = copy(fresh)
                status, _, err = process.run([first, '-e', remove_new], 30, cwd=one)
                if status != 0:
                    print(f'{name}, {how}, {label}: status {status}\n{err[-2000:]}')
                    bad = True
                    continue
                bad |= differ(f'{name}, {how}, {label}', read(second, copy(one)), read(reference, copy(one)))
    bad |= relay(tarn, reference)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
