//! The engine in a worker of the browser: the questions of the page, and the engine's answers. The worker has the
//! files, and reads them when it is asked to.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod entries;
pub mod files;
pub mod lines;
pub mod source;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use filterblock_engine::page::{PageRequest, repair_page};
use filterblock_engine::repair::RepairRequest;
use filterblock_engine::report::Depth;
use filterblock_engine::{Engine, Inputs, Progress, StreamOutput, TuneRequest};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::entries::{Entries, Question};
use crate::files::Files;
use crate::source::Host;

/// The size of a piece in which text is handed on, in bytes.
const PIECE: usize = 1 << 20;

// The functions of the worker that the engine calls.
#[wasm_bindgen]
extern "C" {
    /// Reads a part of a file. Returns 0, or the number of the reason why it cannot be read: see [`Worker::read`].
    #[wasm_bindgen(js_name = hostRead)]
    fn host_read(file: u32, offset: f64, into: &mut [u8]) -> u32;
    #[wasm_bindgen(js_name = hostProgress)]
    fn host_progress(done: f64, expected: f64);
    #[wasm_bindgen(js_name = hostText)]
    fn host_text(text: &str);
    /// Takes a file of a new database.
    #[wasm_bindgen(js_name = hostFile)]
    fn host_file(name: &str, contents: &[u8]);
    /// Takes the message of a panic, after which nothing can be asked for any more.
    #[wasm_bindgen(js_name = hostPanic)]
    fn host_panic(message: &str);
}

/// The worker as a reader of files.
#[derive(Debug)]
struct Worker;

impl Host for Worker {
    fn read(&self, file: u32, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let (kind, message) = match host_read(file, offset as f64, into) {
            0 => return Ok(()),
            1 => {
                let message = "the browser does not read it any longer, as it changed after it was given";
                (io::ErrorKind::StaleNetworkFileHandle, message)
            }
            2 => (io::ErrorKind::NotFound, "it is not there any longer"),
            3 => (io::ErrorKind::PermissionDenied, "the browser may not read it"),
            _ => (io::ErrorKind::Other, "the browser cannot read it"),
        };
        Err(io::Error::new(kind, message))
    }
}

/// Hands progress on.
#[derive(Debug, Default)]
struct HostProgress {
    done: AtomicU64,
    expected: AtomicU64,
}

impl Progress for HostProgress {
    fn expect(&self, more: u64, _: bool) {
        self.expected.fetch_add(more, Ordering::Relaxed);
    }

    fn add(&self, done: u64) {
        let done = self.done.fetch_add(done, Ordering::Relaxed).saturating_add(done);
        host_progress(done as f64, self.expected.load(Ordering::Relaxed) as f64);
    }
}

/// Hands text on in large pieces. What is written is ASCII.
struct Text(String);

impl Text {
    fn hand_on(&mut self) {
        host_text(&self.0);
        self.0.clear();
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push_str(std::str::from_utf8(bytes).map_err(io::Error::other)?);
        if self.0.len() >= PIECE {
            self.hand_on();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The files that were given.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Session {
    files: Arc<Files>,
}

#[wasm_bindgen]
impl Session {
    /// Begins a session with files by their paths and sizes. The first file has number 0.
    #[wasm_bindgen(constructor)]
    pub fn new(paths: Vec<String>, sizes: Vec<f64>) -> Self {
        std::panic::set_hook(Box::new(|panic| host_panic(&panic.to_string())));
        // The browser's sizes are whole numbers below 2^53.
        let sizes = sizes.into_iter().map(|size| size as u64);
        Self { files: Arc::new(Files::new(paths.into_iter().zip(sizes), Arc::new(Worker))) }
    }

    /// Returns the folders in which there is something to look at, as JSON.
    ///
    /// # Errors
    ///
    /// None that is expected.
    pub fn places(&self) -> Result<String, String> {
        lines::json(&self.files.places())
    }

    /// Makes a page about the folder or table at `path`. Returns its title, its HTML below that, the verdict in a word,
    /// what was found in a few words, and the command that it advises or nothing.
    ///
    /// # Errors
    ///
    /// The reason why there is nothing to report.
    pub fn report(&self, path: &str, depth: &str, verify: bool, tune: bool) -> Result<Vec<String>, String> {
        let request = PageRequest { verify, tune: tune.then(TuneRequest::default), repair: verify };
        // What is read as a whole gives the samples of the program.
        let engine = self.engine(depth).few_reads(!verify);
        self.files.read_whole(verify);
        let page = engine.page(Path::new(path), &request).map_err(|error| error.to_string())?;
        let advice = page.advice;
        let command = advice.commands.into_iter().next().unwrap_or_default();
        let clause = advice.clause.trim_start_matches([':', ';', ',', ' ']).to_owned();
        Ok(vec![page.title, page.body, advice.verdict.words().to_owned(), clause, command])
    }

    /// Makes a new database of what can be saved of the one at `path`, and hands on its files one after the other, each once
    /// it was read back. Returns the title of the page about it, and its HTML below that.
    ///
    /// # Errors
    ///
    /// The reason why there is no new database; files that were handed on are none then.
    pub fn repair(&self, path: &str) -> Result<Vec<String>, String> {
        self.files.read_whole(false);
        let mut output = StreamOutput::new(|name: &str, contents: Bytes| {
            host_file(name, &contents);
            Ok(())
        });
        let report = self.engine("").repair(Path::new(path), &RepairRequest::default(), &mut output);
        let mut report = report.map_err(|failure| failure.to_string())?;
        // The page says where the files are.
        report.data.target = None;
        let page = repair_page(Path::new(path), &report);
        Ok(vec![page.title, page.body])
    }

    /// Hands on the lines that `filterblock COMMAND --json` writes.
    ///
    /// # Errors
    ///
    /// The reason why there are no lines.
    pub fn json(&self, command: &str, path: &str, depth: &str, all: bool) -> Result<(), String> {
        self.files.read_whole(command == "verify" || depth == "all");
        let mut text = Text(String::with_capacity(PIECE));
        let result = lines::write(command, &self.engine(depth), inputs(path), all, &mut text);
        text.hand_on();
        result
    }

    /// Begins a scan of `wanted` entries a batch.
    pub fn scan(&self, path: &str, question: Question, wanted: usize) -> Entries {
        self.files.read_whole(false);
        Entries::new(&self.engine(""), inputs(path), question, wanted)
    }

    /// Returns the whole value of the entry that comes after `before` others in a scan for `question`. `None` if there
    /// is no such entry.
    ///
    /// # Errors
    ///
    /// If the scan cannot go on.
    pub fn value(&self, path: &str, question: Question, before: f64) -> Result<Option<Vec<u8>>, String> {
        self.files.read_whole(false);
        entries::value(&self.engine(""), inputs(path), &question, before as u64)
    }

    /// Panics: for the test of what follows a panic.
    #[allow(clippy::panic)]
    pub fn panic(&self) {
        panic!("asked for by a test");
    }

    /// The engine. It has one thread.
    fn engine(&self, depth: &str) -> Engine {
        let depth = match depth {
            "tail" => Depth::Tail,
            "all" => Depth::All,
            _ => Depth::Sample,
        };
        let files = filterblock_engine::Files::new(Arc::clone(&self.files) as _);
        Engine::new().files(files).jobs(1).depth(depth).progress(Arc::new(HostProgress::default()))
    }
}

fn inputs(path: &str) -> Inputs {
    Inputs { paths: vec![PathBuf::from(path)], ..Inputs::default() }
}
