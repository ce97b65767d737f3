//! `filterblock report`: pages of databases.

mod agreement;
#[path = "../../../../engine/src/page/tests/markup.rs"]
pub(super) mod markup;
// The databases are made with helpers of the tests of `rebuild`.
#[cfg(unix)]
mod pages;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;
use markup::Node;

/// A copy of a database of the test data.
fn copy(name: &str) -> tempfile::TempDir {
    manifest::copy_of(&database(name))
}

/// Makes the page of `path` with these options, without trying other filters, which takes time.
#[track_caller]
fn report(path: &Path, status: i32, options: &[&str]) -> (String, Node) {
    report_with(path, status, &[&["--no-tune"], options].concat())
}

/// Makes the page of `path` with these options. Returns the verdict and the command on standard output, and the page.
#[track_caller]
fn report_with(path: &Path, status: i32, options: &[&str]) -> (String, Node) {
    let folder = folder();
    let file = folder.path().join("page.html");
    let mut arguments = args!["report", path, "-o", file].to_vec();
    arguments.extend(options.iter().map(Into::into));
    let run = run(&arguments).expect(status).quiet();
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["page.html"]);
    let shown = run.out.strip_prefix(&format!("{}: ", path.display())).unwrap();
    assert!(shown.lines().count() <= 2, "{shown}");
    let (verdict, command) = shown.split_once(&format!("; the page is {}\n", file.display())).unwrap();
    let line = format!("{verdict}{}", command.trim_end());
    (line, markup::check(&fs::read_to_string(file).unwrap()))
}

/// All files of a folder, with their contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap_or_default())).collect()
}

/// The lines of the page's table that has a column of this title, without the titles.
#[track_caller]
fn lines(page: &Node, title: &str) -> Vec<Vec<String>> {
    let is_it = |table: &&Node| table.of_name("th").iter().any(|cell| cell.words() == title);
    let table =
        page.of_name("table").into_iter().find(is_it).unwrap_or_else(|| panic!("no table with {title}"));
    let cells = |line: &Node| line.children.iter().map(Node::words).collect();
    table.of_name("tr").into_iter().skip(1).map(cells).collect()
}

/// The titles of the page's sections.
fn sections(page: &Node) -> Vec<String> {
    page.of_name("h2").into_iter().map(Node::words).collect()
}

#[test]
fn a_page_tells_of_a_database() {
    let copy = copy("levels");
    let before = contents(copy.path());
    let (line, page) = report_with(copy.path(), 0, &[]);
    assert_eq!(line, "fine");
    assert!(page.words().contains("Tables of less than 1 MiB together fit into any cache."));
    assert_eq!(
        sections(&page),
        [
            "Sound, and too small for filters to matter",
            "Tables by level",
            "False-positive rates",
            "Size of the filters",
            "What was checked",
            "All tables",
            "About the database"
        ]
    );
    // Tables and rates of three levels each.
    assert_eq!(page.pictures().len(), 6);
    let tables = lines(&page, "first key");
    let starts: Vec<_> = tables.iter().map(|line| (&*line[0], &*line[1], &*line[2])).collect();
    assert_eq!(
        starts,
        [("000009.ldb", "level 0", "ok"), ("000007.ldb", "level 1", "ok"), ("000005.ldb", "level 2", "ok")]
    );
    let levels = lines(&page, "without filters");
    assert_eq!(levels[2][..7], ["level 2", "1", "0", "12.1 KiB", "450", "450", "601 B"]);
    for text in [
        "Every block and entry of 4 files was read.",
        "leveldb.BytewiseComparator",
        "000010.log, 1.9 KiB",
        "made of all 811 entries",
    ] {
        assert!(page.words().contains(text), "{text}");
    }
    assert_eq!(contents(copy.path()), before);
}

#[test]
fn the_same_database_gives_the_same_page() {
    let path = database("levels");
    let page = |jobs: &str| run(&args!["report", "--no-tune", path, "-o", "-", "--jobs", jobs]).expect(0).out;
    let one = page("1");
    assert!(one.starts_with("<!DOCTYPE html>") && one.ends_with("</html>"), "{one}");
    assert_eq!(one, page("3"));
    let folder = folder();
    let file = folder.path().join("page.html");
    run(&args!["report", "--no-tune", path, "-o", file]).expect(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), one);
}

/// `repair` shows what is lost.
#[test]
fn a_damaged_log_is_a_finding() {
    let copy = copy("levels");
    let log = copy.path().join("000010.log");
    let mut bytes = fs::read(&log).unwrap();
    bytes[10] ^= 1;
    fs::write(&log, bytes).unwrap();
    for options in [&[][..], &["--no-verify"]] {
        let (line, page) = report(copy.path(), 1, options);
        assert!(line.starts_with("damaged: 000010.log    filterblock repair "), "{line}");
        assert!(page.words().contains("expected checksum"), "{line}");
        let found =
            if options.is_empty() { "log-damaged" } else { "log record at offset 0: expected checksum" };
        assert!(page.words().contains("000010.log") && page.words().contains(found), "{}", page.words());
    }
    run(&args!["repair", copy.path(), "--to", copy.path().with_extension("new"), "--dry-run"]).expect(0);
    run(&args!["inspect", copy.path()]).expect(1);
}

/// The copy has to lie outside the database, which is all that its path says here.
#[test]
fn the_command_for_the_folder_one_is_in_can_be_carried_out() {
    let place = folder();
    let dir = place.path().join("db");
    fs::create_dir(&dir).unwrap();
    for (path, mut bytes) in contents(&database("levels")) {
        let name = path.file_name().unwrap();
        if name == "000010.log" {
            bytes[10] ^= 1;
        }
        fs::write(dir.join(name), bytes).unwrap();
    }
    let here = |arguments: &[&str]| finish(command(arguments).current_dir(&dir).spawn().unwrap());
    let line = here(&["report", ".", "--no-tune", "-o", "../page.html"]).expect(1).quiet().out;
    let (_, shown) = line.trim_end().rsplit_once("    filterblock ").unwrap();
    let words: Vec<_> = shown.split(' ').collect();
    assert_eq!(words, ["repair", ".", "--to", "../NEW"]);
    here(&words).expect(0);
    let tables = run(&args!["verify", place.path().join("NEW")]).expect(0);
    assert!(tables.out.contains(": fine\n"), "{tables:?}");
}

/// Nobody can tell whether filters would help without trying some.
#[test]
fn without_filters_and_without_trials_the_page_says_fine() {
    let (line, page) = report(&database("unfiltered"), 0, &[]);
    assert_eq!((&*line, page.of_name("button").len()), ("fine", 0));
    assert!(lines(&page, "first key").iter().all(|line| line[2] == "no filters"));
}

#[test]
fn another_order_of_keys_is_said() {
    let (_, page) = report(&database("reversed"), 0, &[]);
    assert!(
        page.words().contains("The order of keys is filterblock.testdata.Reversed, which is not known here")
    );
    assert!(page.words().contains("and was not checked"));
}

#[test]
fn own_lookups_count() {
    let folder = folder();
    let keys = file(&folder, "keys", "item/0000/0\nitem/0001/7x\nnothing\n");
    let (_, page) = report_with(&database("levels"), 0, &["--lookups", keys.to_str().unwrap()]);
    assert!(page.words().contains("absent keys of --lookups"));
    let hex = file(&folder, "hex", "6974656d\nxx\n");
    for (keys, option) in
        [(&hex, "--hex"), (&folder.path().join("none"), "--no-verify"), (&keys, "--no-tune")]
    {
        let wrong = run(&args!["report", database("levels"), "-o", "-", "--lookups", keys, option]);
        assert_eq!(wrong.expect(2).out, "", "{option}");
    }
    let missing = folder.path().join("none");
    let run = run(&args!["report", database("levels"), "-o", "-", "--lookups", missing]).expect(2);
    assert_eq!(
        run.err,
        format!("filterblock: {}: no such file or folder\n", filterblock::escape_path(&missing))
    );
}

#[test]
fn damage_is_told_with_what_it_means() {
    let copy = copy("levels");
    let path = copy.path().join("000005.ldb");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (line, page) = report(copy.path(), 1, &[]);
    assert!(line.starts_with("damaged: 000005.ldb    filterblock repair "), "{line}");
    let text = "one bit is wrong, at offset 100; repair corrects it";
    assert_eq!(lines(&page, "what it means")[0], ["000005.ldb", "checksum", text]);
    let problems = lines(&page, "at offset");
    assert_eq!(problems[0][..2], ["000005.ldb", "checksum"]);
    assert!(problems[0][4].contains("one bit at offset 100 is wrong"), "{problems:?}");
}

#[test]
fn a_missing_table_has_its_line() {
    let copy = copy("levels");
    fs::remove_file(copy.path().join("000007.ldb")).unwrap();
    for options in [&[][..], &["--no-verify"]] {
        let (line, page) = report(copy.path(), 1, options);
        assert!(line.starts_with("damaged: 000007.ldb"), "{line}");
        assert_eq!(lines(&page, "what it means")[0][..2], ["000007.ldb", "table-missing"]);
        let files = lines(&page, "first key");
        assert_eq!((&*files[0][0], &*files[0][1], files.len()), ("000007.ldb", "missing", 5));
    }
}

#[test]
fn what_cannot_be_looked_at_is_told() {
    let copy = copy("levels");
    fs::create_dir(copy.path().join("000020.ldb")).unwrap();
    let (line, page) = report(copy.path(), 2, &[]);
    assert!(line.starts_with("cannot tell: 000020.ldb"), "{line}");
    assert_eq!(lines(&page, "at offset")[0][..2], ["000020.ldb", "unreadable"]);
    assert_eq!(lines(&page, "first key").len(), 3);
}

#[test]
fn without_verification_the_page_says_so() {
    let copy = copy("levels");
    let (line, page) = report(copy.path(), 0, &["--no-verify"]);
    assert_eq!(line, "fine");
    assert!(page.words().contains("Not every block was read."));
    let path = copy.path().join("000005.ldb");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let (line, page) = report(copy.path(), 1, &["--no-verify"]);
    assert!(line.starts_with("damaged: 000005.ldb"), "{line}");
    let faults = lines(&page, "what is wrong");
    assert!(faults[0][0] == "000005.ldb" && faults[0][1].starts_with("error: "), "{faults:?}");
}

#[test]
fn without_a_manifest_there_are_tables_still() {
    let copy = copy("levels");
    fs::write(copy.path().join("MANIFEST-000008"), "damaged").unwrap();
    let (line, page) = report(copy.path(), 1, &[]);
    assert!(line.starts_with("damaged: "), "{line}");
    assert_eq!(lines(&page, "what it means")[0][1], "manifest-damaged");
    assert!(page.words().contains("all tables are taken to be in use"));
    for name in ["CURRENT", "MANIFEST-000008"] {
        fs::remove_file(copy.path().join(name)).unwrap();
    }
    // The log shows that there should be a MANIFEST, and nothing else is said of the MANIFEST.
    let (line, page) = report(copy.path(), 1, &[]);
    assert!(line.starts_with("damaged: CURRENT is missing"), "{line}");
    assert_eq!(lines(&page, "what it means")[0][1], "current-missing");
    fs::remove_file(copy.path().join("000010.log")).unwrap();
    let (line, page) = report(copy.path(), 0, &[]);
    assert_eq!(line, "fine");
    assert!(page.words().contains("levels and ranges of keys are not known here"));
    assert!(page.words().contains("a folder of tables without a MANIFEST"));
}

#[test]
fn a_table_has_a_page_of_its_own() {
    let (line, page) = report(&table("words-4096-bloom10-snappy.ldb"), 0, &[]);
    assert_eq!(line, "fine");
    assert!(!sections(&page).contains(&"About the database".to_owned()));
    assert!(page.words().contains("a single table"));
}

#[test]
fn a_database_without_tables_has_a_short_page() {
    let folder = folder();
    write_manifest(folder.path(), &[]);
    let (line, page) = report(folder.path(), 0, &[]);
    assert_eq!(line, "fine");
    assert!(page.words().contains("No tables yet"));
    assert!(page.pictures().is_empty());
}

#[test]
fn where_nothing_is_there_is_no_page() {
    let folder = folder();
    let page = folder.path().join("page.html");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run_of = |path: &Path| run(&args!["report", path, "-o", page]).expect(2);
    let wrong = run_of(&empty);
    assert!(wrong.err.contains("no database here"), "{wrong:?}");
    assert_eq!(wrong.out, "");
    let missing = run_of(&folder.path().join("missing"));
    assert!(missing.err.ends_with(&format!("missing: {}\n", not_found())), "{missing:?}");
    assert!(!page.exists());
}

#[test]
fn without_a_file_the_page_has_the_name_of_the_database() {
    let (place, elsewhere) = (folder(), folder());
    let db = place.path().join("my db");
    fs::create_dir(&db).unwrap();
    contents(&database("levels")).into_iter().for_each(|(path, bytes)| {
        fs::write(db.join(path.file_name().unwrap()), bytes).unwrap();
    });
    let here = |dir: &Path, arguments: &[&str]| {
        let arguments = [&["report", "--no-tune"], arguments].concat();
        finish(command(&arguments).current_dir(dir).spawn().unwrap())
    };
    let names = |dir: &Path| {
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    let dir = elsewhere.path();
    let path = db.to_str().unwrap();
    let line = here(dir, &[path]).expect(0).quiet().out;
    assert!(line.ends_with(": fine; the page is my db-report.html\n"), "{line}");
    assert_eq!(names(dir), ["my db-report.html"]);
    let file = dir.join("my db-report.html");
    let first = fs::read_to_string(&file).unwrap();
    markup::check(&first);
    // The name is that of the folder, however it is given, and a page of ours is replaced.
    here(&db, &["."]).expect(0);
    fs::rename(db.join("my db-report.html"), &file).unwrap();
    here(dir, &[path, "--no-verify"]).expect(0);
    assert_ne!(fs::read_to_string(&file).unwrap(), first);
    // A file of somebody else is not.
    fs::write(&file, "<!DOCTYPE html><html lang=\"en\">mine").unwrap();
    let refused = here(dir, &[path]).expect(2);
    let text = "filterblock: my db-report.html: is no page of filterblock; choose another file with -o\n";
    assert_eq!((&*refused.err, &*refused.out), (text, ""));
    assert!(fs::read_to_string(&file).unwrap().ends_with("mine"));
    here(dir, &[path, "-o", "my db-report.html"]).expect(0);
    markup::check(&fs::read_to_string(&file).unwrap());
    let missing = here(dir, &["nothing"]).expect(2);
    assert_eq!((&*missing.err, names(dir).len()), (&*format!("filterblock: nothing: {}\n", not_found()), 1));
}

/// Nothing but the page is on standard output, so that it can be handed on.
#[test]
fn the_verdict_of_a_page_on_standard_output_is_on_standard_error() {
    let path = database("levels");
    let run = run(&args!["report", "--no-tune", path, "-o", "-"]).expect(0);
    markup::check(&run.out);
    assert_eq!(run.err, format!("filterblock: {}: fine\n", filterblock::escape_path(&path)));
}

/// The states of a damaged database: nothing lost, something lost, a missing log.
#[test]
fn a_damaged_database_says_what_a_repair_would_save() {
    let tally = |page: &Node| {
        let list =
            page.of_name("ul").into_iter().find(|list| list.attribute("class") == Some("tally")).unwrap();
        list.of_name("b").into_iter().map(Node::words).collect::<Vec<_>>()
    };
    let change = |copy: &tempfile::TempDir, places: &[usize]| {
        let path = copy.path().join("000005.ldb");
        let mut bytes = fs::read(&path).unwrap();
        places.iter().for_each(|&at| bytes[at] ^= 1);
        fs::write(&path, bytes).unwrap();
    };
    let one_bit = copy("levels");
    change(&one_bit, &[100]);
    let (line, page) = report_with(one_bit.path(), 1, &[]);
    assert!(line.starts_with("damaged: 000005.ldb    filterblock repair "), "{line}");
    let titles = [
        "000005.ldb is damaged",
        "Saved and lost",
        "Where the damage is",
        "Problems",
        "All files",
        "Filters",
        "About the database",
    ];
    assert_eq!(sections(&page), titles);
    assert_eq!(tally(&page)[1..], ["1 bit", "0", "0"]);
    assert!(
        page.words().contains("nothing is lost.")
            && page.words().contains("not judged while the data is damaged")
    );
    let labels: Vec<_> = page.pictures().iter().filter_map(|svg| svg.attribute("aria-label")).collect();
    assert_eq!(labels[0], "000005.ldb: 1 bit, at offset 100");
    let lossy = copy("levels");
    change(&lossy, &[100, 200, 300]);
    let (_, page) = report(lossy.path(), 1, &[]);
    assert!(
        page.words().contains("; some entries are lost.") && tally(&page)[2] != "0",
        "{:?}",
        tally(&page)
    );
    // What it says is what a repair does.
    let json = run(&args!["repair", "--dry-run", "--json", lossy.path()]).expect(5).all_json().pop().unwrap();
    assert_eq!(tally(&page)[0], json["keys"].to_string());

    let no_log = copy("levels");
    fs::remove_file(no_log.path().join("000010.log")).unwrap();
    let (line, page) = report(no_log.path(), 1, &[]);
    assert!(line.starts_with("damaged: log 000010.log is missing"), "{line}");
    assert_eq!(page.of_name("h2")[0].words(), "Log 000010.log is missing");
    assert!(page.words().contains("more may be") && tally(&page)[2] == "not known");
}

#[test]
fn the_page_never_takes_the_place_of_a_file_of_a_database() {
    let copy = copy("levels");
    let before = contents(copy.path());
    let refused = |output: &Path| {
        let run = run(&args!["report", copy.path(), "-o", output]).expect(2);
        assert!(run.err.contains("databases have files of this name"), "{run:?}");
        assert_eq!(contents(copy.path()), before);
    };
    for name in ["CURRENT", "MANIFEST-000008", "000005.ldb", "000010.log", "LOG", "000099.ldb"] {
        refused(&copy.path().join(name));
    }
    // A table's name is refused in another folder, too.
    refused(&folder().path().join("000005.ldb"));
    #[cfg(unix)]
    {
        let other = folder();
        let link = other.path().join("page.html");
        std::os::unix::fs::symlink(copy.path().join("CURRENT"), &link).unwrap();
        refused(&link);
    }
    // A table under a name of its own.
    let table = file(&folder(), "table", fs::read(copy.path().join("000005.ldb")).unwrap());
    fs::create_dir_all(table.parent().unwrap()).unwrap();
    fs::copy(copy.path().join("000005.ldb"), &table).unwrap();
    let run = run(&args!["report", table, "-o", table]).expect(2);
    assert!(run.err.contains("is the file that is read"), "{run:?}");
    fs::remove_dir_all(table.parent().unwrap()).unwrap();
}

#[test]
fn the_page_appears_whole_or_not_at_all() {
    let folder = folder();
    let page = file(&folder, "page.html", "before");
    run(&args!["report", folder.path().join("missing"), "-o", page]).expect(2);
    assert_eq!(fs::read(&page).unwrap(), b"before");
    run(&args!["report", "--no-tune", database("levels"), "-o", page]).expect(0);
    assert!(fs::read_to_string(&page).unwrap().ends_with("</html>"));
    let below = run(&args!["report", database("levels"), "-o", folder.path().join("a/page.html")]).expect(2);
    assert!(below.err.contains("its folder does not exist"), "{below:?}");
    run(&args!["report", database("levels"), "-o", folder.path()]).expect(2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
