//! Somebody replaces a folder with a link to another one, before each operation in turn. The contents of the folder
//! that the link leads to stay as they are, and the database loses nothing, wherever it is now.

use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{collections::BTreeMap, fs, io, sync::Arc};

use super::super::files::hook::{self, Hook, Operation};
use super::super::files::{Folder, Purpose};
use super::databases::Sample;
use super::modes::{Mode, Root, run, run_with};
use super::state::{DATABASE, Held, UNDO_FOLDER};

/// Replaces a folder with a link before one of the operations.
struct Exchanging {
    at: usize,
    count: AtomicUsize,
    folder: PathBuf,
    moved: PathBuf,
    victim: PathBuf,
}

impl Hook for Exchanging {
    fn before(&self, _: &Operation<'_>) -> io::Result<()> {
        if self.count.fetch_add(1, Ordering::Relaxed) == self.at && self.folder.exists() {
            fs::rename(&self.folder, &self.moved)?;
            symlink(&self.victim, &self.folder)?;
        }
        Ok(())
    }

    fn after(&self, _: &Operation<'_>) {}
}

/// The owner, mode and checksum of a folder and of everything in it, by path. The checksum of a folder is 0.
fn contents(dir: &Path) -> BTreeMap<PathBuf, (u32, u32, u32)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let metadata = fs::metadata(&folder).unwrap();
        found.insert(folder.clone(), (metadata.uid(), metadata.mode(), 0));
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                folders.push(path);
            } else {
                let checksum = crc32c::crc32c(&fs::read(&path).unwrap());
                found.insert(path, (metadata.uid(), metadata.mode(), checksum));
            }
        }
    }
    found
}

/// Replaces `folder`, relative to the root, with a link, before one operation of each run. Returns the number of
/// operations.
fn exchange(mode: Mode, folder: &str) -> usize {
    let sample = Sample::Level0;
    // The other folder has all names of a database and of a rebuild, so that work could be redirected to it.
    let other = Root::with(sample, Mode::Undo);
    let victim = match folder {
        "" => other.path.clone(),
        UNDO_FOLDER => other.path.join(UNDO_FOLDER),
        _ => other.database(),
    };
    let before = contents(&other.path);
    let pristine = Root::with(sample, mode);
    let held = Held::of(&pristine.database()).unwrap();
    for at in 0.. {
        let root = Root::with(sample, mode);
        let folder = if folder.is_empty() { root.path.clone() } else { root.path.join(folder) };
        let moved = root.path.with_file_name("moved");
        let count = AtomicUsize::new(0);
        let hook = Arc::new(Exchanging { at, count, folder, moved, victim: victim.clone() });
        let result = run_with(hook.clone(), sample, mode, &root.path);
        let case = || format!("{mode:?}, operation {at}, {}: {result:?}", hook.folder.display());
        assert_eq!(contents(&other.path), before, "{}", case());
        let is_moved = hook.moved.exists();
        if is_moved {
            fs::remove_file(&hook.folder).unwrap();
            fs::rename(&hook.moved, &hook.folder).unwrap();
        }
        assert_eq!(Held::of(&root.path.join(DATABASE)).unwrap(), held, "{}", case());
        if hook.count.load(Ordering::Relaxed) <= at {
            return at;
        }
        // The next run is not confused by what is left. It may refuse somebody else's undo folder.
        let _ = run(sample, Mode::NoUndo, &root.path);
        assert_eq!(Held::of(&root.path.join(DATABASE)).unwrap(), held, "{}", case());
    }
    unreachable!("a run comes to its end")
}

/// Puts another folder in the place of one that was just made.
struct Replacing {
    other: PathBuf,
}

impl Hook for Replacing {
    fn before(&self, _: &Operation<'_>) -> io::Result<()> {
        Ok(())
    }

    fn after(&self, operation: &Operation<'_>) {
        if let Operation::MakeFolder { folder, name } = *operation {
            fs::rename(folder.join(name), folder.join("aside")).unwrap();
            fs::rename(&self.other, folder.join(name)).unwrap();
        }
    }
}

#[test]
fn a_folder_that_takes_the_place_of_a_new_one_is_not_written_to() {
    use std::os::unix::fs::PermissionsExt as _;
    for (mode, file) in [(0o700, Some("precious")), (0o755, None), (0o770, None)] {
        let root = Root::with(Sample::Level0, Mode::InPlace);
        let other = root.path.join("other");
        fs::create_dir(&other).unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(mode)).unwrap();
        file.into_iter().for_each(|name| fs::write(other.join(name), "").unwrap());
        // The mode of the database's folder differs from those of the new folder and of the other one.
        fs::set_permissions(root.database(), fs::Permissions::from_mode(0o750)).unwrap();
        let hook: Arc<dyn Hook> = Arc::new(Replacing { other });
        let made = hook::with(&hook, || {
            let (_, dir) = Folder::open(&root.database(), Purpose::InPlace).unwrap();
            dir.make_folder("new").map(drop)
        });
        let error = made.unwrap_err().to_string();
        assert_eq!(error, "another folder has taken its place meanwhile", "{mode:o}");
    }
}

fn exchange_all(mode: Mode) {
    for folder in ["db", UNDO_FOLDER, ""] {
        let count = exchange(mode, folder);
        assert!(count > 20, "{mode:?}: {count}");
    }
}

/// Promise: B6.
#[test]
fn in_place_nothing_is_led_elsewhere() {
    exchange_all(Mode::InPlace);
}

#[test]
fn undoing_nothing_is_led_elsewhere() {
    exchange_all(Mode::Undo);
    exchange_all(Mode::Discard);
}

#[test]
fn copying_nothing_is_led_elsewhere() {
    exchange_all(Mode::To);
}
