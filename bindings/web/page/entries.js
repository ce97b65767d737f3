// The list of entries: rows are made for what is in view, and entries asked for as the end comes near.

import { element } from './dom.js';
import { Cancelled } from './engine.js';

/** @typedef {import('./types').Row} Row */
/** @typedef {import('./types').Batch} Batch */
/** @typedef {import('./types').ScanFor} ScanFor */

/** The height of a row in pixels. */
const ROW = 28;
/** The entries of a batch. */
const BATCH = 500;
/** The entries that are kept. */
const MAX_ROWS = 100_000;
/** Rows made beyond those in view. */
const SPARE = 10;

export class Entries {
    #grid = element('grid');
    #spacer = element('spacer');
    /** @type {Row[]} */
    #rows = [];
    #ended = false;
    #chosen = -1;
    /** @type {ScanFor | undefined} */
    #scan;
    #hex = false;
    #ask;
    #isBusy;
    #tellError;

    /**
     * @param {(call: string, ...args: unknown[]) => Promise<any>} ask asks the engine as a step of its own
     * @param {() => boolean} isBusy
     * @param {(error: unknown) => void} tellError
     */
    constructor(ask, isBusy, tellError) {
        this.#ask = ask;
        this.#isBusy = isBusy;
        this.#tellError = tellError;
        this.#grid.addEventListener('scroll', () => this.#show());
        this.#grid.addEventListener('keydown', event => this.#key(event));
        new ResizeObserver(() => this.#show()).observe(this.#grid);
    }

    /** Forgets all. */
    clear() {
        this.#rows = [];
        this.#scan = undefined;
        this.#ended = false;
        this.#grid.hidden = true;
        this.#grid.scrollTop = 0;
        this.#choose(-1);
        element('messages').replaceChildren();
        element('found').textContent = '';
        this.#show();
    }

    /** Begins anew. @param {ScanFor} scan */
    async begin(scan) {
        this.clear();
        this.#scan = scan;
        this.#hex = scan[3];
        await this.#ask('scan', ...scan, BATCH);
        await this.#more();
        this.#grid.hidden = this.#rows.length === 0;
        this.#show();
    }

    /** The row that is chosen, and how many come before it. */
    get chosen() {
        return { scan: this.#scan, row: this.#rows[this.#chosen], before: this.#chosen };
    }

    /** The last key, in hexadecimal. */
    get lastKey() {
        return this.#rows.at(-1)?.key.hex ?? '';
    }

    /** Shows text in hexadecimal, or not. @param {boolean} hex */
    set hex(hex) {
        this.#hex = hex;
        this.#show();
        this.#detail();
    }

    /** Takes entries until there is one more, or no more. */
    async #more() {
        const before = this.#rows.length;
        while (!this.#ended && this.#rows.length === before && this.#rows.length < MAX_ROWS) {
            /** @type {Batch | undefined} */
            const batch = await this.#ask('next');
            if (batch) this.#take(batch);
            else await this.#resume();
        }
        this.#tell();
    }

    /** Finds the place again in a worker that does not know it. */
    async #resume() {
        if (!this.#scan) return;
        let before = this.#rows.length;
        await this.#ask('scan', ...this.#scan, BATCH);
        while (before > 0) {
            /** @type {Batch} */
            const batch = await this.#ask('next');
            const rest = batch.rows.slice(before);
            before -= Math.min(before, batch.rows.length);
            if (before === 0) this.#take({ ...batch, rows: rest });
            if (batch.ended) return void (this.#ended = true);
        }
    }

    /** @param {Batch} batch */
    #take(batch) {
        this.#rows.push(...batch.rows);
        this.#ended = batch.ended;
        const list = element('messages');
        for (const message of batch.messages) {
            const item = document.createElement('li');
            item.textContent = message;
            list.append(item);
        }
    }

    #tell() {
        const number = this.#rows.length.toLocaleString('en');
        const isFull = !this.#ended && this.#rows.length >= MAX_ROWS;
        const rest = this.#ended ? '' : isFull ? ' so far; this list holds no more' : ' so far; scroll for more';
        element('found').textContent = `${number} ${this.#rows.length === 1 ? 'entry' : 'entries'}${rest}`;
        element('further').hidden = !isFull;
        this.#grid.setAttribute('aria-rowcount', this.#ended ? String(this.#rows.length) : '-1');
    }

    /** Makes the rows in view, and asks for more if the end is near. */
    #show() {
        const height = this.#grid.clientHeight;
        const first = Math.max(0, Math.floor(this.#grid.scrollTop / ROW) - SPARE);
        const end = Math.min(this.#rows.length, Math.ceil((this.#grid.scrollTop + height) / ROW) + SPARE);
        this.#spacer.style.height = `${this.#rows.length * ROW}px`;
        const rows = [];
        for (let at = first; at < end; at += 1) rows.push(this.#row(this.#rows[at], at));
        this.#spacer.replaceChildren(...rows);
        const isNear = end + 2 * SPARE >= this.#rows.length;
        if (height > 0 && isNear && !this.#ended && this.#scan && this.#rows.length < MAX_ROWS && !this.#isBusy()) {
            this.#more().then(() => this.#show(), error => {
                // Scrolling does not try again what cannot be done.
                if (!(error instanceof Cancelled)) this.#ended = true;
                this.#tellError(error);
            });
        }
    }

    /** @param {Row} row @param {number} at */
    #row(row, at) {
        const line = document.createElement('div');
        line.className = 'line';
        line.id = `row-${at}`;
        line.setAttribute('role', 'row');
        line.setAttribute('aria-rowindex', String(at + 1));
        line.setAttribute('aria-selected', String(at === this.#chosen));
        line.style.top = `${at * ROW}px`;
        const value = row.value ? this.#part(row.value) : row.kind ?? '';
        const about = [row.sequence, row.value === null ? null : row.kind, row.state, row.file].filter(Boolean).join(' · ');
        for (const [text, type] of [[this.#part(row.key), 'key'], [value, row.value ? 'value' : 'value dim'], [about, 'about dim']]) {
            const cell = document.createElement('span');
            cell.setAttribute('role', 'gridcell');
            cell.className = type;
            cell.textContent = text;
            line.append(cell);
        }
        line.addEventListener('click', () => this.#choose(at));
        return line;
    }

    /** @param {import('./types').Part} part */
    #part(part) {
        return this.#hex ? part.hex : part.text;
    }

    /** @param {number} at */
    #choose(at) {
        this.#chosen = at;
        if (at >= 0) {
            const top = at * ROW;
            const bottom = top + ROW - this.#grid.clientHeight;
            this.#grid.scrollTop = Math.min(top, Math.max(this.#grid.scrollTop, bottom));
            this.#show();
            this.#grid.setAttribute('aria-activedescendant', `row-${at}`);
        } else this.#grid.removeAttribute('aria-activedescendant');
        this.#detail();
    }

    #detail() {
        const row = this.#rows[this.#chosen];
        const list = element('detail');
        list.replaceChildren();
        element('value').hidden = !row?.value;
        if (!row) return;
        /** @param {import('./types').Part} part */
        const whole = part => {
            const isCut = part.hex.length < 2 * part.size;
            return this.#part(part) + (isCut ? `… (${part.size.toLocaleString('en')} bytes)` : '');
        };
        const facts = {
            Key: whole(row.key),
            Value: row.value && whole(row.value),
            'Size of the value': row.value && `${row.value.size.toLocaleString('en')} bytes`,
            Type: row.kind,
            'Sequence number': row.sequence,
            File: `${row.file}, at ${row.offset.toLocaleString('en')}${row.state ? `, ${row.state}` : ''}`,
        };
        for (const [name, text] of Object.entries(facts)) {
            if (text === null) continue;
            const [fact, term, data, code] = ['div', 'dt', 'dd', 'code'].map(tag => document.createElement(tag));
            term.textContent = name;
            code.textContent = text;
            data.append(code);
            fact.append(term, data);
            list.append(fact);
        }
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
        const page = Math.max(1, Math.floor(this.#grid.clientHeight / ROW) - 1);
        const last = this.#rows.length - 1;
        const to = { ArrowDown: this.#chosen + 1, ArrowUp: this.#chosen - 1, PageDown: this.#chosen + page,
            PageUp: this.#chosen - page, Home: 0, End: last }[event.key];
        if (to === undefined || last < 0) return;
        event.preventDefault();
        this.#choose(Math.max(0, Math.min(last, to)));
    }
}
