#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Network threads (iproto_threads) against numbers of connections, in turn, as a table for bench/README.md.

    net_threads.py build/tarn [--threads 0,1,2] [--connections 1,50,1000] [--depth 1] [--runs 3] [--busy 1] [--scale 1]

Each cell: requests a second, p50 and p99 in microseconds, and the processor time of the server for a
request in microseconds; medians of the runs.
"""
import argparse, atexit, os, resource, shutil, signal, statistics, subprocess, sys, tempfile

import compare

OPERATIONS = ['ping', 'select', 'replace']


def start(binary, threads, port, work_dir):
    env = dict(os.environ, LUA_PATH=compare.HERE + '/?.lua;;', TT_IPROTO_THREADS=str(threads))
    server = subprocess.Popen([binary, os.path.join(compare.HERE, 'callee.lua'), str(port), work_dir], env=env,
                              cwd=work_dir, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if server.stdout.readline().strip() != 'ready':
        raise SystemExit(f'{binary} callee.lua does not come up with {threads} network threads')
    return server


def measure(load, server, port, connections, depth, requests, operation):
    before = compare.processor_ns(server.pid)
    p = subprocess.run([load, str(port), str(connections), str(depth), str(requests), operation],
                       stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    values = {name.split(', ')[-1]: value[0] for name, value in compare.rows(p.stdout).items()}
    used = (compare.processor_ns(server.pid) - before) / requests / 1000
    return values['throughput'], values['p50'], values['p99'], used


def run_all(a, load, results):
    for threads in a.threads:
        port, work_dir = compare.free_port(), tempfile.mkdtemp()
        server = start(a.binary, threads, port, work_dir)
        try:
            for operation in OPERATIONS:
                for connections in a.connections:
                    requests = int((20000 if connections * a.depth == 1 else 60000) * a.scale)
                    got = measure(load, server, port, connections, a.depth, requests, operation)
                    results.setdefault((operation, connections), {}).setdefault(threads, []).append(got)
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
            shutil.rmtree(work_dir, ignore_errors=True)


def print_table(a, results):
    print('| operation, connections x requests |'
          + ''.join(f' {n} thread{"" if n == 1 else "s"} |' for n in a.threads))
    print('| --- |' + ' ---: |' * len(a.threads))
    for (operation, connections), by_threads in results.items():
        cells = []
        for threads in a.threads:
            throughput, p50, p99, used = [statistics.median(column) for column in zip(*by_threads[threads])]
            cells.append(f'{throughput:,.0f}/s, {p50:,.0f}, {p99:,.0f}, {used:.2f}')
        print(f'| {operation}, {connections:,} x {a.depth} | ' + ' | '.join(cells) + ' |')


def numbers(text):
    return [int(n) for n in text.split(',')]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('binary', type=os.path.abspath)
    ap.add_argument('--threads', type=numbers, default=[0, 1, 2])
    ap.add_argument('--connections', type=numbers, default=[1, 50, 1000])
    ap.add_argument('--depth', type=int, default=1, help='requests of a connection on their way at a time')
    ap.add_argument('--runs', type=int, default=3)
    ap.add_argument('--busy', type=int, default=0, metavar='N', help='keep N processes spinning meanwhile')
    ap.add_argument('--scale', type=float, default=1, help='so many times as many requests')
    a = ap.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    load = os.path.join(tempfile.mkdtemp(), 'iproto_load')
    subprocess.run(['cc', '-O2', '-o', load, os.path.join(compare.HERE, 'iproto_load.c')], check=True)
    spinners = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(a.busy)]
    atexit.register(lambda: [p.kill() for p in spinners])
    results = {}
    for _ in range(a.runs):
        run_all(a, load, results)
    print_table(a, results)
    shutil.rmtree(os.path.dirname(load))


if __name__ == '__main__':
    main()
