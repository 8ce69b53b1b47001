# SPDX-License-Identifier: BSD-2-Clause
"""Files that are damaged or cut: damage.py SERVER [--reference] [TEST...]

A torn last write is dropped, with a word in the log of how many bytes; damage
anywhere else stops the start with a message that names the file and what to do,
and changes nothing.
"""
import glob
import hashlib
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import Client, Decoder, decode

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = '--reference' in sys.argv
ROWS = 60
FIXED = 19  # bytes of a block's head
master = None


def setUpModule():
    """A directory left behind by SIGKILL: a snapshot, and ROWS inserts in the journal after it."""
    global master
    master = process.temp_dir()
    server, c = launch(master)
    for i in range(1, ROWS + 1):
        c.eval('box.space.rows:insert{...}', i, f'row {i}', i * 7)
        if i == ROWS // 2:
            c.eval('box.snapshot()')
    server.crash()


def launch(directory):
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [port], directory).start()
    return server, Client(port)


def newest(directory, ext):
    return sorted(glob.glob(os.path.join(directory, '*.' + ext)))[-1]


def blocks(path):
    """(begin, end) of each block of rows of a journal or snapshot file."""
    with open(path, 'rb') as f:
        data = f.read()
    pos = data.index(b'\n\n') + 2
    out = []
    while data[pos:pos + 3] == b'\xd5\xba\x0b':
        size = decode(data[pos + 4:pos + FIXED])
        out.append((pos, pos + FIXED + size))
        pos += FIXED + size
    return out


def change(path, pos, new):
    with open(path, 'r+b') as f:
        f.seek(pos)
        f.write(new)


def fingerprint(directory):
    """Names, sizes and sums of all files but the server's log."""
    out = {}
    for name in sorted(os.listdir(directory)):
        if name == 'server.log':
            continue
        with open(os.path.join(directory, name), 'rb') as f:
            out[name] = hashlib.sha256(f.read()).hexdigest()
    return out


class Base(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.join(process.temp_dir(), 'data')
        shutil.copytree(master, self.dir)
        os.remove(os.path.join(self.dir, 'server.log'))
        self.xlog, self.snap = newest(self.dir, 'xlog'), newest(self.dir, 'snap')

    def rows_after_start(self):
        """Start in the damaged directory: how many rows, and the log."""
        server, c = launch(self.dir)
        bad, last, n, in_text = c.call('check_rows', 1)
        self.assertEqual(bad, [])
        self.assertEqual(last, n)
        self.assertEqual(in_text, n)
        # It takes new writes, and has them after a restart.
        c.eval('box.space.rows:insert{...}', 1000, 'row 1000', 7000)
        c.close()
        self.assertEqual(server.stop(), 0)
        again, c = launch(self.dir)
        self.assertEqual(c.call('check_rows', 1), [[], 1000, n + 1, n + 1])
        c.close()
        again.stop()
        return n, server.log()

    def refuses(self, name, advice=r'force_recovery'):
        """The server must not start: exit 1, a message with the name and some advice, no file changed."""
        before = fingerprint(self.dir)
        server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [process.free_port()], self.dir)
        server.launch()
        self.assertEqual(server.process.wait(20), 1, server.log())
        if not REFERENCE:
            self.assertIn(os.path.basename(name), server.log())
            self.assertRegex(server.log(), advice)
            self.assertEqual(fingerprint(self.dir), before)


class TornWrite(Base):
    def cut(self, size):
        with open(self.xlog, 'r+b') as f:
            f.truncate(size)

    def test_cuts_of_the_last_block(self):
        begin, end = blocks(self.xlog)[-1]
        for size in sorted({begin + 1, begin + 4, begin + FIXED - 1, begin + FIXED, (begin + end) // 2, end - 1}):
            with self.subTest(size=size, begin=begin, end=end):
                self.setUp()
                self.cut(size)
                rows, log = self.rows_after_start()
                self.assertEqual(rows, ROWS - 1)
                if not REFERENCE:
                    self.assertRegex(log, rf'\b{size - begin} bytes\b')

    def test_cut_between_blocks(self):
        found = blocks(self.xlog)
        self.cut(found[-4][1])
        self.assertEqual(self.rows_after_start()[0], ROWS - 3)

    def test_nothing_cut(self):
        self.assertEqual(self.rows_after_start()[0], ROWS)

    def test_zeros_after_the_last_block(self):
        """What some file systems leave after a power cut."""
        if REFERENCE:
            self.skipTest('the reference refuses to start')
        with open(self.xlog, 'ab') as f:
            f.write(b'\0' * 100)
        self.assertEqual(self.rows_after_start()[0], ROWS)

    def test_empty_last_file(self):
        """The server was killed while it made a new journal file."""
        if REFERENCE:
            self.skipTest('the reference wants the file removed by hand')
        name = os.path.join(self.dir, '%020d.xlog' % 10 ** 6)
        open(name, 'wb').close()
        self.assertEqual(self.rows_after_start()[0], ROWS)

    def test_left_over_inprogress(self):
        for name in '%020d.snap.inprogress' % 10 ** 6, '%020d.xlog.inprogress' % 10 ** 6:
            with open(os.path.join(self.dir, name), 'wb') as f:
                f.write(b'SNAP\n0.13\n half')
        self.assertEqual(self.rows_after_start()[0], ROWS)


@unittest.skipIf(REFERENCE, 'the reference has no box.info.recovery')
class Told(Base):
    """What a start could not use is counted in box.info.recovery and said in the log."""
    def start(self, *args):
        port = process.free_port()
        server = process.Server(sys.argv[1], os.path.join(HERE, 'server.lua'), [port, 'write', *args],
                                self.dir).start()
        c = Client(port)
        stat = c.eval('return box.info.recovery')[0]
        rows = c.call('check_rows', 1)
        c.close()
        self.assertEqual(server.stop(), 0)
        self.assertEqual(rows[0], [])
        return rows[2], {name: n for name, n in stat.items() if n > 0}, server.log()

    def cut(self, size, zeros=0):
        with open(self.xlog, 'r+b') as f:
            f.truncate(size)
            f.seek(size)
            f.write(b'\0' * zeros)

    def test_nothing(self):
        self.assertEqual(self.start()[:2], (ROWS, {}))

    def test_torn_block(self):
        begin, end = blocks(self.xlog)[-1]
        self.cut(end - 3)
        self.assertEqual(self.start()[:2], (ROWS - 1, {'dropped_bytes': end - 3 - begin, 'dropped_transactions': 1}))

    def test_torn_block_with_zeros(self):
        begin, end = blocks(self.xlog)[-1]
        self.cut(begin + 25, 1000)
        self.assertEqual(self.start()[:2], (ROWS - 1, {'dropped_bytes': 1025, 'dropped_transactions': 1}))

    def test_zeros(self):
        begin, _ = blocks(self.xlog)[-1]
        self.cut(begin, 4096)
        self.assertEqual(self.start()[:2], (ROWS - 1, {'dropped_bytes': 4096}))

    def test_header_alone(self):
        begin, _ = blocks(self.xlog)[0]
        self.cut(begin)
        self.assertEqual(self.start()[:2], (ROWS // 2, {}))

    def test_header_cut(self):
        for size, zeros in ((0, 0), (10, 0), (60, 0), (0, 4096), (60, 4096)):
            with self.subTest(size=size, zeros=zeros):
                self.setUp()
                self.cut(size, zeros)
                n = size + zeros
                rows, stat, log = self.start()
                self.assertEqual((rows, stat), (ROWS // 2, {'dropped_bytes': n} if n else {}))
                self.assertIn(f'dropped {n} bytes', log)

    def test_force_journal(self):
        begin, end = blocks(self.xlog)[3]
        change(self.xlog, begin + FIXED + 3, b'\xff\xff')
        rows, stat, log = self.start('force')
        self.assertEqual((rows, stat), (ROWS - 1, {'skipped_bytes': end - begin}))
        self.assertRegex(log, rf'{os.path.basename(self.xlog)}: skipped {end - begin} damaged bytes at offset {begin}')

    def test_force_journal_header(self):
        change(self.xlog, 0, b'JUNK')
        self.assertEqual(self.start('force')[:2], (ROWS // 2, {'skipped_files': 1}))

    def test_force_snapshot(self):
        begin, end = blocks(self.snap)[-1]
        with open(self.snap, 'r+b') as f:
            f.truncate(os.path.getsize(self.snap) - 4)
        rows, stat, log = self.start('force')
        self.assertEqual(rows, ROWS)
        self.assertIn('the snapshot is not whole', log)


class DamagedMiddle(Base):
    def test_a_flipped_byte(self):
        found = blocks(self.xlog)
        begin, end = found[len(found) // 2]
        # The magic, the length, the checksum, the rows. A length that leads past the end of the file
        # is not a torn write when good blocks follow; the reference drops them without a word.
        with open(self.xlog, 'rb') as f:
            f.seek(begin + 4)
            head = Decoder(f.read(FIXED - 4))
        head.value(), head.value()
        checksum = begin + 4 + head.pos + 2
        for pos in (begin, begin + 5, checksum, begin + FIXED + 2, end - 1):
            if REFERENCE and pos == begin + 5:
                continue
            with self.subTest(pos=pos - begin):
                self.setUp()
                with open(self.xlog, 'rb') as f:
                    f.seek(pos)
                    old = f.read(1)
                change(self.xlog, pos, bytes([old[0] ^ 0x55]))
                self.refuses(self.xlog)

    def test_a_hole(self):
        found = blocks(self.xlog)
        begin, end = found[3]
        change(self.xlog, begin, b'\0' * (end - begin))
        self.refuses(self.xlog)

    def test_a_block_left_out(self):
        """A gap in the numbers of the rows."""
        if REFERENCE:
            self.skipTest('the reference goes on after a warning')
        found = blocks(self.xlog)
        begin, end = found[3]
        with open(self.xlog, 'rb') as f:
            data = f.read()
        with open(self.xlog, 'wb') as f:
            f.write(data[:begin] + data[end:])
        self.refuses(self.xlog)

    def test_header(self):
        change(self.xlog, 0, b'JUNK')
        self.refuses(self.xlog)

    def test_snapshot(self):
        begin, end = blocks(self.snap)[0]
        change(self.snap, (begin + end) // 2, b'\xff\xff\xff\xff')
        self.refuses(self.snap, advice='move the file away: the previous snapshot')
        # The advice is true.
        os.remove(self.snap)
        self.assertEqual(self.rows_after_start()[0], ROWS)

    def test_only_snapshot(self):
        for path in glob.glob(os.path.join(self.dir, '*.snap')):
            if path != self.snap:
                os.remove(path)
        begin, end = blocks(self.snap)[0]
        change(self.snap, (begin + end) // 2, b'\xff\xff\xff\xff')
        self.refuses(self.snap, advice='restore the file from a copy, or set force_recovery')

    def test_snapshot_cut(self):
        with open(self.snap, 'r+b') as f:
            f.truncate(os.path.getsize(self.snap) // 2)
        self.refuses(self.snap, advice='.')

    def test_missing_journal_file(self):
        """A journal file between the snapshot and the newest journal file is gone."""
        if REFERENCE:
            self.skipTest('the reference says less')
        server, c = launch(self.dir)
        for i in range(1, 4001):
            c.eval('box.space.rows:insert{...}', 10 ** 6 + i, f'row {10 ** 6 + i}', (10 ** 6 + i) * 7, 'x' * 300)
        server.crash()
        os.remove(os.path.join(self.dir, 'server.log'))
        after = [x for x in sorted(glob.glob(os.path.join(self.dir, '*.xlog')))
                 if os.path.basename(x)[:20] > os.path.basename(self.snap)[:20]]
        self.assertGreater(len(after), 2, 'the journal did not rotate')
        os.remove(after[len(after) // 2])
        self.refuses('.xlog', advice='.')


if __name__ == '__main__':
    unittest.main(warnings='ignore', argv=[sys.argv[0]] + [a for a in sys.argv[2:] if a != '--reference'])
