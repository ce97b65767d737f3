// Puts faults into the page, one at a time, and expects a test to fail: `node tests/faults.mjs [WORDS]`. What is replaced has to occur
// once. Slow: not part of CI.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pageFile, scratch } from './browser.mjs';

/** Each fault: its description, the text that is replaced, the text that replaces it, and the test that notices it, in page.test.mjs
 * unless another file is named. */
const FAULTS = [
    ['what the browser does not read any longer is unreadable', 'NotReadableError: 1,', 'NotReadableError: 4,', 'a file that changes'],
    ['ends of tables are kept for ever', 'keepsEnds = false;\nkept = 0;\nends.clear();\n', '', 'a file that changes'],
    ['requests are permitted', "connect-src 'none'", 'connect-src *', 'nothing leaves'],
    ['pictures are permitted', "default-src 'none'", "default-src 'none'; img-src *", 'nothing leaves'],
    ['forms are permitted', "form-action 'none'; ", '', 'nothing leaves'],
    ['any script is permitted', /script-src 'sha256-[^']*'/, "script-src 'unsafe-inline'", 'nothing leaves'],
    ['reports may run scripts', "frame.setAttribute('sandbox', '');", "frame.setAttribute('sandbox', 'allow-scripts');", 'nothing leaves'],
    ['keys are HTML', 'cell.textContent = text;', 'cell.innerHTML = text;', 'are text'],
    ['the name of a folder is HTML', "element('path').textContent = safe(path);", "element('path').innerHTML = path;", 'are text'],
    ['marks turn the name of a folder around', "element('path').textContent = safe(path);", "element('path').textContent = path;", 'are text'],
    ['a folder named file: is a URL', 'path.startsWith(\'file:\') ? `./${path}` : path', 'path', 'of one name'],
    ['cancelling waits for the end', 'this.#worker?.terminate();\nthis.#worker = undefined;\n', '', 'cancelled at once'],
    ['cancelling takes what was shown', "if (error instanceof Cancelled) return", "if (error instanceof Cancelled) element('look').replaceChildren(); if (error instanceof Cancelled) return", 'cancelled at once'],
    ['entries come twice after a cancelled step', 'const rest = batch.rows.slice(before);', 'const rest = batch.rows;', 'cancelled at once'],
    ['entries are lost after a cancelled step', 'if (before === 0) this.#take({ ...batch, rows: rest });', '', 'cancelled at once'],
    ['after a panic the same engine goes on', "if ('defect' in answer) return this.#end(new Defect(answer.defect));", "if ('defect' in answer) { this.#asked = undefined; return asked.reject(new Defect(answer.defect)); }", 'after a defect'],
    ['the message of a panic is lost', 'panic = message;', '', 'after a defect'],
    ['a folder is read again as it was', 'readAgain = canAgain ? give : undefined;', 'readAgain = canAgain ? async () => given : undefined;', 'can be read again'],
    ['the files of an earlier folder win', 'if (mine !== turn) return;\nfor', 'for', 'being listed'],
    ['a value is saved as it is shown', "engine.ask('value', ...scan, before)", "Promise.resolve(new TextEncoder().encode(row.value.text))", 'saved whole'],
    ['another value is saved', "engine.ask('value', ...scan, before)", "engine.ask('value', ...scan, before + 1)", 'saved whole'],
    ['arrows leave the list', "ArrowDown: this.#chosen + 1", 'ArrowDown: this.#rows.length + 1', 'by the keyboard'],
    ['a hundred files of a folder are enough', 'if (some.length === 0) return found;', 'if (found.length > 0 || some.length === 0) return found;', 'ten thousand tables that are dropped'],
    ['the report is not what was made', "frame.srcdoc = html;", 'frame.srcdoc = html.slice(0, 200);', 'is looked at, verified'],
];

const words = process.argv.slice(2);
const original = fs.readFileSync(pageFile, 'utf8');
const WORKER = /(<script type="text\/plain" id="worker-data">)([^<]*)/;
const worker = gunzipSync(Buffer.from(WORKER.exec(original)[2], 'base64')).toString();
let missed = 0;
for (const [what, from, to, name, file = 'page.test.mjs'] of FAULTS) {
    if (words.length > 0 && !words.some(word => what.includes(word))) continue;
    const isOfWorker = worker.split(from).length > 1;
    const count = original.split(from).length + worker.split(from).length - 2;
    if (count !== 1) {
        console.log(`NOT APPLIED, as it occurs ${count} times: ${what}`);
        missed += 1;
        continue;
    }
    const faultyWorker = () => gzipSync(worker.replace(from, () => to)).toString('base64');
    let page = isOfWorker ? original.replace(WORKER, (_, tag) => tag + faultyWorker()) : original.replace(from, () => to);
    const script = /<script type="module">([\s\S]*?)<\/script>/.exec(page)[1];
    page = page.replace(/'sha256-[^']*'/, `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    const faulty = path.join(scratch, 'faulty.html');
    fs.writeFileSync(faulty, page);
    const run = spawnSync(process.execPath, ['--test', `--test-name-pattern=${name}`, new URL(file, import.meta.url).pathname],
        { env: { ...process.env, FILTERBLOCK_PAGE: faulty, NODE_TEST_CONTEXT: undefined }, encoding: 'utf8' });
    const isNoticed = /^# fail [1-9]/m.test(run.stdout);
    const ran = /^# tests [1-9]/m.test(run.stdout);
    if (!isNoticed || !ran) missed += 1;
    console.log(`${!ran ? 'NO TEST' : isNoticed ? 'noticed' : 'MISSED'}: ${what}`);
}
process.exitCode = missed > 0 ? 1 : 0;
