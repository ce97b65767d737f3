// The page: what is given, what is done with it, and what is shown.

import { element, input, safe, save, size } from './dom.js';
import { Cancelled, Defect, Engine } from './engine.js';
import { Entries } from './entries.js';
import { ofButton, ofDrop, ofHandle, ofSample, unpacked } from './files.js';

/** @typedef {import('./types').Given} Given */
/** @typedef {import('./types').Place} Place */
/** @typedef {import('./types').Report} Report */

const engine = new Engine(unpacked('worker-data'), unpacked('engine-data').then(bytes => WebAssembly.compile(bytes)));
const entries = new Entries((call, ...args) => step('Entries', () => engine.ask(call, ...args)), () => engine.isBusy, tell);

/** Gives the folder once more, as it is by then. @type {(() => Promise<Given[]>) | undefined} */
let readAgain;
/** The database or table that is shown. */
let path = '';
/** Counts what is given, so that what comes of an earlier folder is dropped. */
let turn = 0;

/** @param {string} text */
const say = text => element('status').textContent = text;

/**
 * Does a part of the work, with progress and a way to cancel it. What goes wrong is told.
 * @template T @param {string} name @param {() => Promise<T>} work
 */
async function step(name, work) {
    const bar = /** @type {HTMLProgressElement} */ (element('bar'));
    bar.removeAttribute('value');
    element('work-text').textContent = name;
    engine.onprogress = ({ bytes, files, done, expected }) => {
        if (expected > 0) [bar.value, bar.max] = [done, expected];
        const of = expected > 0 ? `${size(done)} of ${size(expected)} done` : `${files.toLocaleString('en')} files, ${size(bytes)} read`;
        element('work-text').textContent = `${name}: ${of}`;
    };
    // Nothing flickers during work that takes no time.
    const shown = setTimeout(() => element('work').hidden = false, 150);
    busy(true);
    try {
        return await work();
    } finally {
        clearTimeout(shown);
        element('work').hidden = true;
        busy(false);
    }
}

/** @param {boolean} isBusy */
function busy(isBusy) {
    for (const button of document.querySelectorAll('[data-step], [data-json], #scan button, #value, #further')) {
        /** @type {HTMLButtonElement} */ (button).disabled = isBusy;
    }
}

/** Tells why something was not done. @param {unknown} error */
function tell(error) {
    if (error instanceof Cancelled) return say('Cancelled. What was found before stays.');
    if (error instanceof Defect) {
        const version = document.querySelector('meta[name=generator]')?.getAttribute('content');
        element('alarm-text').textContent = `${version}\n${navigator.userAgent}\n${element('work-text').textContent}\n${error.message}`;
        element('alarm').hidden = false;
        return say('The engine has stopped.');
    }
    say(error instanceof Error ? error.message : String(error));
}

/** Does what the user asks for. @param {() => Promise<unknown>} work */
const act = work => work().catch(tell);

/**
 * Takes what is given, and shows the databases in it.
 * @param {string} what @param {() => Promise<Given[]>} give @param {boolean} canAgain
 */
async function take(what, give, canAgain = false) {
    const mine = turn += 1;
    engine.cancel();
    say(`Listing ${what} …`);
    const given = await give();
    if (mine !== turn) return;
    for (const id of ['places', 'database', 'alarm']) element(id).hidden = true;
    readAgain = canAgain ? give : undefined;
    if (given.length === 0) return say('There is no file in it.');
    engine.take(given);
    /** @type {Place[]} */
    const places = await step('Finding databases', () => engine.ask('places'));
    if (mine !== turn) return;
    list(places, given);
    if (places.length === 0) {
        const number = given.length === 1 ? 'one file' : `${given.length.toLocaleString('en')} files`;
        return say(`No database in ${number}: a folder of LevelDB has tables (.ldb, .sst), logs, or a file CURRENT.`);
    }
    say(`${places.length === 1 ? 'One folder' : `${places.length.toLocaleString('en')} folders`} with something to look at.`);
    if (given.length === 1) await open(given[0].path);
    else if (places.length === 1) await open(places[0].path);
}

/** @param {Place[]} places @param {Given[]} given */
function list(places, given) {
    element('places').hidden = places.length === 0;
    element('again').hidden = readAgain === undefined;
    element('places-list').replaceChildren(...places.map(place => {
        const [item, button, name, about] = ['li', 'button', 'code', 'span'].map(tag => document.createElement(tag));
        name.textContent = safe(place.path);
        const tables = `${place.tables.toLocaleString('en')} ${place.tables === 1 ? 'table' : 'tables'}`;
        about.textContent = `${place.is_database ? 'database' : 'no MANIFEST'}, ${tables}, ${size(place.size)}`;
        about.className = 'dim';
        button.append(name, about);
        button.addEventListener('click', () => act(() => open(place.path)));
        item.append(button);
        return item;
    }));
    // Given as a file, a table is looked at by itself.
    if (given.length === 1) element('places').hidden = readAgain === undefined;
}

/** Shows a database or table, and looks at it. @param {string} of */
async function open(of) {
    if (engine.isBusy) engine.cancel();
    path = of;
    element('path').textContent = safe(path);
    element('database').hidden = false;
    for (const result of document.querySelectorAll('.result')) result.replaceChildren();
    entries.clear();
    for (const button of document.querySelectorAll('#places-list button')) {
        button.setAttribute('aria-current', String(button.querySelector('code')?.textContent === safe(path)));
    }
    choose('look');
    element('repair').textContent = await engine.ask('repair', path);
    await steps.look();
}

/** The actions of the buttons. @type {Record<string, () => Promise<void>>} */
const steps = {
    look: async () => {
        const cost = await report('look', 'Ends of all tables', 'ends', 'This is from index and filters alone; blocks are being read.');
        await report('look', 'Samples of all tables', 'samples', 'This is from index, filters and samples; not every block was read.', cost);
    },
    verify: async () => void await report('verify', 'Every block', 'verified', 'Every block was read.'),
    tune: async () => void await report('tune', 'Other filters', 'tuned', 'This is from index, filters and samples, and other filters tried on some tables.'),
};

/**
 * Makes a report, and shows it. Until then, what is shown stays. Returns what it has cost, together with what was read before.
 * @param {string} panel @param {string} name @param {string} call @param {string} about
 */
async function report(panel, name, call, about, { bytes, begun } = { bytes: 0, begun: performance.now() }) {
    const of = path;
    /** @type {Report} */
    const found = await step(name, () => engine.ask(call, path));
    bytes += engine.counts?.bytes ?? 0;
    if (of === path) {
        show(panel, found, `${about} ${size(bytes)} read in ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
        say(`${name}: done. ${found[1]}`);
    }
    return { bytes, begun };
}

/** @param {string} panel @param {Report} report @param {string} about */
function show(panel, [html, , command, severity], about) {
    const result = /** @type {HTMLElement} */ (element(panel).querySelector('.result'));
    result.replaceChildren();
    result.dataset.severity = severity;
    const row = document.createElement('p');
    row.className = 'row';
    const button = (/** @type {string} */ text, /** @type {() => unknown} */ work) => {
        const made = document.createElement('button');
        made.type = 'button';
        made.textContent = text;
        made.addEventListener('click', work);
        row.append(made);
    };
    button('Save the report', () => save(new Blob([html], { type: 'text/html' }), `${path}-${panel}.html`));
    if (command) button('Copy the command', () => copy(command));
    const note = document.createElement('span');
    note.className = 'dim';
    note.textContent = about;
    row.append(note);
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', '');
    frame.title = `Report on ${safe(path)}`;
    frame.srcdoc = html;
    result.append(row, frame);
}

/** @param {string} text */
async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say('Copied.');
    } catch {
        say(`The browser does not permit it; copy this: ${text}`);
    }
}

/** Shows one of the tabs. @param {string} name */
function choose(name) {
    for (const tab of document.querySelectorAll('[role=tab]')) {
        const isChosen = tab.getAttribute('aria-controls') === name;
        tab.setAttribute('aria-selected', String(isChosen));
        /** @type {HTMLElement} */ (tab).tabIndex = isChosen ? 0 : -1;
        element(tab.getAttribute('aria-controls') ?? '').hidden = !isChosen;
    }
}

/** @param {string} command */
async function saveLines(command) {
    /** @type {Blob} */
    const lines = await step(`filterblock ${command}`, () => engine.ask('json', command, path, 'sample', input('all').checked));
    save(lines, `${path}-${command}.json`);
    say(`${command}: ${size(lines.size)} saved.`);
}

async function showEntries() {
    const [prefix, from] = [input('prefix').value, input('from').value];
    await entries.begin([path, prefix, from, input('hex').checked, input('all').checked]);
}

async function saveValue() {
    const { scan, row, before } = entries.chosen;
    if (!scan || !row) return;
    const value = await step('Reading the value', () => engine.ask('value', ...scan, before));
    if (value) save(new Blob([value]), `${path}-${row.key.text}.bin`);
    else say('The entry is not there any longer.');
}

/** @param {string} id @param {string} what */
function takeButton(id, what) {
    const button = input(id);
    button.addEventListener('change', () => {
        const files = ofButton(button.files ?? []);
        // The same folder can be chosen once more.
        button.value = '';
        act(() => take(what, async () => files));
    });
}

takeButton('folder', 'the folder');
takeButton('files', 'the files');
element('sample').addEventListener('click', () => act(() => take('the sample', async () => ofSample(await unpacked('sample-data')))));
element('picker').hidden = !('showDirectoryPicker' in globalThis);
element('picker').addEventListener('click', () => act(async () => {
    const folder = await showDirectoryPicker({ id: 'database', mode: 'read' }).catch(error => {
        if (error.name !== 'AbortError') throw error;
    });
    if (folder) await take('the folder', () => ofHandle(folder), true);
}));
element('again').addEventListener('click', () => act(async () => {
    if (readAgain) await take('the folder again', readAgain, true);
}));
element('cancel').addEventListener('click', () => engine.cancel());
element('alarm-copy').addEventListener('click', () => copy(element('alarm-text').textContent ?? ''));
element('alarm-close').addEventListener('click', () => element('alarm').hidden = true);
for (const button of document.querySelectorAll('[data-step]')) {
    const name = /** @type {HTMLElement} */ (button).dataset.step ?? '';
    button.addEventListener('click', () => act(steps[name]));
}
for (const button of document.querySelectorAll('[data-json]')) {
    button.addEventListener('click', () => act(() => saveLines(/** @type {HTMLElement} */ (button).dataset.json ?? '')));
}
for (const button of document.querySelectorAll('[data-copy]')) {
    const id = /** @type {HTMLElement} */ (button).dataset.copy ?? '';
    button.addEventListener('click', () => copy(element(id).textContent ?? ''));
}
element('scan').addEventListener('submit', event => {
    event.preventDefault();
    act(showEntries);
});
element('hex').addEventListener('change', () => entries.hex = input('hex').checked);
element('value').addEventListener('click', () => act(saveValue));
element('further').addEventListener('click', () => {
    input('from').value = entries.lastKey;
    input('hex').checked = true;
    act(showEntries);
});

const tabs = [...document.querySelectorAll('[role=tab]')].map(tab => /** @type {HTMLElement} */ (tab));
for (const [at, tab] of tabs.entries()) {
    tab.addEventListener('click', () => choose(tab.getAttribute('aria-controls') ?? ''));
    tab.addEventListener('keydown', event => {
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = tabs[(to + tabs.length) % tabs.length];
        next.focus();
        next.click();
    });
}

addEventListener('dragover', event => {
    event.preventDefault();
    document.body.classList.add('drop');
});
addEventListener('dragleave', event => {
    if (event.relatedTarget === null) document.body.classList.remove('drop');
});
addEventListener('drop', event => {
    event.preventDefault();
    document.body.classList.remove('drop');
    const dropped = event.dataTransfer;
    if (!dropped) return;
    const given = ofDrop(dropped);
    act(() => take('what was dropped', () => given));
});

globalThis.filterblock = {
    /** @param {string} call @param {unknown[]} args */
    ask: (call, ...args) => step(call, () => engine.ask(call, ...args)).catch(error => {
        tell(error);
        throw error;
    }),
    counts: () => engine.counts,
    cancel: () => engine.cancel(),
};
