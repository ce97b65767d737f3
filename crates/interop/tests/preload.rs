//! The records that `preload/preload.c` makes of calls that name files by a folder's descriptor.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use filterblock_crash_states::{History, Operation, Tree};
use filterblock_interop::crash::record;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags};

const FOLDER: &str = "FILTERBLOCK_TEST_FOLDER";

fn open_folder(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// Makes the changes; not a test of its own. The other test runs it with the library loaded.
#[test]
fn changes_by_descriptors() {
    let Some(root) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let [top, a, b] = ["", "a", "b"].map(|folder| open_folder(&root.join(folder)));
    let write = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&a, "one", write, Mode::from_raw_mode(0o600)).unwrap();
    let mut file = File::from(file);
    file.write_all(b"contents").unwrap();
    rustix::fs::fchmod(&file, Mode::from_raw_mode(0o640)).unwrap();
    rustix::fs::fsync(&file).unwrap();
    let inside = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match rustix::fs::openat2(&a, "two", write, Mode::from_raw_mode(0o600), inside) {
        Ok(file) => drop(file),
        // Emulators and old kernels do not have `openat2`.
        Err(rustix::io::Errno::NOSYS) => {
            drop(rustix::fs::openat(&a, "two", write, Mode::from_raw_mode(0o600)).unwrap())
        }
        Err(error) => panic!("{error}"),
    }
    rustix::fs::mkdirat(&a, "new", Mode::from_raw_mode(0o700)).unwrap();
    rustix::fs::linkat(&a, "one", &a, "new/linked", AtFlags::empty()).unwrap();
    rustix::fs::linkat(&a, "one", &b, "one", AtFlags::empty()).unwrap();
    rustix::fs::renameat(&a, "two", &b, "moved").unwrap();
    rustix::fs::renameat_with(&a, "new", &top, "final", RenameFlags::NOREPLACE).unwrap();
    rustix::fs::renameat_with(&a, "one", &b, "one", RenameFlags::NOREPLACE).unwrap_err();
    rustix::fs::chmodat(&top, "final", Mode::from_raw_mode(0o750), AtFlags::empty()).unwrap();
    rustix::fs::fsync(&a).unwrap();
    rustix::fs::fsync(&top).unwrap();
    rustix::fs::unlinkat(&a, "one", AtFlags::empty()).unwrap();
    rustix::fs::mkdirat(&b, "gone", Mode::from_raw_mode(0o700)).unwrap();
    rustix::fs::unlinkat(&b, "gone", AtFlags::REMOVEDIR).unwrap();
}

#[test]
fn all_is_recorded() {
    let work = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(work.path()).unwrap().join("root");
    for folder in ["a", "b"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let (before, inodes) = Tree::read(&root).unwrap();
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "changes_by_descriptors", "--test-threads=1"].map(Into::into);
    let with_variable =
        [vec![format!("{FOLDER}={}", root.display()).into(), program.into()], arguments.to_vec()];
    let recording = record(Path::new("/usr/bin/env"), &with_variable.concat(), &root).unwrap();
    assert_eq!(recording.status, Some(0), "{} {}", recording.out, recording.messages);

    let history = History::new(before, inodes, &recording.operations).unwrap();
    let (after, _) = Tree::read(&root).unwrap();
    assert_eq!(history.after.listing(), after.listing());
    let paths: Vec<_> = after.listing().into_keys().map(|path| path.display().to_string()).collect();
    assert_eq!(paths, ["a", "b", "b/moved", "b/one", "final", "final/linked"]);
    let syncs = recording.operations.iter().filter(|op| matches!(op, Operation::SyncFolder { .. })).count();
    assert_eq!(syncs, 2);
    assert!(recording.operations.iter().any(|op| matches!(op, Operation::Sync { .. })));
    let renamed = Operation::Rename { from: "a/new".into(), to: "final".into() };
    assert!(recording.operations.contains(&renamed), "{:?}", recording.operations);
}
