# SPDX-License-Identifier: BSD-2-Clause
"""The reference's net.box against the server: netbox.py SERVER REFERENCE

The same client script runs against SERVER and against REFERENCE as the server, over
TCP and over a Unix socket; what it prints must be the same.
"""
import difflib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')


def converse(server_binary, client, address):
    """What the client prints when it talks to a fresh server."""
    server = process.Server(server_binary, os.path.join(HERE, 'server.lua'), [address]).start()
    if address.startswith('unix/:./'):
        address = 'unix/:' + os.path.join(server.dir, address[8:])
    env = dict(os.environ, COMPAT_LIB=LIB)
    status, out, err = process.run([client, os.path.join(HERE, 'netbox.lua'), address], 40,
                                   cwd=process.temp_dir(), env=env)
    bad = []
    if status != 0:
        bad.append(f'client status {status}: {err[-1500:]}')
    if not server.alive():
        bad.append('the server died')
    if server.stop() != 0:
        bad.append('the server did not stop cleanly')
    if bad:
        bad.append(server.log()[-1500:])
    return out.splitlines(), bad


def main():
    server, reference = sys.argv[1], process.program(sys.argv[2])
    failed = False
    for kind in 'tcp', 'unix':
        lines = []
        for binary in server, reference:
            address = 'unix/:./s' if kind == 'unix' else f'127.0.0.1:{process.free_port()}'
            out, bad = converse(binary, reference, address)
            lines.append(out)
            if bad:
                failed = True
                print(f'{kind}, {binary}:', *bad, sep='\n')
        diff = list(difflib.unified_diff(lines[1], lines[0], f'{kind}: reference', f'{kind}: server',
                                         lineterm='', n=3))
        if diff:
            failed = True
            print('\n'.join(diff[:300]))
        else:
            print(f'{kind}: equal, {lines[0][-1][2:] if lines[0] else "nothing"}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
