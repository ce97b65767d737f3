// The elements of the page.

/** @template {HTMLElement} T @param {string} id */
export const element = id => /** @type {T} */ (document.getElementById(id));

/** @param {string} id */
export const input = id => /** @type {HTMLInputElement} */ (element(id));

/**
 * Makes an element. Text stays text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {string | Record<string, unknown>} about a class, or properties @param {(Node | string)[]} children
 */
export function make(tag, about = '', ...children) {
    const made = document.createElement(tag);
    Object.assign(made, typeof about === 'string' ? about && { className: about } : about);
    made.append(...children);
    return made;
}

/** A sign, beside words that say the same. @param {string} name */
export function icon(name) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('class', 'icon');
    svg.setAttribute('aria-hidden', 'true');
    const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
    use.setAttribute('href', `#i-${name}`);
    svg.append(use);
    return svg;
}

/** @param {string} text @param {() => unknown} work @param {string} type */
export function button(text, work, type = '') {
    const made = make('button', { type: 'button', className: type }, text);
    made.addEventListener('click', work);
    return made;
}

/** With three digits. @param {number} bytes */
export function size(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let at = 0;
    while (bytes >= 1000 && at < units.length - 1) [bytes, at] = [bytes / 1024, at + 1];
    return `${at === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[at]}`;
}

/** @param {number} number @param {string} one @param {string} many */
export const counted = (number, one, many = `${one}s`) => `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

/** A path as text that acts on nothing around it. @param {string} text */
export const safe = text => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, char => `\\u{${char.codePointAt(0)?.toString(16)}}`);

/** A name for a file or folder on any system. @param {string} text */
export const fileName = text => text.replace(/[\p{C}\p{Zl}\p{Zp}\\/:*?"<>|]+/gu, '_').replace(/^\.+|[. ]+$/g, '_').slice(-100) || '_';

/** Offers a file for saving. @param {Blob} blob @param {string} name */
export function save(blob, name) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = fileName(name);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
