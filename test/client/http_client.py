# SPDX-License-Identifier: BSD-2-Clause
"""http.client against a local HTTP server: http_client.py TARN [REFERENCE]

http_client.lua runs with TARN and with REFERENCE, and what they print must be the same;
http_client_own.lua (TAP) tests what TARN has beyond that.
"""
import difflib
import http.server
import json
import os
import socketserver
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import process
import tap

LIB = os.path.join(process.ROOT, 'test', 'compat', 'lib')
UNTOLD = ('host', 'user-agent')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def reply(self, status, body, headers=()):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def chunk(self, data):
        self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
        self.wfile.flush()

    def begin_chunks(self):
        self.send_response_only(200)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()

    def chunks_of_request(self):
        while True:
            size = int(self.rfile.readline(), 16)
            data = self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return
            yield data

    def body(self):
        if self.headers.get('Transfer-Encoding') == 'chunked':
            return b''.join(self.chunks_of_request())
        return self.rfile.read(int(self.headers.get('Content-Length') or 0))

    def handle_request(self):
        path, _, argument = self.path[1:].partition('/')
        action = getattr(self, 'on_' + path.partition('?')[0], None)
        if action is None:
            self.body()
            self.reply(404, b'no such page')
        else:
            action(argument)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_request
    do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = do_FOO = handle_request

    def on_hello(self, _):
        self.reply(200, b'hello', [
            ('Content-Type', 'text/plain'), ('X-Two', 'a'), ('X-Two', 'b'),
            ('Set-Cookie', 'a=1; Path=/; HttpOnly'), ('Set-Cookie', 'b=2'),
            ('X-' + 'L' * 50, 'v')])

    def on_echo(self, _):
        body = self.body().decode('latin1')
        headers = sorted((name.lower(), value) for name, value in self.headers.items()
                         if name.lower() not in UNTOLD)
        self.reply(200, json.dumps([self.command, self.path, headers, body]).encode())

    def on_json(self, _):
        self.reply(200, b'{"a": [1, 2]}', [('Content-Type', 'application/json; charset=utf-8')])

    def on_redirect(self, argument):
        self.body()
        left = int(argument) - 1
        self.reply(302, b'go', [('Location', f'/redirect/{left}' if left else '/echo')])

    def on_chunked(self, _):
        self.begin_chunks()
        for data in b'one', b'two\n', b'three':
            self.chunk(data)
        self.wfile.write(b'0\r\n\r\n')

    def on_mirror(self, _):
        self.begin_chunks()
        for data in self.chunks_of_request():
            self.chunk(data)
        self.wfile.write(b'0\r\n\r\n')

    def on_endless(self, _):
        self.begin_chunks()
        try:
            for _ in range(200):
                self.chunk(b'x' * 100)
                time.sleep(0.05)
        except OSError:
            self.close_connection = True

    def on_slow(self, _):
        time.sleep(1)
        try:
            self.reply(200, b'late')
        except OSError:
            self.close_connection = True

    def on_short(self, _):
        self.send_response_only(200)
        self.send_header('Content-Length', '100')
        self.end_headers()
        self.wfile.write(b'abc')
        self.close_connection = True

    def on_garbage(self, _):
        self.wfile.write(b'this is no HTTP\r\n\r\n')
        self.close_connection = True

    def on_nothing(self, _):
        self.close_connection = True

    def on_status(self, argument):
        self.reply(int(argument), b'')

    def on_big(self, _):
        self.reply(200, b'0123456789' * 100000)

    def on_port(self, _):
        self.reply(200, str(self.client_address[1]).encode())


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def start_server():
    server = Server(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f'http://127.0.0.1:{server.server_address[1]}'


def run(binary, script, url):
    env = {name: value for name, value in os.environ.items() if not name.lower().endswith('_proxy')}
    env.update(COMPAT_LIB=LIB, LUA_PATH=f'{LIB}/?.lua;;')
    status, out, err = process.run([binary, os.path.join(HERE, script), url], 50,
                                   cwd=process.temp_dir(), env=env)
    return status, out.replace(url, 'URL'), err


def main():
    url = start_server()
    failed = False
    status, out, err = run(process.program(sys.argv[1]), 'http_client_own.lua', url)
    for line in tap.judge(status, out):
        failed = True
        print(line)
    if failed:
        print(out[-3000:], err[-3000:])
    if len(sys.argv) < 3:
        return 1 if failed else 0
    outputs = []
    for binary in map(process.program, sys.argv[1:3]):
        status, out, err = run(binary, 'http_client.lua', url)
        outputs.append(out.splitlines())
        if status != 0:
            failed = True
            print(f'{binary}: status {status}: {err[-1500:]}')
    diff = list(difflib.unified_diff(outputs[1], outputs[0], 'reference', 'tarn', lineterm=''))
    if diff:
        failed = True
        print('\n'.join(diff[:200]))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
