//! Modes, times, owners and attributes of the files that are written.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::time::SystemTime;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn set_modified(path: &Path, seconds: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

fn modified(path: &Path) -> u64 {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    modified.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

/// A database whose files have unusual modes and times.
fn unusual() -> Db {
    let db = usual();
    let files = [
        ("000012.ldb", 0o640, 1_000_000_012),
        ("000020.ldb", 0o604, 1_000_000_020),
        ("000030.ldb", 0o600, 1_000_000_030),
        ("000041.log", 0o660, 1_000_000_041),
        ("MANIFEST-000040", 0o666, 1_000_000_040),
        ("CURRENT", 0o646, 1_000_000_000),
    ];
    for (name, mode, seconds) in files {
        set_modified(&db.file(name), seconds);
        set_mode(&db.file(name), mode);
    }
    set_mode(&db.dir(), 0o750);
    db
}

#[test]
fn in_place_tables_have_the_modes_and_times_of_the_old_ones() {
    let db = unusual();
    db.done(&["--in-place"]);
    for (name, expected, seconds) in [
        ("000042.ldb", 0o640, 1_000_000_012),
        ("000043.ldb", 0o604, 1_000_000_020),
        ("000044.ldb", 0o600, 1_000_000_030),
        ("000041.log", 0o660, 1_000_000_041),
    ] {
        assert_eq!((mode(&db.file(name)), modified(&db.file(name))), (expected, seconds), "{name}");
    }
    assert_eq!(mode(&db.file("MANIFEST-000045")), 0o666);
    assert_eq!(mode(&db.file("CURRENT")), 0o646);
    assert_eq!(mode(&db.undo_folder()), 0o700);
    assert_eq!(mode(&db.undo_folder().join("000012.ldb")), 0o640);
    assert_eq!(mode(&db.undo_folder().join("filterblock-undo")), 0o600);
    db.done(&["--undo"]);
    assert_eq!((mode(&db.file("000030.ldb")), modified(&db.file("000030.ldb"))), (0o600, 1_000_000_030));
    assert_eq!(mode(&db.file("CURRENT")), 0o646);
}

#[test]
fn the_copy_has_all_modes_and_times() {
    let db = unusual();
    damage(&db.file("000020.ldb"));
    set_modified(&db.file("000020.ldb"), 1_000_000_020);
    let new = db.path.join("new");
    db.done(&["--to", new.to_str().unwrap(), "--keep-undecodable"]);
    for name in ["000012.ldb", "000020.ldb", "000030.ldb", "000041.log"] {
        assert_eq!(
            (mode(&new.join(name)), modified(&new.join(name))),
            (mode(&db.file(name)), modified(&db.file(name)))
        );
    }
    assert_eq!(
        [mode(&new.join("MANIFEST-000040")), mode(&new.join("CURRENT")), mode(&new)],
        [0o666, 0o646, 0o750]
    );
}

/// An access control list of Linux: the owner may do everything, this user may read and write, all others nothing.
#[cfg(target_os = "linux")]
fn list(user: u32) -> Vec<u8> {
    let mut list = 2_u32.to_le_bytes().to_vec();
    // Tag, permissions, who: the owner, the user, the group, the mask, others.
    for (tag, permissions, who) in
        [(1_u16, 7_u16, u32::MAX), (2, 6, user), (4, 0, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)]
    {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(who.to_le_bytes());
    }
    list
}

#[cfg(target_os = "linux")]
fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let len = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(len);
    Some(value)
}

#[cfg(target_os = "linux")]
const LIST: &str = "system.posix_acl_access";

/// Without its access control list, a file that one more user may read would be open to the whole group.
#[cfg(target_os = "linux")]
#[test]
fn access_control_lists_and_attributes_stay() {
    use rustix::fs::{XattrFlags, setxattr};
    let db = usual();
    for name in ["000012.ldb", "CURRENT", "MANIFEST-000040"] {
        set_mode(&db.file(name), 0o600);
        let set = |attribute, value: &[u8]| setxattr(db.file(name), attribute, value, XattrFlags::empty());
        if set(LIST, &list(1234)).is_err() || set("user.origin", b"here").is_err() {
            println!("skipped: the file system has no such attributes");
            return;
        }
        assert_eq!(mode(&db.file(name)), 0o760);
    }
    // New files in the folder inherit another list.
    setxattr(db.dir(), "system.posix_acl_default", &list(4321), XattrFlags::empty()).unwrap();
    let copy = db.path.join("new");
    db.done(&["--to", copy.to_str().unwrap()]);
    assert_eq!(attribute(&copy, "system.posix_acl_default"), Some(list(4321)));
    db.done(&["--in-place"]);
    let new = ["000042.ldb", "CURRENT", "MANIFEST-000045"].map(|name| db.file(name));
    let copied = ["000012.ldb", "CURRENT", "MANIFEST-000040"].map(|name| copy.join(name));
    for path in new.into_iter().chain(copied) {
        assert_eq!(mode(&path), 0o760, "{}", path.display());
        assert_eq!(attribute(&path, LIST), Some(list(1234)), "{}", path.display());
        assert_eq!(attribute(&path, "user.origin").as_deref(), Some(&b"here"[..]), "{}", path.display());
    }
    for name in ["000043.ldb", "000044.ldb"] {
        assert_eq!(attribute(&db.file(name), LIST), None, "{name}");
    }
}

/// Only root may set a capability. The error tells the file's owner which attribute could not be copied.
#[cfg(target_os = "linux")]
#[test]
fn an_attribute_that_cannot_be_copied_is_named() {
    const OWNER: u32 = 12345;
    const NAME: &str = "security.capability";
    let db = usual();
    let paths = names(&db.dir()).into_iter().map(|name| db.file(&name)).chain([db.dir(), db.path.clone()]);
    // `VFS_CAP_REVISION_2`, and no capabilities.
    let capability = [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let all = paths.collect::<Vec<_>>().into_iter().all(|path| chown(path, Some(OWNER), Some(OWNER)).is_ok());
    let set = |name| rustix::fs::setxattr(db.file(name), NAME, &capability, rustix::fs::XattrFlags::empty());
    if !all || set("000020.ldb").is_err() {
        println!("skipped: only root may do this");
        return;
    }
    let before = db.contents();
    for options in [&["--in-place"][..], &["--in-place", "--no-undo"]] {
        let dir = db.dir();
        let mut arguments = args!["rebuild", dir].to_vec();
        arguments.extend(options.iter().map(Into::into));
        let run = run_as(OWNER, &arguments).expect(1);
        assert!(run.err.contains("could not be copied: \"security.capability\" ("), "{run:?}");
        db.is_as(&before);
    }
}

/// Only root may change owners, and only in a copy: in place, root works on nobody else's database (see `foreign.rs`).
#[test]
fn owners_stay() {
    const OWNER: u32 = 12345;
    let db = unusual();
    let all = |dir: &Path| names(dir).into_iter().map(|name| dir.join(name)).collect::<Vec<_>>();
    for path in all(&db.dir()).into_iter().chain([db.dir()]) {
        if chown(path, Some(OWNER), Some(OWNER)).is_err() {
            println!("skipped: only root may give files away");
            return;
        }
    }
    let new = db.path.join("new");
    db.done(&["--to", new.to_str().unwrap()]);
    for path in all(&new).into_iter().chain([new]) {
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (OWNER, OWNER), "{}", path.display());
    }
}

/// The files kept for `--undo` are links, which need no space. A table that stays as it is gets a file of its own under
/// its new number: a program that opens the database before the commit may write to a file of that number.
#[test]
fn files_that_come_back_are_links_and_files_that_stay_are_copies() {
    let db = usual();
    damage(&db.file("000020.ldb"));
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    let before = ["000012.ldb", "000020.ldb", "MANIFEST-000040"].map(|name| inode(&db.file(name)));
    db.done(&["--in-place", "--keep-undecodable"]);
    assert_ne!(inode(&db.file("000043.ldb")), before[1]);
    assert_eq!(db.read("000043.ldb"), fs::read(db.undo_folder().join("000020.ldb")).unwrap());
    let kept = ["000012.ldb", "000020.ldb", "MANIFEST-000040"];
    assert_eq!(kept.map(|name| inode(&db.undo_folder().join(name))), before);
    db.done(&["--undo"]);
    assert_eq!(kept.map(|name| inode(&db.file(name))), before);
}
