//! Runs of commands on tables in object storage, which is held in memory.

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;

use super::outputs::{Runs, args};
use super::schema::COUNT;
use super::tables::testdata;

impl Runs {
    /// Runs the commands that read objects on a database in a store, on a table that is not there, and on a folder
    /// without objects.
    pub(crate) fn objects(&mut self) {
        let store = InMemory::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for entry in fs::read_dir(testdata().join("databases/levels")).unwrap() {
            let path = entry.unwrap().path();
            let key = format!("db/{}", path.file_name().unwrap().to_str().unwrap());
            runtime.block_on(store.put(&key.into(), fs::read(&path).unwrap().into())).unwrap();
        }
        filterblock_cli::register_store("docs", Arc::new(store));
        for url in ["memory://docs/db/", "memory://docs/db/000099.ldb", "memory://docs/nothing/"] {
            for depth in ["tail", "sample", "all"] {
                self.run("inspect", args!["--depth", depth, url]);
            }
            self.run("query", args![url, "item/0001/919", "no such key"]);
            self.run(COUNT, args![url, "item/0001/919", "no such key"]);
            self.run("verify", args![url]);
        }
    }
}
