//! The lock on a database, against this process and others.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use filterblock::Error;
use filterblock::database::DatabaseLock;

use crate::this_program::this_program;

/// The ways in which the other process takes an exclusive lock: as this library does, and by one means alone, as
/// LevelDB on Unix and goleveldb do.
#[cfg(unix)]
const EXCLUSIVE_WAYS: [&str; 3] = ["exclusive", "fcntl", "flock"];
#[cfg(not(unix))]
const EXCLUSIVE_WAYS: [&str; 2] = ["exclusive", "flock"];

/// The variables that tell the other process what to do.
const WAY: &str = "FILTERBLOCK_TEST_LOCK_WAY";
const FOLDER: &str = "FILTERBLOCK_TEST_LOCK_FOLDER";

/// The other process. It locks a folder, says whether it could, and holds the lock until its input ends.
#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn other_process() {
    let (Ok(way), Some(folder)) = (env::var(WAY), env::var_os(FOLDER).map(PathBuf::from)) else { return };
    let file = || OpenOptions::new().read(true).write(true).open(folder.join("LOCK")).unwrap();
    let held: Result<Box<dyn std::any::Any>, String> = match &way[..] {
        "exclusive" => {
            DatabaseLock::exclusive(&folder).map(|lock| Box::new(lock) as _).map_err(|e| e.to_string())
        }
        "shared" => {
            DatabaseLock::shared(&folder).map(|lock| Box::new(lock.unwrap()) as _).map_err(|e| e.to_string())
        }
        "flock" => {
            let file = file();
            file.try_lock().map(|()| Box::new(file) as _).map_err(|error| error.to_string())
        }
        #[cfg(unix)]
        "fcntl" | "fcntl, shared" => {
            use rustix::fs::FlockOperation::{NonBlockingLockExclusive, NonBlockingLockShared};
            let file = file();
            let exclusive = way == "fcntl";
            let operation = if exclusive { NonBlockingLockExclusive } else { NonBlockingLockShared };
            let locked = rustix::fs::fcntl_lock(&file, operation);
            locked.map(|()| Box::new(file) as _).map_err(|error| error.to_string())
        }
        other => panic!("{other}"),
    };
    println!("\nlock: {}", held.as_ref().err().map_or("held", |error| error));
    _ = std::io::stdin().read_line(&mut String::new());
}

/// A lock that another process holds.
struct Other(Child);

impl Other {
    /// Starts the other process. The error is what that process said.
    fn lock(way: &str, folder: &Path) -> Result<Self, String> {
        let mut child = this_program()
            .args(["lock::other_process", "--exact", "--ignored", "--nocapture"])
            .env(WAY, way)
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.find_map(|line| Some(line.unwrap().strip_prefix("lock: ")?.trim().to_owned()));
        let other = Self(child);
        match &said.expect("the other process says something")[..] {
            "held" => Ok(other),
            error => Err(error.to_owned()),
        }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.0.stdin.take().unwrap().write_all(b"\n").unwrap();
        self.0.wait().unwrap();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("LOCK"), "").unwrap();
    folder
}

fn check_in_use(error: &Error, folder: &Path, by: &str) {
    assert!(error.is_in_use(), "{error}");
    assert_eq!(error.path(), Some(&*folder.join("LOCK")));
    assert!(error.to_string().ends_with(&format!("LOCK: the database is in use by {by}")), "{error}");
}

#[test]
fn nobody_else_gets_a_lock_that_is_held() {
    let folder = folder();
    let lock = DatabaseLock::exclusive(folder.path()).unwrap();
    for way in EXCLUSIVE_WAYS.into_iter().chain(["shared"]) {
        assert!(Other::lock(way, folder.path()).is_err(), "{way}");
    }
    drop(lock);
    for way in EXCLUSIVE_WAYS.into_iter().chain(["shared"]) {
        Other::lock(way, folder.path()).unwrap();
    }

    let lock = DatabaseLock::shared(folder.path()).unwrap().unwrap();
    for way in EXCLUSIVE_WAYS {
        assert!(Other::lock(way, folder.path()).is_err(), "{way}");
    }
    Other::lock("shared", folder.path()).unwrap();
    drop(lock);
    Other::lock("exclusive", folder.path()).unwrap();
}

#[test]
fn a_lock_that_another_process_holds_is_respected() {
    let folder = folder();
    for way in EXCLUSIVE_WAYS {
        let other = Other::lock(way, folder.path()).unwrap();
        check_in_use(&DatabaseLock::exclusive(folder.path()).unwrap_err(), folder.path(), "another process");
        check_in_use(&DatabaseLock::shared(folder.path()).unwrap_err(), folder.path(), "another process");
        drop(other);
        drop(DatabaseLock::exclusive(folder.path()).unwrap());
    }
    #[cfg(unix)]
    {
        let _other = Other::lock("fcntl, shared", folder.path()).unwrap();
        check_in_use(&DatabaseLock::exclusive(folder.path()).unwrap_err(), folder.path(), "another process");
        drop(DatabaseLock::shared(folder.path()).unwrap().unwrap());
    }
    let other = Other::lock("shared", folder.path()).unwrap();
    check_in_use(&DatabaseLock::exclusive(folder.path()).unwrap_err(), folder.path(), "another process");
    let lock = DatabaseLock::shared(folder.path()).unwrap().unwrap();
    drop(other);
    drop(lock);
    drop(DatabaseLock::exclusive(folder.path()).unwrap());
}

/// Locks by `fcntl` do not exclude the process that holds them, and closing any descriptor of the
/// file drops them. So the second lock is refused without opening the file.
#[test]
fn a_second_lock_in_this_process_is_refused_and_the_first_one_stays() {
    let folder = folder();
    let lock = DatabaseLock::exclusive(folder.path()).unwrap();
    #[cfg_attr(not(unix), expect(unused_mut, reason = "links are added on Unix"))]
    let mut paths =
        vec![folder.path().to_owned(), folder.path().join("."), folder.path().join("sub").join("..")];
    fs::create_dir(folder.path().join("sub")).unwrap();
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let twin = folder.path().join("twin");
        fs::create_dir(&twin).unwrap();
        fs::hard_link(folder.path().join("LOCK"), twin.join("LOCK")).unwrap();
        paths.extend([link, twin]);
    }
    for path in &paths {
        check_in_use(&DatabaseLock::exclusive(path).unwrap_err(), path, "this process");
        check_in_use(&DatabaseLock::shared(path).unwrap_err(), path, "this process");
    }
    for way in EXCLUSIVE_WAYS {
        assert!(Other::lock(way, folder.path()).is_err(), "{way}");
    }
    drop(lock);
    for path in paths {
        drop(DatabaseLock::exclusive(&path).unwrap());
        let shared = DatabaseLock::shared(&path).unwrap().unwrap();
        check_in_use(&DatabaseLock::shared(&path).unwrap_err(), &path, "this process");
        drop(shared);
    }
}

/// Processes that are being started share all open files for a moment. They must not keep a lock that was released
/// here.
#[test]
fn of_many_threads_one_holds_the_lock() {
    let folder = folder();
    let (holders, start) = (AtomicUsize::new(0), Instant::now());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..30 {
                let mut started = this_program();
                started.arg("--help").stdout(Stdio::null()).status().unwrap();
            }
        });
        for _ in 0..4 {
            scope.spawn(|| {
                let mut locked = 0;
                while locked < 20 {
                    match DatabaseLock::exclusive(folder.path()) {
                        Ok(_lock) => {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            thread::yield_now();
                            holders.fetch_sub(1, Ordering::SeqCst);
                            locked += 1;
                        }
                        Err(error) => assert!(error.to_string().ends_with("by this process"), "{error}"),
                    }
                    thread::yield_now();
                    // Far more time than this takes anywhere.
                    assert!(start.elapsed() < Duration::from_secs(300), "{locked} times locked");
                }
            });
        }
    });
}

/// Somebody removes LOCK and makes another one while the lock on it is held. The lock is then on a file without a name,
/// and keeps nobody out. Its release must not release the lock on the new file either.
#[cfg(unix)]
#[test]
fn a_lock_on_a_file_that_was_exchanged_is_apart_from_one_on_the_new_file() {
    let folder = folder();
    let first = DatabaseLock::exclusive(folder.path()).unwrap();
    let new = folder.path().join("new");
    fs::write(&new, "").unwrap();
    fs::rename(new, first.path()).unwrap();

    let second = DatabaseLock::exclusive(folder.path()).unwrap();
    drop(first);
    check_in_use(&DatabaseLock::exclusive(folder.path()).unwrap_err(), folder.path(), "this process");
    for way in EXCLUSIVE_WAYS {
        assert!(Other::lock(way, folder.path()).is_err(), "{way}");
    }
    drop(second);
    Other::lock("exclusive", folder.path()).unwrap();
}

/// A folder that was opened stays the same folder, wherever its path leads.
#[cfg(unix)]
#[test]
fn a_lock_in_an_open_folder_is_there_and_not_where_the_path_leads() {
    let root = tempfile::tempdir().unwrap();
    let (dir, moved, other) = (root.path().join("db"), root.path().join("moved"), root.path().join("other"));
    [&dir, &other].iter().for_each(|dir| fs::create_dir(dir).unwrap());
    let open = fs::File::open(&dir).unwrap();
    assert!(DatabaseLock::shared_at(&open, &dir).unwrap().is_none());
    fs::rename(&dir, &moved).unwrap();
    std::os::unix::fs::symlink(&other, &dir).unwrap();
    let lock = DatabaseLock::exclusive_at(&open, &dir).unwrap();
    assert_eq!(lock.path(), dir.join("LOCK"));
    assert!(moved.join("LOCK").exists() && !other.join("LOCK").exists());
    check_in_use(&DatabaseLock::exclusive(&moved).unwrap_err(), &moved, "this process");
    check_in_use(&DatabaseLock::shared_at(&open, &dir).unwrap_err(), &dir, "this process");
    Other::lock("exclusive", &dir).unwrap();
    drop(lock);
    assert!(DatabaseLock::shared_at(&open, &dir).unwrap().is_some());
}

#[test]
fn the_file_is_made_if_there_is_none_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("LOCK");
    assert!(DatabaseLock::shared(folder.path()).unwrap().is_none());
    assert!(!path.exists(), "a shared lock creates nothing");
    let lock = DatabaseLock::exclusive(folder.path()).unwrap();
    assert_eq!(lock.path(), path);
    assert!(format!("{lock:?}").contains("is_exclusive: true"), "{lock:?}");
    drop(lock);
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    fs::write(&path, "somebody's").unwrap();
    drop(DatabaseLock::exclusive(folder.path()).unwrap());
    drop(DatabaseLock::shared(folder.path()).unwrap().unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
}

/// LevelDB runs as the database's owner and opens LOCK for writing, so the file must be the owner's even if root makes
/// it.
#[cfg(unix)]
#[test]
fn a_new_file_belongs_to_the_folders_owner() {
    use std::os::unix::fs::{MetadataExt, chown};

    let folder = tempfile::tempdir().unwrap();
    let is_root = chown(folder.path(), Some(12_345), Some(54_321)).is_ok();
    drop(DatabaseLock::exclusive(folder.path()).unwrap());
    let made = fs::metadata(folder.path().join("LOCK")).unwrap();
    assert_eq!(made.mode() & 0o755, 0o644 & made.mode(), "no more than LevelDB allows");
    assert_ne!(made.mode() & 0o600, 0);
    let owner = fs::metadata(folder.path()).unwrap();
    assert_eq!((made.uid(), made.gid()), (owner.uid(), owner.gid()));
    assert!(!is_root || made.uid() == 12_345);
    // A file that is there already keeps its owner.
    if is_root {
        chown(folder.path().join("LOCK"), Some(7), Some(8)).unwrap();
        drop(DatabaseLock::exclusive(folder.path()).unwrap());
        let kept = fs::metadata(folder.path().join("LOCK")).unwrap();
        assert_eq!((kept.uid(), kept.gid()), (7, 8));
    }
}

/// On a file system that is read-only, LOCK cannot be opened for writing.
#[cfg(target_os = "linux")]
#[test]
fn a_shared_lock_opens_the_file_for_reading_only() {
    let folder = folder();
    let path = folder.path().join("LOCK").canonicalize().unwrap();
    let flags = || {
        let mut flags = Vec::new();
        for entry in fs::read_dir("/proc/self/fd").unwrap().map(Result::unwrap) {
            if fs::read_link(entry.path()).is_ok_and(|target| target == path) {
                let name = entry.file_name().into_string().unwrap();
                let info = fs::read_to_string(format!("/proc/self/fdinfo/{name}")).unwrap();
                let line = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
                flags.push(i32::from_str_radix(line.trim(), 8).unwrap() & 3);
            }
        }
        flags
    };
    let shared = DatabaseLock::shared(folder.path()).unwrap();
    assert_eq!(flags(), [0], "opened once, O_RDONLY");
    drop(shared);
    let exclusive = DatabaseLock::exclusive(folder.path());
    assert_eq!(flags(), [2], "opened once, O_RDWR");
    drop(exclusive);
    assert_eq!(flags(), [0; 0]);
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("LOCK");
    let check = |found: &str| {
        for error in
            [DatabaseLock::exclusive(folder.path()).map(drop), DatabaseLock::shared(folder.path()).map(drop)]
        {
            let error = error.unwrap_err();
            assert_eq!(error.path(), Some(&*path));
            assert!(!error.is_in_use() && error.to_string().ends_with(found), "{error}");
        }
    };
    fs::create_dir(&path).unwrap();
    check("not a regular file");
    fs::remove_dir(&path).unwrap();
    #[cfg(unix)]
    {
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        check("a symbolic link");
        // A symbolic link that leads nowhere is not taken for a file that is not there.
        fs::remove_file(other).unwrap();
        check("a symbolic link");
        assert!(!folder.path().join("other").exists());
        fs::remove_file(&path).unwrap();
        // Opening a pipe would wait for its other end. A socket's path could be too long.
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        check("not a regular file");
    }
    let nowhere = folder.path().join("nowhere");
    assert!(DatabaseLock::shared(&nowhere).unwrap().is_none());
    let error = DatabaseLock::exclusive(&nowhere).unwrap_err();
    assert!(matches!(error.without_path(), Error::Io { .. }) && !error.is_in_use(), "{error}");
    // Nothing is known of the LOCK of what is no folder.
    fs::write(&nowhere, "").unwrap();
    if cfg!(unix) {
        assert_eq!(DatabaseLock::shared(&nowhere).unwrap_err().path(), Some(&*nowhere.join("LOCK")));
    }
}
