// A repair in the browser: the database in the .zip is the one that the program makes.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Server, build, copied, damage, done, fileUrl, give, launch, looked, native, open, press, program, repository, saved, scratch, textOf, unfold } from './browser.mjs';

const server = await new Server().start();
const browser = await launch();
after(async () => {
    await browser.close();
    server.end();
});

const BUTTON = 'Repair and save as .zip';
const python = process.env.FILTERBLOCK_PYTHON ?? 'python3';
const run = (...args) => execFileSync(python, args, { encoding: 'utf8', maxBuffer: 1 << 28 });

/** Opens the page, and checks afterwards that it has asked for nothing and said nothing. */
async function withPage(work, url = server.url) {
    const { page, told, requests } = await open(browser, url);
    try {
        await work(page);
        assert.deepEqual(told, []);
        assert.deepEqual(requests.filter(request => request !== url), []);
        assert.deepEqual(server.asked, []);
    } finally {
        await page.close();
    }
}

/** Repairs what is shown, and unpacks the .zip. Returns the one folder in it. */
async function repaired(page) {
    const zip = await saved(page, BUTTON);
    await done(page, '#head', 'Put it back');
    const folder = `${zip} unpacked`;
    run('-m', 'zipfile', '-e', zip, folder);
    const [inner, ...others] = fs.readdirSync(folder);
    assert.deepEqual(others, []);
    return { zip, database: path.join(folder, inner) };
}

/** Repairs a folder by the program and by the page, and compares the two. False: the page offers no repair. */
async function compare(page, folder) {
    const target = `${folder} by the program`;
    const { status, stderr } = spawnSync(program, ['repair', folder, '--to', target], { encoding: 'utf8' });
    if (await page.$('#another:not([hidden])')) await press(page, 'Open another');
    await give(page, folder);
    if (!await page.evaluate(name => [...document.querySelectorAll('button')].some(button => button.textContent === name), BUTTON)) return false;
    if (status !== 0 && status !== 5) {
        await press(page, BUTTON);
        await page.waitForFunction(() => document.querySelector('#status').textContent !== '');
        assert.ok(!(await textOf(page, '#head')).includes('Put it back'), stderr);
        return true;
    }
    const { database } = await repaired(page);
    const scan = async of => (await native(path.dirname(of), ['scan', '--json', path.basename(of)])).replaceAll(JSON.stringify(path.basename(of)).slice(1, -1), '');
    assert.equal(await scan(database), await scan(target), folder);
    assert.equal(spawnSync(program, ['verify', database]).status, 0, folder);
    opens(database);
    fs.rmSync(target, { recursive: true });
    fs.rmSync(database, { recursive: true });
    return true;
}

const hasPlyvel = spawnSync(python, ['-c', 'import plyvel, crc32c, cramjam']).status === 0;
/** LevelDB opens a database, and reads all of it. Of keys in an order of Chromium's it knows none. */
function opens(database) {
    if (!hasPlyvel) return;
    const script = 'import sys, plyvel\ntry: db = plyvel.DB(sys.argv[1], paranoid_checks=True)\nexcept plyvel.Error as e: assert "comparator" in str(e), e\nelse:\n    for _ in db: pass\n    db.close()';
    run('-c', script, database);
}

const cases = process.env.FILTERBLOCK_CASES ?? path.join(repository, '../shared/cases');
const hasCases = fs.existsSync(cases);

describe('as the program does it', () => {
    const break_ = {
        block: folder => damage(path.join(folder, '000005.ldb'), 100),
        index: folder => damage(path.join(folder, '000005.ldb'), -100),
        zeros: folder => {
            const file = path.join(folder, '000007.ldb');
            fs.writeFileSync(file, fs.readFileSync(file).fill(0, 500, 1500));
        },
        manifest: folder => fs.rmSync(path.join(folder, 'MANIFEST-000008')),
        current: folder => fs.rmSync(path.join(folder, 'CURRENT')),
        table: folder => fs.rmSync(path.join(folder, '000009.ldb')),
        log: folder => damage(path.join(folder, '000010.log'), 900),
    };
    for (const [name, destroy] of Object.entries(break_)) {
        test(`testdata, damaged: ${name}`, async () => {
            const folder = copied('databases/levels', `levels ${name}`);
            destroy(folder);
            await withPage(async page => assert.ok(await compare(page, folder)), name === 'current' ? fileUrl : server.url);
        });
    }

    test('cases from public reports', { skip: !hasCases }, async () => {
        const make = path.join(cases, 'reports/make.py');
        let count = 0;
        await withPage(async page => {
            for (const name of run(make, 'list').split('\n').filter(Boolean)) {
                const folder = path.join(scratch, 'reports', name);
                fs.mkdirSync(folder, { recursive: true });
                run(make, name, folder);
                count += await compare(page, folder);
            }
        });
        assert.ok(count >= 5, `${count}`);
    });

    test('kinds of damage', { skip: !hasCases || !hasPlyvel }, async () => {
        const bases = path.join(scratch, 'bases');
        fs.mkdirSync(bases);
        run(path.join(cases, 'repair/gen.py'), bases);
        const script = `import os, random, shutil, sys
sys.path.insert(0, sys.argv[1])
import damages
base, to = sys.argv[2:]
for number, (name, damage) in enumerate(damages.cases(base).items()):
    work = f"{to}/{number:02} {name}".replace("%", "").replace(":", "")
    shutil.copytree(base + "/db", work)
    damage(work, random.Random(number))`;
        const all = fs.readdirSync(bases).sort();
        let count = 0;
        for (const [at, base] of all.entries()) {
            const made = path.join(scratch, 'damaged', base);
            fs.mkdirSync(made, { recursive: true });
            run('-c', script, path.join(cases, 'repair'), path.join(bases, base), made);
            await withPage(async page => {
                // Each kind on one of the bases.
                for (const name of fs.readdirSync(made).sort().filter((_, number) => number % all.length === at)) {
                    count += await compare(page, path.join(made, name));
                }
            });
            fs.rmSync(made, { recursive: true });
        }
        assert.ok(count >= 40, `${count}`);
    });
});

test('the samples need no file; a damaged world is put back in three steps', async () => {
    await withPage(async page => {
        await press(page, 'a damaged world');
        await looked(page);
        const { zip, database } = await repaired(page);
        assert.equal(path.basename(zip), 'Sample-of-a-damaged-world-db.zip');
        assert.equal(path.basename(database), 'db');
        assert.deepEqual(await page.$$eval('.steps li', all => all.map(item => item.textContent)), ['Close Minecraft, and copy the folder of the world.',
            'In it, rename db to db-damaged.', 'Unpack the .zip there: it has a folder db.']);
        // The same file, without another repair.
        assert.ok(fs.readFileSync(await saved(page, 'Save the .zip again')).equals(fs.readFileSync(zip)));
        await unfold(page, 'Save what was found');
        assert.match(fs.readFileSync(await saved(page, 'Report .html'), 'utf8'), /^<!DOCTYPE html>[\s\S]*<\/html>$/);
        // The page knows the folder as it is still.
        await press(page, 'Open another');
        await press(page, 'a sound one');
        await looked(page);
        assert.equal(await page.$$eval('button', (all, name) => all.filter(button => button.textContent === name).length, BUTTON), 0);
    });
});

test('names of files and folders act on nothing', async () => {
    const evil = '<img src=x onerror=alert(1)>\u202e';
    const folder = path.join(scratch, `..${evil}`);
    build(path.join(folder, '000005.ldb'), [[evil, '<script>alert(1)</script>'], ['b', 'c']].sort(), '--internal-keys');
    fs.writeFileSync(path.join(folder, 'CURRENT'), `MANIFEST-${evil}\n`);
    fs.writeFileSync(path.join(folder, `000007 ${evil}.ldb`), evil);
    await withPage(async page => {
        await give(page, folder);
        await repaired(page).then(({ zip, database }) => {
            assert.match(path.basename(zip), /^[^<>\u202e/]+\.zip$/);
            assert.match(path.basename(database), /^[^<>.\u202e/][^<>\u202e/]*$/);
        });
        assert.deepEqual(await page.$$('main img, main script, main [onerror]'), []);
        assert.ok(!(await textOf(page, 'main')).includes('\u202e'));
    });
});

test('a repair is cancelled at once, and can be done again', async () => {
    const folder = path.join(scratch, 'long');
    const value = Buffer.alloc(1000, 'v');
    for (let number = 3; number < 83; number += 1) {
        const keys = Array.from({ length: 1000 }, (_, at) => [`key/${String(number * 1000 + at).padStart(8, '0')}`, value]);
        build(path.join(folder, `${String(number).padStart(6, '0')}.ldb`), keys, '--compression', 'none', '--internal-keys');
    }
    fs.writeFileSync(path.join(folder, 'CURRENT'), 'MANIFEST-000002\n');
    await withPage(async page => {
        await give(page, folder);
        await press(page, BUTTON);
        await page.waitForFunction(() => !document.querySelector('#work').hidden && document.querySelector('progress').value > 0);
        await press(page, 'Cancel');
        await page.waitForFunction(() => document.querySelector('#work').hidden, { timeout: 1000 });
        assert.match(await textOf(page, '#status'), /^Cancelled/);
        for (let left = 50; left > 0 && page.workers().length > 0; left -= 1) await new Promise(resolve => setTimeout(resolve, 100));
        assert.equal(page.workers().length, 0);
        await repaired(page);
    });
});

test('what cannot be repaired is refused with a reason', async () => {
    const folder = path.join(scratch, 'hopeless');
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, 'CURRENT'), 'MANIFEST-000002\n');
    fs.writeFileSync(path.join(folder, '000005.ldb'), Buffer.alloc(5000, 'x'));
    await withPage(async page => {
        await give(page, folder);
        await press(page, BUTTON);
        await page.waitForFunction(() => document.querySelector('#status').textContent !== '');
        assert.match(await textOf(page, '#status'), /nothing can be saved/);
    });
});
