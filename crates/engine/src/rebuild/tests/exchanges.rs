//! Somebody replaces a folder with a link to another one, before each operation in turn. The contents of the folder
//! that the link leads to stay as they are, and the database loses nothing, wherever it is now.

use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::{collections::BTreeMap, fs, io};

use super::databases::Sample;
use super::modes::{Mode, Root, run, run_with};
use super::state::{DATABASE, Held, TARGET, UNDO_FOLDER};
use crate::write::hook::{self, Hook, Operation};
use crate::write::{Dir, Purpose};

/// The start of the name of the hidden folder that a copy is made in.
const HIDDEN: &str = ".filterblock-";

/// Replaces a folder with a link before one of the operations.
struct Exchanging {
    at: usize,
    count: AtomicUsize,
    /// The folder, or what its path begins with.
    folder: PathBuf,
    exchanged: OnceLock<PathBuf>,
    moved: PathBuf,
    victim: PathBuf,
}

impl Hook for Exchanging {
    fn before(&self, _: &Operation<'_>) -> io::Result<()> {
        if self.count.fetch_add(1, Ordering::Relaxed) == self.at
            && let Some(folder) = self.find()
        {
            fs::rename(&folder, &self.moved)?;
            symlink(&self.victim, self.exchanged.get_or_init(|| folder))?;
        }
        Ok(())
    }

    fn after(&self, _: &Operation<'_>) {}
}

impl Exchanging {
    fn find(&self) -> Option<PathBuf> {
        if !self.folder.ends_with(HIDDEN) {
            return self.folder.exists().then(|| self.folder.clone());
        }
        let entries = fs::read_dir(self.folder.parent()?).ok()?.flatten();
        let mut hidden = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(HIDDEN));
        hidden.next().map(|entry| entry.path())
    }
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
/// operations, and of those before which the folder was there.
fn exchange(mode: Mode, folder: &str) -> (usize, usize) {
    let sample = Sample::Level0;
    // The other folder has all names of a database and of a rebuild, so that work could be redirected to it.
    let other = Root::with(sample, Mode::Undo);
    let victim = match folder {
        "" => other.path.clone(),
        UNDO_FOLDER => other.path.join(UNDO_FOLDER),
        _ => other.database(),
    };
    let before = contents(&other.path);
    let mut exchanges = 0;
    let pristine = Root::with(sample, mode);
    let held = Held::of(&pristine.database()).unwrap();
    for at in 0.. {
        let root = Root::with(sample, mode);
        let folder = if folder.is_empty() { root.path.clone() } else { root.path.join(folder) };
        let moved = root.path.with_file_name("moved");
        let count = AtomicUsize::new(0);
        let (victim, exchanged) = (victim.clone(), OnceLock::new());
        let hook = Arc::new(Exchanging { at, count, folder, exchanged, moved, victim });
        let result = run_with(hook.clone(), sample, mode, &root.path);
        let case = || format!("{mode:?}, operation {at}, {}: {result:?}", hook.folder.display());
        assert_eq!(contents(&other.path), before, "{}", case());
        if let Some(folder) = hook.exchanged.get() {
            // The link may have got the name of the new folder, but not without an error.
            let target = root.path.join(TARGET);
            let link = if folder.is_symlink() { folder } else { &target };
            assert!(link == folder || result.is_err(), "{}", case());
            fs::remove_file(link).unwrap();
            fs::rename(&hook.moved, folder).unwrap();
            exchanges += 1;
        }
        assert_eq!(Held::of(&root.path.join(DATABASE)).unwrap(), held, "{}", case());
        if hook.count.load(Ordering::Relaxed) <= at {
            return (at, exchanges);
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
            let (_, dir) = Dir::open(&root.database(), Purpose::InPlace).unwrap();
            dir.make_folder("new").map(drop)
        });
        let error = made.unwrap_err().to_string();
        assert_eq!(error, "another folder has taken its place meanwhile", "{mode:o}");
    }
}

fn exchange_all(mode: Mode) {
    for folder in ["db", UNDO_FOLDER, ""] {
        let (count, _) = exchange(mode, folder);
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
    let (_, count) = exchange(Mode::To, HIDDEN);
    assert!(count > 10, "{count}");
}
