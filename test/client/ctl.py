# SPDX-License-Identifier: BSD-2-Clause
"""tarantoolctl, the reference's administration tool, as a client of both programs: ctl.py SERVER REFERENCE

Statements sent by `connect` and logs sent by `play` have the same outcome whoever the server is.
"""
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = shutil.which('tarantoolctl')
ANN = 'ann:secret@'
STATEMENTS = [
    (ANN, 'return 1, {2}, box.space.test:get(1)'),
    (ANN, 'return {a = {1, 2}}, {b = "text\\n\\0"}, nil, box.NULL, 1.5, 18446744073709551615ULL'),
    (ANN, 'function made_by_ctl(n)\n    return n + 1\nend\nreturn made_by_ctl(4)'),
    (ANN, 'return made_by_ctl(5), box.session.user(), box.session.type()'),
    (ANN, 'box.space.test:insert{1, "again"}'),
    (ANN, 'nosuch ='),
    (ANN, 'error("on purpose")'),
    (ANN, 'box.error{code = 500, reason = "own"}'),
    (ANN, 'box.schema.space.create("by_ctl"):create_index("pk") return box.space.by_ctl:insert{1, {a = 2}}'),
    (ANN, 'return #box.space._space:select() > 10, box.info.status'),
    ('ann:wrong@', 'return 1'),
    ('nobody:x@', 'return 1'),
    ('', 'return 1'),
]


def outcome(address, args, text=None):
    """Status and what the tool says, without the server's address."""
    status, out, err = process.run([TOOL, *args], 20, cwd=process.temp_dir(), input=text or '')
    return status, re.sub(r'\d+\.\d+\.\d+\.\d+:\d+', 'ADDRESS', process.mask_login(out + err))


def visit(binary, log):
    port = process.free_port()
    address = f'127.0.0.1:{port}'
    server = process.Server(binary, os.path.join(HERE, 'server.lua'), [address]).start()
    got = [(text, outcome(address, ['connect', user + address], text + '\n')) for user, text in STATEMENTS]
    played = ['play', ANN + address, log, '--space', '600']
    got.append(('play over rows', outcome(address, played)[0]))
    outcome(address, ['connect', ANN + address], 'box.space.test:truncate()\n')
    got.append(('play', outcome(address, played)[0]))
    got.append(('played', outcome(address, ['connect', ANN + address], 'return box.space.test:select()\n')))
    if server.stop() != 0:
        sys.exit(f'{binary} did not stop cleanly\n{server.log()[-1500:]}')
    return got


def write_log(binary):
    server = process.Server(binary, os.path.join(HERE, 'server.lua'), [f'127.0.0.1:{process.free_port()}']).start()
    server.stop()
    return os.path.join(server.dir, '00000000000000000000.xlog')


def main():
    if TOOL is None:
        print('tarantoolctl is missing')
        return 0
    tarn, reference = process.program(sys.argv[1]), process.program(sys.argv[2])
    failed = 0
    for writer in reference, tarn:
        log = write_log(writer)
        for (what, expected), (_, got) in zip(visit(reference, log), visit(tarn, log)):
            if got != expected:
                failed = 1
                print(f'{what}\nexpected: {expected}\ngot: {got}')
    print('different' if failed else f'equal, {len(STATEMENTS) + 3} outcomes, twice')
    return failed


if __name__ == '__main__':
    sys.exit(main())
