// Runs a program for WASI under Node: `node run.mjs PROGRAM ARGUMENT…`. It sees all files. The folder it works in
// is always the root, so the test data is shown there, too.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const preopens = { '/': '/', '/testdata': `${process.cwd()}/testdata` };
const wasi = new WASI({ version: 'preview1', args: [program, ...rest], env: process.env, preopens, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
