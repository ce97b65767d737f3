//! Runs of `tune --json`, on databases of the test data and on copies with faults.

use std::ffi::OsString;
use std::fs;

use super::manifest::{self, Edit};
use super::outputs::{Runs, args, file, folder};
use super::rebuilds::Copy;
use super::tables::testdata;

impl Runs {
    /// Runs `tune` so that every advice occurs, and where there is no advice. Each run asks millions of
    /// filters, so the runs are few.
    pub(crate) fn tunings(&mut self) {
        let levels = testdata().join("databases/levels");
        let unfiltered = testdata().join("databases/unfiltered");
        // Nothing to gain, with a log; a rebuild; another order of keys; a single table, and one that is
        // empty.
        self.run("tune", args!["--min-size", "0", levels, unfiltered, testdata().join("databases/reversed")]);
        self.run("tune", args![testdata().join("goleveldb/base-lg-19")]);
        self.run("tune", args![testdata().join("tables/words-4096-bloom10-snappy.ldb")]);
        self.run("tune", args![testdata().join("tables/empty-4096-bloom10.ldb")]);
        // No setting fits the budget; lookups of keys that are there and of others.
        let folder = folder();
        let keys =
            file(&folder, "keys", "item/0000/0\nitem/0001/919\nitem/0001/9\nitem/0003/7\nitem/0004/6\n");
        let keys = ["--lookups".into(), OsString::from(keys)];
        self.run("tune", &[&args!["--all", "--budget", "1"][..], args![unfiltered], &keys].concat());
        self.run("tune", args![folder.path().join("missing"), folder.path()]);
        // A database without tables, and one with a damaged table.
        file(&folder, "MANIFEST-000004", manifest::log(&[Edit::sound().0]).0);
        file(&folder, "CURRENT", "MANIFEST-000004\n");
        self.run("tune", args![folder.path()]);
        let copy = Copy::of(&levels);
        fs::write(copy.path.join("000007.ldb"), "damaged").unwrap();
        self.run("tune", args![copy.path]);
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            let name = std::path::Path::new(std::ffi::OsStr::from_bytes(b"\xff"));
            self.run("tune", args![Copy::named(&testdata().join("databases/reversed"), name).path]);
        }
    }
}
