// What the engine in the browser finds is what the program finds, for everything in testdata and for damaged copies of it: lines of JSON,
// and the report.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Server, ask, assertSame, copied, damage, done, launch, lines, native, open, repository, scratch } from './browser.mjs';

/** The questions, and the arguments with which the program asks the same. */
const QUESTIONS = [
    ['verify', 'sample', false, ['verify', '--json']],
    ['tune', 'sample', false, ['tune', '--json']],
    ['scan', 'sample', false, ['scan', '--json']],
    ['scan', 'sample', true, ['scan', '--json', '--all']],
];

/** The folders below a folder with tables or logs in them, and the tables and logs. */
function* below(folder, name) {
    const entries = fs.readdirSync(path.join(folder, name), { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1);
    if (entries.some(entry => /^CURRENT$|\.(ldb|sst|log)$/.test(entry.name))) yield name;
    for (const entry of entries) {
        const inner = `${name}/${entry.name}`;
        if (entry.isDirectory()) yield* below(folder, inner);
        else if (/\.(ldb|sst|log)$/.test(entry.name)) yield inner;
    }
}

async function compare(folder, name) {
    const server = await new Server().start();
    const browser = await launch();
    try {
        const { page, told } = await open(browser, server.url);
        await (await page.$('#folder')).uploadFile(path.join(folder, name));
        await page.waitForSelector('#places table');
        await done(page, '#title', 'read in');
        let compared = 0;
        for (const one of [...below(folder, name), `${name}/nothing`]) {
            for (const [command, depth, all, args] of QUESTIONS) {
                const [found, expected] = await Promise.all([lines(page, command, one, depth, all), native(folder, [...args, one])]);
                assert.notEqual(expected, '');
                assertSame(found, expected, `${args.join(' ')} ${one}`);
                compared += 1;
            }
            // A report is that of the program, except that a browser knows of no rebuild in place.
            if (/\.\w+$/.test(one)) continue;
            const report = await ask(page, 'all', one).then(([, body]) => body, () => '');
            const file = path.join(scratch, 'report.html');
            await native(folder, ['report', one, '-o', file]);
            const [, expected] = fs.existsSync(file) ? /<main>([^]*)<\/main>/.exec(fs.readFileSync(file, 'utf8')) : ['', ''];
            fs.rmSync(file, { force: true });
            if (!expected.includes('--in-place')) assertSame(report.replaceAll('<', '\n<'), expected.replaceAll('<', '\n<'), `report ${one}`);
        }
        assert.deepEqual(told, []);
        assert.deepEqual(server.asked, []);
        return compared;
    } finally {
        await browser.close();
        server.end();
    }
}

test('all of testdata', async () => {
    assert.ok(await compare(repository, 'testdata') > 240);
});

test('damaged databases', async () => {
    const levels = name => copied('databases/levels', `broken/${name}`);
    for (const [name, file, at] of [['block', '000005.ldb', 100], ['index', '000005.ldb', -100], ['footer', '000007.ldb', -3], ['filter', '000009.ldb', -400],
        ['manifest', 'MANIFEST-000008', 40], ['log', '000010.log', 900], ['current', 'CURRENT', 0]]) damage(path.join(levels(name), file), at);
    fs.truncateSync(path.join(levels('cut'), '000005.ldb'), 7000);
    fs.truncateSync(path.join(levels('empty table'), '000007.ldb'), 0);
    fs.rmSync(path.join(levels('no current'), 'CURRENT'));
    fs.rmSync(path.join(levels('no manifest'), 'MANIFEST-000008'));
    fs.rmSync(path.join(levels('no table'), '000009.ldb'));
    assert.ok(await compare(scratch, 'broken') > 200);
});
