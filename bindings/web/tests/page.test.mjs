// The page in a browser: what is given, what is shown, and what does not leave it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { Server, ask, assertSame, build, click, copied, damage, done, fileUrl, give, launch, lines, looked, native, open,
    repository, scratch, status } from './browser.mjs';

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
    const left = opened.requests.filter(url => !/^(blob|data):/.test(url) && url !== 'about:srcdoc');
    assert.equal(left.length, 1, left.join(' '));
    assert.deepEqual(server.asked, []);
});

const database = path.join(repository, 'testdata/databases/levels');
const frame = async (page, panel) => (await page.waitForSelector(`#${panel} iframe`)).contentFrame();
const texts = (page, selector) => page.$$eval(selector, all => all.map(element => element.textContent));

async function show(page, tab, selector) {
    await click(page, `#tab-${tab}`);
    if (selector) await click(page, selector);
}

async function entries(page, prefix = '') {
    await show(page, 'entries');
    await page.$eval('#prefix', (input, prefix) => input.value = prefix, prefix);
    await click(page, '#scan button');
    await page.waitForFunction(() => /entr(y|ies)/.test(document.querySelector('#found').textContent));
}

async function drop(...files) {
    const session = await page.createCDPSession();
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', { type, x: 100, y: 100, data });
}

describe('what is shown', () => {
    test('a database is looked at, verified and tuned, and its entries are listed', async () => {
        await give(page, database);
        assert.match(await status(page), /samples.*fine/i);
        assert.match(await (await frame(page, 'look')).$eval('.verdict', element => element.textContent), /Fine/);
        await show(page, 'verify', '[data-step=verify]');
        await done(page, '#verify .dim', 'Every block was read');
        assert.match(await (await frame(page, 'verify')).$eval('body', element => element.textContent), /Every block/);
        await show(page, 'tune', '[data-step=tune]');
        await done(page, '#tune .dim', 'other filters tried');
        assert.match(await (await frame(page, 'tune')).$eval('body', element => element.textContent), /Other filters/);
        // The earlier frame stays.
        assert.equal((await page.$$('#look iframe')).length, 1);
        await entries(page);
        const all = (await native(database, ['scan', '--json', '.'])).split('\n').filter(line => line.includes('"object":"entry"'));
        assert.equal((await texts(page, '#found'))[0], `${all.length} entries`);
        const shown = await texts(page, '.line .key');
        assert.ok(shown.length > 10 && shown.length < all.length, `${shown.length}`);
        assert.deepEqual(shown, all.slice(0, shown.length).map(line => JSON.parse(line).key));
        await entries(page, 'item/01');
        const some = all.filter(line => JSON.parse(line).key.startsWith('item/01'));
        assert.equal((await texts(page, '#found'))[0], `${some.length} entries`);
    });

    test('the sample needs no file', async () => {
        await click(page, '#sample');
        await looked(page);
        assert.equal((await texts(page, '#path'))[0], 'sample');
        assertSame(await lines(page, 'verify', 'sample'), (await native(path.dirname(database), ['verify', '--json', 'unfiltered'])).replaceAll('"unfiltered', '"sample'), 'sample');
    });

    test('all databases below a folder are listed with their sizes', async () => {
        await (await page.$('#folder')).uploadFile(path.join(repository, 'testdata'));
        await page.waitForSelector('#places-list button');
        const listed = await texts(page, '#places-list button');
        assert.ok(listed.some(text => text.startsWith('testdata/databases/levels') && text.includes('database, 3 tables, 25.5 KiB')), listed.join('\n'));
        assert.ok(listed.length >= 8, listed.join('\n'));
        await page.$$eval('#places-list button', all => all.find(button => button.textContent.includes('unfiltered')).click());
        await looked(page);
        assert.match(await status(page), /Fine/);
        assert.equal((await page.$$('#places-list [aria-current=true]')).length, 1);
    });

    test('a single table and a single log are looked at by themselves', async () => {
        await (await page.$('#files')).uploadFile(path.join(database, '000005.ldb'));
        await looked(page);
        assert.equal((await texts(page, '#path'))[0], 'files/000005.ldb');
        await reopen();
        await (await page.$('#files')).uploadFile(path.join(database, '000010.log'));
        await page.waitForSelector('#database:not([hidden])');
        await page.waitForFunction(() => document.querySelector('#work').hidden);
        await entries(page);
        assert.match((await texts(page, '#found'))[0], /^\d+ entries$/);
    });

    test('a folder that is dropped is looked at', async () => {
        await drop(database);
        await looked(page);
        assert.equal((await texts(page, '#path'))[0], 'levels');
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
        await click(page, '#picker');
        await looked(page);
        await page.waitForFunction(() => /damaged|missing/i.test(document.querySelector('#status').textContent));
        await page.evaluate(() => write('000009.ldb'));
        await click(page, '#again');
        await page.waitForFunction(() => document.querySelector('#status').textContent.includes('Fine.'));
    });

    test('an empty folder and one that is no database say so', async () => {
        const folder = path.join(scratch, 'no database');
        fs.mkdirSync(folder);
        fs.writeFileSync(path.join(folder, 'readme.txt'), 'nothing');
        await (await page.$('#folder')).uploadFile(folder);
        await done(page, '#status', 'No database in one file');
        await page.evaluate(() => globalThis.showDirectoryPicker = () => navigator.storage.getDirectory().then(root => root.getDirectoryHandle('empty', { create: true })));
        await click(page, '#picker');
        await done(page, '#status', 'There is no file in it');
    });

    test('what is damaged is told as the program tells it', async () => {
        const folder = copied('databases/levels', 'damaged');
        damage(path.join(folder, '000005.ldb'), 100);
        damage(path.join(folder, '000007.ldb'), -60);
        await give(page, folder);
        assertSame(await lines(page, 'verify', 'damaged'), await native(scratch, ['verify', '--json', 'damaged']), 'damaged');
        await show(page, 'verify', '[data-step=verify]');
        await done(page, '#verify .dim', 'Every block was read');
        assert.match(await status(page), /damaged/i);
        assert.equal((await texts(page, '#repair'))[0], 'filterblock repair damaged --to damaged-repaired');
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

    test('ten thousand tables', async () => {
        await give(page, many());
        assert.match(await (await frame(page, 'look')).$eval('body', element => element.textContent), /10,000/);
    });

    test('ten thousand tables that are dropped', async () => {
        await drop(many());
        await page.waitForSelector('#places-list button');
        assert.match((await texts(page, '#places-list button'))[0], /10,000 tables/);
    });
});

describe('what may be hostile', () => {
    const evil = '<img src=x onerror=alert(1)>';

    test('names, keys and values are text', async () => {
        const folder = path.join(scratch, `${evil}\u202e${'x'.repeat(60)}`);
        const script = '<script>alert(1)</script>';
        build(path.join(folder, `${evil}.ldb`), [[evil, script], ['\u202ekey\u2066', '\u0000\u001b[31m'], [script, Buffer.alloc(3 << 20, 60)]].sort());
        await give(page, folder);
        const shown = (await texts(page, '#path'))[0];
        assert.ok(shown.includes(evil) && !shown.includes('\u202e') && shown.includes('\\u{202e}'), shown);
        await entries(page);
        const keys = await texts(page, '.line .key');
        assert.deepEqual(keys, [evil, script, '\\xe2\\x80\\xaekey\\xe2\\x81\\xa6']);
        for (const line of await page.$$('.line')) await line.evaluate(line => line.click());
        assert.deepEqual(await page.$$('main img, main script, .line *:not(span)'), []);
        assert.ok((await texts(page, '.line .value'))[2].startsWith('\\x00\\x1b[31m'));
        const report = await frame(page, 'look');
        assert.deepEqual(await report.$$('img, script'), []);
    });

    test('a value of megabytes is cut, and saved whole', async () => {
        const folder = path.join(scratch, 'large');
        const value = Buffer.alloc(5 << 20, 'ä<b>');
        build(path.join(folder, '000005.ldb'), [['a', 'small'], ['b', value], ['c', '']]);
        await give(page, folder);
        await entries(page);
        await page.$eval('#row-1', line => line.click());
        const [, cut] = await texts(page, '#detail code');
        assert.ok(cut.length < 400 && cut.endsWith('… (5,242,880 bytes)'), cut);
        const saved = await page.evaluate(async () => {
            let blob;
            const made = URL.createObjectURL;
            URL.createObjectURL = given => made.call(URL, blob = given);
            document.querySelector('#value').click();
            while (!blob) await new Promise(resolve => setTimeout(resolve, 10));
            URL.createObjectURL = made;
            return Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer())));
        });
        const { createHash } = await import('node:crypto');
        assert.deepEqual(Buffer.from(saved), createHash('sha256').update(value).digest());
    });

    test('folders of one name stay two, and one with the name of a scheme is a folder', async () => {
        for (const [parent, name] of [['one', 'db'], ['two', 'db'], ['three', 'file:']]) {
            fs.cpSync(database, path.join(scratch, parent, name), { recursive: true });
        }
        await drop(...['one/db', 'two/db', 'three/file:'].map(folder => path.join(scratch, folder)));
        await page.waitForSelector('#places-list button');
        const names = await texts(page, '#places-list code');
        // The browser may have given the second folder another name already.
        assert.match(names.join(), /^\.\/file:,db,db \(\d\)$/);
        await page.$$eval('#places-list button', all => all[0].click());
        await looked(page);
        assert.match(await status(page), /Fine/);
    });

    test('nothing leaves the page, its worker or a report, whatever runs in them', async () => {
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
            return {
                fetch: await failed(fetch(leak)),
                image: await loaded,
                worker: await new Promise(resolve => blob.onmessage = event => resolve(event.data)),
                socket: await connected,
                script: globalThis.ran ? 'done' : 'refused',
            };
        }, leak);
        assert.deepEqual(tried, { fetch: 'refused', image: 'refused', worker: 'refused', socket: 'refused', script: 'refused' });
        assert.equal(await page.$eval('#look iframe', frame => frame.getAttribute('sandbox')), '');
        // As a report would act if something had come into it.
        await page.$eval('#look iframe', (frame, leak) => {
            frame.srcdoc = frame.srcdoc.replace(/<meta http-equiv[^>]*>/, '')
                .replace('</body>', `<script>fetch('${leak}')</script><img src="${leak}" onerror="fetch('${leak}')"></body>`);
        }, leak);
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
        await show(page, 'verify', '[data-step=verify]');
        await page.waitForFunction(() => document.querySelector('progress').value > 0 && !document.querySelector('#work').hidden);
        await click(page, '#cancel');
        await page.waitForFunction(() => document.querySelector('#work').hidden, { timeout: 1000 });
        assert.match(await status(page), /^Cancelled/);
        // The worker ends, whatever it is doing.
        for (let left = 50; left > 0 && page.workers().length > 0; left -= 1) await new Promise(resolve => setTimeout(resolve, 100));
        assert.equal(page.workers().length, 0);
        assert.equal((await page.$$('#look iframe')).length, 1);
        assert.equal((await page.$$('#verify iframe')).length, 0);
        // The page goes on, and so does the list of entries.
        await entries(page);
        assert.match((await texts(page, '#found'))[0], /^500 entries so far/);
        const running = ask(page, 'verified', 'long').catch(String);
        await new Promise(resolve => setTimeout(resolve, 200));
        await page.evaluate(() => filterblock.cancel());
        assert.match(await running, /cancelled/);
        await page.$eval('#grid', grid => grid.scrollTop = grid.scrollHeight);
        await done(page, '#found', '1,000 entries so far');
        const last = await page.evaluate(() => filterblock.ask('scan', 'long', '', '', false, false, 1000).then(() => filterblock.ask('next')).then(batch => batch.rows.at(-1).key.text));
        await page.$eval('#grid', grid => grid.focus());
        await page.keyboard.press('End');
        assert.equal((await texts(page, '#detail code'))[0], last);
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
        for (const [command, depth] of [['inspect', 'tail'], ['verify'], ['inspect'], ['scan']]) {
            const found = (await lines(page, command, 'changing', depth)).split('\n').filter(line => line.includes('error_kind":"'));
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
        const report = (await texts(page, '#alarm-text'))[0];
        assert.match(report, /^filterblock \d+\.\d+\.\d+\n.*Chrome[\s\S]*panicked at [\s\S]*asked for by a test/);
        assert.ok(await page.$eval('#alarm', alarm => !alarm.hidden && alarm.getAttribute('role') === 'alert'));
        assert.equal((await page.$$('#look iframe')).length, 1);
        await show(page, 'verify', '[data-step=verify]');
        await done(page, '#verify .dim', 'Every block was read');
    });

    test('another folder while one is being read', async () => {
        const input = await page.$('#folder');
        const before = await status(page);
        await input.uploadFile(path.join(repository, 'testdata'));
        // The browser lists folders side by side, and may tell of the small one first.
        await page.waitForFunction(before => document.querySelector('#status').textContent !== before, {}, before);
        await input.uploadFile(database);
        await looked(page);
        assert.equal((await texts(page, '#path'))[0], 'levels');
        assert.equal((await texts(page, '#places-list button')).length, 1);
    });

    test('another folder while one is being listed', async () => {
        await page.evaluate(() => {
            const entries = async function* () {
                await new Promise(resolve => globalThis.listed = resolve);
            };
            globalThis.showDirectoryPicker = async () => ({ name: 'slow', entries });
        });
        await click(page, '#picker');
        await page.waitForFunction(() => globalThis.listed);
        await give(page, database);
        const before = await status(page);
        await page.evaluate(() => listed());
        await new Promise(resolve => setTimeout(resolve, 300));
        assert.equal(await status(page), before);
        assert.equal((await texts(page, '#path'))[0], 'levels');
    });
});

describe('how it is used', () => {
    test('by the keyboard', async () => {
        await click(page, '#sample');
        await looked(page);
        await page.focus('#tab-look');
        const tab = () => page.evaluate(() => document.activeElement.id);
        await page.keyboard.press('ArrowRight');
        assert.equal(await tab(), 'tab-verify');
        await page.keyboard.press('End');
        assert.equal(await tab(), 'tab-more');
        await page.keyboard.press('ArrowRight');
        assert.equal(await tab(), 'tab-look');
        await entries(page);
        await page.focus('#grid');
        for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
        assert.equal(await page.$eval('#grid', grid => grid.getAttribute('aria-activedescendant')), 'row-1');
        assert.equal((await page.$$('.line[aria-selected=true]')).length, 1);
    });

    test('every control has a name', async () => {
        await click(page, '#sample');
        await looked(page);
        for (const tab of ['look', 'verify', 'tune', 'entries', 'more']) {
            await show(page, tab);
            const tree = JSON.stringify(await page.accessibility.snapshot({ interestingOnly: true }));
            for (const [, role] of tree.matchAll(/"role":"(button|textbox|checkbox|tab|grid|progressbar|Iframe)","name":""/g)) assert.fail(`${tab}: a ${role} without a name`);
        }
    });

    test('at 360 pixels nothing is wider than the page', async () => {
        await page.setViewport({ width: 360, height: 740 });
        await click(page, '#sample');
        await looked(page);
        await entries(page);
        await page.$eval('#row-0', line => line.click());
        for (const tab of ['look', 'verify', 'tune', 'entries', 'more']) {
            await show(page, tab);
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360), tab);
        }
    });

    test('from the disk, without a server', async () => {
        await reopen(fileUrl);
        await give(page, database);
        assert.match(await status(page), /Fine/);
        await entries(page);
        assert.ok((await texts(page, '.line')).length > 10);
    });

    test('the report is saved as it is shown', async () => {
        await give(page, database);
        const saved = await page.evaluate(async () => {
            let blob;
            const made = URL.createObjectURL;
            URL.createObjectURL = given => made.call(URL, blob = given);
            document.querySelector('#look .row button:not([data-step])').click();
            URL.createObjectURL = made;
            return blob.text();
        });
        assert.match(saved, /^<!DOCTYPE html>[\s\S]*<\/html>$/);
        assert.equal(saved, await page.$eval('#look iframe', frame => frame.srcdoc));
    });
});
