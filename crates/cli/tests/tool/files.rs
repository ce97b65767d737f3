use std::fs;

use super::*;

#[test]
fn missing_files_are_status_2_and_the_rest_goes_on() {
    let folder = folder();
    let missing = folder.path().join("missing.ldb");
    let path = table("single-4096-bloom10.ldb");
    let run_json = run(&args!["inspect", "--json", missing, path]).expect(2);
    let reports = run_json.json();
    assert_eq!(reports.len(), 2);
    assert_eq!((&reports[0]["verdict"], &reports[1]["verdict"]), (&"unknown".into(), &"fine".into()));
    assert_eq!(reports[0]["path"], missing.to_str().unwrap());
    let message = format!("filterblock: {}: ", missing.display());
    assert!(run_json.err.starts_with(&message), "{run_json:?}");
    let run = run(&args!["inspect", missing, path]).expect(2);
    assert!(run.err.starts_with(&message) && run.out.contains("single-4096-bloom10.ldb"), "{run:?}");
    assert!(!run.out.contains("missing.ldb"), "{run:?}");
}

#[test]
fn missing_wins_over_damaged() {
    let folder = folder();
    let damaged = file(&folder, "damaged.ldb", "hello");
    let run_damaged = run(&args!["inspect", "--json", damaged]).expect(1).quiet();
    let report = run_damaged.one();
    assert_eq!((&report["verdict"], &report["file_size"]), (&"damaged".into(), &5.into()));
    assert_eq!(report["error"], "table at offset 0: expected a table of at least 48 bytes, found 5 bytes");
    run(&args!["inspect", damaged, folder.path().join("missing")]).expect(2);
    run(&args!["inspect", damaged, table("single-4096-bloom10.ldb")]).expect(1);
}

#[cfg_attr(windows, ignore = "Windows has no names with control characters")]
#[test]
fn control_characters_never_reach_the_terminal() {
    let folder = folder();
    let contents = fs::read(table("single-4096-bloom10.ldb")).unwrap();
    let name = "\x1b[31m\u{9b}2J\u{202e}\x7f\\.ldb";
    let path = file(&folder, name, &contents);
    let shown = r"\x1b[31m\xc2\x9b2J\xe2\x80\xae\x7f\.ldb";
    let printable = |run: &Run| {
        let is_active = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!run.out.contains(is_active) && !run.err.contains(is_active), "{run:?}");
    };
    for arguments in [
        args!["inspect", path].to_vec(),
        args!["inspect", path, path].to_vec(),
        args!["inspect", "--wide", folder.path()].to_vec(),
        args!["query", path, "\x1b[0m"].to_vec(),
        args!["inspect", path.with_extension("missing\n")].to_vec(),
        args!["extract", path.with_extension("missing\n")].to_vec(),
        args!["query", path.with_extension("missing\n"), "x"].to_vec(),
    ] {
        let run = run(&arguments);
        printable(&run);
        assert!(run.out.contains(shown) || run.err.contains(r"missing\x0a"), "{run:?}");
    }
    let run = run(&args!["inspect", "--json", path]).expect(0);
    assert!(run.out.chars().all(|c| c == '\n' || matches!(c, ' '..='~')), "{run:?}");
    assert_eq!(run.one()["path"], path.to_str().unwrap());
}

#[test]
fn text_is_shown_as_text() {
    let folder = folder();
    let contents = fs::read(table("single-4096-bloom10.ldb")).unwrap();
    let name = if cfg!(windows) {
        "jürgens ganze 世界 🙂.ldb"
    } else {
        "jürgen's 世界 \"\\\u{301} 🙂.ldb"
    };
    let path = file(&folder, name, &contents);
    let shown = folder.path().join(name).display().to_string();
    let inspect = run(&args!["inspect", path]).expect(0).quiet().out;
    assert!(inspect.starts_with(&format!("{shown}: fine\n")), "{inspect}");
    let verify = run(&args!["verify", path]).expect(0).quiet().out;
    assert!(verify.starts_with(&format!("{shown}: fine: a table of ")), "{verify}");
    let query = run(&args!["query", path, "schlüssel\"\\"]).expect(1).quiet().out;
    assert_eq!(query, format!("{shown}: \"schlüssel\\\"\\\\\": not there\n"));
    let wide = run(&args!["inspect", "--wide", folder.path()]).expect(0).quiet().out;
    assert!(wide.contains(&format!("\n{name}  ")), "{wide}");
    let missing = run(&args!["inspect", path.with_extension("ä")]).expect(2).err;
    assert!(missing.starts_with(&format!("filterblock: {}: ", shown.replace(".ldb", ".ä"))), "{missing}");
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn make_pipe(path: &std::path::Path) {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_status_2() {
        for name in ["CURRENT", "MANIFEST-000008"] {
            let copy = manifest::copy_of(&database("levels"));
            let path = copy.path().join(name);
            fs::remove_file(&path).unwrap();
            run(&args!["inspect", copy.path()]).expect(1);
            // A link that leads to itself.
            symlink(name, &path).unwrap();
            for command in ["inspect", "verify", "manifest"] {
                let run = run(&args![command, copy.path()]).expect(2);
                assert!((run.out.clone() + &run.err).contains(name), "{run:?}");
            }
        }
    }

    #[test]
    fn pipes_and_devices_are_not_waited_for() {
        let folder = folder();
        let pipe = folder.path().join("1.ldb");
        make_pipe(&pipe);
        for arguments in [
            args!["inspect", pipe].to_vec(),
            args!["inspect", folder.path()].to_vec(),
            args!["inspect", "--block", pipe].to_vec(),
            args!["query", pipe, "key"].to_vec(),
            args!["query", folder.path(), "key"].to_vec(),
            args!["extract", pipe].to_vec(),
            args!["inspect", "/dev/zero"].to_vec(),
            args!["inspect", "--block", "/dev/zero"].to_vec(),
        ] {
            let run = run(&arguments).expect(2);
            assert!(run.err.contains("regular file") || run.err.contains("expected a table or"), "{run:?}");
        }
        let named = run(&args!["inspect", pipe]);
        assert!(
            named.err.ends_with("expected a table or a database folder, found a named pipe\n"),
            "{named:?}"
        );
        let listed = run(&args!["inspect", folder.path()]);
        assert!(listed.err.ends_with("skipped: expected a regular file, found a named pipe\n"), "{listed:?}");
    }

    #[test]
    fn links_are_followed_when_named_and_reported_when_met() {
        let folder = folder();
        let link = folder.path().join("1.ldb");
        symlink(table("single-4096-bloom10.ldb"), &link).unwrap();
        let report = run(&args!["inspect", "--json", link]).expect(0).quiet().one();
        assert_eq!(report["path"], link.to_str().unwrap());
        run(&args!["query", link, "no"]).expect(1);
        let run_folder = run(&args!["inspect", "--json", folder.path()]).expect(2);
        assert!(run_folder.err.contains("found a symbolic link"), "{run_folder:?}");
        assert_eq!(run_folder.one()["object"], "unreadable");
        // A link that is not followed may be to a table with the key.
        run(&args!["query", folder.path(), "no"]).expect(2);
        let outer = super::folder();
        let to_folder = outer.path().join("db");
        symlink(database("levels"), &to_folder).unwrap();
        assert_eq!(run(&args!["inspect", "--json", to_folder]).expect(0).json().len(), 3);
        let broken = outer.path().join("broken.ldb");
        symlink("/nonexistent", &broken).unwrap();
        run(&args!["inspect", broken]).expect(2);
    }

    /// An old LOG, a temporary file or a LOCK that cannot be looked at does not keep the MANIFEST from being used.
    #[test]
    fn one_name_that_cannot_be_looked_at_hides_nothing_else() {
        let folder = folder();
        for file in fs::read_dir(database("levels")).unwrap() {
            let path = file.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        fs::remove_file(folder.path().join("000007.ldb")).unwrap();
        for name in ["LOG.old", "000099.dbtmp", "LOCK"] {
            let link = folder.path().join(name);
            let _ = fs::remove_file(&link);
            symlink(&link, &link).unwrap();
            let verify = run(&args!["verify", folder.path()]).expect(1).out;
            assert!(verify.contains("  000007.ldb  is missing: entries from "), "{name}: {verify}");
            let query = run(&args!["query", folder.path(), "no such key"]).expect(2);
            assert!(query.err.contains("000007.ldb: is missing\n"), "{query:?}");
            let inspect = run(&args!["inspect", folder.path()]).expect(1);
            assert!(inspect.out.contains("  000007.ldb  is missing: entries from "), "{inspect:?}");
        }
        // A live table that may be there: neither missing nor sound.
        let link = folder.path().join("000007.ldb");
        symlink(&link, &link).unwrap();
        for command in ["inspect", "verify"] {
            let run = run(&args![command, folder.path()]).expect(2);
            assert!((run.out.clone() + &run.err).contains("000007.ldb"), "{run:?}");
            assert!(!run.out.contains("is missing"), "{run:?}");
        }
        run(&args!["query", folder.path(), "no such key"]).expect(2);
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_status_2() {
        let folder = folder();
        let hidden = folder.path().join("hidden");
        fs::create_dir(&hidden).unwrap();
        let path = hidden.join("000005.ldb");
        fs::copy(table("single-4096-bloom10.ldb"), &path).unwrap();
        // Files can be opened there, but not found.
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o300)).unwrap();
        if fs::read_dir(&hidden).is_ok() {
            println!("skipped: permissions do not stop this user, who is probably root");
            return;
        }
        for arguments in [
            args!["inspect", path, path].to_vec(),
            args!["verify", path, path].to_vec(),
            args!["query", path, "no"].to_vec(),
            args!["inspect", hidden].to_vec(),
            args!["verify", hidden].to_vec(),
            args!["query", hidden, "no"].to_vec(),
        ] {
            let run = run(&arguments).expect(2);
            let said = run.out + &run.err;
            let words = ["Permission denied", "hidden: cannot tell: cannot be read"];
            assert!(words.iter().any(|words| said.contains(words)), "{arguments:?}: {said}");
        }
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn paths_need_not_be_text() {
        let folder = folder();
        let path = folder.path().join(OsStr::from_bytes(b"\xff.ldb"));
        fs::copy(table("single-4096-bloom10.ldb"), &path).unwrap();
        let report = run(&args!["inspect", "--json", path]).expect(0).quiet().one();
        assert!(report["path"].as_str().unwrap().ends_with(r"/\xff.ldb"), "{report}");
        let out = run(&args!["inspect", "--wide", folder.path()]).expect(0).quiet().out;
        assert!(out.contains(r"\xff.ldb  "), "{out}");
    }

    #[test]
    fn what_may_not_be_read_is_named_and_the_rest_goes_on() {
        let folder = folder();
        let contents = fs::read(table("single-4096-bloom10.ldb")).unwrap();
        let locked = file(&folder, "1.ldb", &contents);
        file(&folder, "2.ldb", &contents);
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::File::open(&locked).is_ok() {
            println!("skipped: permissions do not stop this user, who is probably root");
            return;
        }
        let run_listed = run(&args!["inspect", "--json", folder.path()]).expect(2);
        assert!(run_listed.err.contains("1.ldb: Permission denied"), "{run_listed:?}");
        assert_eq!(run_listed.json().len(), 2);
        run(&args!["query", folder.path(), "no"]).expect(2);
        let hidden = folder.path().join("hidden");
        fs::create_dir(&hidden).unwrap();
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o000)).unwrap();
        let run = run(&args!["inspect", hidden]).expect(2).quiet();
        assert!(run.out.contains("hidden: cannot tell: Permission denied"), "{run:?}");
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_list_of_paths_gives_a_line_a_table_whatever_happens() {
    let sound = table("words-256-bloom10.ldb");
    let folder = folder();
    let damaged = file(&folder, "000003.ldb", "damaged");
    let list = format!("{}\0{}\0/missing\0", sound.display(), damaged.display());
    let run_list =
        run_with_input(&["inspect", "--json", "--files-from", "-", "-0"], list.as_bytes()).expect(2);
    let statuses: Vec<_> = run_list.json().iter().map(|report| report["verdict"].to_string()).collect();
    assert_eq!(statuses, ["\"fine\"", "\"damaged\"", "\"unknown\""]);
    let below =
        run(&args!["inspect", "--json", "--recursive", tables::testdata().join("databases")]).expect(0);
    assert_eq!(below.json().len(), 3 + 2 + 2);
    let below = run(&args!["inspect", "--recursive", tables::testdata().join("databases")]).expect(0).quiet();
    assert!(!below.out.contains("no tables"), "{below:?}");
}
