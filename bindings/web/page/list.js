// The list of databases, worst first.

import { button, counted, element, icon, make, safe, size } from './dom.js';
import { toneOf } from './verdict.js';

/** @typedef {import('./types').Place} Place */
/** @typedef {import('./types').Verdict} Verdict */

/** The verdicts, worst first. @type {Verdict[]} */
const ORDER = ['damaged', 'false negatives', 'cannot tell', 'could be better', 'fine'];
/** From this number of bytes on, filters matter. */
const MATTERS = 1 << 20;

/**
 * The list, with the number of databases of each verdict before it.
 * @param {Place[]} places @param {(place: Place) => void} open @param {() => void} checkAll
 */
export function listed(places, open, checkAll) {
    const known = places.filter(place => place.report);
    const isWhole = places.every(place => place.isWhole);
    const bad = known.filter(place => toneOf(place.report?.[2] ?? 'fine') === 'bad').length;
    const of = `of ${counted(places.length, 'database')}`;
    const headline = bad > 0 ? `${bad} ${of} ${bad === 1 ? 'is' : 'are'} damaged` : known.length < places.length ? `${known.length} ${of} read so far` : `None ${of} is damaged`;
    const bytes = places.reduce((sum, place) => sum + (place.isWhole ? 0 : place.size), 0);
    const check = button('Check every block', checkAll, 'main');
    check.dataset.work = '';
    const groups = [...ORDER.map(verdict => ({
        verdict,
        id: verdict.replaceAll(' ', '-'),
        name: verdict === 'fine' && !isWhole ? 'fine so far' : verdict,
        places: known.filter(place => place.report?.[2] === verdict && !(verdict === 'fine' && place.size < MATTERS)),
    })), {
        verdict: /** @type {Verdict} */ ('fine'),
        id: 'small',
        name: isWhole ? 'fine, below 1 MiB' : 'fine so far, below 1 MiB',
        places: known.filter(place => place.report?.[2] === 'fine' && place.size < MATTERS),
    }, {
        verdict: /** @type {Verdict} */ ('cannot tell'),
        id: 'unread',
        name: 'not read yet',
        places: places.filter(place => !place.report),
    }].filter(group => group.places.length > 0);
    const heads = () => make('thead', '', make('tr', '', ...['database', 'what was found', 'tables', 'size'].map((name, at) => make('th', { scope: 'col', className: at > 1 ? 'n' : '' }, name))));
    const lines = (/** @type {Place[]} */ of) => of.sort((a, b) => b.size - a.size).map(place => line(place, open));
    const large = groups.filter(({ id }) => id !== 'small');
    const small = groups.find(({ id }) => id === 'small');
    return [
        make('div', 'headline', make('h2', '', headline), make('p', 'row',
            ...isWhole ? [make('span', 'dim small', 'Every block was read.')]
                : [make('span', 'dim small', 'So far from index and filters alone.'), check, make('span', 'dim small', size(bytes))])),
        make('p', 'counts', ...groups.map(({ verdict, id, name, places }) => {
            const link = make('a', { className: toneOf(verdict), href: `#${id}` }, icon(toneOf(verdict)), make('b', '', places.length.toLocaleString('en')), ` ${name}`);
            link.addEventListener('click', event => {
                event.preventDefault();
                const to = element(id);
                if (to instanceof HTMLDetailsElement) to.open = true;
                to.scrollIntoView();
                to.focus();
            });
            return link;
        })),
        ...large.length === 0 ? [] : [make('table', 'list', heads(), ...large.map(({ verdict, id, name, places }) => {
            const word = make('span', `what ${toneOf(verdict)}`, icon(toneOf(verdict)), `${name[0].toUpperCase()}${name.slice(1)} `, make('span', 'dim', String(places.length)));
            const head = make('tr', { id, tabIndex: -1 }, make('th', { colSpan: 4, scope: 'rowgroup' }, word));
            return make('tbody', '', head, ...lines(places));
        }))],
        ...small ? [make('details', { className: 'part', id: 'small', tabIndex: -1, open: groups.length === 1 },
            make('summary', '', make('h2', '', 'Fine'), make('span', '', `${counted(small.places.length, 'database')} below 1 MiB${isWhole ? '' : ', so far'}`)),
            make('div', '', make('table', 'list', heads(), make('tbody', '', make('tr', ''), ...lines(small.places)))))] : [],
    ];
}

/** @param {Place} place @param {(place: Place) => void} open */
function line(place, open) {
    const name = make('button', { type: 'button', className: 'link' }, safe(place.name || place.path.split('/').slice(-2).join('/')));
    const path = make('small', '', safe(place.path));
    const tables = make('td', 'n', place.tables.toLocaleString('en'));
    tables.dataset.l = place.tables === 1 ? 'table' : 'tables';
    const clause = safe(place.report?.[3] ?? '');
    const made = make('tr', '', make('td', '', name, path), make('td', '', clause), tables, make('td', 'n', size(place.size)));
    made.addEventListener('click', () => open(place));
    return made;
}
