// The elements of the page.

/** @template {HTMLElement} T @param {string} id */
export const element = id => /** @type {T} */ (document.getElementById(id));

/** @param {string} id */
export const input = id => /** @type {HTMLInputElement} */ (element(id));

/** @param {number} bytes */
export function size(bytes) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let at = 0;
    while (bytes >= 1000 && at < units.length - 1) [bytes, at] = [bytes / 1024, at + 1];
    return `${at === 0 ? bytes : bytes.toFixed(1)} ${units[at]}`;
}

/** A path as text that acts on nothing around it. @param {string} text */
export const safe = text => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, char => `\\u{${char.codePointAt(0)?.toString(16)}}`);

/** Offers a file for saving. @param {Blob} blob @param {string} name */
export function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(-100);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
