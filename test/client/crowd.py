# SPDX-License-Identifier: BSD-2-Clause
"""Many connections, fast, slow and half-open ones: crowd.py SERVER [COUNT]

COUNT of them at once (2,000; this process and the server each need as many descriptors),
with the memory that one takes. Whatever some do, others are served meanwhile, and nothing
of them stays.
"""
import os
import resource
import select
import socket
import struct
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import iproto
import process

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = float(os.environ.get('TARN_TEST_SCALE', 1))
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else int(2000 * SCALE)
SPARE = 100
PACKET_SIZE_MAX = 2 << 30
PING = iproto.request(iproto.PING, {}, 7)
MB = 1 << 20
server = port = None


def setUpModule():
    global server, port, COUNT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < COUNT + SPARE:
        soft = COUNT + SPARE if hard == resource.RLIM_INFINITY else min(hard, COUNT + SPARE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        COUNT = min(COUNT, soft - SPARE)
    port = process.free_port()
    server = process.Server(sys.argv[1], os.path.join(HERE, 'soak_server.lua'), [f'127.0.0.1:{port}']).start()


def memory():
    with open(f'/proc/{server.process.pid}/statm') as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def connect():
    return socket.create_connection(('127.0.0.1', port), timeout=60)


def read(s, size):
    data = b''
    while len(data) < size:
        chunk = s.recv(size - len(data))
        if not chunk:
            raise ConnectionError('closed by the server')
        data += chunk
    return data


class Base(unittest.TestCase):
    def setUp(self):
        self.control = iproto.Client(port, timeout=60)
        self.others = []

    def tearDown(self):
        self.close_others()
        self.wait_for_connections(1)
        self.control.close()
        self.assertTrue(server.alive(), server.log()[-2000:])

    def close_others(self):
        for s in self.others:
            s.close()
        self.others = []

    def connections(self):
        return self.control.eval('return box.stat.net().CONNECTIONS.current')[0]

    def wait_for_connections(self, count):
        for _ in range(4000):
            if self.connections() == count:
                return
            time.sleep(0.005)
        self.assertEqual(self.connections(), count)

    def check_memory(self, before, more):
        if SCALE == 1:  # else a sanitizer keeps what was freed
            self.assertLess(memory() - before, more)

    def open(self, count):
        """So many connections that have been greeted."""
        for _ in range(count):
            self.others.append(connect())
        for s in self.others[-count:]:
            read(s, 128)


class Many(Base):
    def test_at_once(self):
        before = memory()
        self.open(COUNT)
        self.assertEqual(self.connections(), COUNT + 1)
        idle = memory()
        # The limit of requests at work lies below; all are answered.
        for _ in range(2):
            for s in self.others:
                s.sendall(PING)
            size = len(self.answer(self.others[0]))
            for s in self.others[1:]:
                read(s, size)
        used = memory()
        for s in self.others:
            s.sendall(PING[:-1])
        self.control.ping()
        half = memory()
        for s in self.others:
            s.sendall(PING[-1:])
        for s in self.others:
            read(s, size)
        self.control.ping()
        self.close_others()
        self.wait_for_connections(1)
        print(f'{COUNT} connections: {(idle - before) / COUNT:.0f} bytes each, '
              f'{(used - before) / COUNT:.0f} after a request, '
              f'{(half - before) / COUNT:.0f} amid one, '
              f'{(memory() - before) / COUNT:.0f} once closed')

    @staticmethod
    def answer(s):
        head = read(s, 5)
        return head + read(s, iproto.decode(head))

    def test_storm(self):
        """Opened and closed as fast as it goes, in several ways."""
        def storm(way):
            for i in range(int(500 * SCALE)):
                s = connect()
                if way == 1:
                    read(s, 128)
                elif way == 2:
                    s.sendall(PING * 3)
                elif way == 3:
                    # Ended by a reset, where something was not read.
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                s.close()
        threads = [threading.Thread(target=storm, args=(way,)) for way in range(4)]
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            self.control.ping()
        for t in threads:
            t.join()

    def test_half_open(self):
        """Some never read, some stop within a packet, some close one half; others are served."""
        before = memory()
        for i in range(200):
            s = connect()
            self.others.append(s)
            if i % 4 == 1:
                s.sendall(PING[:1 + i % (len(PING) - 1)])
            elif i % 4 == 2:
                # Announces the most that a packet may have, and sends little of it.
                s.sendall(b'\xce' + struct.pack('>I', PACKET_SIZE_MAX) + b'\x82' * 100)
            elif i % 4 == 3:
                s.sendall(PING)
        for _ in range(100):
            self.control.ping()
        # What is announced takes no memory before it comes.
        self.check_memory(before, 64 * MB)
        for i, s in enumerate(self.others):
            if i % 4 == 3:
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
        self.assertEqual(self.connections(), 151)


class Slow(Base):
    def test_writers(self):
        """Fifty clients write a byte each in turn."""
        self.open(50)
        data = iproto.request(iproto.CALL, {iproto.FUNCTION: 'echo', iproto.TUPLE: [1]}, 9)
        for i in range(len(data)):
            for s in self.others:
                s.sendall(data[i:i + 1])
            self.control.ping()
        for s in self.others:
            self.assertEqual(iproto.Decoder(Many.answer(s)[5:]).value()[iproto.SYNC], 9)

    def test_readers(self):
        """Who reads nothing has answers wait; their memory has a bound, and others are served."""
        before = memory()
        size, count = MB, 40
        data = iproto.request(iproto.EVAL, {iproto.EXPR: 'return ("x"):rep(...)', iproto.TUPLE: [size]}, 9)
        self.open(2)
        for s in self.others:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            s.sendall(data * count)
        for _ in range(50):
            self.control.ping()
            time.sleep(0.002)
        self.check_memory(before, 2 * 20 * MB)
        for s in self.others:
            for _ in range(count):
                read_size = 0
                want = 5 + iproto.decode(read(s, 5))
                while read_size < want - 5:
                    read_size += len(s.recv(min(50000, want - 5 - read_size)))

    def test_a_large_request(self):
        """One of many megabytes, from a client that stops in the middle; others are served."""
        size = int(max(0.25, SCALE) * 64 * MB)
        args = {iproto.EXPR: 'return #...', iproto.TUPLE: ['x' * size]}
        data = iproto.request(iproto.EVAL, args, 9)
        self.open(1)
        s = self.others[0]
        s.sendall(data[:size // 2])
        for _ in range(20):
            self.control.ping()
        s.sendall(data[size // 2:])
        d = iproto.Decoder(Many.answer(s)[5:])
        d.value()
        self.assertEqual(d.value()[iproto.DATA], [size])
        # One byte more than the limit ends the connection.
        s.sendall(b'\xce' + struct.pack('>I', PACKET_SIZE_MAX + 1))
        while s.recv(65536):
            pass


class NoDescriptors(Base):
    def test_accepting_resumes(self):
        pid = server.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        taken = len(os.listdir(f'/proc/{pid}/fd'))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (taken + 20, limits[1]))
        try:
            for _ in range(40):
                self.others.append(connect())
            self.wait_for_connections(21)
            # Those that were taken are served.
            read(self.others[0], 128)
            self.others[0].sendall(PING)
            Many.answer(self.others[0])
            self.wait_for_log("can't accept connections for now")
            self.assertEqual(select.select(self.others[20:], [], [], 0.1)[0], [])
            # Room for the others.
            for s in self.others[:20]:
                s.close()
            self.others = self.others[20:]
            for s in self.others:
                read(s, 128)
                s.sendall(PING)
                Many.answer(s)
            self.assertEqual(self.connections(), 21)
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)

    def wait_for_log(self, text):
        for _ in range(1000):
            if text in server.log():
                return
            time.sleep(0.005)
        self.assertIn(text, server.log())


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
