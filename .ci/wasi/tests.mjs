// Runs the tests of programs for WASI, each by itself, since a panic ends the program: `node tests.mjs PROGRAM…`. A test that needs what
// WASI has not, a folder for temporary files or threads, is passed over; the panic says so. Any other that fails is a failure.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const run = fileURLToPath(new URL('run.mjs', import.meta.url));
const missing = ['no filesystem on wasm', 'failed to spawn thread', 'code: 58, kind: Unsupported'];
const call = (...args) => new Promise(resolve => {
    execFile(process.execPath, ['--no-warnings', run, ...args], { maxBuffer: 1 << 26 }, (_, out, err) => resolve(out + err));
});

const programs = process.argv.slice(2);
const tests = [];
for (const program of programs) {
    const list = await call(program, '--list');
    for (const [, name] of list.matchAll(/^(\S+): test$/gm)) tests.push([program, name]);
}
const counts = { passed: 0, ignored: 0, passedOver: 0, failed: 0 };
const worker = async () => {
    for (let test = tests.pop(); test; test = tests.pop()) {
        const [program, name] = test;
        const out = await call(program, '--exact', name, '--nocapture');
        // The exit status does not tell: Node 20 crashes after a test that has used much memory.
        if (out.includes('test result: ok. 1 passed')) counts.passed += 1;
        else if (out.includes('1 ignored')) counts.ignored += 1;
        else if (missing.some(text => out.includes(text))) counts.passedOver += 1;
        else {
            counts.failed += 1;
            console.error(`${name}\n${out}`);
        }
    }
};
await Promise.all([worker(), worker(), worker()]);
console.log(`WASI: ${counts.passed} tests passed, ${counts.passedOver} need files or threads, ${counts.ignored} ignored, ${counts.failed} failed`);
// At least this many tests need nothing that is missing. If fewer pass, the list above is wrong.
if (counts.failed > 0 || counts.passed < 580) process.exit(1);
