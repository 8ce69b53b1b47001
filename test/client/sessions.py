# SPDX-License-Identifier: BSD-2-Clause
"""Sessions, their triggers and rights, as the reference's net.box sees them:
sessions.py SERVER REFERENCE. Both are servers in turn; what the client prints must be equal."""
import difflib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')


def converse(server_binary, client):
    """What the client prints when it talks to a fresh server."""
    address = f'127.0.0.1:{process.free_port()}'
    server = process.Server(server_binary, os.path.join(HERE, 'sessions_server.lua'), [address])
    server.start()
    status, out, err = process.run([client, os.path.join(HERE, 'sessions.lua'), address], 40,
                                   cwd=process.temp_dir(), env=dict(os.environ, COMPAT_LIB=LIB))
    if status != 0:
        sys.exit(f'{server_binary}: client status {status}\n{out[-1500:]}\n{err[-1500:]}\n'
                 f'{server.log()[-1500:]}')
    if server.stop() != 0:
        sys.exit(f'{server_binary} did not stop cleanly\n{server.log()[-1500:]}')
    # How a dropped connection looks is chance: did the client write once more behind the end?
    return process.mask_login(out).replace('Connection reset by peer', 'Peer closed').splitlines()


def main():
    server, reference = sys.argv[1], process.program(sys.argv[2])
    expected, got = converse(reference, reference), converse(server, reference)
    diff = list(difflib.unified_diff(expected, got, 'reference', 'server', lineterm='', n=3))
    print('\n'.join(diff[:300]) if diff else f'equal, {len(got)} lines')
    return 1 if diff else 0


if __name__ == '__main__':
    sys.exit(main())
