// The list of entries. Each can be opened for what is known of it.

import { button, counted, element, make } from './dom.js';

/** @typedef {import('./types').Row} Row */
/** @typedef {import('./types').Part} Part */
/** @typedef {import('./types').Batch} Batch */
/** @typedef {import('./types').ScanFor} ScanFor */

/** The entries of a batch. */
const BATCH = 200;
/** The entries in the list. Further ones take the place of the first. */
const MAX_ROWS = 10_000;

export class Entries {
    /** @type {HTMLElement} */
    #rows = element('rows');
    /** The entries that were taken. */
    #taken = 0;
    #ended = false;
    /** @type {ScanFor | undefined} */
    #scan;
    #ask;
    #saveValue;

    /**
     * @param {(call: string, ...args: unknown[]) => Promise<any>} ask asks the engine as a step of its own
     * @param {(scan: ScanFor, row: Row, before: number) => void} saveValue saves the value of the entry after `before` others
     */
    constructor(ask, saveValue) {
        this.#ask = ask;
        this.#saveValue = saveValue;
    }

    /** Forgets all. */
    clear() {
        [this.#taken, this.#ended, this.#scan] = [0, false, undefined];
        this.#rows.replaceChildren();
        element('messages').replaceChildren();
        element('found').textContent = '';
        element('table').hidden = element('further').hidden = true;
    }

    get isEmpty() {
        return this.#scan === undefined;
    }

    /** Begins anew. @param {ScanFor} scan */
    async begin(scan) {
        this.clear();
        this.#scan = scan;
        await this.#ask('scan', ...scan, BATCH);
        await this.more();
    }

    /** Takes entries until there are some more, or no more. */
    async more() {
        const before = this.#taken;
        while (!this.#ended && this.#taken === before) {
            /** @type {Batch | undefined} */
            const batch = await this.#ask('next');
            if (batch) this.#take(batch, 0);
            else await this.#resume();
        }
        element('found').textContent = counted(this.#taken, 'entry', 'entries') + (this.#ended ? '' : ' so far');
        element('table').hidden = this.#taken === 0;
        element('further').hidden = this.#ended;
    }

    /** Finds the place again in a worker that does not know it. */
    async #resume() {
        if (!this.#scan) return void (this.#ended = true);
        let before = this.#taken;
        await this.#ask('scan', ...this.#scan, BATCH);
        while (before > 0 && !this.#ended) {
            /** @type {Batch} */
            const batch = await this.#ask('next');
            const known = Math.min(before, batch.rows.length);
            before -= known;
            if (before === 0) this.#take(batch, known);
            this.#ended = batch.ended;
        }
    }

    /** @param {Batch} batch @param {number} from the entries before it are known */
    #take({ rows, ended, messages }, from) {
        for (const row of rows.slice(from)) {
            this.#rows.append(this.#line(row, this.#taken));
            this.#taken += 1;
        }
        while (this.#rows.childElementCount > MAX_ROWS) this.#rows.firstElementChild?.remove();
        this.#ended = ended;
        element('messages').append(...messages.map(message => make('li', '', message)));
    }

    /** @param {Row} row @param {number} before */
    #line(row, before) {
        const [scan, isHex] = [this.#scan, this.#scan?.[3]];
        const text = (/** @type {Part} */ part) => isHex ? part.hex : part.text;
        const key = make('button', { type: 'button', className: 'key', ariaExpanded: 'false' }, make('code', '', text(row.key) || 'the empty key'));
        const value = row.value ? make('code', '', text(row.value)) : make('span', 'dim', row.kind ?? '');
        const write = make('td', 'n', row.sequence === null ? '' : BigInt(row.sequence).toLocaleString('en'));
        write.dataset.l = 'write';
        const line = make('tr', '', make('th', { scope: 'row' }, key), make('td', '', value), write);
        key.addEventListener('click', () => {
            const isOpen = key.ariaExpanded === 'true';
            key.ariaExpanded = String(!isOpen);
            if (isOpen) return line.nextElementSibling?.remove();
            /** @param {Part} part */
            const whole = part => text(part) + (part.hex.length < 2 * part.size ? `… (${part.size.toLocaleString('en')} bytes)` : '');
            const facts = {
                Key: whole(row.key),
                Value: row.value && whole(row.value),
                Type: row.kind,
                State: row.state,
                Place: `${row.file}, at ${row.offset.toLocaleString('en')}`,
            };
            const list = make('dl', 'kv');
            for (const [name, fact] of Object.entries(facts)) {
                if (fact !== null) list.append(make('div', '', make('dt', '', name), make('dd', '', make('code', '', fact))));
            }
            if (row.value && scan) list.append(make('div', '', make('dt', '', 'Size'), make('dd', 'row', counted(row.value.size, 'byte'),
                button('Save the whole value', () => this.#saveValue(scan, row, before)))));
            line.after(make('tr', '', make('td', { colSpan: 3 }, list)));
        });
        return line;
    }
}
