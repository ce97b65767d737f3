// The page: what is given, what is done with it, and what is shown.

import { button, counted, element, fileName, icon, input, make, safe, save, size } from './dom.js';
import { Cancelled, Defect, Engine } from './engine.js';
import { Entries } from './entries.js';
import { ofButton, ofDrop, ofHandle, ofSample, unpacked } from './files.js';
import { listed } from './list.js';
import { backSteps, judged, nothing, verdictBox } from './verdict.js';
import { zip } from './zip.js';

/** @typedef {import('./types').Given} Given */
/** @typedef {import('./types').Place} Place */
/** @typedef {import('./types').Report} Report */

/** Databases up to this size in bytes are read as a whole without being asked for: that takes some seconds. */
const SMALL = 256 << 20;

const engine = new Engine(unpacked('worker-data'), unpacked('engine-data').then(bytes => WebAssembly.compile(bytes)));
const entries = new Entries((call, ...args) => work('Entries', () => engine.ask(call, ...args)), (...of) => act(() => saveValue(...of)));

/** Gives the folder once more, as it is by then. @type {(() => Promise<Given[]>) | undefined} */
let readAgain;
/** The name of what was given, and how it was read. */
let [givenName, givenFacts] = ['', ['']];
/** @type {Place[]} */
let places = [];
/** What is shown, if not the list. @type {Place | undefined} */
let shown;
/** Counts what is given or opened, so that what comes of an earlier one is dropped. */
let turn = 0;
let isCancelled = false;

/** @param {string} text */
const say = text => element('status').textContent = text;

/** @param {number} begun */
const since = begun => `${((performance.now() - begun) / 1000).toFixed(1)} s`;

/** The tables or, of a file, nothing, and the size. @param {Place} place */
const about = place => [...place.is_file ? [] : [counted(place.tables, 'table')], size(place.size)];

/**
 * Does a part of the work, with progress and a way to cancel it.
 * @template T @param {string} name @param {() => Promise<T>} what
 */
async function work(name, what) {
    const bar = /** @type {HTMLProgressElement} */ (element('bar'));
    bar.removeAttribute('value');
    isCancelled = false;
    const text = (/** @type {string} */ more) => element('work-text').replaceChildren(make('b', '', name), make('span', 'dim', more));
    text('');
    engine.onprogress = ({ bytes, files, done, expected }) => {
        if (expected > 0) [bar.value, bar.max] = [done, expected];
        text(expected > 0 ? ` ${size(Math.min(done, expected))} of ${size(expected)}` : ` ${counted(files, 'file')}, ${size(bytes)} read`);
    };
    // Nothing flickers during work that takes no time.
    const later = setTimeout(() => element('work').hidden = false, 150);
    busy(true);
    try {
        return await what();
    } finally {
        clearTimeout(later);
        element('work').hidden = true;
        busy(false);
    }
}

/** @param {boolean} isBusy */
function busy(isBusy) {
    for (const made of document.querySelectorAll('[data-work], .verdict .main, #scan button, #further')) {
        /** @type {HTMLButtonElement} */ (made).disabled = isBusy;
    }
}

/** Tells why something was not done. @param {unknown} error */
function tell(error) {
    if (error instanceof Cancelled) return say('Cancelled. What was found before stays.');
    if (error instanceof Defect) {
        const version = document.querySelector('meta[name=generator]')?.getAttribute('content');
        element('alarm-text').textContent = `${version}\n${navigator.userAgent}\n${element('work-text').textContent}\n${error.message}`;
        element('alarm').hidden = false;
        return;
    }
    say(error instanceof Error ? error.message : String(error));
}

/** Does what the user asks for. @param {() => Promise<unknown>} what */
const act = what => what().catch(tell);

/** Shows one of the page's states. @param {'start' | 'places' | 'database'} state */
function show(state) {
    for (const id of ['start', 'places', 'database']) element(id).hidden = id !== state;
    element('title').hidden = element('another').hidden = state === 'start';
    element('again').hidden = state === 'start' || !readAgain;
    element('way').hidden = state !== 'database' || places.length < 2;
    element('back').textContent = `‹ All ${counted(places.length, 'database')}`;
}

/** @param {string} name @param {string[]} facts */
function title(name, facts) {
    const list = make('ul', 'facts', ...facts.filter(Boolean).map(fact => make('li', '', fact)));
    element('title').replaceChildren(make('h1', '', safe(name)), list);
}

/** Goes back to where a folder is chosen. */
function another() {
    turn += 1;
    engine.take([]);
    clear();
    say('');
    show('start');
    input('folder').focus();
}

/**
 * Takes what is given, and shows the databases in it.
 * @param {() => Promise<Given[]>} give @param {boolean} canAgain
 */
async function take(give, canAgain = false) {
    const mine = turn += 1;
    engine.cancel();
    say('Listing the files …');
    const begun = performance.now();
    const given = await give();
    if (mine !== turn) return;
    element('alarm').hidden = true;
    readAgain = canAgain ? give : undefined;
    if (given.length === 0) return say('There is no file in it.');
    engine.take(given);
    /** @type {Place[]} */
    const found = await work('Finding databases', () => engine.ask('places'));
    if (mine !== turn) return;
    say('');
    places = found;
    const bytes = given.reduce((sum, { file }) => sum + file.size, 0);
    givenName = given[0].path.replace(/^\.\//, '').split('/')[0];
    givenFacts = [size(bytes), counted(given.length, 'file')];
    if (places.length === 0) {
        show('database');
        title(givenName, givenFacts);
        clear();
        element('head').replaceChildren(nothing(given.length, another));
    } else if (given.length === 1) {
        const { path, file } = given[0];
        await open({ ...places[0], path, is_file: true, size: file.size, tables: 0, name: '' });
    } else if (places.length === 1) await open(places[0]);
    else {
        list();
        element('title').focus();
        await judge('ends', mine);
        givenFacts.push(`read in ${since(begun)}`);
        list();
    }
}

/** Judges all databases of the list, one after the other. @param {string} call @param {number} mine */
async function judge(call, mine) {
    const todo = places.filter(place => !place.report || call !== 'ends');
    let shownAt = performance.now();
    for (const [at, place] of todo.entries()) {
        if (mine !== turn) return;
        const report = await work(`${at + 1} of ${todo.length}: ${safe(place.name || place.path)}`, () => ask(call, place));
        if (mine !== turn) return;
        [place.report, place.isWhole] = [report, call === 'all'];
        if (performance.now() - shownAt > 300) {
            list();
            shownAt = performance.now();
        }
    }
}

/** A report on a database. What cannot be reported on has no verdict. @param {string} call @param {Place} place @returns {Promise<Report>} */
const ask = (call, place) => engine.ask(call, place.path).catch(error => {
    if (error instanceof Cancelled || error instanceof Defect) throw error;
    return ['', '', 'cannot tell', String(error.message), ''];
});

function list() {
    shown = undefined;
    show('places');
    title(givenName, [counted(places.length, 'database'), ...givenFacts]);
    element('places').replaceChildren(...listed(places, place => act(() => open(place)), () => act(async () => {
        const mine = turn += 1;
        await judge('all', mine);
        list();
    })));
}

/** Forgets what is shown of a database. */
function clear() {
    element('overview').append(element('own'));
    for (const id of ['head', 'sections', 'own', 'depth']) element(id).replaceChildren();
    entries.clear();
    element('panels').hidden = true;
    choose('overview');
}

/** Shows a database, table or log, and looks at it. @param {Place} place */
async function open(place) {
    const mine = turn += 1;
    engine.cancel();
    shown = place;
    clear();
    const name = place.is_file ? place.path.replace(/^.*\//, '') : place.name || place.path;
    title(name, [...place.name ? [safe(place.path)] : [], ...about(place)]);
    show('database');
    element('title').focus();
    if (place.is_file && /\/\d+\.log$/i.test(place.path)) {
        const lines = await work('Every write', () => engine.ask('json', 'verify', place.path, 'sample', false));
        if (mine !== turn) return;
        element('head').replaceChildren(judged(await lines.text(), another));
        element('panels').hidden = false;
        choose('entries');
        return showEntries();
    }
    steps = [
        { name: 'Index and filters', call: 'ends', state: 'todo', cost: '' },
        { name: 'Samples', call: 'samples', state: 'todo', cost: '' },
        { name: 'Every block', call: 'all', state: 'todo', cost: size(place.size) },
        { name: 'Other filters', call: 'tuned', state: 'todo', cost: 'on some tables' },
    ];
    const isSmall = place.size <= SMALL;
    for (const step of steps.slice(0, isSmall ? 3 : 2)) {
        await run(step, isSmall && step.call !== 'all');
        if (mine !== turn) return;
    }
}

/** What is read of a database, and when. @type {import('./types').Step[]} */
let steps = [];

function depth() {
    const signs = { done: 'fine', now: 'now', todo: 'todo' };
    element('depth').replaceChildren(...steps.map(step => {
        const item = make('li', step.state, icon(signs[step.state]), make('div', '', step.name, make('small', '', step.state === 'now' ? 'being read' : step.cost)));
        if (step.state === 'todo') {
            const ask = button(step.call === 'all' ? 'Check' : 'Try', () => act(() => run(step, false)));
            ask.dataset.work = '';
            ask.ariaLabel = step.call === 'all' ? 'Check every block' : `Read: ${step.name}`;
            item.append(ask);
        }
        return item;
    }));
}

/** Does a step, and shows what it finds. @param {import('./types').Step} step @param {boolean} isDraft */
async function run(step, isDraft) {
    const [place, mine] = [shown, turn];
    if (!place) return;
    step.state = 'now';
    depth();
    // While it runs, it is shown with the progress.
    element('work').append(element('depth'));
    const begun = performance.now();
    try {
        const report = await work(step.name, () => ask(step.call, place));
        if (mine !== turn) return;
        step.state = 'done';
        step.cost = `${size(engine.counts?.bytes ?? 0)}, ${since(begun)}`;
        if (step.call === 'all') {
            const last = steps[3];
            const isDamaged = report[2] === 'damaged';
            Object.assign(last, { state: 'done', name: isDamaged ? 'Repair, tried' : 'Other filters', cost: isDamaged ? 'nothing is written' : 'on some tables' });
            place.isWhole = true;
        }
        place.report = report;
        showReport(place, report, isDraft);
    } finally {
        if (step.state === 'now') step.state = 'todo';
        if (mine === turn) {
            depth();
            element('head').after(element('depth'));
        }
    }
}

/** @param {Place} place @param {Report} report @param {boolean} isDraft */
function showReport(place, [title, body, verdict, clause, command], isDraft) {
    if (!body) return element('head').replaceChildren(verdictBox(verdict, 'This cannot be read', safe(clause)));
    showBody(place, body);
    const box = element('head').querySelector('.verdict');
    box?.classList.toggle('draft', isDraft);
    if (isDraft) box?.querySelector('.tag')?.lastChild?.before('So far: ');
    const own = element('own');
    own.replaceChildren();
    const canRepair = command.startsWith('filterblock repair ') && !place.is_file;
    if (canRepair) {
        const made = button('Repair and save as .zip', () => act(() => repair(place)), 'main');
        made.disabled = engine.isBusy;
        action().replaceChildren(make('p', 'row', made, make('span', 'dim small', `about ${size(place.size)}`)));
    }
    if (command) {
        const code = make('code', '', command);
        own.append(part('With the program', 'the same in a terminal',
            make('p', '', 'It also takes databases that are too large for a browser. Give it the whole path of the folder.'),
            make('div', 'cmd', code, button('Copy', () => copy(command)))));
    }
    own.append(part('Save what was found', 'as a page, or as lines of JSON', make('p', 'row',
        button('Report .html', () => savePage(title, body, `${place.path}-report.html`)),
        ...['verify', 'tune', 'scan'].map(name => {
            const made = button(name === 'scan' ? 'All entries .json' : `${name} .json`, () => act(() => saveLines(place, name)));
            made.dataset.work = '';
            return made;
        }))));
}

/** Shows what the engine has made of a database: name and facts, verdict, sections. @param {Place} place @param {string} body */
function showBody(place, body) {
    const made = make('template');
    made.innerHTML = body;
    const verdict = made.content.querySelector('.verdict');
    const sections = [];
    for (let next = verdict?.nextSibling; next; next = next.nextSibling) sections.push(next);
    if (verdict) element('head').replaceChildren(verdict);
    element('overview').append(element('own'));
    element('sections').replaceChildren(...sections);
    // The page's own sections are the last ones.
    element('sections').querySelector('.parts')?.append(element('own'));
    for (const made of document.querySelectorAll('#database .cmd button')) /** @type {HTMLElement} */ (made).hidden = false;
    // What scrolls is reached by the keyboard.
    for (const made of document.querySelectorAll('#database .scroll')) /** @type {HTMLElement} */ (made).tabIndex = 0;
    element('panels').hidden = false;
}

/** Where the verdict that is shown says what to do. */
function action() {
    const box = element('head').querySelector('.verdict > div') ?? element('head').querySelector('.verdict') ?? element('head');
    const found = box.querySelector('.act');
    if (found) return found;
    const made = make('div', 'act');
    (box.querySelector('.say') ?? box.lastElementChild)?.after(made);
    return made;
}

/** Saves a page with the style and the icons of this one, and without scripts. @param {string} title @param {string} body @param {string} name */
function savePage(title, body, name) {
    const clones = (/** @type {string} */ what) => [...document.querySelectorAll(what)].map(made => made.cloneNode(true));
    const head = make('head', '', ...clones('meta[charset], meta[name=generator]'),
        make('meta', { httpEquiv: 'Content-Security-Policy', content: "default-src 'none'; style-src 'unsafe-inline'" }),
        ...clones('meta[name=viewport], meta[name=color-scheme]'), make('title', '', title), ...clones('style'));
    const icons = [...document.querySelectorAll('body > svg')].map(made => made.outerHTML).join('');
    const page = `<!DOCTYPE html><html lang="en">${head.outerHTML}<body>${icons}<div class="page"><main>${body}</main></div></body></html>`;
    save(new Blob([page], { type: 'text/html' }), name);
}

/** @param {string} name @param {string} answer @param {(Node | string)[]} children */
function part(name, answer, ...children) {
    return make('details', 'part', make('summary', '', make('h2', '', name), make('span', '', answer)), make('div', '', ...children));
}

/** Makes a new database of what can be saved, and saves it. @param {Place} place */
async function repair(place) {
    const mine = turn;
    /** @type {File[]} */
    const files = [];
    engine.onfile = file => void files.push(file);
    const [title, body] = await work('Repairing', () => engine.ask('repair', place.path));
    if (mine !== turn) return;
    const folder = fileName(place.path.split('/').at(-1) ?? '');
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const zipped = await work('Packing', () => zip(folder, files, done => {
        if (isCancelled) throw new Cancelled();
        engine.onprogress({ reads: 0, files: 0, bytes: done, done, expected: bytes });
    }));
    if (mine !== turn) return;
    const name = `${[place.name, folder].filter(Boolean).map(fileName).join('-').replace(/ +/g, '-')}.zip`;
    save(zipped, name);
    element('depth').replaceChildren();
    element('own').replaceChildren();
    showBody(place, body);
    action().replaceChildren(
        make('p', 'row', button('Save the .zip again', () => save(zipped, name), 'main'), make('span', 'small', make('b', '', name), ` ${size(zipped.size)}`)),
        ...backSteps(place, folder, element('head').querySelector('.verdict.fine, .verdict.good') !== null));
    element('own').append(part('Save what was found', 'as a page',
        make('p', 'row', button('Report .html', () => savePage(title, body, `${place.path}-repaired.html`)))));
    element('title').focus();
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

/** @param {Place} place @param {string} command */
async function saveLines(place, command) {
    /** @type {Blob} */
    const lines = await work(command, () => engine.ask('json', command, place.path, 'sample', input('all').checked));
    save(lines, `${place.path}-${command}.json`);
}

async function showEntries() {
    if (!shown) return;
    const [prefix, from] = [input('prefix').value, input('from').value];
    await entries.begin([shown.path, prefix, from, input('hex').checked, input('all').checked]);
}

/** @param {import('./types').ScanFor} scan @param {import('./types').Row} row @param {number} before */
async function saveValue(scan, row, before) {
    const value = await work('Reading the value', () => engine.ask('value', ...scan, before));
    if (value) save(new Blob([value]), `${row.key.text}.bin`);
    else say('The entry is not there any longer.');
}

/** @param {string} id */
function takeButton(id) {
    const made = input(id);
    made.addEventListener('change', () => {
        const files = ofButton(made.files ?? []);
        // The same folder can be chosen once more.
        made.value = '';
        act(() => take(async () => files));
    });
}

takeButton('folder');
takeButton('files');
// Where the browser has it, this way lets the page read the folder again.
let usesPicker = 'showDirectoryPicker' in globalThis;
element('folder').addEventListener('click', event => {
    if (!usesPicker) return;
    event.preventDefault();
    act(async () => {
        const folder = await showDirectoryPicker({ id: 'database', mode: 'read' }).catch(error => {
            if (error.name === 'AbortError') return;
            usesPicker = false;
            input('folder').click();
        });
        if (folder) await take(() => ofHandle(folder), true);
    });
});
for (const made of document.querySelectorAll('[data-sample]')) {
    const name = /** @type {HTMLElement} */ (made).dataset.sample ?? '';
    made.addEventListener('click', () => act(() => take(async () => ofSample(await unpacked('sample-data'), name))));
}
element('again').addEventListener('click', () => act(async () => {
    if (readAgain) await take(readAgain, true);
}));
element('another').addEventListener('click', another);
element('back').addEventListener('click', () => act(async () => {
    const mine = turn += 1;
    engine.cancel();
    list();
    await judge('ends', mine);
    list();
}));
element('cancel').addEventListener('click', () => {
    isCancelled = true;
    engine.cancel();
});
element('alarm-copy').addEventListener('click', () => copy(element('alarm-text').textContent ?? ''));
element('alarm-close').addEventListener('click', () => element('alarm').hidden = true);
element('scan').addEventListener('submit', event => {
    event.preventDefault();
    act(showEntries);
});
element('further').addEventListener('click', () => act(() => entries.more()));
element('database').addEventListener('click', event => {
    const made = /** @type {HTMLElement} */ (event.target).closest('.verdict .cmd button');
    if (made) copy(made.previousElementSibling?.textContent ?? '');
});

const tabs = [...document.querySelectorAll('[role=tab]')].map(tab => /** @type {HTMLElement} */ (tab));
for (const [at, tab] of tabs.entries()) {
    tab.addEventListener('click', () => {
        choose(tab.getAttribute('aria-controls') ?? '');
        if (tab.id === 'tab-entries' && entries.isEmpty && !engine.isBusy) act(showEntries);
    });
    tab.addEventListener('keydown', event => {
        if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return;
        event.preventDefault();
        const next = tabs[(at + 1) % tabs.length];
        next.focus();
        next.click();
    });
}

addEventListener('dragover', event => {
    event.preventDefault();
    document.body.classList.add('over');
});
addEventListener('dragleave', event => {
    if (event.relatedTarget === null) document.body.classList.remove('over');
});
addEventListener('drop', event => {
    event.preventDefault();
    document.body.classList.remove('over');
    const dropped = event.dataTransfer;
    if (!dropped) return;
    const given = ofDrop(dropped);
    act(() => take(() => given));
});

globalThis.filterblock = {
    /** @param {string} call @param {unknown[]} args */
    ask: (call, ...args) => work(call, () => engine.ask(call, ...args)).catch(error => {
        tell(error);
        throw error;
    }),
    counts: () => engine.counts,
    cancel: () => engine.cancel(),
};
