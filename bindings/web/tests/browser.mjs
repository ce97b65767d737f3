// A browser with the page in it, a server that counts what is asked of it, and folders to give.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import puppeteer from 'puppeteer-core';

export const repository = fileURLToPath(new URL('../../..', import.meta.url));
export const pageFile = process.env.FILTERBLOCK_PAGE ?? path.join(repository, 'bindings/web/target/filterblock.html');
export const program = process.env.FILTERBLOCK_PROGRAM ?? path.join(repository, 'target/debug/filterblock');

/** A folder for the files of a test. */
export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'filterblock web ä '));
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));

/** Answers `/` with the page, and keeps what else it is asked for. */
export class Server {
    /** @type {string[]} */
    asked = [];
    pages = 0;
    #server = http.createServer((request, response) => {
        if (request.url === '/') {
            this.pages += 1;
            response.setHeader('content-type', 'text/html; charset=utf-8');
            response.end(fs.readFileSync(pageFile));
        } else {
            this.asked.push(request.url);
            response.end();
        }
    });

    async start() {
        await new Promise(resolve => this.#server.listen(0, '127.0.0.1', resolve));
        return this;
    }

    get url() {
        return `http://127.0.0.1:${this.#server.address().port}/`;
    }

    end() {
        this.#server.closeAllConnections();
        this.#server.close();
    }
}

/** The browser that tests of both run in. */
export const browserName = process.env.FILTERBLOCK_BROWSER ?? 'chromium';
/** Where Firefox puts what a page saves. */
const downloads = path.join(scratch, 'downloads');

export function launch(name = browserName) {
    const extraPrefsFirefox = { 'browser.download.folderList': 2, 'browser.download.dir': downloads, 'browser.download.always_ask_before_handling_new_types': false };
    const firefox = { browser: 'firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', extraPrefsFirefox };
    const chromium = { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] };
    return puppeteer.launch({ headless: true, protocolTimeout: 300_000, ...name === 'firefox' ? firefox : chromium });
}

/** Opens the page. What its console says, and what it asks of any server, is kept. Firefox asks for an icon of its own accord, which the policy
 * refuses, and names what the page holds itself as requests. */
export async function open(browser, url) {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    const told = [], requests = [];
    const tell = text => text.includes('favicon.ico') || told.push(text);
    page.on('console', message => tell(message.text()));
    page.on('pageerror', error => tell(String(error)));
    page.on('dialog', dialog => {
        told.push(`dialog ${dialog.message()}`);
        dialog.dismiss();
    });
    page.on('request', request => /^(blob|data|about):/.test(request.url()) || requests.push(request.url()));
    await page.goto(url);
    return { page, told, requests };
}

export const fileUrl = pathToFileURL(pageFile).href;

/** Gives a folder, and waits until all that is done by itself is done. WebDriver can give Firefox files, but no folder. */
export async function give(page, folder) {
    const files = () => fs.readdirSync(folder).map(name => path.join(folder, name)).filter(file => fs.statSync(file, { throwIfNoEntry: false })?.isFile());
    const [chooser, given] = browserName === 'firefox' ? ['#files', files()] : ['#folder', [folder]];
    await (await page.$(chooser)).uploadFile(...given);
    await looked(page);
}

/** Waits for a verdict that is no draft. */
export async function looked(page) {
    await page.waitForFunction(() => document.querySelector('#head .verdict:not(.draft)') && document.querySelector('#work').hidden
        && !document.querySelector('#depth .now'));
}

/** Waits until a text stands in an element. */
export async function done(page, selector, text) {
    await page.waitForFunction((selector, text) => document.querySelector(selector)?.textContent.includes(text), {}, selector, text);
}

export const textOf = (page, selector) => page.$eval(selector, element => element.textContent);

export const status = page => textOf(page, '#status');

/** Clicks the button with a name, as a person would. */
export async function press(page, name) {
    const button = await page.waitForSelector(`::-p-aria([name="${name.replaceAll("\\", "\\\\")}"][role="button"])`);
    await button.evaluate(button => button.scrollIntoView({ block: 'center' }));
    await button.click();
}

/** Opens a section. */
export const unfold = (page, name) => page.$$eval('summary', (all, name) => all.find(summary => summary.querySelector('h2')?.textContent === name).click(), name);

/** Presses a button that saves a file. Returns the file's path, in a folder of its own. */
export async function saved(page, name, limit = 60_000) {
    const folder = fs.mkdtempSync(path.join(scratch, 'saved '));
    if (browserName === 'firefox') {
        fs.rmSync(downloads, { recursive: true, force: true });
        await press(page, name);
        // An empty file has the name from the start. The bytes are in another, `.part`, until they are whole.
        let files = [];
        const isWhole = () => files.length === 1 && !files[0].endsWith('.part') && fs.statSync(path.join(downloads, files[0]), { throwIfNoEntry: false })?.size > 0;
        for (const end = Date.now() + limit; !isWhole(); await new Promise(resolve => setTimeout(resolve, 50))) {
            assert.ok(Date.now() < end, `nothing was saved by ${name}`);
            files = fs.existsSync(downloads) ? fs.readdirSync(downloads) : [];
        }
        const [file] = files;
        fs.renameSync(path.join(downloads, file), path.join(folder, file));
        return path.join(folder, file);
    }
    const session = await page.browser().target().createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, eventsEnabled: true });
    const ended = new Promise((resolve, reject) => {
        session.on('Browser.downloadProgress', ({ state }) => state === 'completed' && resolve());
        setTimeout(reject, limit, new Error(`nothing was saved by ${name}`)).unref();
    });
    await press(page, name);
    await ended;
    await session.detach();
    const [file, ...others] = fs.readdirSync(folder);
    assert.deepEqual(others, []);
    return path.join(folder, file);
}

/** Clicks by way of the document, which also reaches what is not in view. */
export const click = (page, selector) => page.$eval(selector, element => element.click());

/** Asks the engine as the page does. */
export const ask = (page, call, ...args) => page.evaluate((call, args) => filterblock.ask(call, ...args), call, args);

/** The lines of JSON that the engine gives in the browser. */
export const lines = (page, command, path, depth = 'sample', all = false) =>
    page.evaluate(async (...args) => (await filterblock.ask('json', ...args)).text(), command, path, depth, all);

const run = promisify(execFile);

/** The lines of JSON that the program gives. */
export async function native(folder, args) {
    try {
        return (await run(program, args, { cwd: folder, maxBuffer: 1 << 28 })).stdout;
    } catch (error) {
        if (typeof error.code !== 'number') throw error;
        return error.stdout;
    }
}

/** The program's hints at its commands, which the page leaves out. */
const HINTS = /; (?:one bit is wrong|`scan --carve`)[^"]*/g;

/** JSON as it is written, but for the last digits of numbers with a fraction, and the system's words for a missing file. */
export const rounded = text => text.replaceAll(HINTS, '').replaceAll('No such file or directory (os error 2)', 'it is not among the files given').replace(/-?\d+\.\d+(?:[eE][-+]?\d+)?/g, number => Number(number).toPrecision(9));

export function assertSame(found, expected, what) {
    const [of, to] = [found, expected].map(text => rounded(text).split('\n'));
    for (let at = 0; at < Math.max(of.length, to.length); at += 1) assert.equal(of[at], to[at], `${what}, line ${at + 1}`);
}

/** Writes a table of entries, given as [key, value] in order. */
export function build(file, entries, ...options) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const hex = bytes => Buffer.from(bytes).toString('hex');
    const input = entries.map(([key, value]) => `${hex(key)}\t${hex(value)}\n`).join('');
    execFileSync(program, ['build', '--hex', '-', file, ...options], { input, maxBuffer: 1 << 28 });
}

/** Copies a folder of the test data. */
export function copied(name, to) {
    const target = path.join(scratch, to);
    fs.cpSync(path.join(repository, 'testdata', name), target, { recursive: true });
    return target;
}

/** Changes a byte of a file. */
export function damage(file, at) {
    const bytes = fs.readFileSync(file);
    bytes[at < 0 ? bytes.length + at : at] ^= 0x10;
    fs.writeFileSync(file, bytes);
}
