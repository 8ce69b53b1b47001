# SPDX-License-Identifier: BSD-2-Clause
"""The binary protocol, as little of it as the tests need; standard library only.

encode() and decode() speak MessagePack; Client sends whole requests, or any bytes.
Names and numbers are those of the public description of the protocol.
"""
import base64
import hashlib
import socket
import struct

SELECT, INSERT, REPLACE, UPDATE, DELETE, CALL_16, AUTH, EVAL, UPSERT, CALL = range(1, 11)
PING, ID = 64, 73
# Keys of the header and of the body.
TYPE, SYNC, SCHEMA_VERSION = 0x00, 0x01, 0x05
SPACE_ID, INDEX_ID, LIMIT, OFFSET, ITERATOR, KEY, TUPLE, FUNCTION = (
    0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x21, 0x22)
USER, EXPR, OPS, DATA, ERROR = 0x23, 0x27, 0x28, 0x30, 0x31
ERROR_FLAG = 0x8000


def encode(v):
    if v is None:
        return b'\xc0'
    if v is True or v is False:
        return b'\xc3' if v else b'\xc2'
    if isinstance(v, int):
        return encode_int(v)
    if isinstance(v, float):
        return b'\xcb' + struct.pack('>d', v)
    if isinstance(v, str):
        v = v.encode(errors='surrogateescape')
        return encode_head(len(v), 0xa0, 32, b'\xd9', b'\xda', b'\xdb') + v
    if isinstance(v, bytes):
        return encode_head(len(v), None, 0, b'\xc4', b'\xc5', b'\xc6') + v
    if isinstance(v, (list, tuple)):
        return encode_head(len(v), 0x90, 16, None, b'\xdc', b'\xdd') + b''.join(map(encode, v))
    if isinstance(v, dict):
        return encode_head(len(v), 0x80, 16, None, b'\xde', b'\xdf') + b''.join(
            encode(k) + encode(x) for k, x in v.items())
    raise TypeError(type(v))


def encode_int(v):
    if v >= 0:
        for limit, head, fmt in ((0x80, b'', '>B'), (0x100, b'\xcc', '>B'), (0x10000, b'\xcd', '>H'),
                                 (1 << 32, b'\xce', '>I'), (1 << 64, b'\xcf', '>Q')):
            if v < limit:
                return head + struct.pack(fmt, v)
    for limit, head, fmt in ((-0x20, b'', '>b'), (-0x80, b'\xd0', '>b'), (-0x8000, b'\xd1', '>h'),
                             (-(1 << 31), b'\xd2', '>i'), (-(1 << 63), b'\xd3', '>q')):
        if v >= limit:
            return head + struct.pack(fmt, v)
    raise OverflowError(v)


def encode_head(n, fix, fix_limit, h8, h16, h32):
    if n < fix_limit:
        return bytes([fix | n])
    if h8 and n < 0x100:
        return h8 + bytes([n])
    if n < 0x10000:
        return h16 + struct.pack('>H', n)
    return h32 + struct.pack('>I', n)


class Decoder:
    """Reads values one after the other: Decoder(data).value()"""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def take(self, n):
        if self.pos + n > len(self.data):
            raise ValueError('cut short')
        self.pos += n
        return self.data[self.pos - n:self.pos]

    def number(self, fmt):
        return struct.unpack(fmt, self.take(struct.calcsize(fmt)))[0]

    def value(self):
        c = self.take(1)[0]
        if c < 0x80:
            return c
        if c < 0x90:
            return self.map(c & 15)
        if c < 0xa0:
            return self.array(c & 15)
        if c < 0xc0:
            return self.text(c & 31)
        if c >= 0xe0:
            return c - 256
        return getattr(self, f'on_{c:02x}')()

    def array(self, n):
        return [self.value() for _ in range(n)]

    def map(self, n):
        pairs = [(self.value(), self.value()) for _ in range(n)]
        return dict(pairs)

    def extension(self, n):
        """An extension's type and bytes."""
        kind = self.take(1)[0]
        return kind, self.take(n)

    def text(self, n):
        return self.take(n).decode(errors='surrogateescape')


for _code, _value in ((0xc0, None), (0xc2, False), (0xc3, True)):
    setattr(Decoder, f'on_{_code:02x}', lambda self, v=_value: v)
for _code, _fmt in zip(range(0xca, 0xd4), ('>f', '>d', '>B', '>H', '>I', '>Q', '>b', '>h', '>i', '>q')):
    setattr(Decoder, f'on_{_code:02x}', lambda self, f=_fmt: self.number(f))
for _code, _fmt, _what in ((0xc4, '>B', 'take'), (0xc5, '>H', 'take'), (0xc6, '>I', 'take'),
                           (0xd9, '>B', 'text'), (0xda, '>H', 'text'), (0xdb, '>I', 'text'),
                           (0xdc, '>H', 'array'), (0xdd, '>I', 'array'),
                           (0xde, '>H', 'map'), (0xdf, '>I', 'map')):
    setattr(Decoder, f'on_{_code:02x}', lambda self, f=_fmt, w=_what: getattr(self, w)(self.number(f)))


for _code, _size in zip(range(0xd4, 0xd9), (1, 2, 4, 8, 16)):
    setattr(Decoder, f'on_{_code:02x}', lambda self, n=_size: self.extension(n))
for _code, _fmt in zip(range(0xc7, 0xca), ('>B', '>H', '>I')):
    setattr(Decoder, f'on_{_code:02x}', lambda self, f=_fmt: self.extension(self.number(f)))


def decode(data):
    return Decoder(data).value()


def frame(payload):
    """A packet: the length in front, as connectors write it."""
    return b'\xce' + struct.pack('>I', len(payload)) + payload


def request(kind, body, sync=1):
    return frame(encode({TYPE: kind, SYNC: sync}) + encode(body))


class ServerError(Exception):
    """An error answer: .code and the message."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Client:
    """A connection; raises ConnectionError when the server closes it."""

    def __init__(self, address, timeout=10):
        self.sock = self._open(address)
        self.sock.settimeout(timeout)
        self.buf = b''
        self.sync = 0
        self.greeting = self.read(128)

    @staticmethod
    def _open(address):
        if isinstance(address, str):
            s = socket.socket(socket.AF_UNIX)
            s.connect(address)
            return s
        s = socket.create_connection(('127.0.0.1', address))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def read(self, n):
        size, chunks = len(self.buf), [self.buf]
        while size < n:
            chunk = self.sock.recv(65536)
            if not chunk:
                raise ConnectionError('closed by the server')
            chunks.append(chunk)
            size += len(chunk)
        self.buf = b''.join(chunks)
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def response(self):
        """The next answer: (header, body)."""
        d = Decoder(self.read(decode(self.read(5))))
        header = d.value()
        return header, d.value() if d.pos < len(d.data) else {}

    def ask(self, kind, body):
        """Send a request, wait for its answer; the data, or ServerError."""
        self.sync += 1
        self.send(request(kind, body, self.sync))
        header, body = self.response()
        return self.result(header, body)

    @staticmethod
    def result(header, body):
        if header[TYPE] & ERROR_FLAG:
            raise ServerError(header[TYPE] & ~ERROR_FLAG, body.get(ERROR))
        return body.get(DATA)

    def auth(self, user, password):
        salt = base64.b64decode(self.greeting[64:108])[:20]
        one = hashlib.sha1(password.encode()).digest()
        two = hashlib.sha1(salt + hashlib.sha1(one).digest()).digest()
        scramble = bytes(a ^ b for a, b in zip(one, two))
        return self.ask(AUTH, {USER: user, TUPLE: ['chap-sha1', scramble]})

    def call(self, name, *args):
        return self.ask(CALL, {FUNCTION: name, TUPLE: list(args)})

    def eval(self, text, *args):
        return self.ask(EVAL, {EXPR: text, TUPLE: list(args)})

    def ping(self):
        return self.ask(PING, {})
