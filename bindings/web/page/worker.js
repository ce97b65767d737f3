// The worker: holds the files, reads parts of them for the engine, and answers one question after the other. The text of this
// script comes after the text of the one that `wasm-bindgen` makes.

/** @typedef {import('./types').Question} Question */
/** @typedef {import('./types').Answer} Answer */

/** The bytes of ends of tables that are kept from the first look for the second. */
const MAX_KEPT = 64 << 20;
/** No read of the end of a table is larger. */
const MAX_END = 64 << 10;
/** The milliseconds between two messages about progress. */
const INTERVAL = 100;

const fileReader = new FileReaderSync();
/** Takes the memory of what was read, and gives it back at once: while the engine works, nothing is collected. */
let nobody = closedPort();
/** @type {File[]} */
let files = [];
/** @type {import('./types').Session | undefined} */
let session;
/** @type {import('./types').Scan | undefined} */
let scan;

/** Ends of files by the files' numbers: kept while `keepsEnds`. */
let keepsEnds = false;
let kept = 0;
/** @type {Map<number, { offset: number, bytes: Uint8Array }>} */
const ends = new Map();

/** The costs of the present question so far. */
let counts = { reads: 0, bytes: 0, files: 0, done: 0, expected: 0 };
/** @type {Set<number>} */
let seen = new Set();
let last = 0;
let panic = '';
/** @type {Blob[]} */
let text = [];

/** @param {Answer} answer */
const answer = answer => postMessage(answer);

function progress() {
    const now = performance.now();
    if (now - last < INTERVAL) return;
    last = now;
    answer({ progress: { ...counts } });
}

/** The reasons why a part of a file cannot be read, as numbers that the engine knows. @type {Record<string, number>} */
const REASONS = { NotReadableError: 1, NotFoundError: 2, SecurityError: 3, NotAllowedError: 3 };
const CHANGED = 1;

/**
 * Fills `into` with the bytes of a file. Returns 0, or the number of the reason why it cannot.
 * @param {number} number @param {number} offset @param {Uint8Array} into
 */
function hostRead(number, offset, into) {
    const file = files[number];
    if (!file) return REASONS.NotFoundError;
    const end = ends.get(number);
    if (end && end.offset === offset && end.bytes.length === into.length) {
        into.set(end.bytes);
        return 0;
    }
    counts.reads += 1;
    if (!seen.has(number)) {
        seen.add(number);
        counts.files += 1;
    }
    try {
        // A part costs the browser's main process as much as reading it.
        const part = into.length === file.size ? file : file.slice(offset, offset + into.length);
        const bytes = new Uint8Array(fileReader.readAsArrayBuffer(part));
        counts.bytes += bytes.length;
        progress();
        // A file that has become shorter.
        if (bytes.length !== into.length) return CHANGED;
        into.set(bytes);
        if (keepsEnds && offset + into.length === file.size && into.length <= MAX_END && kept + into.length <= MAX_KEPT) {
            kept += into.length;
            ends.set(number, { offset, bytes });
        } else if (into.length > MAX_END) nobody.postMessage(0, [bytes.buffer]);
        return 0;
    } catch (error) {
        return REASONS[/** @type {DOMException} */ (error).name] ?? 4;
    }
}

/** A port whose other end is closed. It may be closed itself once the worker waits for messages. */
function closedPort() {
    const { port1, port2 } = new MessageChannel();
    port2.close();
    return port1;
}

/** @param {number} done @param {number} expected */
function hostProgress(done, expected) {
    counts.done = done;
    counts.expected = expected;
    progress();
}

/** @param {string} piece */
function hostText(piece) {
    // The browser may move a blob out of memory.
    text.push(new Blob([piece]));
}

/** @param {string} name @param {Uint8Array<ArrayBuffer>} contents */
function hostFile(name, contents) {
    // As a blob, it leaves the memory of the page.
    answer({ file: new File([contents], name) });
}

/** @param {string} message */
function hostPanic(message) {
    panic = message;
}

/** @type {Record<string, (session: import('./types').Session, ...args: any[]) => unknown>} */
const CALLS = {
    places: session => JSON.parse(session.places()),
    ends: (session, path) => {
        forgetEnds();
        keepsEnds = true;
        return session.report(path, 'tail', false, false);
    },
    samples: (session, path) => {
        const report = session.report(path, 'sample', false, false);
        forgetEnds();
        return report;
    },
    all: (session, path) => session.report(path, 'sample', true, true),
    tuned: (session, path) => session.report(path, 'sample', false, true),
    repair: (session, path) => session.repair(path),
    json: (session, command, path, depth, all) => {
        session.json(command, path, depth, all);
        const lines = new Blob(text, { type: 'application/x-ndjson' });
        text = [];
        return lines;
    },
    scan: (session, path, prefix, from, hex, all, wanted) => {
        scan?.free();
        scan = undefined;
        scan = session.scan(path, new wasm_bindgen.Question(prefix, from, hex, all), wanted);
    },
    next: () => scan && JSON.parse(scan.next_batch()),
    value: (session, path, prefix, from, hex, all, before) =>
        session.value(path, new wasm_bindgen.Question(prefix, from, hex, all), before),
    panic: session => session.panic(),
};

function forgetEnds() {
    keepsEnds = false;
    kept = 0;
    ends.clear();
}

/** @param {MessageEvent<Question>} event */
onmessage = event => {
    const question = event.data;
    if ('module' in question) {
        wasm_bindgen.initSync({ module: question.module });
        files = question.files.map(given => given.file);
        session = new wasm_bindgen.Session(question.files.map(given => given.path), new Float64Array(files.map(file => file.size)));
        return;
    }
    counts = { reads: 0, bytes: 0, files: 0, done: 0, expected: 0 };
    seen = new Set();
    text = [];
    nobody = closedPort();
    const { id, call, args } = question;
    try {
        if (!session) throw new Error('no files were given');
        const result = CALLS[call](session, ...args);
        answer({ id, result, counts });
    } catch (error) {
        // The engine's own reasons are strings. Anything else has no reason that a user could do something about.
        if (typeof error === 'string') answer({ id, error, counts });
        else answer({ id, defect: panic || String(error), counts });
    }
};
