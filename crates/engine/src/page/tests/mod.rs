//! Pages of invented databases.

#[cfg(feature = "fs")]
mod ledger;
mod markup;
mod models;

use std::path::Path;

use markup::Node;
use models::{database, fault, table, tuning, unfiltered};

use super::document::document;
use super::request::Shown;
use super::verdict::{USUAL_POLICY, Verdict};
use crate::audit::CutKey;
use crate::audit::overview::{Kind, Overview, OverviewFindings};
use crate::report::{Action, Advice, Code, Finding, FoundFilters, Table, Tuning, Verdict as TableVerdict};
use crate::words::{path_word, rebuild_command, renew_text, repair_command};

/// The verdict in a line, and the page.
fn page(overview: &Overview, tuning: Option<&Tuning>) -> (String, String) {
    let tuning = tuning.map(Ok);
    let page = Shown { path: Path::new("my db"), overview, strips: &[], tuning };
    let verdict = Verdict::of(&page);
    (verdict.line(), document(&page, &verdict))
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
    let tuning = tuning(true);
    let (_, html) = page(&overview, Some(&tuning));
    assert!(html.len() < 1_000_000 && html.len() > 100_000, "{}", html.len());
    let root = markup::check(&html);
    // The page says that tables are left out, and lists those that matter most.
    let listed = lines(&root, "first key");
    assert_eq!(listed.len(), 801);
    for name in ["000003.ldb", "000500.ldb", "009000.ldb"] {
        assert!(listed.iter().any(|line| line[0] == name && line[9] == "no filters"), "{name}");
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
            "1.9 MiB",
            "~20,000",
            "-",
            "28.3 KiB",
            "~10.0",
            "1.00 %",
            "1.1 %",
            "ok",
            "\"user/000000000000/settings\""
        ]
    );
    assert!(!root.words().contains("These are"));
}

#[test]
fn the_verdict_follows_the_advice() {
    let overview = database(100);
    let leave = tuning(false);
    let (line, html) = page(&overview, Some(&leave));
    assert_eq!(
        line,
        "All 100 tables have filters, which take 2.8 MiB (~10.0 bits an entry) and let 1.012 % of random keys pass. Leave the \
         filters as they are, as no others of the same size save enough."
    );
    assert!(!html.contains("<pre>") && html.contains("verdict good"));
    let rebuild = tuning(true);
    let (line, html) = page(&overview, Some(&rebuild));
    let command = rebuild_command(Path::new("my db"), &["--bits-per-key".to_owned(), "1=20,2=9".to_owned()]);
    assert!(line.ends_with(&format!(" Run: {command}")), "{line}");
    assert!(
        line.contains(
            " 6.8 times fewer wasted reads for 3.8 MiB more: rebuild with 20 bits a key on level 1, 9 on level 2 and a filter \
             for every 64 KiB"
        ),
        "{line}"
    );
    let root = markup::check(&html);
    assert_eq!(root.of_name("pre").iter().map(|pre| pre.words()).collect::<Vec<_>>(), [command]);
    assert!(html.contains("verdict better"));
    let reads = lines(&root, "as advised");
    let kinds: Vec<_> = reads[1..].iter().map(|line| &*line[0]).collect();
    assert_eq!(
        kinds,
        [
            "absent keys of your own",
            "absent keys between stored ones",
            "stored keys with a byte changed",
            "random absent keys",
            "stored keys"
        ]
    );
    let levels = lines(&root, "filters as advised");
    assert_eq!(levels[1].last().unwrap(), "~6.7 MiB");
    let settings = lines(&root, "formula");
    assert_eq!(settings.len(), 1 + 4 * 17);
    assert_eq!(settings.iter().filter(|line| line.last().unwrap() == "in use").count(), 1);
    for text in ["every entry of 40 of 100 tables, 4 MiB of 10 MiB", "000009.ldb: not a table", "Compactions"]
    {
        assert!(root.words().contains(text) || text == "Compactions", "{text}");
    }
}

#[test]
fn a_reason_against_tuning_is_told() {
    let overview = database(3);
    let page =
        Shown { path: Path::new("db"), overview: &overview, strips: &[], tuning: Some(Err("no <entries>")) };
    let root = markup::check(&document(&page, &Verdict::of(&page)));
    assert!(root.words().contains("could not be found out: no <entries>"));
}

/// The verification and `tune` may see different numbers of keys.
#[test]
fn the_command_against_denied_keys_is_that_of_tune() {
    let mut overview = database(3);
    let finding = Finding::new(Code::FilterDeniesKey, 7, "this", "that");
    overview.found.add(b"1", TableVerdict { denied: 7, ..TableVerdict::of_finding(finding) }, true);
    let mut tuning = tuning(false);
    // The filters tried deny nothing, but show the bits in use.
    tuning.faults.clear();
    let in_use = ["--bits-per-key", "10"].map(str::to_owned);
    let line = page(&overview, Some(&tuning)).0;
    assert!(line.ends_with(&rebuild_command(Path::new("my db"), &in_use)), "{line}");
    assert!(!line.contains("as it is not known"), "{line}");
    tuning.faults.push(fault("000009.ldb", "denied"));
    tuning.faults[0].denied = 3;
    let words = ["--bits-per-key", "16", "--policy", "leveldb.BuiltinBloomFilter2"].map(str::to_owned);
    tuning.advice = Advice {
        action: Action::Rebuild,
        text: format!("{}. And more", renew_text(3)),
        choice: None,
        arguments: Some(words.to_vec()),
    };
    let path = Path::new("my db");
    let start = "Filters deny 7 keys that are stored: programs do not find them. No entry is lost: new filters bring them \
                 back. And more.";
    assert_eq!(page(&overview, Some(&tuning)).0, format!("{start} Run: {}", rebuild_command(path, &words)));
    // What is missing stands in the text.
    tuning.advice.arguments = None;
    assert_eq!(page(&overview, Some(&tuning)).0, start);
    overview.found = OverviewFindings::default();
    let (line, html) = page(&overview, Some(&tuning));
    assert!(line.ends_with("And more.") && html.contains("verdict bad"), "{line}");
}

#[test]
fn tables_of_several_policies_are_rebuilt_with_one_that_is_named() {
    let mut overview = database(4);
    for table in overview.tables.iter_mut().skip(1) {
        table.filter.as_mut().unwrap().policy = "leveldb.BuiltinBloomFilter".into();
    }
    let finding = Finding::new(Code::FilterDeniesKey, 7, "this", "that");
    overview.found.add(b"1", TableVerdict { denied: 7, ..TableVerdict::of_finding(finding) }, true);
    let words = ["--policy", "leveldb.BuiltinBloomFilter"].map(str::to_owned);
    let (line, _) = page(&overview, None);
    let command = rebuild_command(Path::new("my db"), &words);
    assert!(line.ends_with(&format!("has to follow --policy instead. Run: {command}")), "{line}");
    assert!(line.contains("bring them back. They get 10 bits a key, as it is not known how many"), "{line}");
    overview.found = OverviewFindings::default();
    overview.tables[0].filter = None;
    overview.tables[0] = unfiltered(overview.tables[0].clone());
    let (line, _) = page(&overview, None);
    assert!(line.ends_with(&format!("Run: {}", rebuild_command(Path::new("my db"), &[]))), "{line}");
}

#[test]
fn the_verdict_says_what_is_worst_first() {
    let verdict = |change: &dyn Fn(&mut Overview)| {
        let mut overview = database(3);
        change(&mut overview);
        let (line, html) = page(&overview, None);
        markup::check(&html);
        line
    };
    let finding = |code| TableVerdict::of_finding(Finding::new(code, 7, "this", "that"));
    let denied = |keys| TableVerdict { denied: keys, ..finding(Code::FilterDeniesKey) };
    let starts = |line: String, start: &str, command: &str| {
        assert!(line.starts_with(start) && line.ends_with(command), "{line}");
    };
    let path = Path::new("my db");
    let verify = &format!("Run: filterblock verify {}", path_word(path));
    let repair = &format!("Run: {}", repair_command(path));
    let rebuild = &format!("Run: {}", rebuild_command(path, &[]));
    let rebuild_usual = &format!("Run: {}", rebuild_command(path, &USUAL_POLICY.map(str::to_owned)));
    starts(verdict(&|_| {}), "All 3 tables have filters", "and nothing is wrong.");
    let all_wrong = |overview: &mut Overview| {
        overview.found.add(b"1", denied(3), true);
        overview.found.add(b"2", finding(Code::Checksum), true);
    };
    starts(
        verdict(&all_wrong),
        "Something is damaged: there are 2 findings, and filters deny 3 keys that are stored.",
        repair,
    );
    starts(
        verdict(&|overview| overview.found.add(b"1", denied(1), true)),
        "Filters deny 1 key that",
        rebuild,
    );
    let malformed = |overview: &mut Overview| overview.found.add(b"1", finding(Code::FilterMalformed), true);
    starts(verdict(&malformed), "Filters are damaged: there is 1 finding", rebuild);
    let hidden = |overview: &mut Overview| overview.found.add(b"1", finding(Code::Limit), true);
    starts(verdict(&hidden), "Not everything could be looked at", verify);
    let seen = |overview: &mut Overview| {
        let damaged = Table { error: Some("x".to_owned()), ..Table::default() };
        overview.found.see(&damaged);
    };
    starts(verdict(&seen), "Something is damaged", repair);
    let none = |overview: &mut Overview| {
        overview.tables.iter_mut().for_each(|table| *table = unfiltered(table.clone()))
    };
    starts(verdict(&none), "None of the 3 tables has filters", rebuild_usual);
    let one = |overview: &mut Overview| overview.tables[1] = unfiltered(overview.tables[1].clone());
    starts(verdict(&one), "1 of the 3 tables has no filters; those", rebuild);
    let folder = |overview: &mut Overview| {
        none(overview);
        (overview.kind, overview.has_records) = (Kind::Folder, false);
    };
    starts(verdict(&folder), "None of the 3", "should have some.");
    let unknown = |overview: &mut Overview| {
        for table in &mut overview.tables {
            table.filter = None;
        }
    };
    starts(verdict(&unknown), "The filters of 3 of 3 tables are not known here.", "nothing else is wrong.");
    let unknown_and_none = |overview: &mut Overview| {
        unknown(overview);
        overview.tables[1] = unfiltered(overview.tables[1].clone());
    };
    starts(verdict(&unknown_and_none), "", "should have some.");
    starts(verdict(&|overview| overview.tables.clear()), "There are no tables.", "there is nothing to do.");
    let logs = |overview: &mut Overview| {
        overview.tables.clear();
        overview.logs.push((b"1.log".to_vec(), 3));
    };
    starts(verdict(&logs), "There are no tables.", "with the first table.");
    // Logs are verified, too.
    let log = |overview: &mut Overview| overview.logs.push((b"1.log".to_vec(), 3));
    starts(verdict(&log), "All 3 tables have filters", "and nothing is wrong.");
    let unused = |overview: &mut Overview| {
        for table in &mut overview.tables[1..] {
            *table = unfiltered(table.clone());
            (table.live, table.level) = (Some(false), None);
        }
    };
    starts(verdict(&unused), "The table has filters", "nothing is wrong.");
    starts(verdict(&|overview| overview.found.verified = false), "All 3", "not every block was read.");
}

#[test]
fn findings_stand_with_what_they_mean() {
    let mut overview = database(3);
    for at in 0..300 {
        let mut verdict = TableVerdict { entries: 10, ..TableVerdict::default() };
        verdict.findings.push(Finding::new(Code::Checksum, at, "a checksum of 1", "2"));
        overview.found.add(format!("{at}.ldb").as_bytes(), verdict, true);
    }
    let (_, html) = page(&overview, None);
    let root = markup::check(&html);
    let codes = lines(&root, "what it means");
    assert_eq!((&*codes[1][0], &*codes[1][1]), ("checksum", "300"));
    assert!(
        codes[1][2].contains("differs from what was written")
            && codes[1][3].contains("filterblock repair DB --to NEW")
    );
    let list = lines(&root, "at offset");
    assert_eq!(list.len(), 201);
    assert_eq!(list[3], ["2.ldb", "checksum", "2", "a checksum of 1", "2"]);
    assert!(root.words().contains("100 more are not listed here"));
    assert!(root.words().contains("300 findings in 300 files with 3,000 entries"));
}

/// Promise: B9.
#[test]
fn hostile_names_are_text() {
    const SCRIPT: &str = "<script>alert(1)</script>\"'&amp;";
    const NAME: &str = "<script>alert(2)<b>\"'&amp;.ldb";
    let mut hostile = table(1, 0, 0);
    hostile.path = NAME.into();
    hostile.filter.as_mut().unwrap().policy = "\u{202e}evil\u{2066}".repeat(2000);
    hostile.ends = Some([CutKey::new(SCRIPT.as_bytes()), CutKey::new("\u{200f}\0\n".as_bytes())]);
    let long = [b"\xff\xfe]]>-->".as_slice(), &b"x".repeat(10_000)].concat();
    let mut overview = Overview {
        comparator: Some(SCRIPT.repeat(1000).into_bytes()),
        has_records: true,
        tables: vec![hostile],
        logs: vec![(SCRIPT.as_bytes().to_vec(), 1), (long, 1)],
        ..Overview::new(Kind::Database)
    };
    overview.found.verified = true;
    let finding = Finding::new(Code::KeyOrder, 5, SCRIPT, SCRIPT.repeat(500));
    overview.found.add(SCRIPT.as_bytes(), TableVerdict::of_finding(finding), true);
    overview.found.see_log(SCRIPT.as_bytes(), SCRIPT.to_owned());
    let mut tuning = tuning(true);
    tuning.notes = vec![SCRIPT.to_owned()];
    tuning.faults = vec![fault(SCRIPT, SCRIPT)];
    let path = format!("/db/{SCRIPT}");
    let page = Shown { path: Path::new(&path), overview: &overview, strips: &[], tuning: Some(Ok(&tuning)) };
    let html = document(&page, &Verdict::of(&page));
    let root = markup::check(&html);
    let words = root.words();
    for text in [
        NAME,
        SCRIPT,
        &format!("{path}."),
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
    assert!(!html.to_lowercase().contains("<script"));
    assert!(html.len() < 100_000, "{}", html.len());
}

#[test]
fn an_empty_database_has_a_page() {
    for kind in [Kind::Database, Kind::Folder, Kind::Table] {
        let (_, html) = page(&Overview::new(kind), None);
        let root = markup::check(&html);
        assert!(root.of_name("table").is_empty() && root.of_name("svg").is_empty(), "{html}");
    }
}

/// If no table has filters, the program may use no filters: that is no fault, and not shown as a
/// fault.
#[test]
fn a_database_without_filters_is_not_shown_as_one_that_could_be_better() {
    let mut advised = tuning(true);
    let (_, html) = page(&database(3), Some(&advised));
    assert!(html.contains("class=\"verdict better\""), "{html}");
    advised.found = FoundFilters::None;
    let (_, html) = page(&database(3), Some(&advised));
    assert!(html.contains("class=\"verdict good\""), "{html}");
}

/// Trying other filters finds filters that deny stored keys even without a verification.
#[test]
fn filters_that_deny_stored_keys_are_bad() {
    let mut advised = tuning(true);
    advised.faults[0].denied = 83;
    let (_, html) = page(&database(3), Some(&advised));
    assert!(html.contains("class=\"verdict bad\"") && html.contains("Not sound"), "{html}");
}
