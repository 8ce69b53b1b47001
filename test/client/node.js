// SPDX-License-Identifier: BSD-2-Clause
// tarantool-driver, a connector from the npm registry, does everything it can do.
// Its call() sends the old CALL, whose answer is a list of tuples.
// Usage: node node.js PORT; the server runs server.lua.
'use strict';
const assert = require('node:assert');
const Tarantool = require('tarantool-driver');

const port = Number(process.argv[2]);
let checks = 0;
let failures = 0;

function report(what, e) {
    failures++;
    console.log(`not as expected: ${what}\n${e.message}`);
}

function same(got, expected, what) {
    checks++;
    try {
        assert.deepStrictEqual(got, expected);
    } catch (e) {
        report(what, e);
    }
}

// The promise must fail; its message has to match.
async function fails(promise, pattern, what) {
    checks++;
    let message = 'no error';
    await promise.catch((e) => { message = String(e.message); });
    try {
        assert.match(message, pattern);
    } catch (e) {
        report(what, e);
    }
}

function connect(options) {
    return new Tarantool({
        host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => null, ...options,
    });
}

// The connection must not come up; the driver tells the reason by an event.
async function refused(options, pattern) {
    const c = connect(options);
    let reason = '';
    c.on('error', (e) => { reason += e.message; });
    await c.connect().then(() => assert.fail(`${options.username} should not get in`), () => {});
    assert.match(reason, pattern);
    checks++;
    c.disconnect();
}

const ann = {username: 'ann', password: 'secret'};

async function authentication() {
    const guest = connect();
    await guest.connect();
    same(await guest.ping(), true, 'guest may ping');
    await fails(guest.select(600, 0, 1, 0, 'eq', [1]), /Read access to space 'test' is denied for user 'guest'/,
                'guest may not read');
    await fails(guest.eval('return 1'), /Execute access to universe '' is denied for user 'guest'/,
                'guest may not eval');
    guest.disconnect();

    await refused({username: 'ann', password: 'guess'}, /User not found or supplied credentials are invalid/);
    await refused({username: 'nobody', password: 'x'}, /User not found or supplied credentials are invalid/);

    const poor = connect({username: 'poor', password: 'x'});
    await poor.connect();
    same((await poor.select(600, 0, 1, 0, 'eq', [1]))[0][1], 'row1', 'poor may read');
    await fails(poor.insert(600, [99, 'x']), /Write access to space 'test' is denied for user 'poor'/,
                'poor may not write');
    await fails(poor.call('empty'), /Execute access to function 'empty' is denied for user 'poor'/,
                'poor may not call everything');
    same(await poor.call('echo', 5), [[5]], 'poor may call echo');
    poor.disconnect();
}

async function selects(c) {
    const ids = async (...args) => (await c.select(...args)).map((row) => row[0]);
    same(await c.select(600, 0, 1, 0, 'eq', [3]), [[3, 'row3', 30]], 'eq');
    same(await c.select('test', 'primary', 1, 0, 'eq', [3]), [[3, 'row3', 30]], 'by names');
    same(await c.select('test', 'name', 1, 0, 'eq', ['row7']), [[7, 'row7', 70]], 'secondary by name');
    same(await ids(600, 0, 100, 0, 'all', []), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'all');
    same(await ids(600, 0, 3, 0, 'all', []), [1, 2, 3], 'limit');
    same(await ids(600, 0, 3, 8, 'all', []), [9, 10], 'offset');
    same(await ids(600, 0, 0, 0, 'all', []), [], 'limit 0');
    same(await ids(600, 0, 9, 0, 'gt', [8]), [9, 10], 'gt');
    same(await ids(600, 0, 9, 0, 'ge', [8]), [8, 9, 10], 'ge');
    same(await ids(600, 0, 9, 0, 'lt', [3]), [2, 1], 'lt');
    same(await ids(600, 0, 9, 0, 'le', [3]), [3, 2, 1], 'le');
    same(await ids(600, 0, 9, 0, 'req', [3]), [3], 'req');
    same(await ids(600, 2, 9, 0, 'eq', [50]), [5], 'partial key');
    same(await ids(600, 0, 9, 0, 'eq', [999]), [], 'nothing');
    await fails(c.select(600, 0, 9, 0, 'eq', ['x']), /Supplied key type of part 0/, 'wrong key type');
    await fails(c.select(600, 7, 9, 0, 'eq', [1]), /No index #7 is defined in space 'test'/, 'no index');
    await fails(c.select(9999, 0, 9, 0, 'eq', [1]), /Space '9999' does not exist/, 'no space');
    await fails(c.select('nosuch', 'primary', 1, 0, 'eq', [1]), /space is not defined/, 'no space name');
    const many = await new Promise((resolve, reject) =>
        c.selectCb(600, 0, 2, 0, 'all', [], resolve, reject));
    same(many.length, 2, 'callback form');
}

async function changes(c) {
    same(await c.insert(600, [11, 'eleven', 1]), [[11, 'eleven', 1]], 'insert');
    await fails(c.insert(600, [11, 'again', 1]), /Duplicate key exists in unique index 'primary'/, 'duplicate');
    await fails(c.insert(600, [12, 'eleven', 1]), /Duplicate key exists in unique index 'name'/, 'duplicate name');
    await fails(c.insert(600, ['x', 'y']), /Tuple field 1 type does not match/, 'wrong type');
    await fails(c.insert(600, [12]), /Tuple field 2 required by space format is missing/, 'missing field');
    same(await c.replace(600, [11, 'elf', -5]), [[11, 'elf', -5]], 'replace');
    same(await c.update(600, 0, [11], [['+', 2, 7], ['=', 1, 'onze']]), [[11, 'onze', 2]], 'update');
    same(await c.update('test', 'name', ['onze'], [['-', 2, 1], ['!', 3, 'more']]), [[11, 'onze', 1, 'more']],
         'update by a secondary key');
    same(await c.update(600, 0, [11], [['#', 3, 1], [':', 1, 0, 1, 'O']]), [[11, 'Onze', 1]], 'delete and splice');
    await fails(c.update(600, 0, [11], [['=', 2, 12], ['&', 2, 10]]), /double update of the same field/, 'twice the same field');
    same(await c.update(600, 0, [11], [['|', 2, 6]]), [[11, 'Onze', 7]], 'bits');
    same(await c.update(600, 0, [11], [['^', 2, 6]]), [[11, 'Onze', 1]], 'bits');
    same(await c.update(600, 0, [999], [['=', 1, 'x']]), [], 'update of nothing');
    await fails(c.update(600, 0, [11], [['?', 1, 1]]), /UPDATE operation/, 'unknown operation');
    await c.upsert(600, [['+', 2, 1]], [11, 'ignored', 0]);
    same(await c.select(600, 0, 1, 0, 'eq', [11]), [[11, 'Onze', 2]], 'upsert of a row');
    await c.upsert(600, [['+', 2, 1]], [12, 'twelve', 5]);
    same(await c.select(600, 0, 1, 0, 'eq', [12]), [[12, 'twelve', 5]], 'upsert of a new row');
    same(await c.delete(600, 0, [12]), [[12, 'twelve', 5]], 'delete');
    same(await c.delete(600, 0, [12]), [], 'delete of nothing');
    same(await c.delete('test', 'name', ['Onze']), [[11, 'Onze', 2]], 'delete by a secondary key');
    const row = [50, 'ü€😀', null, [1, [2, {a: 1}]], {k: 'v', l: [true, false]}, 1.5, -1, 1e300, ''];
    same(await c.replace(600, row), [row], 'all kinds of values');
    same(await c.delete(600, 0, 50), [row], 'and back');
}

async function calls(c) {
    same(await c.call('echo', 1, 'two', [3], {four: 4}, null, true), [[1], ['two'], [3], [{four: 4}], [null], [true]], 'echo');
    same(await c.call('echo'), [], 'echo of nothing');
    same(await c.call('empty'), [], 'empty');
    same(await c.call('returns_table'), [[1, 2, {a: 1}]], 'a table');
    same(await c.call('returns_nil'), [[null]], 'nil');
    same(await c.call('returns_tuple'), [[1, 'row1', 10]], 'a tuple');
    same(await c.call('returns_rows'), [[1, 'row1', 10], [2, 'row2', 20]], 'rows');
    same(await c.call('stored', 2, 3), [[5]], 'a stored function');
    same(await c.call('pkg.inner.f', 7), [[7]], 'a dotted name');
    same(await c.call('pkg:method', 7), [[true], [7]], 'a method');
    same(await c.call('box.space.test:get', 1), [[1, 'row1', 10]], 'a method of a space');
    same(await c.call('who'), [['ann'], ['binary']], 'the session');
    await fails(c.call('nosuch'), /Procedure 'nosuch' is not defined/, 'no such function');
    await fails(c.call('fails'), /on purpose/, 'a Lua error');
    await fails(c.call('fails_code'), /own reason/, 'an error of its own');
    same(await c.eval('return ...', 1, 'x'), [1, 'x'], 'eval with arguments');
    same(await c.eval('return 1, nil, {}'), [1, null, []], 'eval of values');
    same(await c.eval('local x = 5'), [], 'eval of nothing');
    await fails(c.eval('return +'), /unexpected symbol near/, 'eval of a syntax error');
    await fails(c.eval('error("x")'), /x/, 'eval of an error');
    same((await c.call('big', 1000000))[0][0].length, 1000000, 'a large answer');
    same((await c.call('echo', 'y'.repeat(300000)))[0][0].length, 300000, 'a large request');
}

async function pipelining(c) {
    const asked = [];
    for (let i = 0; i < 1000; i++)
        asked.push(c.call('echo', i));
    const answers = await Promise.all(asked);
    same(answers.every((a, i) => a[0][0] === i), true, '1000 requests at once, each with its own answer');
    // A slow request does not hold up the others of its connection.
    const order = [];
    await Promise.all([
        c.call('sleeps', 0.1).then(() => order.push('slow')),
        c.ping().then(() => order.push('ping')),
        c.call('echo', 1).then(() => order.push('echo')),
    ]);
    same(order.indexOf('slow'), 2, 'answers come as they are ready');
    const mixed = [];
    for (let i = 0; i < 200; i++) {
        mixed.push(c.replace(600, [1000 + i, 'p' + i, i]));
        mixed.push(c.select(600, 0, 1, 0, 'eq', [1000 + i]));
    }
    const rows = await Promise.all(mixed);
    same(rows.every((r, i) => r[0][0] === 1000 + (i >> 1)), true, 'writes and reads in order');
    const results = await c.pipeline().insert(600, [2000, 'piped', 1]).ping().call('echo', 9)
        .delete(600, 0, [2000]).exec();
    same(results.length, 4, 'the driver\'s own pipeline');
    await Promise.all(rows.filter((_, i) => i % 2 === 0).map((r) => c.delete(600, 0, [r[0][0]])));
}

async function connections() {
    const all = [];
    for (let i = 0; i < 100; i++)
        all.push(connect(ann));
    await Promise.all(all.map((c) => c.connect()));
    const answers = await Promise.all(all.map((c, i) => c.call('echo', i)));
    same(answers.every((a, i) => a[0][0] === i), true, '100 connections');
    all.forEach((c) => c.disconnect());
}

async function main() {
    await authentication();
    const c = connect(ann);
    await c.connect();
    same(await c.ping(), true, 'ping');
    await selects(c);
    await changes(c);
    await calls(c);
    await pipelining(c);
    await c.call('add_space', 'made_later');
    same(await c.select('made_later', 'pk', 1, 0, 'eq', [1]), [[1, 'made_later']], 'a space made meanwhile');
    c.disconnect();
    await connections();
    console.log(`${checks} checks, ${failures} failed`);
    process.exit(failures ? 1 : 0);
}

main().catch((e) => {
    console.error(e);
    process.exit(1);
});
