//! The times at which changes are durable, and the states that a crash can leave.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use filterblock_crash_states::{History, Inodes, Operation, Random, Tree, complete, sample};

/// Makes the files `a/x` and `b/y` in this folder, and reads it.
fn two_folders(root: &Path) -> (Tree, Inodes) {
    for (folder, file) in [("a", "x"), ("b", "y")] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join(file), file).unwrap();
    }
    Tree::read(root).unwrap()
}

fn inode(root: &Path, path: &str) -> u64 {
    fs::metadata(root.join(path)).unwrap().ino()
}

/// All states, each as its paths.
fn states(history: &History) -> BTreeSet<Vec<String>> {
    let found = sample(history, 10_000, &mut Random::new(1));
    found.iter().map(|state| paths(&state.tree)).collect()
}

fn paths(tree: &Tree) -> Vec<String> {
    tree.listing().keys().map(|path| path.display().to_string()).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn rename(from: &str, to: &str) -> Operation {
    Operation::Rename { from: from.into(), to: to.into() }
}

#[test]
fn a_folder_renamed_to_another_folder_is_durable_once_both_are_synced() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("root");
    let (before, inodes) = two_folders(&root);
    let [a, top] = ["a", ""].map(|path| inode(&root, path));
    let moved = || {
        vec![
            Operation::MakeFolder { inode: 1, path: "a/new".into(), mode: 0o700 },
            Operation::SyncFolder { inode: a },
            rename("a/new", "new"),
        ]
    };
    let (there, moved_there) = (words("a a/new a/x b b/y"), words("a a/x b b/y new"));
    for (syncs, can_be_lost) in
        [(vec![a], true), (vec![top], true), (vec![a, top], false), (vec![top, a], false)]
    {
        let mut operations = moved();
        operations.extend(syncs.iter().map(|inode| Operation::SyncFolder { inode: *inode }));
        let mut history = History::new(before.clone(), inodes.clone(), &operations).unwrap();
        assert_eq!(paths(&history.after), moved_there);
        history.earlier = history.steps.len();
        let expected: BTreeSet<_> = match can_be_lost {
            true => [there.clone(), moved_there.clone()].into(),
            false => [moved_there.clone()].into(),
        };
        assert_eq!(states(&history), expected, "{syncs:?}");
    }
}

#[test]
fn what_is_in_a_folder_moves_with_it() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("root");
    let (before, inodes) = two_folders(&root);
    let y = inode(&root, "b/y");
    let operations = [
        rename("b", "a/b"),
        Operation::Write { inode: y, offset: 0, data: b"z".to_vec() },
        Operation::Link { from: "a/b/y".into(), to: "y".into() },
        Operation::Unlink { path: "a/b/y".into() },
    ];
    let history = History::new(before, inodes, &operations).unwrap();
    assert_eq!(paths(&history.after), words("a a/b a/x y"));
    assert_eq!(**history.after.contents(Path::new("y")).unwrap(), b"z");
}

#[test]
fn a_rename_to_another_name_of_the_same_file_does_nothing() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("root");
    let (before, inodes) = two_folders(&root);
    let operations = [Operation::Link { from: "a/x".into(), to: "x".into() }, rename("a/x", "x")];
    let history = History::new(before, inodes, &operations).unwrap();
    assert_eq!(paths(&history.after), words("a a/x b b/y x"));
}

#[test]
fn a_kill_loses_nothing_and_what_was_not_synced_can_still_be_lost_later() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("root");
    let (before, inodes) = two_folders(&root);
    let (a, b) = (inode(&root, "a"), inode(&root, "b"));
    let first = [rename("a/x", "a/z"), Operation::Create { inode: 1, path: "a/never".into(), mode: 0o600 }];
    let first = History::new(before, inodes, &first).unwrap();
    // Killed after the first step. The second run finds its result.
    let killed = complete(&first, 1).tree;
    assert_eq!(paths(&killed), words("a a/z b b/y"));
    let again = work.path().join("again");
    killed.write(&again).unwrap();
    let inodes = killed.inodes(&again).unwrap();
    assert_eq!(killed.find(Path::new("a/z")).unwrap(), inodes[&inode(&again, "a/z")]);
    let [a_again, b_again] = ["a", "b"].map(|path| inode(&again, path));
    assert!((a, b) != (a_again, b_again));

    let gone = [Operation::Unlink { path: "b/y".into() }, Operation::SyncFolder { inode: b_again }];
    let both = first.continued(1, inodes.clone(), &gone).unwrap();
    assert_eq!(both.earlier, 1);
    assert_eq!(paths(&both.after), words("a a/z b"));
    let (lost, kept) = (words("a a/x b"), words("a a/z b"));
    let found = states(&both);
    assert!(found.contains(&lost) && found.contains(&kept), "{found:?}");
    assert!(found.iter().all(|paths| !paths.contains(&"a/never".to_owned())));

    let careful = [&[Operation::SyncFolder { inode: a_again }], &gone[..]].concat();
    let both = first.continued(1, inodes, &careful).unwrap();
    let found = states(&both);
    assert!(!found.contains(&lost) && found.contains(&kept), "{found:?}");
}

#[test]
fn states_have_the_modes_that_were_set() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("root");
    let (before, inodes) = two_folders(&root);
    let x = inode(&root, "a/x");
    let first = fs::metadata(root.join("a/x")).unwrap().mode() & 0o777;
    fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o711)).unwrap();
    let (with_mode, _) = Tree::read(&root).unwrap();
    assert_ne!(before.digest(), with_mode.digest());
    let operations = [
        Operation::MakeFolder { inode: 1, path: "c".into(), mode: 0o700 },
        Operation::SyncFolder { inode: inode(&root, "") },
        Operation::SetMode { inode: x, mode: 0o640 },
        Operation::SetMode { inode: 1, mode: 0o750 },
        Operation::SyncFolder { inode: 1 },
    ];
    let mut history = History::new(with_mode, inodes, &operations).unwrap();
    history.earlier = history.steps.len();
    // Of states with equal trees, `sample` returns one, which depends on the seed.
    let found: Vec<_> = (0..20).flat_map(|seed| sample(&history, 100, &mut Random::new(seed))).collect();
    let mut of_x = BTreeSet::new();
    for (at, state) in found.iter().enumerate() {
        let copy = work.path().join(at.to_string());
        state.tree.write(&copy).unwrap();
        let mode = |path: &str| fs::metadata(copy.join(path)).unwrap().mode() & 0o777;
        assert_eq!((mode("b"), mode("c")), (0o711, 0o750));
        of_x.insert(mode("a/x"));
        assert!(state.contents != "Lost" || mode("a/x") == first);
        assert!(state.contents != "There" || mode("a/x") == 0o640);
    }
    assert_eq!(of_x, BTreeSet::from([first, 0o640]));
}

#[test]
fn an_operation_that_does_not_fit_is_an_error() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("root");
    let (before, inodes) = two_folders(&root);
    let wrong = [
        Operation::Unlink { path: "a/y".into() },
        rename("c", "d"),
        Operation::Write { inode: 1, offset: 0, data: vec![0] },
        Operation::Create { inode: 1, path: PathBuf::from("c/x"), mode: 0o600 },
        Operation::SyncFolder { inode: inode(&root, "a/x") },
    ];
    for operation in wrong {
        let one = [operation];
        assert!(History::new(before.clone(), inodes.clone(), &one).is_err(), "{one:?}");
    }
}
