# SPDX-License-Identifier: BSD-2-Clause
"""Acknowledged commits survive SIGKILL: kill.py SERVER [ROUNDS] [SEED]

Each round starts the server in the same directory, checks that all that was ever
acknowledged is there and nothing is half there, writes for a random while over
several connections (rows one by one, transactions, now and then a snapshot), and
kills the server with SIGKILL. Rounds are in wal_mode write and fsync in turn. The seed is
printed; the same seed writes the same.
"""
import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import ERROR_FLAG, EVAL, EXPR, FUNCTION, CALL, INSERT, SPACE_ID, SYNC, TUPLE, TYPE, Client, request

HERE = os.path.dirname(os.path.abspath(__file__))
WINDOW = 20


class Writer(threading.Thread):
    """Keeps WINDOW requests outstanding until the connection breaks; notes what was acknowledged."""

    def __init__(self, port, numbers, make):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.numbers, self.make = numbers, make
        self.acked, self.sent, self.errors = [], set(), []

    def send_one(self):
        n = next(self.numbers)
        self.sent.add(n)
        self.client.send(self.make(n))

    def run(self):
        try:
            for _ in range(WINDOW):
                self.send_one()
            while True:
                header, body = self.client.response()
                if header[TYPE] & ERROR_FLAG:
                    self.errors.append(body)
                else:
                    self.acked.append(header[SYNC])
                self.send_one()
        except OSError:
            pass


def insert_row(n):
    return request(INSERT, {SPACE_ID: 512, TUPLE: [n, f'row {n}', n * 7]}, n)


class History:
    """What was written in all rounds so far."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.next_row = self.next_part = 1
        self.rows, self.parts = set(), set()      # acknowledged
        self.maybe_rows, self.maybe_parts = set(), set()  # sent, never answered

    def rows_numbers(self, step, offset):
        n = self.next_row + offset
        while True:
            yield n
            n += step

    def part_request(self, n):
        size = 1 + n * 7919 % 13
        return request(CALL, {FUNCTION: 'put_parts', TUPLE: [n, size]}, n)

    def settle(self, writers, part_writer):
        for w in writers + [part_writer]:
            w.join(10)
            w.client.close()
            if w.errors:
                raise SystemExit(f'the server refused a write: {w.errors[0]}')
        for w in writers:
            self.rows.update(w.acked)
            self.maybe_rows.update(w.sent)
        self.parts.update(part_writer.acked)
        self.maybe_parts.update(part_writer.sent)
        self.next_row = max(self.maybe_rows | {0}) + 1
        self.next_part = max(self.maybe_parts | {0}) + 1


def counting(n):
    while True:
        yield n
        n += 1


def write_and_kill(server, port, history):
    writers = [Writer(port, history.rows_numbers(2, i), insert_row) for i in range(2)]
    part_writer = Writer(port, counting(history.next_part), history.part_request)
    snapshots = Client(port) if history.dice.random() < 0.3 else None
    for w in writers + [part_writer]:
        w.start()
    wait = history.dice.choice((0.001, 0.01, 0.03, 0.1)) * history.dice.random()
    deadline = time.monotonic() + 5
    # At least something is acknowledged in a round, unless the dice want the kill at once.
    while history.dice.random() < 0.9 and not writers[0].acked and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(wait)
    if snapshots:
        snapshots.send(request(EVAL, {EXPR: 'return box.snapshot()', TUPLE: []}))
        time.sleep(history.dice.random() * 0.01)
    os.kill(server.process.pid, signal.SIGKILL)
    server.crash()
    if snapshots:
        snapshots.close()
    history.settle(writers, part_writer)


def check(port, history):
    """Compare the server's data with the history: a list of complaints."""
    c = Client(port)
    bad, _, in_pk, in_text = c.call('check_rows', 1)
    complaints = [f'row {n} is damaged' for n in bad]
    if in_pk != in_text:
        complaints.append(f'the indexes differ: {in_pk} and {in_text} rows')
    ids = set()
    for chunk in c.eval('local r = {} for _, t in box.space.rows:pairs() do r[#r + 1] = t[1] end return r'):
        ids.update(chunk)
    complaints += [f'acknowledged row {n} is lost' for n in sorted(history.rows - ids)[:5]]
    complaints += [f'row {n} was never written' for n in sorted(ids - history.maybe_rows)[:5]]
    bad, parts, counter_fits = c.call('check_parts')
    complaints += [f'transaction {n} is half there' for n in bad]
    complaints += [f'acknowledged transaction {n} is lost' for n in sorted(history.parts - set(parts))[:5]]
    complaints += [f'transaction {n} was never written' for n in sorted(set(parts) - history.maybe_parts)[:5]]
    if not counter_fits:
        complaints.append('the counter does not fit the transactions')
    c.close()
    # What was in doubt is decided now, for good.
    history.rows, history.maybe_rows = set(ids), set(ids)
    history.parts, history.maybe_parts = set(parts), set(parts)
    return complaints


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f'seed {seed}', flush=True)
    history, directory = History(seed), process.temp_dir()
    for i in range(rounds + 1):
        port = process.free_port()
        server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [port, ('write', 'fsync')[i % 2]],
                                directory).start()
        complaints = check(port, history)
        if complaints:
            print(f'round {i}:', *complaints, sep='\n')
            print('--- the server ---', server.log()[-3000:], sep='\n')
            return 1
        if i < rounds:
            write_and_kill(server, port, history)
        elif server.stop() != 0:
            print('the server did not stop cleanly')
            return 1
    print(f'{rounds} rounds: {len(history.rows)} rows and {len(history.parts)} transactions, none lost')
    return 0


if __name__ == '__main__':
    sys.exit(main())
