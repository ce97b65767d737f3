//! Lets the crate `sstable` read the damaged table that one input describes. The input comes from the file that the
//! argument names, or from standard input. AFL starts this program for each input.

use arbitrary::{Arbitrary as _, Unstructured};
use filterblock_fuzz::table::DamagedTable;
use sstable::{Options, SSIterator as _, Table};

fn main() -> std::process::ExitCode {
    filterblock_fuzz::entry::run_once(|data| {
        let Ok(DamagedTable { file, .. }) = DamagedTable::arbitrary(&mut Unstructured::new(data)) else {
            return;
        };
        let len = file.len();
        let Ok(table) = Table::new(Options::default(), Box::new(file), len) else { return };
        let mut entries = table.iter();
        while entries.next().is_some() {}
    })
}
