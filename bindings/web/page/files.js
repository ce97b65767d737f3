// The ways in which folders and files are given.

/** @typedef {import('./types').Given} Given */

/** The folder that files stand in which were given without one. */
const LOOSE = 'files';

/** @param {string} path @param {File} file @returns {Given} */
function given(path, file) {
    // The engine takes a path that begins so for a URL.
    return { path: path.startsWith('file:') ? `./${path}` : path, file };
}

/** The files of a button. @param {Iterable<File>} files */
export function ofButton(files) {
    return Array.from(files, file => given(file.webkitRelativePath || `${LOOSE}/${file.name}`, file));
}

/**
 * The files of a folder and of those below it.
 * @param {FileSystemDirectoryHandle} folder @param {string} path @returns {Promise<Given[]>}
 */
export async function ofHandle(folder, path = folder.name || LOOSE) {
    /** @type {Given[]} */
    const found = [];
    for await (const [name, handle] of folder.entries()) {
        const below = `${path}/${name}`;
        if (handle.kind === 'directory') found.push(...await ofHandle(/** @type {FileSystemDirectoryHandle} */ (handle), below));
        else {
            const file = await orNothing(/** @type {FileSystemFileHandle} */ (handle).getFile());
            if (file) found.push(given(below, file));
        }
    }
    return found;
}

/** Leaves out a file that vanishes between listing and opening. @template T @param {Promise<T>} promise */
async function orNothing(promise) {
    try {
        return await promise;
    } catch (error) {
        if (/** @type {DOMException} */ (error).name === 'NotFoundError') return undefined;
        throw error;
    }
}

/** The files and folders that were dropped. @param {DataTransfer} dropped @returns {Promise<Given[]>} */
export async function ofDrop(dropped) {
    // All entries have to be taken before the first wait.
    const entries = Array.from(dropped.items, item => item.webkitGetAsEntry());
    /** @type {Map<string, number>} */
    const names = new Map();
    const found = [];
    for (const entry of entries) {
        if (!entry) continue;
        if (entry.isFile) found.push(given(`${LOOSE}/${entry.name}`, await fileOf(entry)));
        else {
            // Two folders of one name stay two folders.
            const count = (names.get(entry.name) ?? 0) + 1;
            names.set(entry.name, count);
            found.push(...await ofEntry(entry, count === 1 ? entry.name : `${entry.name} (${count})`));
        }
    }
    return found;
}

/** @param {FileSystemEntry} entry @returns {Promise<File>} */
const fileOf = entry => new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));

/** @param {FileSystemEntry} folder @param {string} path @returns {Promise<Given[]>} */
async function ofEntry(folder, path) {
    const reader = /** @type {FileSystemDirectoryEntry} */ (folder).createReader();
    const found = [];
    for (;;) {
        // Some at a time, until there are none.
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) return found;
        for (const entry of some) {
            const below = `${path}/${entry.name}`;
            if (entry.isDirectory) found.push(...await ofEntry(entry, below));
            else {
                const file = await orNothing(fileOf(entry));
                if (file) found.push(given(below, file));
            }
        }
    }
}

/** One of the databases that the page has in itself. @param {Uint8Array<ArrayBuffer>} bytes @param {string} folder @returns {Given[]} */
export function ofSample(bytes, folder) {
    const line = bytes.indexOf(10);
    /** @type {[string, number][]} */
    const names = JSON.parse(new TextDecoder().decode(bytes.subarray(0, line)));
    let at = line + 1;
    const all = names.map(([path, size]) => given(path, new File([bytes.subarray(at, at += size)], path)));
    return all.filter(({ path }) => path.startsWith(`${folder}/`));
}

/** Returns the contents of an element that holds them as base64 of gzip. @param {string} id */
export async function unpacked(id) {
    const text = document.getElementById(id)?.textContent?.trim() ?? '';
    const bytes = Uint8Array.from(atob(text), char => char.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}
