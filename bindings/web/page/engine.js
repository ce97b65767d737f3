// The engine as the page sees it: questions to a worker, which is ended when a question is cancelled.

/** @typedef {import('./types').Given} Given */
/** @typedef {import('./types').Counts} Counts */
/** @typedef {import('./types').Answer} Answer */

/** The user has cancelled the question. */
export class Cancelled extends Error {}
/** The engine has stopped at a defect of its own. */
export class Defect extends Error {}

export class Engine {
    /** @type {Worker | undefined} */
    #worker;
    /** @type {Given[]} */
    #files = [];
    /** @type {{ id: number, resolve: (result: any) => void, reject: (error: Error) => void } | undefined} */
    #asked;
    #id = 0;
    #ready;
    /** The costs of the last question. @type {Counts | undefined} */
    counts;
    /** Called with what the present question has cost so far. @type {(counts: Counts) => void} */
    onprogress = () => {};
    /** Called with each file of a new database. @type {(file: File) => void} */
    onfile = () => {};

    /** @param {Promise<Uint8Array<ArrayBuffer>>} script @param {Promise<WebAssembly.Module>} module */
    constructor(script, module) {
        this.#ready = Promise.all([script, module]).then(([script, module]) => {
            return { url: URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), module };
        });
        // An engine that cannot be started is reported when something is asked.
        this.#ready.catch(() => {});
    }

    get isBusy() {
        return this.#asked !== undefined;
    }

    /** Takes other files. What is being asked for is cancelled. @param {Given[]} files */
    take(files) {
        this.cancel();
        this.#files = files;
    }

    /**
     * Asks the worker, which answers one question at a time.
     * @param {string} call @param {unknown[]} args @returns {Promise<any>}
     */
    ask(call, ...args) {
        if (this.#asked) return Promise.reject(new Error('another question is being answered'));
        const id = this.#id += 1;
        const answer = new Promise((resolve, reject) => this.#asked = { id, resolve, reject });
        // The question may be cancelled meanwhile.
        this.#ready.then(({ url, module }) => {
            if (!this.#isAsked(id)) return;
            this.#worker ??= this.#start(url, module);
            this.#worker.postMessage({ id, call, args });
        }).catch(error => {
            if (this.#isAsked(id)) this.#end(new Error(`The engine cannot be started in this browser: ${error.message}`));
        });
        return answer;
    }

    /** @param {number} id */
    #isAsked(id) {
        return this.#asked?.id === id;
    }

    /** Ends what is being done. The next question starts anew. */
    cancel() {
        this.#end(new Cancelled('cancelled'));
    }

    /** @param {Error} error */
    #end(error) {
        this.#worker?.terminate();
        this.#worker = undefined;
        const asked = this.#asked;
        this.#asked = undefined;
        asked?.reject(error);
    }

    /** @param {string} url @param {WebAssembly.Module} module */
    #start(url, module) {
        const worker = new Worker(url);
        worker.onmessage = event => this.#answer(worker, event.data);
        worker.onerror = event => {
            event.preventDefault();
            if (worker === this.#worker) this.#end(new Defect(event.message || 'the worker could not be started'));
        };
        worker.postMessage({ module, files: this.#files });
        return worker;
    }

    /** @param {Worker} worker @param {Answer} answer */
    #answer(worker, answer) {
        const asked = this.#asked;
        // Messages that a worker sent before it was ended are not wanted.
        if (worker !== this.#worker || !asked) return;
        if ('progress' in answer) return this.onprogress(answer.progress);
        if ('file' in answer) return this.onfile(answer.file);
        if (answer.id !== asked.id) return;
        this.counts = answer.counts;
        // After a panic, the memory of the engine is in no state to be relied on.
        if ('defect' in answer) return this.#end(new Defect(answer.defect));
        this.#asked = undefined;
        if ('error' in answer) asked.reject(new Error(answer.error));
        else asked.resolve(answer.result);
    }
}
