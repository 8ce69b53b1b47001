// SPDX-License-Identifier: BSD-2-Clause
// A client of the bookshop, through a connector for Node.js:
//
//   npm install --no-save --prefix examples tarantool-driver
//   node examples/client.js
//
// Any connector for Tarantool does; only the address and the password are ours.
'use strict';
const Tarantool = require('tarantool-driver');

const [host, port] = (process.env.BOOKSHOP_LISTEN || '127.0.0.1:3301').split(':');
const shop = new Tarantool({
    host, port: Number(port), username: 'clerk',
    password: process.env.BOOKSHOP_PASSWORD || 'secret',
    lazyConnect: true, retryStrategy: () => null,
});

// What befalls the connection is told by this event; requests then fail without a reason.
let lost = null;
shop.on('error', (e) => { lost = e; });

async function main() {
    await shop.connect();
    console.log('books by Le Guin:', await shop.call('bookshop.by_author', 'Ursula K. Le Guin'));
    console.log('an order:', await shop.call('bookshop.buy', 1, 2, 'ann'));
    console.log('what is left:', await shop.select('books', 'id', 1, 0, 'eq', [1]));
    try {
        await shop.call('bookshop.buy', 4, 1, 'ann');
    } catch (e) {
        console.log('refused:', e.message);
    }
    shop.disconnect();
}

main().catch((e) => {
    console.error(lost ? `no connection: ${lost.message}` : e.message);
    process.exitCode = 1;
});
