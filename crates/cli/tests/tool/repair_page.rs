//! `filterblock repair --page`: the ledger as a page.

use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::copy_of;
use super::report::markup;
use super::*;

/// A copy of a database with three damaged tables: one has a wrong bit, one has two, and one is missing.
fn damaged() -> tempfile::TempDir {
    let copy = copy_of(&database("levels"));
    flip(&copy.path().join("000007.ldb"), &[40]);
    flip(&copy.path().join("000005.ldb"), &[40, 50]);
    fs::remove_file(copy.path().join("000009.ldb")).unwrap();
    copy
}

fn flip(path: &Path, places: &[usize]) {
    let mut bytes = fs::read(path).unwrap();
    places.iter().for_each(|&at| bytes[at] ^= 4);
    fs::write(path, bytes).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(folder())
    }

    fn target(&self) -> PathBuf {
        self.0.path().join("new")
    }

    fn page(&self) -> PathBuf {
        self.0.path().join("page.html")
    }
}

#[test]
fn a_page_says_what_the_report_says() {
    let (db, place) = (damaged(), Place::new());
    let run =
        run(&args!["repair", db.path(), "--to", place.target(), "--page", place.page(), "--json"]).expect(5);
    assert_eq!(names(place.0.path()), ["new", "page.html"]);
    let page = markup::check(&fs::read_to_string(place.page()).unwrap());
    let words = page.words();
    let lines = run.all_json();
    let last = lines.last().unwrap();
    assert!(words.contains(&format!("{} keys saved; ", last["keys"])), "{words}");
    let of = |object: &str| lines.iter().filter(|line| line["object"] == object).count();
    let rows = |title: &str| {
        let is_it = |table: &&markup::Node| table.of_name("th").iter().any(|cell| cell.words() == title);
        let tables = page.of_name("table");
        tables.into_iter().find(is_it).map_or(0, |table| table.of_name("tr").len() - 1)
    };
    let lost = page.of_name("span").into_iter().filter(|node| node.attribute("class") == Some("what bad"));
    assert_eq!((lost.count(), rows("entries saved")), (of("loss"), of("file")));
    assert_eq!(rows("in the new database"), of("key").min(500));
    assert!(of("loss") >= 2 && of("key") > 0 && of("file") == 5, "{lines:?}");
    for line in lines.iter().filter(|line| line["object"] == "loss") {
        // A sentence begins with a capital letter.
        assert!(words.contains(&line["why"].as_str().unwrap()[1..]), "{line}");
    }
    assert!(words.contains("000010.log") && words.contains("by MANIFEST-000008"), "{words}");
}

#[test]
fn what_the_text_leaves_out_is_on_the_page() {
    let (db, place) = (damaged(), Place::new());
    let run = run(&args!["repair", db.path(), "--to", place.target(), "--page", place.page()]).expect(5);
    // Lines break anywhere between words.
    let joined = |text: &str| text.split_whitespace().collect::<String>();
    let left_out = joined(&format!("more: {}", filterblock::escape_path(&place.page())));
    assert!(joined(&run.out).contains(&left_out), "{run:?}");
    assert!(!run.out.contains("--page"), "{run:?}");
}

#[test]
fn the_page_alone_goes_to_standard_output() {
    let (db, place) = (damaged(), Place::new());
    let target = place.target();
    let dry = run(&args!["repair", db.path(), "--to", target, "--dry-run", "--page", "-"]).expect(5);
    let page = markup::check(&dry.out);
    assert!(page.words().contains("keys would be saved; some entries are lost"));
    assert!(names(place.0.path()).is_empty());
    run(&args!["repair", db.path(), "--to", target, "--json", "--page", "-"]).expect(2);
    let sound = run(&args!["repair", database("levels"), "--to", target, "--page", "-"]).expect(0);
    assert!(markup::check(&sound.out).words().contains("Nothing is lost: all "));
}

#[test]
fn without_a_repair_there_is_no_page_and_without_a_place_for_it_no_repair() {
    let (db, place) = (damaged(), Place::new());
    fs::write(place.page(), "before").unwrap();
    let nothing = folder();
    run(&args!["repair", nothing.path(), "--to", place.target(), "--page", place.page()]).expect(1);
    assert_eq!(
        (names(place.0.path()), fs::read_to_string(place.page()).unwrap()),
        (vec!["page.html".into()], "before".into())
    );
    let before = names(db.path());
    for page in [
        place.0.path().join("absent/page.html"),
        place.0.path().to_owned(),
        place.0.path().join("000005.ldb"),
        db.path().join("page.html"),
        place.target(),
        db.path().join("..").join(db.path().file_name().unwrap()).join("page.html"),
    ] {
        run(&args!["repair", db.path(), "--to", place.target(), "--page", page]).expect(2);
        assert_eq!((names(place.0.path()), names(db.path())), (vec!["page.html".into()], before.clone()));
    }
    // The folder of the new database may be there already, but only if it is empty.
    let empty = place.0.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let page = empty.join("page.html");
    let refused = run(&args!["repair", db.path(), "--to", empty, "--page", page]).expect(2);
    assert!(refused.err.contains("page.html: the new database needs an empty folder"), "{refused:?}");
    assert!(names(&empty).is_empty());
    fs::remove_dir(empty).unwrap();
    // A file that is there is replaced.
    run(&args!["repair", db.path(), "--to", place.target(), "--page", place.page()]).expect(5);
    markup::check(&fs::read_to_string(place.page()).unwrap());
}
