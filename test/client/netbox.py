# SPDX-License-Identifier: BSD-2-Clause
"""net.box of both programs against servers of both: netbox.py TARN REFERENCE

The same client scripts run with each program's net.box against each program as the server, over
TCP and over a Unix socket; what they print must be the same.
"""
import difflib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

HERE = os.path.dirname(os.path.abspath(__file__))
LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')
SCRIPTS = ['netbox.lua', 'netbox_more.lua']


def converse(server_binary, client, script, kind):
    """What the client prints when it talks to a fresh server."""
    address = 'unix/:./s' if kind == 'unix' else f'127.0.0.1:{process.free_port()}'
    server = process.Server(server_binary, os.path.join(HERE, 'server.lua'), [address]).start()
    if address.startswith('unix/:./'):
        address = 'unix/:' + os.path.join(server.dir, address[8:])
    env = dict(os.environ, COMPAT_LIB=LIB)
    status, out, err = process.run([client, os.path.join(HERE, script), address], 40,
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
    return process.mask_login(out).splitlines(), bad


def compare(tarn, reference, script, kind):
    """True if all four pairs of client and server say the same."""
    names = {tarn: 'tarn', reference: 'reference'}
    expected = None
    same = True
    for server in reference, tarn:
        for client in reference, tarn:
            out, bad = converse(server, client, script, kind)
            name = f'{script}, {kind}: {names[client]} to {names[server]}'
            if expected is None:
                expected = out
            diff = list(difflib.unified_diff(expected, out, 'reference to reference', name,
                                             lineterm='', n=3))
            if bad or diff:
                same = False
                print(name, *bad, *diff[:300], sep='\n')
    if same:
        print(f'{script}, {kind}: equal, {expected[-1][2:] if expected else "nothing"}')
    return same and expected


def main():
    tarn, reference = process.program(sys.argv[1]), process.program(sys.argv[2])
    results = [compare(tarn, reference, script, kind)
               for script in SCRIPTS for kind in ('tcp', 'unix')]
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
