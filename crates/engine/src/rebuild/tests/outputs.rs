//! Rebuilds of databases in memory, to memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, sync::Arc};

use bytes::Bytes;

use super::databases::Sample;
use super::modes::{Mode, Root, options, run};
use super::state::TARGET;
use crate::engine::Engine;
use crate::report::RebuildStatus;
use crate::walk::{Files, MemoryStorage};
use crate::write::{MemoryOutput, NoOutput, Output as _, StreamOutput};

fn files_in(folder: &Path) -> BTreeMap<String, Bytes> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap().into()))
        .collect()
}

#[test]
fn every_output_gets_the_same_files() {
    for sample in [Sample::Levels, Sample::Level0, Sample::Damaged] {
        let root = Root::with(sample, Mode::To);
        run(sample, Mode::To, &root.path).unwrap();
        let expected = files_in(&root.path.join(TARGET));
        assert!(expected.len() > 4, "{expected:?}");

        let mut memory = MemoryStorage::default();
        for (name, contents) in files_in(&root.database()) {
            memory.insert(Path::new("db").join(name), contents);
        }
        let engine = Engine::new().files(Files::new(Arc::new(memory)));
        let (db, options) = (Path::new("db"), options(sample, Mode::To));
        let mut output = MemoryOutput::default();
        let report = engine.rebuild(db, &options, &mut output).unwrap();
        assert_eq!((report.data.status, output.into_files()), (RebuildStatus::Rebuilt, expected.clone()));

        let (mut streamed, mut names) = (BTreeMap::new(), Vec::new());
        let mut output = StreamOutput::new(|name: &str, contents: Bytes| {
            names.push(name.to_owned());
            streamed.insert(name.to_owned(), contents);
            Ok(())
        });
        engine.rebuild(db, &options, &mut output).unwrap();
        assert!(output.open("CURRENT").is_err());
        drop(output);
        assert_eq!(streamed, expected);
        // What is unpacked in part is no database.
        assert_eq!(names.last().unwrap(), "CURRENT");

        let dry = engine.rebuild(db, &options, &mut NoOutput).unwrap();
        assert_eq!(
            (dry.data.status, dry.data.sums.new_size),
            (RebuildStatus::DryRun, report.data.sums.new_size)
        );
    }
}
