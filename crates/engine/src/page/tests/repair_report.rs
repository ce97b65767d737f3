//! Pages of invented repairs.

use std::path::Path;

use super::{lines, markup};
use crate::page::repair_page;
use crate::report::{
    LossKind, LossReport, Name, RepairReport, RepairRole, RepairStatus, RepairSums, RepairedFile,
    RepairedKind, StaleKey, Unknown,
};

const SCRIPT: &str = "<script>alert(1)</script>\"'&amp;";

fn file(name: &str, kind: RepairedKind, role: RepairRole) -> RepairedFile {
    RepairedFile {
        kind,
        role,
        level: None,
        size: Some(4096),
        entries: 10,
        first_key: Some(b"first".to_vec()),
        last_key: Some(b"last".to_vec()),
        corrected: Vec::new(),
        damaged: Vec::new(),
        losses: 0,
        note: None,
        name: name.to_owned(),
    }
}

fn loss(name: &str, kind: LossKind) -> LossReport {
    LossReport {
        kind,
        first_key: Some(b"from".to_vec()),
        last_key: None,
        offset: Some(4096),
        bytes: Some(1000),
        writes: None,
        last_sequence_before: None,
        first_sequence_after: None,
        maybe_stale: 3,
        from_obsolete: 2,
        ruled_out: 7,
        why: "damage".to_owned(),
        name: name.to_owned(),
    }
}

fn stale(key: &[u8], is_deletion: bool, is_kept: bool) -> StaleKey {
    let file = "000005.ldb".to_owned();
    StaleKey { key: key.to_vec(), sequence: 77, is_deletion, is_obsolete: true, is_kept, file }
}

/// The lines of a table without its head.
fn table(html: &str, title: &str) -> Vec<Vec<String>> {
    lines(&markup::check(html), title).split_off(1)
}

#[test]
fn the_verdict_says_whether_all_is_known() {
    let verdict = |report: &RepairReport| {
        let html = repair_page(Path::new("db"), report).html;
        let root = markup::check(&html);
        let class = root.of_name("div")[1].attribute("class").unwrap().to_owned();
        (class, root.of_name("p")[1].words())
    };
    let sums = RepairSums { keys: 2000, ..RepairSums::default() };
    let mut report = RepairReport { is_complete: true, sums, ..RepairReport::default() };
    let (class, text) = verdict(&report);
    assert_eq!(
        (&*class, &*text),
        ("verdict good", "2,000 keys are saved. Nothing is lost, and no key may be stale.")
    );
    (report.is_complete, report.status) = (false, RepairStatus::DryRun);
    let (class, text) = verdict(&report);
    assert!(
        class == "verdict better" && text.starts_with("2,000 keys would be saved; nothing was written."),
        "{text}"
    );
    report.unknown = vec![Unknown::Files("a <table> may be missing".to_owned())];
    let (class, text) = verdict(&report);
    assert!(
        class == "verdict bad"
            && text.ends_with("It is not known whether more is lost than what is told below.")
    );
    assert!(
        markup::check(&repair_page(Path::new("db"), &report).html)
            .words()
            .contains("A <table> may be missing.")
    );
}

#[test]
fn losses_corrections_and_doubts_stand_with_their_files() {
    let mut live = file("000007.ldb", RepairedKind::Table, RepairRole::Live);
    live.level = Some(2);
    let mut corrected = file("000009.ldb", RepairedKind::Table, RepairRole::PartlyObsolete);
    corrected.corrected = (0..25).map(|at| at * 1000).collect();
    let mut torn = file("000010.log", RepairedKind::Log, RepairRole::Live);
    torn.damaged = vec![500, 32_768];
    let gap = LossReport {
        first_key: None,
        writes: Some(4),
        last_sequence_before: Some(9),
        first_sequence_after: Some(14),
        ..loss("000010.log", LossKind::Log)
    };
    let report = RepairReport {
        sums: RepairSums { maybe_stale: 2, losses: 2, ..RepairSums::default() },
        files: vec![live, corrected, torn],
        losses: vec![loss("000009.ldb", LossKind::Table), gap, loss("000010.log", LossKind::Log)],
        stale_keys: vec![stale(b"kept", false, true), stale(b"out", true, false)],
        ..RepairReport::default()
    };
    let html = repair_page(Path::new("db"), &report).html;
    let of_tables = table(&html, "keys from");
    let expected = ["000009.ldb", "from", "the last key", "4,096", "1,000", "damage", "3", "2", "7"];
    assert_eq!(of_tables, [expected]);
    let of_logs = table(&html, "behind number");
    assert_eq!(of_logs[0], ["000010.log", "4,096", "9", "14", "4", "damage"]);
    assert_eq!(of_logs[1], ["000010.log", "4,096", "the start", "the end", "not known", "damage"]);
    let keys = table(&html, "in the new database");
    assert_eq!(keys[0], ["kept", "77", "value", "000005.ldb", "obsolete", "kept"]);
    assert_eq!(keys[1], ["out", "77", "deletion", "000005.ldb", "obsolete", "left out"]);
    // Files about which there is something to report come first.
    let files = table(&html, "lost ranges");
    assert_eq!(
        files.iter().map(|line| &*line[0]).collect::<Vec<_>>(),
        ["000009.ldb", "000010.log", "000007.ldb"]
    );
    assert!(
        files[0][7].starts_with("0; 1,000; 2,000;") && files[0][7].ends_with("19,000; and 5 more"),
        "{files:?}"
    );
    assert_eq!((&*files[1][8], &*files[2][2], &*files[2][6]), ("500; 32,768", "2", "last"));
}

#[test]
fn hostile_names_and_keys_are_text() {
    let evil = "\u{202e}evil\u{2066}\0".repeat(2000);
    let mut named = file(SCRIPT, RepairedKind::Table, RepairRole::Missing);
    (named.note, named.first_key) = (Some(SCRIPT.repeat(500)), Some(evil.clone().into_bytes()));
    let lost =
        LossReport { why: SCRIPT.to_owned(), last_key: Some(SCRIPT.into()), ..loss(SCRIPT, LossKind::Table) };
    let mut report = RepairReport {
        unknown: vec![Unknown::Files(SCRIPT.to_owned())],
        manifest: Some(SCRIPT.to_owned()),
        comparator: Some(Name::cut(evil.as_bytes())),
        policy: Some(SCRIPT.to_owned()),
        bits_per_key: Some(10),
        target: Some(SCRIPT.into()),
        files: vec![named],
        losses: vec![lost.clone(), LossReport { kind: LossKind::Log, ..lost }],
        notes: vec![SCRIPT.to_owned()],
        ..RepairReport::default()
    };
    report.sums.maybe_stale = 1;
    report.stale_keys = vec![stale(b"<b>\xff\n", false, true)];
    let html = repair_page(Path::new(SCRIPT), &report).html;
    let words = markup::check(&html).words();
    assert_eq!(html.to_lowercase().matches("<script").count(), 1);
    for text in [SCRIPT, r"\xe2\x80\xaeevil\xe2\x81\xa6\x00", r"<b>\xff\x0a", "bytes)"] {
        assert!(words.contains(text), "{text}");
    }
    assert!(html.len() < 60_000, "{}", html.len());
}

#[test]
fn a_page_of_many_losses_stays_small_and_says_what_is_left_out() {
    let long = vec![b'k'; 10_000];
    let lost = LossReport {
        first_key: Some(long.clone()),
        last_key: Some(long.clone()),
        ..loss("000005.ldb", LossKind::Table)
    };
    let mut report = RepairReport {
        files: (0..10_000)
            .map(|at| file(&format!("{at}.ldb"), RepairedKind::Table, RepairRole::Live))
            .collect(),
        losses: vec![lost; 10_000],
        stale_keys: vec![stale(&long, false, true); 10_000],
        ..RepairReport::default()
    };
    (report.sums.maybe_stale, report.sums.losses) = (1_000_000, 10_000);
    let html = repair_page(Path::new("db"), &report).html;
    assert!(html.len() < 1_000_000, "{}", html.len());
    let words = markup::check(&html).words();
    for text in ["9,200 more losses", "999,200 more keys", "9,200 more files"] {
        assert!(words.contains(text), "{text}");
    }
}
