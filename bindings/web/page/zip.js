// The files of a new database as one .zip, without compression: blocks of tables have their own.

import { makeZip } from 'client-zip';

/** The size of a piece in bytes. The browser keeps pieces outside of the page's memory. */
const PIECE = 8 << 20;

/**
 * Makes a .zip of files, which are taken out of the list one after the other.
 * @param {string} folder the folder that they are in @param {File[]} files
 * @param {(bytes: number) => void} progress called with the bytes so far; what it throws ends the work
 */
export async function zip(folder, files, progress) {
    const named = function* () {
        for (let file; file = files.shift();) yield { name: `${folder}/${file.name}`, input: file };
    };
    const reader = makeZip(named()).getReader();
    /** @type {Blob[]} */
    const pieces = [];
    /** @type {Uint8Array<ArrayBuffer>[]} */
    let chunks = [];
    let [held, bytes] = [0, 0];
    for (;;) {
        const { done, value } = await reader.read();
        if (value) {
            chunks.push(/** @type {Uint8Array<ArrayBuffer>} */ (value));
            held += value.length;
        }
        if (done || held >= PIECE) {
            pieces.push(new Blob(chunks));
            bytes += held;
            [chunks, held] = [[], 0];
            progress(bytes);
        }
        if (done) return new Blob(pieces, { type: 'application/zip' });
    }
}
