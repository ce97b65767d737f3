//! The notes of a verification in words.

use filterblock::{escape, quote};

use super::numbers::counted_as;
use crate::report::verify::Note;

pub fn note_text(note: &Note) -> String {
    match note {
        Note::NotWhole(finding) => format!("the table is not whole: {finding}"),
        Note::Obsolete => "the table is obsolete: the database does not use it".to_owned(),
        Note::Unlisted => {
            "the table is not in the MANIFEST: it is being written, or was left behind".to_owned()
        }
        Note::NoFilter => "there is no filter".to_owned(),
        Note::UnknownPolicy(names) => {
            let names: Vec<_> = names.iter().map(|name| escape(name).to_string()).collect();
            format!("the filter is of a policy that is not known here: {}", names.join(", "))
        }
        Note::SignedHash => {
            "the filters fit the signed hash of LevelDB up to 1.17 on x86; by goleveldb's they \
                             would deny stored keys"
                .to_owned()
        }
        Note::CustomOrder { comparator } => {
            format!("the order of the keys is {}'s, and was not checked", quote(comparator))
        }
        Note::NotBytewise(first) => format!(
            "the order of the keys is not bytewise and was not checked ({first}); if it should be, say so with \
             --comparator bytewise"
        ),
        Note::UnusedBytes(bytes) => {
            let bytes = counted_as(*bytes, "byte of the file is", "bytes of the file are");
            format!("{bytes} in none of its blocks")
        }
    }
}
