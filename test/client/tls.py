# SPDX-License-Identifier: BSD-2-Clause
"""TLS: the server against Python's ssl and against net.box, with certificates made here: tls.py SERVER"""
import os
import socket
import ssl
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process
from iproto import PING, Client, ServerError, request

HERE = os.path.dirname(os.path.abspath(__file__))
server = admin = None
files = process.temp_dir()


def path(name):
    return os.path.join(files, name)


def openssl(*args):
    subprocess.run(['openssl', *args], check=True, cwd=files, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_authority(name):
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30',
            '-keyout', f'{name}.key', '-out', f'{name}.crt', '-subj', f'/CN={name}')


def make_certificate(name, authority):
    openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', f'{name}.key',
            '-out', f'{name}.csr', '-subj', f'/CN={name}')
    openssl('x509', '-req', '-in', f'{name}.csr', '-CA', f'{authority}.crt', '-CAkey', f'{authority}.key',
            '-CAcreateserial', '-days', '30', '-out', f'{name}.crt')


def setUpModule():
    global server, admin
    for authority in 'ca', 'other':
        make_authority(authority)
    make_certificate('server', 'ca')
    make_certificate('client', 'ca')
    make_certificate('stranger', 'other')
    openssl('ec', '-in', 'server.key', '-aes256', '-passout', 'pass:open sesame', '-out', 'locked.key')
    with open(path('passwords'), 'w') as f:
        f.write('wrong\nopen sesame\n')
    at = os.path.join(process.temp_dir(), 'sock')
    server = process.Server(sys.argv[1], os.path.join(HERE, 'tls_server.lua'), [at]).start()
    admin = Client(at)


def tearDownModule():
    admin.close()
    assert server.stop() == 0


class TlsClient(Client):
    def __init__(self, address, ca='ca', certificate=None, **options):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname = False
        self.context.load_verify_locations(path(f'{ca}.crt'))
        if certificate:
            self.context.load_cert_chain(path(f'{certificate}.crt'), path(f'{certificate}.key'))
        for name, value in options.items():
            setattr(self.context, name, value)
        super().__init__(address)

    def _open(self, address):
        return self.context.wrap_socket(socket.create_connection(('127.0.0.1', int(address.split(':')[1])), 10))


def listen(key='server', **more):
    params = {'transport': 'ssl', 'ssl_key_file': path(f'{key}.key'), 'ssl_cert_file': path('server.crt'), **more}
    return admin.call('listen', params)[0]


def refused(f, *args):
    try:
        f(*args)
    except (OSError, ServerError) as e:
        return str(e)
    raise AssertionError('was not refused')


def by_netbox(address, **params):
    return admin.call('connect', address, {'transport': 'ssl', **params})[0]


class Tls(unittest.TestCase):
    def test_requests(self):
        address = listen()
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            c = TlsClient(address, maximum_version=version, minimum_version=version)
            self.assertEqual(c.sock.version(), version.name.replace('_', '.'))
            c.ping()
            text = 'x' * 3000000
            self.assertEqual(c.call('echo', text, 1), [text, 1])
            # Many requests in one record, one request in many records.
            c.send(request(PING, {}) * 500)
            for _ in range(500):
                c.response()
            for byte in request(PING, {}):
                c.send(bytes([byte]))
            c.response()
            # A reader that is slow.
            for _ in range(20):
                c.send(request(10, {0x22: 'echo', 0x21: ['y' * 500000]}))
            for _ in range(20):
                c.response()
            c.close()
        self.assertEqual(by_netbox(address), 3000000)
        self.assertEqual(by_netbox(address, ssl_ca_file=path('ca.crt')), 3000000)

    def test_many(self):
        address = listen()
        for _ in range(5):
            all_of_them = [TlsClient(address) for _ in range(20)]
            for c in all_of_them:
                c.ping()
            for c in all_of_them:
                c.close()
        # Those that leave in the middle of the handshake harm nobody.
        for _ in range(20):
            s = socket.create_connection(('127.0.0.1', int(address.split(':')[1])))
            s.send(b'\x16\x03\x01')
            s.close()
        TlsClient(address).ping()

    def test_server_is_checked(self):
        address = listen()
        self.assertIn('certificate verify failed', refused(TlsClient, address, 'other'))
        self.assertEqual(by_netbox(address, ssl_ca_file=path('other.crt')), 'certificate verify failed')

    def test_client_is_checked(self):
        address = listen(ssl_ca_file=path('ca.crt'))
        TlsClient(address, certificate='client').ping()
        refused(TlsClient, address)
        refused(TlsClient, address, 'ca', 'stranger')
        own = {'ssl_key_file': path('client.key'), 'ssl_cert_file': path('client.crt')}
        self.assertEqual(by_netbox(address, **own), 3000000)
        for certificate in {}, {k: v.replace('client', 'stranger') for k, v in own.items()}:
            self.assertIsInstance(by_netbox(address, **certificate), str)

    def test_without_tls(self):
        address = listen()
        s = socket.create_connection(('127.0.0.1', int(address.split(':')[1])), 10)
        s.sendall(request(PING, {}) * 3)
        try:
            while s.recv(1000):
                pass
        except ConnectionResetError:
            pass
        s.close()
        self.assertIn('TLS with', server.log())

    def test_passwords(self):
        TlsClient(listen('locked', ssl_password='open sesame')).ping()
        TlsClient(listen('locked', ssl_password='bad', ssl_password_file=path('passwords'))).ping()
        for wrong in {}, {'ssl_password': 'bad'}, {'ssl_password_file': path('nosuch')}:
            refused(lambda: listen('locked', **wrong))

    def test_ciphers(self):
        address = listen(ssl_ciphers='ECDHE-ECDSA-AES256-GCM-SHA384')
        c = TlsClient(address, maximum_version=ssl.TLSVersion.TLSv1_2)
        self.assertEqual(c.sock.cipher()[0], 'ECDHE-ECDSA-AES256-GCM-SHA384')
        c.close()
        self.assertIn('ssl_ciphers', refused(lambda: listen(ssl_ciphers='nosuch')))

    def test_bad_parameters(self):
        for params, text in (({'transport': 'ssl'}, 'ssl_key_file parameter is mandatory'),
                             ({'transport': 'ssl', 'ssl_key_file': 'x'}, 'ssl_cert_file parameter is mandatory'),
                             ({'transport': 'smtp'}, 'Invalid transport')):
            self.assertIn(text, refused(admin.call, 'listen', params))
        self.assertIn('ssl_cert_file', refused(lambda: listen(ssl_cert_file='/nosuch')))
        self.assertIn('ssl_key_file', refused(lambda: listen('client')))
        self.assertIn('ssl_ca_file', refused(lambda: listen(ssl_ca_file=path('ca.key'))))

    def test_password_as_it_is(self):
        admin.eval("box.cfg{auth_type = 'pap-sha256'} box.session.su('admin', function() "
                   "box.schema.user.create('pat', {password = 'secret'}) box.schema.user.grant('pat', 'super') end)")
        try:
            self.assertEqual(by_netbox(f'pat:secret@{listen()}'), 3000000)
            self.assertEqual(by_netbox(f'pat:wrong@{listen()}'), 'User not found or supplied credentials are invalid')
            plain = admin.call('listen', {})[0]
            for params in {}, {'auth_type': 'pap-sha256'}:
                self.assertIn('needs TLS', admin.call('connect', f'pat:secret@{plain}', params)[0])
            self.assertEqual(admin.eval("return require('net.box').connect(box.info.listen[1], "
                                        "{user = 'pat', password = 'secret'}):call('box.session.user')"), ['pat'])
        finally:
            admin.eval("box.session.su('admin', box.schema.user.drop, 'pat') box.cfg{auth_type = 'chap-sha1'}")

    def test_parameters_change_on_a_bound_socket(self):
        address = listen()
        c = TlsClient(address)
        again = admin.call('listen', {}, address)[0]
        self.assertEqual(again, address)
        plain = Client(int(address.split(':')[1]))
        plain.ping()
        c.ping()
        query = (f'{address}?transport=ssl&ssl_key_file={path("server.key")}&ssl_cert_file={path("server.crt")}')
        self.assertEqual(admin.call('listen', {}, query), [address])
        TlsClient(address).ping()
        plain.ping()


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], warnings='ignore')
