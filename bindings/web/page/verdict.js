// What the page itself says of what is given, in the form of the engine's verdicts.

import { button, counted, icon, make, safe } from './dom.js';

/** @typedef {import('./types').Place} Place */
/** @typedef {import('./types').Verdict} Verdict */

/** The class, and sign, of each verdict. @type {Record<Verdict, string>} */
const TONES = { damaged: 'bad', 'false negatives': 'bad', 'could be better': 'better', 'cannot tell': 'none', fine: 'fine' };

/** @param {Verdict} verdict */
export const toneOf = verdict => TONES[verdict] ?? 'none';

/**
 * @param {Verdict | 'no database'} verdict @param {string} headline @param {string} say
 * @param {{ act?: Node[], ifs?: string[] }} more what to do, and conditions
 */
export function verdictBox(verdict, headline, say, { act = [], ifs = [] } = {}) {
    const tone = verdict === 'no database' ? 'none' : toneOf(verdict);
    return make('section', `verdict ${tone}`, make('div', '',
        make('p', 'tag', icon(tone), verdict[0].toUpperCase() + verdict.slice(1)),
        make('h2', '', headline),
        make('p', 'say', say),
        ...act.length > 0 ? [make('div', 'act', make('p', 'row', ...act))] : [],
        ...ifs.length > 0 ? [make('ul', 'ifs', ...ifs.map(text => make('li', '', text)))] : []));
}

/** Says that there is no database. @param {number} files @param {() => void} another */
export function nothing(files, another) {
    const none = files === 1 ? 'Its one file is no table' : `None of its ${counted(files, 'file')} is a table`;
    return verdictBox('no database', 'No LevelDB database is in this folder', `${none} (.ldb, .sst), a log or a CURRENT.`, {
        act: [button('Choose another folder', another, 'main')],
        ifs: ['Of a Minecraft world, the database is its folder db.', 'Worlds of Java Edition are no LevelDB: their files end in .mca.'],
    });
}

/** Judges a log by the lines that `verify` writes of it. @param {string} lines @param {() => void} another */
export function judged(lines, another) {
    const log = JSON.parse(lines.split('\n')[0]);
    const act = [button('Choose the folder it is from', another, 'main'), make('span', 'dim small', 'to see the whole database')];
    const ifs = ['A log has only the newest writes; a table has none of them yet.', 'No filter covers a log.'];
    const writes = counted(log.writes ?? 0, 'write');
    const are = log.writes === 1 ? 'is' : 'are';
    if (log.verdict === 'fine') {
        const all = log.writes === 0 ? 'It has no writes' : log.writes === 1 ? 'Its one write is intact' : `All ${writes} are intact`;
        return verdictBox('fine', 'This log is sound', `${all}, up to the end of the file.`, { act, ifs });
    }
    if (log.verdict !== 'damaged') return verdictBox('cannot tell', 'This log cannot be read', safe(String(log.error)), { act });
    /** @type {{ offset: number, found: string }[]} */
    const problems = log.problems;
    const isBit = problems.length > 0 && problems.every(({ found }) => found.includes('one bit at offset '));
    const say = isBit ? 'One bit is wrong in each damaged record, which a repair of the whole database corrects.'
        : `${writes} ${are} intact; others cannot be read.`;
    const places = problems.slice(0, 5).map(({ offset }) => `A record is damaged at offset ${offset.toLocaleString('en')}.`);
    return verdictBox('damaged', 'This log is damaged', say, { act, ifs: [...places, ...ifs] });
}

const READ_FIRST = 'Read what is lost before you use it, and prefer a backup.';
const NODES = 'A node’s database (Bitcoin, geth, Cosmos) has to be rebuilt by its program instead.';

/** The steps that put a repaired database back. @param {Place} place @param {string} folder the one in the .zip @param {boolean} isComplete */
export function backSteps({ program }, folder, isComplete) {
    const code = (/** @type {string} */ name) => make('code', '', name);
    const [close, around] = {
        minecraft: ['Close Minecraft, and copy the folder of the world.', 'In it, rename '],
        chromium: ['Close the browser or program, and copy the folder that has this one in it.', 'There, rename '],
        other: ['Close the program that uses it, and copy the folder of the database.', 'Rename the original from '],
    }[program];
    return [
        make('h3', '', 'Put it back'),
        ...isComplete ? [] : [make('p', '', READ_FIRST, program === 'other' ? ` ${NODES}` : '')],
        make('ol', 'steps',
            make('li', '', close),
            make('li', '', around, code(folder), ' to ', code(`${folder}-damaged`), '.'),
            make('li', '', 'Unpack the .zip there: it has a folder ', code(folder), '.')),
    ];
}
