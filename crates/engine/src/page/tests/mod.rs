//! Pages of invented databases.

mod markup;
mod models;
#[cfg(feature = "fs")]
mod repair_report;

use std::path::Path;

use markup::Node;
use models::{database, table, unfiltered};

use super::document::document;
use super::report::body;
use super::request::title;
use super::shown::Shown;
use super::verdict::facts;
use crate::audit::TruncatedKey;
use crate::audit::overview::{Kind, Overview, OverviewProblems};
use crate::audit::tune::advise;
use crate::audit::tune::examples::{tuning, with_lookups};
use crate::report::{
    Checked as TableVerdict, Code, ErrorKind, FalseNegatives, Fault, HugeManifest, Inspected, Problem,
    RepairData, RepairReport, RepairStatus, RepairSums, Tuning, Unknown, Verdict,
};
use crate::text::{AdviceText, advice_text, rebuild_command, repair_command};

/// The advice on `my db`, and the page.
fn page(overview: &Overview, tuning: Option<&Tuning>) -> (AdviceText, String) {
    page_of("my db", overview, tuning.map(|tuning| Ok(tuning.clone())).as_ref())
}

fn page_of(path: &str, overview: &Overview, tuned: Option<&Result<Tuning, Fault>>) -> (AdviceText, String) {
    let (path, tuning) = (Path::new(path), tuned.and_then(|tuned| tuned.as_ref().ok()));
    let advice = advise(&facts(path, overview, tuned), tuning);
    let text = advice_text(&advice, tuning, path);
    let body = body(&Shown { path, overview, tuned, advice: &advice, repair: None }, &text).into_string();
    let html = document(&title(path, &text), &body);
    (text, html)
}

/// The text of the cells of the table with this title in its head, line by line.
fn lines(root: &Node, title: &str) -> Vec<Vec<String>> {
    let is_it = |table: &&Node| table.of_name("th").iter().any(|cell| cell.words() == title);
    let tables = root.of_name("table");
    let table = tables.into_iter().find(is_it).unwrap_or_else(|| panic!("no table with {title}"));
    let cells = |line: &Node| line.children.iter().map(Node::words).collect();
    table.of_name("tr").into_iter().map(cells).collect()
}

#[test]
fn a_database_of_10_000_tables_fits_into_a_megabyte() {
    let mut overview = database(10_000);
    for at in [3, 500, 9000] {
        overview.tables[at] = unfiltered(overview.tables[at].clone());
    }
    let tuning = tuning(Some(4));
    let (_, html) = page(&overview, Some(&tuning));
    assert!(html.len() < 1_000_000 && html.len() > 100_000, "{}", html.len());
    let root = markup::check(&html);
    // The page says that tables are left out, and lists those that matter most.
    let listed = lines(&root, "first key");
    assert_eq!(listed.len(), 801);
    for name in ["000003.ldb", "000500.ldb", "009000.ldb"] {
        assert!(listed.iter().any(|line| line[0] == name && line[2] == "no filters"), "{name}");
    }
    assert!(root.words().contains("These are 800 of 10,000 tables"));
    let levels = lines(&root, "without filters");
    assert_eq!([&levels[1][..3], &levels[2][..3]], [["level 1", "100", "1"], ["level 2", "9,900", "2"]]);
}

#[test]
fn all_tables_of_a_smaller_one_are_listed() {
    let (_, html) = page(&database(300), None);
    let root = markup::check(&html);
    let listed = lines(&root, "first key");
    assert_eq!(listed.len(), 301);
    assert_eq!(
        listed[1][..11],
        [
            "000000.ldb",
            "level 1",
            "ok",
            "1.9 MiB",
            "~20,000",
            "-",
            "28.3 KiB",
            "~10.0",
            "1.00%",
            "1.1%",
            "\"user/000000000000/settings\""
        ]
    );
    assert!(!root.words().contains("These are"));
}

/// The titles of the sections, those that are open with an asterisk.
fn titles(root: &Node) -> Vec<String> {
    let parts = root.of_name("details").into_iter().filter(|node| node.attribute("class") == Some("part"));
    let title = |part: &Node| {
        let open = if part.attribute("open").is_some() { "*" } else { "" };
        format!("{open}{}", part.of_name("h2")[0].words())
    };
    parts.map(title).collect()
}

/// The class of the verdict, its tag, its title, its sentence, its commands and its conditions.
fn verdict(root: &Node) -> (String, [String; 3], Vec<String>, Vec<String>) {
    let section = root.of_name("section")[0];
    let class = section.attribute("class").unwrap().to_owned();
    let of_class = |class: &str| {
        let nodes = section.all().into_iter().filter(|node| node.attribute("class") == Some(class));
        nodes.map(Node::words).collect::<Vec<_>>()
    };
    let first = |texts: Vec<String>| texts.into_iter().next().unwrap_or_default();
    let texts = [first(of_class("tag")), section.of_name("h2")[0].words(), first(of_class("say"))];
    let commands = of_class("cmd").iter().map(|text| text.strip_suffix("Copy").unwrap().to_owned()).collect();
    let conditions = section.of_name("ul").into_iter().filter(|list| list.attribute("class") == Some("ifs"));
    (class, texts, commands, conditions.flat_map(|list| list.of_name("li")).map(Node::words).collect())
}

#[test]
fn the_page_has_the_verdict_of_tune_once() {
    let overview = database(100);
    let (text, html) = page(&overview, Some(&tuning(Some(10))));
    assert_eq!((text.headline(), &*text.commands), ("fine".to_owned(), &[][..]));
    let root = markup::check(&html);
    let (class, texts, commands, conditions) = verdict(&root);
    assert_eq!((&*class, commands), ("verdict fine two", vec![]));
    let sentence = "A lookup reads 0.02 data blocks for an absent key, 1.01 for a stored one.";
    assert_eq!(texts, ["Fine", "Sound, and its filters are good", sentence]);
    assert_eq!(conditions[0], "More than 10 bits per key would save less than 0.1 blocks.");
    assert!(text.paragraphs.iter().all(|text| root.words().contains(text)), "{text:?}");

    let (text, html) = page(&overview, Some(&tuning(Some(4))));
    let command = rebuild_command(Path::new("my db"), &["--bits-per-key", "10"].map(str::to_owned));
    assert_eq!((text.headline(), &text.commands[..]), ("could be better".to_owned(), &[command.clone()][..]));
    let root = markup::check(&html);
    let (class, texts, commands, conditions) = verdict(&root);
    assert_eq!((&*class, &commands[..]), ("verdict better two", &[command.clone()][..]));
    let sentence = "With 10 bits per key, filters would save 1 read in 2 lookups of an absent key.";
    assert_eq!(texts, ["Could be better", "Its filters have only 4 bits per key", sentence]);
    let last = "New tables get what the program sets; 10 bits there make it last.";
    assert_eq!(
        conditions[..3],
        [last, "Filters grow from 6 to 15 MiB.", "Close the program that uses it first."]
    );
    let words = root.words();
    for once in [&*texts[1], sentence, &command, "my db"] {
        let expected = if once == "my db" { 2 + command.matches(once).count() } else { 1 };
        assert_eq!(words.matches(once).count(), expected, "{once}: {words}");
    }
    let reads = lines(&root, "after");
    let kinds: Vec<_> = reads[1..].iter().map(|line| &*line[0]).collect();
    assert_eq!((kinds.len(), kinds[4], kinds[5]), (6, "random absent keys", "stored keys"));
    let levels = lines(&root, "filters after");
    assert_eq!(levels[1].last().unwrap(), "~1.5 MiB");
    let candidates = lines(&root, "reads, absent");
    assert_eq!(candidates.len(), 1 + 8);
    for mark in ["in use", "advised"] {
        assert_eq!(candidates.iter().filter(|line| line[1] == mark).count(), 1, "{mark}");
    }
    let (_, html) = page(&overview, Some(&with_lookups()));
    for text in ["every entry of 40 of 100 tables, 82 MiB of 2 GiB", "000009.ldb: expected a table"] {
        assert!(markup::check(&html).words().contains(text), "{text}");
    }
}

#[test]
fn sections_are_in_the_order_of_the_verdict() {
    let titles_of = |overview: &Overview, tuning: Option<&Tuning>| {
        let (_, html) = page(overview, tuning);
        titles(&markup::check(&html)).join(", ")
    };
    let good = database(100);
    assert_eq!(
        titles_of(&good, Some(&tuning(Some(10)))),
        "*What a lookup reads, *Tables by level, False-positive rates, Size of the filters, Could they be better?, What was \
         checked, All tables, About the database"
    );
    assert_eq!(
        titles_of(&good, Some(&tuning(Some(4)))),
        "*False-positive rates, *What a lookup reads, *Which filters, Tables by level, Size of the filters, What was \
         checked, All tables, About the database"
    );
    let mut without = database(100);
    without.tables = without.tables.into_iter().map(unfiltered).collect();
    assert_eq!(
        titles_of(&without, Some(&tuning(None))),
        "*Does the program use filters?, *What a lookup reads, Which filters, Tables by level, What was checked, All tables, \
         About the database"
    );
    let mut small = tuning(Some(10));
    small.levels.iter_mut().for_each(|level| level.size = 1000);
    assert_eq!(
        titles_of(&good, Some(&small)),
        "Tables by level, False-positive rates, Size of the filters, What was checked, All tables, About the database"
    );
    let with = |code: Code, hidden: u64| {
        let mut overview = database(100);
        let problem = Problem::new(code, 7, "this", "that");
        let verdict = TableVerdict { false_negatives: hidden, ..TableVerdict::of_problem(problem) };
        overview.found.add(b"000001.ldb", verdict, true);
        overview
    };
    assert_eq!(
        titles_of(&with(Code::FalseNegative, 7), Some(&tuning(Some(10)))),
        "*Which keys are hidden, *Why this happens, What was checked, Tables by level, What a lookup reads, Problems, All \
         tables, About the database"
    );
    // Neither lookups nor filters of a damaged database are judged.
    let damaged = with(Code::Checksum, 0);
    assert_eq!(titles_of(&damaged, Some(&tuning(Some(4)))), "*Problems, All tables, About the database");
    let mut huge = database(100);
    let (name, len, needed) = ("MANIFEST-000002".to_owned(), 445 << 20, 70);
    huge.manifest = Some(HugeManifest { name, len, needed });
    let tuning = tuning(Some(10));
    let (_, html) = page(&huge, Some(&tuning));
    let root = markup::check(&html);
    let (class, texts, ..) = verdict(&root);
    assert_eq!(
        (&*class, &*texts[1]),
        ("verdict better two", "MANIFEST-000002 has 445 MiB, and 1 KiB would do")
    );
    assert_eq!(root.of_name("figcaption")[0].words(), "Size of the MANIFEST");
    assert_eq!(titles(&root)[0], "What a lookup reads");
    assert_eq!(
        titles_of(&with(Code::Limit, 0), None),
        "*Problems, Tables by level, Size of the filters, What was checked, All tables, About the database"
    );
}

/// A repair says what would be lost before anything else.
#[test]
fn of_a_damaged_database_a_repair_comes_first() {
    let mut overview = database(100);
    let problem = Problem::new(Code::Checksum, 7, "this", "that");
    overview.found.add(b"000001.ldb", TableVerdict::of_problem(problem), true);
    let path = Path::new("my db");
    let advice = advise(&facts(path, &overview, None), None);
    let text = advice_text(&advice, None, path);
    let page = |repair: Result<RepairReport, String>| {
        let shown = Shown { path, overview: &overview, tuned: None, advice: &advice, repair: Some(&repair) };
        let html = document(&title(path, &text), &body(&shown, &text).into_string());
        markup::check(&html)
    };
    let sums = RepairSums { keys: 5300, ..RepairSums::default() };
    let status = RepairStatus::DryRun;
    let outcome = |data| Ok(RepairReport { data, ..RepairReport::default() });
    let nothing = RepairData { status, sums, is_complete: true, is_damaged: true, ..RepairData::default() };
    let root = page(outcome(nothing));
    let (class, texts, commands, conditions) = verdict(&root);
    assert_eq!((&*class, commands), ("verdict bad two", vec![repair_command(path)]));
    assert_eq!(
        texts,
        ["Damaged", "000001.ldb is damaged", "A repair saves all 5,300 keys; nothing is lost."]
    );
    assert!(!root.of_name("li").iter().any(|fact| fact.words().ends_with(" entries")));
    assert_eq!(conditions[0], "The new database has all of it; keep this folder until that one works.");
    assert!(!conditions.iter().any(|text| text.contains("backup")), "{conditions:?}");
    assert_eq!(titles(&root).join(", "), "*Saved and lost, Problems, All files, Filters, About the database");
    let unknown = vec![Unknown::Files("a log may be missing".to_owned())];
    let root = page(outcome(RepairData { status, sums, unknown, ..RepairData::default() }));
    let (_, texts, _, conditions) = verdict(&root);
    assert_eq!(texts[2], "A repair saves 5,300 keys; entries may be lost.");
    assert!(
        conditions[0].starts_with("Keep this folder") && conditions[1].contains("backup"),
        "{conditions:?}"
    );
    assert!(root.words().contains("A log may be missing.") && root.words().contains("more may be"));
    let root = page(Err("nothing <can> be saved".to_owned()));
    assert!(root.words().contains("Nothing <can> be saved."), "{}", root.words());
}

#[test]
fn a_reason_against_tuning_is_shown() {
    let failure = |kind| Err(Fault::new("no <entries>", kind));
    let (text, html) = page_of("db", &database(3), Some(&failure(ErrorKind::Missing)));
    assert!(markup::check(&html).words().contains("no <entries>"));
    assert_eq!(text.verdict, Verdict::Fine);
    let (text, _) = page_of("db", &database(3), Some(&failure(ErrorKind::Denied)));
    assert_eq!(text.headline(), "cannot tell: no <entries>");
}

/// The verification reads all tables, and `tune` some. The bits in use are known to `tune` alone.
#[test]
fn false_negatives_are_those_of_the_verification() {
    let mut overview = database(3);
    let problem = Problem::new(Code::FalseNegative, 7, "this", "that");
    overview.found.add(b"1", TableVerdict { false_negatives: 7, ..TableVerdict::of_problem(problem) }, true);
    let command =
        |bits: &str| rebuild_command(Path::new("my db"), &["--bits-per-key", bits].map(str::to_owned));
    let mut tuning = tuning(Some(16));
    tuning.facts.filters.bits = Some(16);
    for (tuning, bits) in [(Some(&tuning), "16"), (None, "10")] {
        let (text, html) = page(&overview, tuning);
        assert_eq!(text.headline(), "false negatives: filters of 1 hide 7 keys");
        assert_eq!(text.commands, [command(bits)]);
        assert!(verdict(&markup::check(&html)).0.starts_with("verdict bad"), "{html}");
    }
    let tables = vec!["2".to_owned()];
    tuning.facts.false_negatives = FalseNegatives { tables, hidden: 3, keys: Some(50) };
    overview.found = OverviewProblems::default();
    let (text, _) = page(&overview, Some(&tuning));
    assert_eq!(text.headline(), "false negatives: filters of 2 hide 3 of 50 keys");
}

#[test]
fn the_worst_counts() {
    let text_of = |change: &dyn Fn(&mut Overview)| {
        let mut overview = database(3);
        change(&mut overview);
        let (text, html) = page(&overview, None);
        markup::check(&html);
        text
    };
    let path = Path::new("my db");
    let problem = |code| TableVerdict::of_problem(Problem::new(code, 7, "this", "that"));
    let starts = |text: AdviceText, start: &str, commands: &[String]| {
        assert!(text.headline().starts_with(start) && text.commands == commands, "{text:?}");
    };
    let repair = [repair_command(path)];
    starts(text_of(&|_| {}), "fine", &[]);
    let denied = |overview: &mut Overview| {
        let verdict = TableVerdict { false_negatives: 3, ..problem(Code::FalseNegative) };
        overview.found.add(b"1.ldb", verdict, true);
    };
    let wrong = |code: Code| move |overview: &mut Overview| overview.found.add(b"2.ldb", problem(code), true);
    let both = |overview: &mut Overview| {
        denied(overview);
        wrong(Code::Checksum)(overview);
    };
    starts(text_of(&both), "damaged: 2.ldb", &repair);
    let hidden = |overview: &mut Overview| {
        denied(overview);
        wrong(Code::Limit)(overview);
    };
    let bits = ["--bits-per-key", "10"].map(str::to_owned);
    starts(
        text_of(&hidden),
        "false negatives: filters of 1.ldb hide 3 keys",
        &[rebuild_command(path, &bits)],
    );
    starts(text_of(&wrong(Code::Limit)), "cannot tell: 2.ldb", &[]);
    let deeper = |overview: &mut Overview| {
        let problem = Problem::new(Code::NewerBelow, 7, "this", "that").meaning("the older is found");
        overview.found.add(b"my db", TableVerdict::of_problem(problem), true);
    };
    let text = text_of(&deeper);
    assert_eq!((text.headline(), &*text.paragraphs[0]), ("damaged".to_owned(), "The older is found."));
    let rebuild = [rebuild_command(path, &[])];
    starts(
        text_of(&wrong(Code::FilterMalformed)),
        "could be better: filters of 2.ldb are malformed",
        &rebuild,
    );
    starts(text_of(&wrong(Code::FilterUnreadable)), "damaged: filters of 2.ldb cannot be read", &rebuild);
    let huge = |overview: &mut Overview| {
        let (name, len, needed) = ("MANIFEST-000002".to_owned(), 445 << 20, 70);
        overview.manifest = Some(HugeManifest { name, len, needed });
    };
    let text = "could be better: MANIFEST-000002 has 445 MiB, and 1 KiB would do";
    starts(text_of(&huge), text, &repair);
    let seen = |overview: &mut Overview| {
        let mut damaged = Inspected::unopened(Fault::new("x", ErrorKind::Damaged), false);
        damaged.table.frame.path = Path::new("3.ldb").into();
        overview.found.see(&damaged);
    };
    starts(text_of(&seen), "damaged: 3.ldb", &repair);
    // A folder of tables and a single table cannot be rebuilt.
    let folder = |overview: &mut Overview| {
        denied(overview);
        (overview.kind, overview.has_records) = (Kind::Folder, false);
    };
    starts(text_of(&folder), "false negatives", &[]);
    let table = |overview: &mut Overview| {
        wrong(Code::Checksum)(overview);
        overview.kind = Kind::Table;
    };
    assert!(text_of(&table).commands[0].starts_with("filterblock scan --carve "));
    starts(text_of(&|overview| overview.tables.clear()), "fine: no tables yet", &[]);
}

/// `several policies` is a condition, which stands before the command.
#[test]
fn of_several_policies_the_most_frequent_is_named() {
    let mut overview = database(4);
    for found in overview.tables.iter_mut().skip(1) {
        found.table.filter.as_mut().unwrap().policy = "leveldb.BuiltinBloomFilter".into();
    }
    let problem = Problem::new(Code::FalseNegative, 7, "this", "that");
    overview.found.add(b"1", TableVerdict { false_negatives: 7, ..TableVerdict::of_problem(problem) }, true);
    let words = ["--bits-per-key", "10", "--policy", "leveldb.BuiltinBloomFilter"].map(str::to_owned);
    let (text, _) = page(&overview, None);
    assert_eq!(text.commands, [rebuild_command(Path::new("my db"), &words)]);
    assert!(
        text.paragraphs.last().unwrap().starts_with("Tables have filters of several policies."),
        "{text:?}"
    );
}

#[test]
fn problems_stand_with_what_they_mean() {
    let mut overview = database(3);
    for at in 0..300 {
        let mut verdict = TableVerdict { entries: 10, ..TableVerdict::default() };
        verdict.problems.push(Problem::new(Code::Checksum, at, "a checksum of 1", "2"));
        overview.found.add(format!("{at}.ldb").as_bytes(), verdict, true);
    }
    let (_, html) = page(&overview, None);
    let root = markup::check(&html);
    let problems = lines(&root, "what it means");
    assert_eq!((problems.len(), &problems[3][..2]), (201, &["2.ldb".to_owned(), "checksum".to_owned()][..]));
    assert_eq!(problems[3][2], "its index is damaged: its entries are lost");
    let list = lines(&root, "at offset");
    assert_eq!(list.len(), 201);
    assert_eq!(list[3], ["2.ldb", "checksum", "2", "a checksum of 1", "2"]);
    assert!(root.words().contains("100 more are not listed here"));
    assert!(root.words().contains("300 problems"));
}

/// Promise: B9.
#[test]
fn hostile_names_are_text() {
    const SCRIPT: &str = "<script>alert(1)</script>\"'&amp;";
    const NAME: &str = "<script>alert(2)<b>\"'&amp;.ldb";
    let mut hostile = table(1, 0, 0);
    hostile.table.frame.path = Path::new(NAME).into();
    hostile.table.filter.as_mut().unwrap().policy = "\u{202e}evil\u{2066}".repeat(2000);
    hostile.ends = Some([TruncatedKey::new(SCRIPT.as_bytes()), TruncatedKey::new("\u{200f}\0\n".as_bytes())]);
    let long = [b"\xff\xfe]]>-->".as_slice(), &b"x".repeat(10_000)].concat();
    let mut overview = Overview {
        comparator: Some(SCRIPT.repeat(1000).into_bytes()),
        has_records: true,
        tables: vec![hostile],
        logs: vec![(SCRIPT.as_bytes().to_vec(), 1), (long, 1)],
        ..Overview::new(Kind::Database)
    };
    overview.found.verified = true;
    let problem = Problem::new(Code::KeyOrder, 5, SCRIPT, SCRIPT.repeat(500));
    overview.found.add(SCRIPT.as_bytes(), TableVerdict::of_problem(problem), true);
    overview.found.see_log(SCRIPT.as_bytes(), SCRIPT.to_owned());
    let mut tuning = with_lookups();
    tuning.left_out[0].name = SCRIPT.to_owned();
    tuning.left_out[0].why.text = SCRIPT.to_owned();
    let path = format!("/db/{SCRIPT}");
    let (_, html) = page_of(&path, &overview, Some(&Ok(tuning)));
    let root = markup::check(&html);
    let words = root.words();
    for text in [
        NAME,
        SCRIPT,
        &path,
        r"\xe2\x80\xaeevil\xe2\x81\xa6",
        "… (20,000 bytes)",
        "… (32,000 bytes)",
        "… (10,008 bytes)",
        r"\xff\xfe]]>-->xxx",
        r#""<script>alert(1)</script>\"'&amp;""#,
        r"\xe2\x80\x8f\x00\x0a",
    ] {
        assert!(words.contains(text), "{text}");
    }
    assert_eq!(html.to_lowercase().matches("<script").count(), 1);
    assert!(html.len() < 100_000, "{}", html.len());
}

#[test]
fn an_empty_database_has_a_page() {
    for kind in [Kind::Database, Kind::Folder, Kind::Table] {
        let (_, html) = page(&Overview::new(kind), None);
        let root = markup::check(&html);
        assert!(root.of_name("table").is_empty() && root.pictures().is_empty(), "{html}");
    }
}
