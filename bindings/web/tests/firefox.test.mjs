// The page in Debian's Firefox, by WebDriver BiDi, which can give files there, but no folder.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { Server, ask, assertSame, click, copied, done, fileUrl, launch, lines, looked, native, open, press, scratch, textOf } from './browser.mjs';

const server = await new Server().start();
const browser = await launch('firefox');
after(async () => {
    await browser.close();
    server.end();
});

const folder = copied('databases/levels', 'files');
const files = fs.readdirSync(folder).map(name => path.join(folder, name));

async function given(url) {
    const opened = await open(browser, url);
    await (await opened.page.$('#files')).uploadFile(...files);
    await looked(opened.page);
    return opened;
}

for (const url of [server.url, fileUrl]) {
    test(`a database, from ${url.split(':')[0]}:`, async () => {
        const { page, told, requests } = await given(url);
        assert.match(await textOf(page, '.verdict .tag'), /^Fine/);
        for (const [command, all, args] of [['verify', false, []], ['tune', false, []], ['scan', true, ['--all']]]) {
            assertSame(await lines(page, command, 'files', 'sample', all), await native(scratch, [command, '--json', ...args, 'files']), command);
        }
        await click(page, '#tab-entries');
        await done(page, '#found', 'entries so far');
        await press(page, 'Open another');
        await press(page, 'a damaged world');
        await looked(page);
        await press(page, 'Repair and save as .zip');
        await done(page, '#head', 'Put it back');
        assert.match(await textOf(page, '#head'), /Sample-of-a-damaged-world-db\.zip/);
        assert.match(await ask(page, 'panic').catch(String), /asked for by a test/);
        await ask(page, 'all', 'Sample of a damaged world/db');
        assert.deepEqual(told, []);
        assert.deepEqual(requests.filter(request => request !== url), []);
        assert.deepEqual(server.asked, []);
        await page.close();
    });
}

test('a file that becomes shorter is not damaged, and nothing leaves the page', async () => {
    const { page } = await given(server.url);
    fs.truncateSync(path.join(folder, '000005.ldb'), 5000);
    const found = (await lines(page, 'verify', 'files')).split('\n').filter(line => line.includes('error_kind":"'));
    assert.ok(found.length > 0 && found.every(line => /"error_kind":"(changed|unreadable)"/.test(line)), found.join('\n'));
    const tried = await page.evaluate(async leak => {
        const failed = promise => promise.then(() => 'done', () => 'refused');
        const worker = new Worker(URL.createObjectURL(new Blob([`fetch('${leak}').then(() => postMessage('done'), () => postMessage('refused'))`])));
        return [await failed(fetch(leak)), await new Promise(resolve => worker.onmessage = event => resolve(event.data))];
    }, `${server.url}leak`);
    assert.deepEqual(tried, ['refused', 'refused']);
    assert.deepEqual(server.asked, []);
    await page.close();
});
