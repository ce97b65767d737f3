//! Makes CURRENT name another MANIFEST.

use std::fs;
use std::path::Path;

use filterblock::database::{FileKind, Manifest, set_current, sync_folder};
use filterblock::{Error, IoAction};

use crate::databases::{copy_of, testdata};

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn current_names_the_other_manifest() {
    let folder = copy_of(&testdata("databases/levels"));
    let before = names(folder.path());
    let manifest = Manifest::read(folder.path()).unwrap();
    for number in [77, 1_234_567, u64::MAX] {
        let name = FileKind::Manifest.file_name(number);
        fs::copy(folder.path().join("MANIFEST-000008"), folder.path().join(&name)).unwrap();
        set_current(folder.path(), number).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("CURRENT")).unwrap(), format!("{name}\n"));
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        fs::remove_file(folder.path().join(name)).unwrap();
        assert_eq!(names(folder.path()), before, "no other file comes or goes");
    }
}

#[test]
fn current_is_made_if_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    set_current(folder.path(), 5).unwrap();
    assert_eq!(names(folder.path()), ["CURRENT"]);
    assert_eq!(fs::read_to_string(folder.path().join("CURRENT")).unwrap(), "MANIFEST-000005\n");
}

#[test]
fn a_failure_leaves_everything_as_it_was() {
    // A folder in the place of CURRENT cannot be replaced by a file.
    let folder = tempfile::tempdir().unwrap();
    let current = folder.path().join("CURRENT");
    fs::create_dir(&current).unwrap();
    let error = set_current(folder.path(), 5).unwrap_err();
    assert_eq!(error.path(), Some(&*current), "{error}");
    assert_eq!(names(folder.path()), ["CURRENT"], "the temporary file is gone");
    assert!(!error.is_in_use());

    // Nor can a folder in the place of the temporary file.
    fs::remove_dir(&current).unwrap();
    fs::write(&current, "MANIFEST-000001\n").unwrap();
    let temporary = folder.path().join("000005.dbtmp");
    fs::create_dir(&temporary).unwrap();
    let error = set_current(folder.path(), 5).unwrap_err();
    assert_eq!(error.path(), Some(&*temporary), "{error}");
    assert!(matches!(error.without_path(), Error::Io { action: IoAction::Remove, .. }), "{error}");
    assert_eq!(names(folder.path()), ["000005.dbtmp", "CURRENT"]);
    assert_eq!(fs::read_to_string(&current).unwrap(), "MANIFEST-000001\n");

    let nowhere = folder.path().join("nowhere");
    let error = set_current(&nowhere, 5).unwrap_err();
    assert!(error.path().unwrap().starts_with(&nowhere), "{error}");
}

/// A file with the temporary name is left over from an interrupted run, or is a link that somebody has put there.
#[test]
fn what_has_the_temporary_name_is_replaced_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("000005.dbtmp");
    fs::write(&temporary, "MANIFEST-000009 and more").unwrap();
    set_current(folder.path(), 5).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("CURRENT")).unwrap(), "MANIFEST-000005\n");
    assert_eq!(names(folder.path()), ["CURRENT"]);
    #[cfg(unix)]
    {
        let other = folder.path().join("other");
        fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, &temporary).unwrap();
        set_current(folder.path(), 5).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
        assert_eq!(names(folder.path()), ["CURRENT", "other"]);
        assert!(fs::symlink_metadata(folder.path().join("CURRENT")).unwrap().is_file());
    }
}

/// Nobody knows whose a CURRENT is that cannot be looked at.
#[cfg(unix)]
#[test]
fn a_current_that_cannot_be_looked_at_stays() {
    let folder = tempfile::tempdir().unwrap();
    let current = folder.path().join("CURRENT");
    std::os::unix::fs::symlink("CURRENT", &current).unwrap();
    let error = set_current(folder.path(), 5).unwrap_err();
    assert_eq!(error.path(), Some(&*current), "{error}");
    assert!(matches!(error.without_path(), Error::Io { action: IoAction::LookUp, .. }), "{error}");
    assert_eq!(fs::read_link(&current).unwrap(), Path::new("CURRENT"));
    assert_eq!(names(folder.path()), ["CURRENT"]);
}

/// Whoever could read CURRENT before still can, even if root writes it.
#[cfg(unix)]
#[test]
fn owner_and_mode_of_current_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let folder = tempfile::tempdir().unwrap();
    let current = folder.path().join("CURRENT");
    fs::write(&current, "MANIFEST-000001\n").unwrap();
    let is_root = chown(&current, Some(12_345), Some(54_321)).is_ok();
    for mode in [0o600, 0o644, 0o660] {
        fs::set_permissions(&current, fs::Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(&current).unwrap();
        set_current(folder.path(), 5).unwrap();
        let after = fs::metadata(&current).unwrap();
        assert_eq!(after.mode() & 0o777, mode);
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert!(!is_root || after.uid() == 12_345);
        assert_ne!(after.ino(), before.ino(), "it is another file");
    }
    if is_root {
        // Each of the two alone is another than the process's own.
        let process = fs::metadata(folder.path()).unwrap();
        for (owner, group) in [(12_345, process.gid()), (process.uid(), 54_321)] {
            chown(&current, Some(owner), Some(group)).unwrap();
            set_current(folder.path(), 5).unwrap();
            let after = fs::metadata(&current).unwrap();
            assert_eq!((after.uid(), after.gid()), (owner, group));
        }
    }
}

#[test]
fn folders_are_synced() {
    let folder = tempfile::tempdir().unwrap();
    sync_folder(folder.path()).unwrap();
    if cfg!(unix) {
        let nowhere = folder.path().join("nowhere");
        let error = sync_folder(&nowhere).unwrap_err();
        assert_eq!(error.path(), Some(&*nowhere));
    }
}
