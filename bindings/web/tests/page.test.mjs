// The page in a browser: what is given, what is shown, and what does not leave it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Server, ask, assertSame, build, click, copied, damage, done, fileUrl, give, launch, lines, looked, native, open, press, repository,
    saved, scratch, status, textOf, unfold } from './browser.mjs';

const server = await new Server().start();
const browser = await launch();
after(async () => {
    await browser.close();
    server.end();
});

/** @type {import('puppeteer-core').Page} */
let page;
let opened;
/** The messages that the console may have in this test. */
let expected;

async function reopen(url = server.url) {
    await page?.close();
    opened = await open(browser, url);
    page = opened.page;
}

beforeEach(async () => {
    expected = [];
    await reopen();
});

// Whatever a test did: the console has nothing else to say, and nothing was asked of any server but the page.
afterEach(() => {
    assert.deepEqual(opened.told.filter(text => !expected.some(known => text.includes(known))), []);
    assert.equal(opened.requests.length, 1, opened.requests.join(' '));
    assert.deepEqual(server.asked, []);
});

const database = path.join(repository, 'testdata/databases/levels');
const texts = (page, selector) => page.$$eval(selector, all => all.map(element => element.textContent));
const depth = page => page.$$eval('#depth li', all => all.map(item => item.className));

async function entries(page, prefix = '') {
    await click(page, '#tab-entries');
    await page.waitForFunction(() => !document.querySelector('#scan button').disabled);
    await page.$eval('#prefix', (input, prefix) => input.value = prefix, prefix);
    await click(page, '#scan button');
    await page.waitForFunction(() => /entr(y|ies)/.test(document.querySelector('#found').textContent) && document.querySelector('#work').hidden);
}

async function drop(...files) {
    const session = await page.createCDPSession();
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', { type, x: 100, y: 100, data });
}

describe('what is shown', () => {
    test('a small database is read as a whole by itself, and its entries are listed', async () => {
        await give(page, database);
        assert.deepEqual(await depth(page), ['done', 'done', 'done', 'done']);
        assert.match(await textOf(page, '.verdict .tag'), /^Fine/);
        assert.equal((await page.$$('main h1')).length, 2);
        assert.equal((await page.$$('iframe')).length, 0);
        await entries(page);
        const all = (await native(database, ['scan', '--json', '.'])).split('\n').filter(line => line.includes('"object":"entry"'));
        assert.equal(await textOf(page, '#found'), '200 entries so far');
        await press(page, 'Show more');
        await done(page, '#found', `${all.length} entries`);
        const shown = await texts(page, '#rows .key');
        assert.deepEqual(shown, all.map(line => JSON.parse(line).key));
        await entries(page, 'item/01');
        const some = all.filter(line => JSON.parse(line).key.startsWith('item/01'));
        assert.equal(await textOf(page, '#found'), `${some.length} entries`);
        assert.deepEqual(await texts(page, '.entries thead th'), ['key', 'value', 'write']);
    });

    test('the samples need no file', async () => {
        for (const [name, verdict] of [['a damaged world', /^Damaged/], ['no filters', /^Could be better/], ['a sound one', /^Fine/]]) {
            await press(page, name);
            await looked(page);
            assert.match(await textOf(page, '.verdict .tag'), verdict);
            await press(page, 'Open another');
        }
    });

    test('all databases below a folder are listed, worst first, and each is read when it is chosen', async () => {
        const folder = path.join(scratch, 'several');
        for (const name of ['sound', 'cut']) fs.cpSync(database, path.join(folder, name), { recursive: true });
        fs.cpSync(path.join(repository, 'testdata/databases/unfiltered'), path.join(folder, 'world/db'), { recursive: true });
        fs.writeFileSync(path.join(folder, 'world/levelname.txt'), 'Skyblock <b>\u202e with Ana\nx');
        fs.rmSync(path.join(folder, 'cut/CURRENT'));
        await (await page.$('#folder')).uploadFile(folder);
        await done(page, '#title', 'read in');
        assert.deepEqual(await texts(page, '#title h1, #title li:first-child'), ['several', '3 databases']);
        assert.equal(await textOf(page, '.headline h2'), '1 of 3 databases is damaged');
        assert.deepEqual(await texts(page, '.counts a'), ['1 damaged', '2 fine so far, below 1 MiB']);
        const names = await texts(page, '.list .link');
        assert.equal(names[0], 'several/cut');
        assert.deepEqual(names.slice(1).sort(), ['Skyblock <b>\\u{202e} with Ana', 'several/sound']);
        assert.deepEqual(await texts(page, '#places > table thead th'), ['database', 'what was found', 'tables', 'size']);
        await press(page, 'Check every block');
        await done(page, '.headline', 'Every block was read.');
        await press(page, 'several/cut');
        await looked(page);
        assert.match(await textOf(page, '#head'), /CURRENT is missing/);
        await press(page, '‹ All 3 databases');
        await done(page, '.headline', '1 of 3 databases');
        await page.$eval('#small', details => details.open = true);
        await press(page, 'Skyblock <b>\\u{202e} with Ana');
        await looked(page);
        assert.equal(await textOf(page, '#title h1'), 'Skyblock <b>\\u{202e} with Ana');
    });

    test('a single table and a single log are looked at by themselves', async () => {
        await (await page.$('#files')).uploadFile(path.join(database, '000005.ldb'));
        await looked(page);
        assert.match(await textOf(page, '#title'), /000005\.ldb/);
        await press(page, 'Open another');
        await (await page.$('#files')).uploadFile(path.join(database, '000010.log'));
        await done(page, '#found', 'entries');
        assert.equal(await textOf(page, '.verdict h2'), 'This log is sound');
        assert.equal(await textOf(page, '.verdict .say'), 'All 10 writes are intact, up to the end of the file.');
        const folder = copied('databases/levels', 'log');
        damage(path.join(folder, '000010.log'), 900);
        await press(page, 'Open another');
        await (await page.$('#files')).uploadFile(path.join(folder, '000010.log'));
        await done(page, '.verdict', 'This log is damaged');
    });

    test('a folder that is dropped is looked at', async () => {
        await drop(database);
        await looked(page);
        assert.match(await textOf(page, '#title'), /levels/);
    });

    test('what is no database, encrypted, or of another program is said to be so', async () => {
        await give(page, path.join(repository, 'docs'));
        assert.match(await textOf(page, '.verdict'), /No database.*No LevelDB database is in this folder.*Worlds of Java Edition/s);
        const encrypted = copied('databases/levels', 'encrypted');
        const key = Buffer.from('88329851');
        for (const name of fs.readdirSync(encrypted)) {
            const bytes = fs.readFileSync(path.join(encrypted, name)).map((byte, at) => byte ^ key[at % 8]);
            fs.writeFileSync(path.join(encrypted, name), Buffer.concat([Buffer.from([0x80, 0x1d, 0x30, 0x01]), bytes]));
        }
        await press(page, 'Choose another folder');
        await give(page, encrypted);
        assert.match(await textOf(page, '.verdict'), /Cannot tell.*encrypted/s);
        const rocks = copied('databases/levels', 'rocks');
        fs.copyFileSync(path.join(repository, 'testdata/constructed/rocksdb-full-filter.ldb'), path.join(rocks, '000005.ldb'));
        fs.writeFileSync(path.join(rocks, 'OPTIONS-000007'), '[Version]\n  rocksdb_version=9.0.0\n');
        await press(page, 'Open another');
        await give(page, rocks);
        assert.match(await textOf(page, '.verdict'), /RocksDB|Damaged/);
    });

    test('a folder that can be read again is read as it is by then', async () => {
        // The browser's own folders have no dialog.
        const files = Object.fromEntries(fs.readdirSync(database).map(name => [name, fs.readFileSync(path.join(database, name)).toString('base64')]));
        await page.evaluate(async files => {
            const root = await navigator.storage.getDirectory();
            const folder = await root.getDirectoryHandle('db', { create: true });
            globalThis.write = async name => {
                const stream = await (await folder.getFileHandle(name, { create: true })).createWritable();
                await stream.write(Uint8Array.from(atob(files[name]), char => char.charCodeAt(0)));
                await stream.close();
            };
            for (const name of Object.keys(files)) if (name !== '000009.ldb') await write(name);
            globalThis.showDirectoryPicker = async () => folder;
        }, files);
        await click(page, '#folder');
        await looked(page);
        assert.match(await textOf(page, '.verdict .tag'), /^Damaged/);
        await page.evaluate(() => write('000009.ldb'));
        await press(page, 'Read again');
        await done(page, '.verdict .tag', 'Fine');
    });

    test('where the browser refuses to hand out a folder, the other way is taken', async () => {
        await page.evaluate(() => globalThis.showDirectoryPicker = () => Promise.reject(new DOMException('no', 'SecurityError')));
        const [chooser] = await Promise.all([page.waitForFileChooser(), page.click('label:has(#folder)')]);
        await chooser.accept([database]);
        await looked(page);
    });

    test('what is damaged is told as the program tells it', async () => {
        const folder = copied('databases/levels', 'damaged');
        damage(path.join(folder, '000005.ldb'), 100);
        damage(path.join(folder, '000007.ldb'), -60);
        await give(page, folder);
        assertSame(await lines(page, 'verify', 'damaged'), await native(scratch, ['verify', '--json', 'damaged']), 'damaged');
        assert.match(await textOf(page, '.verdict .tag'), /^Damaged/);
        assert.equal(await textOf(page, '#depth li:last-child div'), 'Repair, triednothing is written');
        await unfold(page, 'With the program');
        assert.equal(await textOf(page, '#own .cmd code'), 'filterblock repair damaged --to damaged-repaired');
    });

    test('what is large is read as a whole when it is asked for', async () => {
        const folder = path.join(scratch, 'large');
        fs.cpSync(database, folder, { recursive: true });
        fs.writeFileSync(path.join(folder, 'large'), '');
        fs.truncateSync(path.join(folder, 'large'), 300 << 20);
        await give(page, folder);
        assert.deepEqual(await depth(page), ['done', 'done', 'todo', 'todo']);
        await press(page, 'Check every block');
        await page.waitForFunction(() => document.querySelectorAll('#depth .done').length === 4);
    });

    const many = () => {
        const folder = path.join(scratch, 'many');
        if (fs.existsSync(folder)) return folder;
        fs.mkdirSync(folder);
        for (let number = 1; number <= 10_000; number += 1) {
            fs.linkSync(path.join(repository, 'testdata/databases/levels/000009.ldb'), path.join(folder, `${String(number).padStart(6, '0')}.ldb`));
        }
        return folder;
    };

    test('ten thousand tables, chosen and dropped', async () => {
        for (const way of [folder => page.$('#folder').then(input => input.uploadFile(folder)), drop]) {
            await reopen();
            await way(many());
            await page.waitForSelector('#head .verdict');
            assert.match(await textOf(page, '#title'), /10,000/);
        }
    });
});

describe('what may be hostile', () => {
    const evil = '<img src=x onerror=alert(1)>';

    test('names, keys and values are text', async () => {
        const folder = path.join(scratch, `${evil}\u202e${'x'.repeat(60)}`);
        const script = '<script>alert(1)</script>';
        build(path.join(folder, `${evil}.ldb`), [[evil, script], ['\u202ekey\u2066', '\u0000\u001b[31m'], [script, Buffer.alloc(3 << 20, 60)]].sort());
        await give(page, folder);
        const shown = await textOf(page, '#title');
        assert.ok(shown.includes('onerror') && !shown.includes('\u202e'), shown);
        await entries(page);
        const keys = await texts(page, '#rows .key');
        assert.deepEqual(keys, [evil, script, '\\xe2\\x80\\xaekey\\xe2\\x81\\xa6']);
        assert.ok((await texts(page, '#rows td:nth-child(2)'))[2].startsWith('\\x00\\x1b[31m'));
        for (const key of await page.$$('#rows .key')) await key.evaluate(key => key.click());
        assert.deepEqual(await page.$$('main img, main script, main [onerror]'), []);
        assert.ok(!(await textOf(page, 'main')).includes('\u202e'));
        await click(page, '#tab-overview');
        await unfold(page, 'Save what was found');
        const report = fs.readFileSync(await saved(page, 'Report .html'), 'utf8');
        assert.ok(!/<(img|script)|\u202e/.test(report));
    });

    test('a value of megabytes is cut, and saved whole', async () => {
        const folder = path.join(scratch, 'value');
        const value = Buffer.alloc(5 << 20, 'ä<b>');
        build(path.join(folder, '000005.ldb'), [['a', 'small'], ['b', value], ['c', '']]);
        await give(page, folder);
        await entries(page);
        await page.$$eval('#rows .key', all => all[1].click());
        const [, cut] = await texts(page, '#rows dd code');
        assert.ok(cut.length < 400 && cut.endsWith('… (5,242,880 bytes)'), cut);
        const bytes = fs.readFileSync(await saved(page, 'Save the whole value'));
        assert.deepEqual(createHash('sha256').update(bytes).digest(), createHash('sha256').update(value).digest());
    });

    test('folders of one name stay two, and one with the name of a scheme is a folder', async () => {
        for (const [parent, name] of [['one', 'db'], ['two', 'db'], ['three', 'file:']]) {
            fs.cpSync(database, path.join(scratch, parent, name), { recursive: true });
        }
        await drop(...['one/db', 'two/db', 'three/file:'].map(folder => path.join(scratch, folder)));
        await done(page, '#title', 'read in');
        const names = (await texts(page, '.list .link')).sort();
        // The browser may have given the second folder another name already.
        assert.match(names.join(), /^\.\/file:,db,db \(\d\)$/);
        await page.$$eval('.list .link', all => all.find(link => link.textContent.includes('file:')).click());
        await looked(page);
        assert.match(await textOf(page, '.verdict .tag'), /^Fine/);
    });

    test('nothing leaves the page or its worker, whatever runs in them', async () => {
        expected = ['Content Security Policy', 'Failed to fetch', 'Refused to', 'net::ERR', 'Blocked script execution'];
        await give(page, database);
        const leak = `${server.url}leak`;
        const tried = await page.evaluate(async leak => {
            const failed = promise => promise.then(() => 'done', () => 'refused');
            const worker = `fetch('${leak}').then(() => postMessage('done'), () => postMessage('refused'))`;
            const image = new Image();
            const loaded = failed(new Promise((resolve, reject) => [image.onload, image.onerror] = [resolve, reject]));
            image.src = leak;
            const blob = new Worker(URL.createObjectURL(new Blob([worker])));
            const socket = new WebSocket(leak.replace('http', 'ws'));
            const connected = failed(new Promise((resolve, reject) => [socket.onopen, socket.onerror] = [resolve, reject]));
            const form = document.createElement('form');
            form.action = leak;
            document.body.append(form);
            form.submit();
            const inline = document.createElement('script');
            inline.textContent = 'globalThis.ran = true';
            document.body.append(inline);
            // As a report would act if something had come into it.
            document.querySelector('#sections').innerHTML = `<img src="${leak}" onerror="globalThis.ran = true"><p onclick="globalThis.ran = true">`;
            document.querySelector('#sections p').click();
            return {
                fetch: await failed(fetch(leak)),
                image: await loaded,
                worker: await new Promise(resolve => blob.onmessage = event => resolve(event.data)),
                socket: await connected,
                script: globalThis.ran ? 'done' : 'refused',
            };
        }, leak);
        assert.deepEqual(tried, { fetch: 'refused', image: 'refused', worker: 'refused', socket: 'refused', script: 'refused' });
        await new Promise(resolve => setTimeout(resolve, 500));
        opened.requests.splice(1);
        assert.equal(page.url(), server.url);
    });
});

describe('what does not go as planned', () => {
    test('a step is cancelled at once, and what was shown before stays', async () => {
        const folder = path.join(scratch, 'long');
        const value = Buffer.alloc(1000, 'v');
        const keys = Array.from({ length: 4000 }, (_, at) => [`key/${String(at).padStart(8, '0')}`, Buffer.concat([value, Buffer.from(String(at))])]);
        build(path.join(folder, '000001.ldb'), keys, '--compression', 'none');
        for (let number = 2; number <= 200; number += 1) fs.linkSync(path.join(folder, '000001.ldb'), path.join(folder, `${String(number).padStart(6, '0')}.ldb`));
        await give(page, folder);
        await press(page, 'Check every block');
        await page.waitForFunction(() => document.querySelector('progress').value > 0 && !document.querySelector('#work').hidden);
        await press(page, 'Cancel');
        await page.waitForFunction(() => document.querySelector('#work').hidden, { timeout: 1000 });
        assert.match(await status(page), /^Cancelled/);
        // The worker ends, whatever it is doing.
        for (let left = 50; left > 0 && page.workers().length > 0; left -= 1) await new Promise(resolve => setTimeout(resolve, 100));
        assert.equal(page.workers().length, 0);
        assert.equal((await page.$$('#head .verdict')).length, 1);
        assert.deepEqual(await depth(page), ['done', 'done', 'todo', 'todo']);
        // The page goes on, and so does the list of entries.
        await entries(page);
        assert.equal(await textOf(page, '#found'), '200 entries so far');
        const running = ask(page, 'all', 'long').catch(String);
        await new Promise(resolve => setTimeout(resolve, 200));
        await page.evaluate(() => filterblock.cancel());
        assert.match(await running, /cancelled/);
        await press(page, 'Show more');
        await done(page, '#found', '400 entries so far');
        const last = await page.evaluate(() => filterblock.ask('scan', 'long', '', '', false, false, 400).then(() => filterblock.ask('next')).then(batch => batch.rows.at(-1).key.text));
        assert.equal((await texts(page, '#rows .key')).at(-1), last);
    });

    test('a file that changes is changed, and never damaged', async () => {
        const folder = copied('databases/levels', 'changing');
        const file = path.join(folder, '000005.ldb');
        await give(page, folder);
        // Another file of the same size takes the place of this one.
        const other = fs.readFileSync(file).fill(0, 0, 4000);
        fs.rmSync(file);
        fs.writeFileSync(file, other);
        fs.utimesSync(file, 1e9, 1e9);
        for (const command of ['verify', 'scan']) {
            const found = (await lines(page, command, 'changing')).split('\n').filter(line => line.includes('error_kind":"'));
            assert.ok(found.length > 0 && found.every(line => line.includes('"error_kind":"changed"')), found.join('\n'));
        }
        fs.rmSync(file);
        const gone = (await lines(page, 'verify', 'changing')).split('\n').filter(line => line.includes('error_kind":"'));
        assert.ok(gone.length > 0 && gone.every(line => /"error_kind":"(vanished|missing|changed)"/.test(line)), gone.join('\n'));
    });

    test('after a defect of the engine the page says what to report, and goes on', async () => {
        await give(page, database);
        await ask(page, 'scan', 'levels', '', '', false, false, 10);
        assert.equal((await ask(page, 'next')).rows.length, 10);
        assert.match(await ask(page, 'panic').catch(String), /asked for by a test/);
        // Another worker answers now, which knows of no scan.
        assert.equal(await ask(page, 'next'), undefined);
        assert.match(await textOf(page, '#alarm-text'), /^filterblock \d+\.\d+\.\d+\n.*Chrome[\s\S]*panicked at [\s\S]*asked for by a test/);
        assert.ok(await page.$eval('#alarm', alarm => !alarm.hidden && alarm.getAttribute('role') === 'alert'));
        assert.equal((await page.$$('#head .verdict')).length, 1);
        await press(page, 'Go on');
        await entries(page);
    });

    test('another folder while one is being read', async () => {
        const input = await page.$('#folder');
        await input.uploadFile(path.join(repository, 'testdata'));
        await page.waitForFunction(() => document.querySelector('#start').hidden || document.querySelector('#status').textContent !== '');
        await input.uploadFile(database);
        await looked(page);
        assert.match(await textOf(page, '#title'), /levels/);
        assert.ok(await page.$eval('#way', way => way.hidden));
    });

    test('another folder while one is being listed', async () => {
        await page.evaluate(() => {
            const entries = async function* () {
                await new Promise(resolve => globalThis.listed = resolve);
            };
            globalThis.showDirectoryPicker = async () => ({ name: 'slow', entries });
        });
        await click(page, '#folder');
        await page.waitForFunction(() => globalThis.listed);
        await give(page, database);
        const before = await textOf(page, 'main');
        await page.evaluate(() => listed());
        await new Promise(resolve => setTimeout(resolve, 300));
        assert.equal(await textOf(page, 'main'), before);
    });
});

describe('how it is used', () => {
    /** Presses Tab until something of this name has the focus. */
    async function tabTo(name) {
        for (let left = 80; left > 0; left -= 1) {
            await page.keyboard.press('Tab');
            const found = await page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent.trim());
            if (found.startsWith(name)) return;
        }
        assert.fail(`the keyboard does not reach ${name}`);
    }

    test('by the keyboard alone, up to the repaired database', async () => {
        await tabTo('a damaged world');
        await page.keyboard.press('Enter');
        await looked(page);
        await tabTo('Repair and save as .zip');
        await page.keyboard.press('Enter');
        await done(page, '#head', 'Put it back');
        await tabTo('Overview');
        await page.keyboard.press('ArrowRight');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-entries');
        await done(page, '#found', 'entries');
        await page.keyboard.press('ArrowRight');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-overview');
    });

    const axe = fs.readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
    /** Looks for what keeps people out, in light and dark, and for what is wider than the page. */
    async function check(what) {
        for (const value of ['light', 'dark']) {
            await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
            await page.evaluate(axe);
            const found = await page.evaluate(() => axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(node => node.html).slice(0, 3) }))));
            assert.deepEqual(found.filter(({ impact }) => impact === 'serious' || impact === 'critical'), [], `${what}, ${value}`);
        }
        for (const width of [360, 400, 800]) {
            await page.setViewport({ width, height: 740 });
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} at ${width} pixels`);
        }
        await page.setViewport({ width: 1280, height: 800 });
    }

    test('nothing serious keeps people out, and nothing is wider than the page', async () => {
        const sections = () => page.$$eval('details', all => all.forEach(details => details.open = true));
        await check('start');
        await press(page, 'a damaged world');
        await looked(page);
        await sections();
        await check('damaged');
        await entries(page);
        await page.$$eval('#rows .key', all => all[0].click());
        await check('entries');
        await press(page, 'Repair and save as .zip');
        await done(page, '#head', 'Put it back');
        await click(page, '#tab-overview');
        await sections();
        await check('repaired');
        for (const name of ['a sound one', 'no filters']) {
            await press(page, 'Open another');
            await press(page, name);
            await looked(page);
            await sections();
            await check(name);
        }
        await press(page, 'Open another');
        await (await page.$('#folder')).uploadFile(path.join(repository, 'testdata'));
        await done(page, '#title', 'read in');
        await sections();
        await check('list');
        await press(page, 'Open another');
        await give(page, path.join(repository, 'docs'));
        await check('no database');
        await ask(page, 'panic').catch(String);
        await check('defect');
    });

    test('from the disk, without a server', async () => {
        await reopen(fileUrl);
        await give(page, database);
        assert.match(await textOf(page, '.verdict .tag'), /^Fine/);
        await entries(page);
        assert.ok((await texts(page, '#rows .key')).length > 10);
    });

    test('a report is saved as it is shown', async () => {
        await give(page, database);
        await unfold(page, 'Save what was found');
        const file = await saved(page, 'Report .html');
        const shown = await textOf(page, '#head .verdict');
        const report = await browser.newPage();
        await report.goto(`file://${encodeURI(file)}`);
        assert.equal(await textOf(report, '.verdict'), shown);
        assert.ok(await report.$eval('.verdict', verdict => getComputedStyle(verdict).borderRadius !== '0px'));
        await report.close();
    });
});
