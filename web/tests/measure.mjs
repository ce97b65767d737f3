// Measures the page with a folder of 2 GB: `node measure.mjs [--copies] [--bars]`. The tables are links to one, or copies of it with
// --copies. Reads, bytes and the memory of the verdict have to be within their bars; with --bars, times and the memory with every
// block verified too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, ask, build, done, launch, open, scratch, status } from './browser.mjs';

const SIZE = Number(process.env.FILTERBLOCK_MEASURED ?? 2e9);
const BARS = { seconds: 10, memory: 300, share: 0.1, reads: 4, speed: 80 };

/** A table of 2 MB, as LevelDB makes them: Snappy, filters, blocks of 4 KiB. Half of each value is random. */
function table(file) {
    let state = 1;
    const random = () => (state = Math.imul(state, 1664525) + 1013904223 | 0) >>> 0;
    const entries = [];
    for (let at = 0; at < 27_000; at += 1) {
        const words = Array.from({ length: 7 }, () => random().toString(16).padStart(8, '0'));
        entries.push([`user/${String(at * 37).padStart(10, '0')}`, `{"name":"${words.join('')}","kind":"account","active":true,"balance":${at}}`]);
    }
    build(file, entries, '--internal-keys');
}

function folder(copies) {
    const folder = path.join(copies ? fs.mkdtempSync(path.join(process.env.SCRATCH ?? os.tmpdir(), 'filterblock-2gb-')) : scratch, 'large');
    fs.mkdirSync(folder, { recursive: true });
    const first = path.join(folder, '000001.ldb');
    table(first);
    const { size } = fs.statSync(first);
    const number = Math.ceil(SIZE / size);
    for (let at = 2; at <= number; at += 1) {
        const to = path.join(folder, `${String(at).padStart(6, '0')}.ldb`);
        copies ? fs.copyFileSync(first, to) : fs.linkSync(first, to);
    }
    return { folder, size: size * number, number };
}

/** The memory of the largest renderer of the browser, in MiB: pages that are shared count in part. */
function memory(parent) {
    const renderers = fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(pid => {
        try {
            const [command, rollup] = ['cmdline', 'smaps_rollup'].map(name => fs.readFileSync(`/proc/${pid}/${name}`, 'utf8'));
            if (!command.includes('--type=renderer') || !isBelow(pid, parent)) return 0;
            return Number(/^Pss:\s+(\d+)/m.exec(rollup)[1]) / 1024;
        } catch {
            return 0;
        }
    });
    return Math.max(...renderers);
}

/** The fields of a process from its parent on. @param {number | string} pid */
const stat = pid => fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) . /, '').split(' ');

function isBelow(pid, parent) {
    for (let at = Number(pid); at > 1;) {
        if (at === parent) return true;
        at = Number(stat(at)[0]);
    }
    return false;
}

/** The processor time of all processes of the browser, in seconds. On a busy machine it says more than the clock. */
function processor(parent) {
    const times = fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(pid => {
        try {
            return isBelow(pid, parent) ? Number(stat(pid)[10]) + Number(stat(pid)[11]) : 0;
        } catch {
            return 0;
        }
    });
    return times.reduce((sum, time) => sum + time) / 100;
}

const copies = process.argv.includes('--copies');
const made = folder(copies);
const server = await new Server().start();
const browser = await launch();
try {
    const pid = browser.process().pid;
    await (await browser.newPage()).goto('about:blank');
    await new Promise(resolve => setTimeout(resolve, 1000));
    const empty = memory(pid);
    const { page } = await open(browser, server.url);
    let most = 0;
    const watch = setInterval(() => most = Math.max(most, memory(pid)), 200);
    const [began, used] = [performance.now(), processor(pid)];
    await (await page.$('#folder')).uploadFile(made.folder);
    const listed = performance.now();
    const cost = { reads: 0, bytes: 0 };
    for (const text of ['index and filters alone', 'and samples']) {
        await done(page, '#look .result .dim', text);
        const now = await page.evaluate(() => filterblock.counts());
        // The counts are those of the last answer: that with samples, if it has come already.
        console.log(`${text}: ${((performance.now() - listed) / 1000).toFixed(1)} s, ${now.reads} reads, ${(now.bytes / 1e6).toFixed(1)} MB`);
    }
    const seconds = (performance.now() - began) / 1000;
    const usedByLook = processor(pid) - used;
    clearInterval(watch);
    const memoryOfLook = most - empty;
    for (const call of ['ends', 'samples']) {
        await ask(page, call, 'large');
        const now = await page.evaluate(() => filterblock.counts());
        cost.reads += now.reads;
        cost.bytes += now.bytes;
    }
    const [verifying, usedBefore] = [performance.now(), processor(pid)];
    const again = setInterval(() => most = Math.max(most, memory(pid)), 200);
    await ask(page, 'verified', 'large');
    clearInterval(again);
    const speed = made.size / 1e6 / ((performance.now() - verifying) / 1000);
    const usedByVerify = processor(pid) - usedBefore;
    const found = {
        folder: `${made.number} tables, ${(made.size / 1e9).toFixed(2)} GB, ${copies ? 'copies' : 'links'}`,
        'verdict from samples, s': seconds.toFixed(1),
        'memory of the verdict above an empty page, MiB': memoryOfLook.toFixed(0),
        'memory with every block verified, MiB': (most - empty).toFixed(0),
        'share of the bytes read': (cost.bytes / made.size).toFixed(4),
        'reads a table': (cost.reads / made.number).toFixed(2),
        'every block verified, MB/s': speed.toFixed(0),
        'processor time of the verdict, and with every block verified, s': `${usedByLook.toFixed(1)}, ${usedByVerify.toFixed(1)}`,
        'load of the machine': `${os.loadavg()[0].toFixed(1)} of ${os.cpus().length} processors`,
        status: await status(page),
    };
    console.log(found);
    assert.ok(memoryOfLook <= BARS.memory && cost.bytes / made.size <= BARS.share && cost.reads / made.number <= BARS.reads);
    assert.ok(!process.argv.includes('--bars') || (seconds <= BARS.seconds && speed >= BARS.speed && most - empty <= BARS.memory));
    assert.deepEqual(server.asked, []);
} finally {
    await browser.close();
    server.end();
    if (copies) fs.rmSync(path.dirname(made.folder), { recursive: true });
}
