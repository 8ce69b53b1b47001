# SPDX-License-Identifier: BSD-2-Clause
"""A connector from the npm registry against the server: node.py SERVER NODE"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    server_binary, node = sys.argv[1], process.program(sys.argv[2])
    port = process.free_port()
    server = process.Server(server_binary, os.path.join(HERE, 'server.lua'),
                            [f'127.0.0.1:{port}']).start()
    status, out, err = process.run([node, os.path.join(HERE, 'node.js'), str(port)], 50)
    print(out)
    if status != 0 or not server.alive():
        print(err[-4000:])
        print('--- the server ---')
        print(server.log()[-4000:])
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
