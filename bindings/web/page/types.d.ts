// The data that page, worker and engine hand each other.

/** A file, and its path below the folder that was given. */
export interface Given {
    path: string;
    file: File;
}

/** A folder with something to look at, or a single file. */
export interface Place {
    path: string;
    /** What people call it, or empty. */
    name: string;
    program: 'minecraft' | 'chromium' | 'other';
    is_database: boolean;
    tables: number;
    size: number;
    /** It was given as a file, not in its folder. */
    is_file?: boolean;
    /** What was found of it so far. */
    report?: Report;
    /** Every block was read for the report. */
    isWhole?: boolean;
}

/** The costs of a question: reads, bytes read and files read from, and the work done and expected, in bytes. */
export interface Counts {
    reads: number;
    bytes: number;
    files: number;
    done: number;
    expected: number;
}

/** The title of a page, its HTML below that, the verdict in a word, what was found in a few words, and a command that helps. */
export type Report = [title: string, body: string, verdict: Verdict, clause: string, command: string];

export type Verdict = 'damaged' | 'false negatives' | 'could be better' | 'cannot tell' | 'fine';

/** A step of reading a database: the question to the engine, and what it costs. */
export interface Step {
    name: string;
    call: string;
    state: 'todo' | 'now' | 'done';
    cost: string;
}

/** The start of a key or value. */
export interface Part {
    text: string;
    hex: string;
    size: number;
}

export interface Row {
    file: string;
    offset: number;
    sequence: string | null;
    kind: string | null;
    state: string | null;
    key: Part;
    value: Part | null;
}

export interface Batch {
    rows: Row[];
    messages: string[];
    ended: boolean;
}

/** The request for a scan: path, prefix, first key, keys are in hexadecimal, all versions. */
export type ScanFor = [path: string, prefix: string, from: string, hex: boolean, all: boolean];

export type Question = { module: WebAssembly.Module; files: Given[] } | { id: number; call: string; args: unknown[] };

export type Answer =
    | { progress: Counts }
    | { file: File }
    | { id: number; result: any; counts: Counts }
    | { id: number; error: string; counts: Counts }
    | { id: number; defect: string; counts: Counts };

/** The request for a scan as the engine takes it, once. */
export interface Asked {
    free(): void;
}

export interface Scan {
    next_batch(): string;
    free(): void;
}

export interface Session {
    places(): string;
    report(path: string, depth: string, verify: boolean, tune: boolean): Report;
    repair(path: string): [title: string, body: string];
    json(command: string, path: string, depth: string, all: boolean): void;
    scan(path: string, asked: Asked, wanted: number): Scan;
    value(path: string, asked: Asked, before: number): Uint8Array | undefined;
    panic(): void;
}

declare global {
    const wasm_bindgen: {
        initSync(of: { module: WebAssembly.Module }): void;
        Session: new (paths: string[], sizes: Float64Array) => Session;
        Question: new (prefix: string, from: string, hex: boolean, all: boolean) => Asked;
    };
    class FileReaderSync {
        readAsArrayBuffer(blob: Blob): ArrayBuffer;
    }
    /** Chromium only. */
    function showDirectoryPicker(options?: { id?: string; mode?: 'read' }): Promise<FileSystemDirectoryHandle>;
    interface FileSystemDirectoryHandle {
        entries(): AsyncIterable<[string, FileSystemFileHandle | FileSystemDirectoryHandle]>;
    }
    interface DataTransferItem {
        getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
    }
    /** For tests, and for whoever wants to ask for more by the console. */
    var filterblock: {
        ask(call: string, ...args: unknown[]): Promise<any>;
        counts(): Counts | undefined;
        cancel(): void;
    };
}
