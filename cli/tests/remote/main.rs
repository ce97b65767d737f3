//! Tables in object storage: the requests to a store, and the reports on its answers.

mod bars;
mod broken_listings;
mod bucket;
mod credentials;
mod databases;
mod faults;
mod google;
mod inspect;
mod odd_keys;
mod probe;
mod process;
mod server;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use probe::Probe;
use serde_json::Value;

/// The results of a run of the program.
#[derive(Debug)]
struct Run {
    status: u8,
    out: String,
    err: String,
}

impl Run {
    #[track_caller]
    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// The lines of output about objects of this kind.
    #[track_caller]
    fn all(&self, object: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["object"] == object).collect()
    }

    /// The only line about an object of this kind.
    #[track_caller]
    fn one(&self, object: &str) -> Value {
        let mut found = self.all(object);
        assert_eq!(found.len(), 1, "{self:#?}");
        found.remove(0)
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Runs the program in this process.
fn run<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> Run {
    let (out, err) = (Shared::default(), Shared::default());
    let arguments = [OsString::from("filterblock")].into_iter().chain(arguments.into_iter().map(Into::into));
    let status = filterblock_cli::run(arguments, out.clone(), err.clone());
    Run { status, out: out.text(), err: err.text() }
}

/// Registers the store under the URL `memory://name/`.
fn known(name: &str, store: Probe) -> Arc<Probe> {
    let store = Arc::new(store);
    filterblock_cli::register_store(name, Arc::clone(&store) as _);
    store
}

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(path)
}

/// Puts the files of a folder of `testdata` below a key of the store.
fn put_folder(store: &Probe, folder: &str, key: &str) {
    for entry in std::fs::read_dir(testdata(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_str().unwrap();
            store.place(&format!("{key}/{name}"), std::fs::read(&path).unwrap());
        }
    }
}

/// A table with this number of keys, written by the library.
fn table(keys: u32) -> Vec<u8> {
    use filterblock::BloomFilterPolicy;
    use filterblock::table::{Compression, TableBuilder, WriteOptions};

    let options =
        WriteOptions::default().filter_policy(BloomFilterPolicy::new(10)).compression(Compression::None);
    let mut builder = TableBuilder::new(Vec::new(), options);
    for key in 0..keys {
        builder.add(format!("key{key:09}").as_bytes(), &[key as u8; 84]).unwrap();
    }
    builder.finish().unwrap().0
}
