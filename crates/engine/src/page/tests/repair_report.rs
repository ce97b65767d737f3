//! Pages of invented repairs.

use std::path::Path;

use super::{lines, markup, verdict};
use crate::page::repair_page;
use crate::report::{
    LossKind, LossReport, Name, OfFile, RepairData, RepairReport, RepairRole, RepairStatus, RepairSums,
    RepairedFile, RepairedKind, StaleKey, Unknown,
};

const SCRIPT: &str = "<script>alert(1)</script>\"'&amp;";

fn file(name: &str, kind: RepairedKind, role: RepairRole) -> OfFile<RepairedFile> {
    let data = RepairedFile {
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
    };
    OfFile { name: name.to_owned(), data }
}

fn loss(name: &str, kind: LossKind) -> OfFile<LossReport> {
    let data = LossReport {
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
    };
    OfFile { name: name.to_owned(), data }
}

fn stale(key: &[u8], is_deletion: bool, is_kept: bool) -> OfFile<StaleKey> {
    let data = StaleKey { key: key.to_vec(), sequence: 77, is_deletion, is_obsolete: true, is_kept };
    OfFile { name: "000005.ldb".to_owned(), data }
}

/// The lines of a table without its head.
fn table(html: &str, title: &str) -> Vec<Vec<String>> {
    lines(&markup::check(html), title).split_off(1)
}

/// The class of the verdict, its tag, its title and its sentence, and whether steps are shown.
fn verdict_of(report: &RepairReport) -> (String, [String; 3], bool) {
    let root = markup::check(&repair_page(Path::new("db"), report).html());
    let (class, texts, ..) = verdict(&root);
    (class, texts, !root.of_name("ol").is_empty())
}

#[test]
fn the_verdict_says_whether_all_is_known() {
    let sums = RepairSums { keys: 2000, ..RepairSums::default() };
    let target = Some("new".into());
    let read_back = "Every block, entry and filter of the new database was read back.";
    let data = RepairData { is_complete: true, is_damaged: true, sums, target, ..RepairData::default() };
    let mut report = RepairReport { data, ..RepairReport::default() };
    let (class, texts, has_steps) = verdict_of(&report);
    assert_eq!((&*class, has_steps), ("verdict fine two", true));
    assert_eq!(texts, ["Repaired", "Nothing is lost: all 2,000 keys are saved", read_back]);
    // There is no reason to put back what was not damaged.
    report.data.is_damaged = false;
    assert!(!verdict_of(&report).2);

    report.data.is_damaged = true;
    report.data.is_complete = false;
    report.losses = vec![loss("1", LossKind::Table)];
    let (class, texts, has_steps) = verdict_of(&report);
    assert_eq!((&*class, has_steps), ("verdict better two", true));
    assert_eq!(texts[..2], ["Repaired, with a loss", "2,000 keys saved; some entries are lost"]);
    let words = |report: &RepairReport| markup::check(&repair_page(Path::new("db"), report).html()).words();
    assert!(
        words(&report)
            .contains("A node's database (Bitcoin, geth, Cosmos) has to be rebuilt by its program instead.")
    );
    assert!(words(&report).contains("copy the folder db."));

    report.data.unknown = vec![Unknown::Files("a <table> may be missing".to_owned())];
    report.losses.clear();
    let (class, texts, _) = verdict_of(&report);
    assert_eq!(class, "verdict bad two");
    assert_eq!(texts[..2], ["Repaired, but not all is known", "2,000 keys saved; entries may be lost"]);
    assert_eq!(words(&report).matches("A <table> may be missing.").count(), 1);

    (report.data.status, report.data.target) = (RepairStatus::DryRun, None);
    report.data.unknown.clear();
    let (class, texts, has_steps) = verdict_of(&report);
    assert_eq!((&*class, has_steps), ("verdict better two", false));
    assert_eq!(
        texts,
        ["Dry run", "2,000 keys would be saved; some keys may be stale", "Nothing was written."]
    );
    assert!(words(&report).contains("filterblock repair db --to db-repaired"));
}

#[test]
fn losses_corrections_and_doubts_stand_with_their_files() {
    let mut live = file("000007.ldb", RepairedKind::Table, RepairRole::Live);
    live.data.level = Some(2);
    let mut corrected = file("000009.ldb", RepairedKind::Table, RepairRole::PartlyObsolete);
    corrected.data.corrected = (0..25).map(|at| at * 1000).collect();
    let mut torn = file("000010.log", RepairedKind::Log, RepairRole::Live);
    torn.data.damaged = vec![500, 32_768];
    let mut gap = loss("000010.log", LossKind::Log);
    gap.data = LossReport {
        first_key: None,
        writes: Some(4),
        last_sequence_before: Some(9),
        first_sequence_after: Some(14),
        ..gap.data
    };
    let mut report = RepairReport {
        files: vec![live, corrected, torn],
        losses: vec![loss("000009.ldb", LossKind::Table), gap, loss("000010.log", LossKind::Log)],
        stale_keys: vec![stale(b"kept", false, true), stale(b"out", true, false)],
        ..RepairReport::default()
    };
    (report.data.sums.maybe_stale, report.data.sums.losses) = (2, 2);
    let html = repair_page(Path::new("db"), &report).html();
    let ledger = table(&html, "what happened");
    let expected = [
        "lost",
        "000009.ldb1000 B at offset 4,096",
        "from fromto the last key",
        "Damage. 3 saved keys of this range may be stale: a newer value may have been here. Of these, 2 keys from obsolete \
         files. Of 7 saved keys, filters rule out a newer value here.",
    ];
    assert_eq!(ledger[0], expected);
    assert_eq!(
        ledger[1][..3],
        ["lost", "000010.log4 writes at offset 4,096", "any; sequence numbers after 9, before 14"]
    );
    assert_eq!(ledger[2][2], "any; sequence numbers after the start, before the end");
    let expected = ["corrected", "000009.ldb", "", "25 bits were wrong, the first at offset 0."];
    assert_eq!(ledger[3], expected);
    assert_eq!(ledger[4], ["saved", "2 tables, 1 log", "", "All current entries."]);
    let keys = table(&html, "in the new database");
    assert_eq!(keys[0], ["kept", "77", "value", "000005.ldb, obsolete", "kept"]);
    assert_eq!(keys[1], ["out", "77", "deletion", "000005.ldb, obsolete", "left out"]);
    // Files about which there is something to report come first.
    let files = table(&html, "damaged places");
    assert_eq!(
        files.iter().map(|line| &*line[0]).collect::<Vec<_>>(),
        ["000009.ldb", "000010.log", "000007.ldb"]
    );
    assert_eq!((&*files[0][5], &*files[2][2], &*files[2][7]), ("25", "2", "last"));
    let pictures = markup::check(&html);
    let labels: Vec<_> =
        pictures.pictures().iter().filter_map(|svg| svg.attribute("aria-label")).map(str::to_owned).collect();
    let expected =
        ["000009.ldb: 26 places, the first at offset 0", "000010.log: 3 places, the first at offset 500"];
    assert_eq!(labels, expected);
}

#[test]
fn hostile_names_and_keys_are_text() {
    let evil = "\u{202e}evil\u{2066}\0".repeat(2000);
    let mut named = file(SCRIPT, RepairedKind::Table, RepairRole::Missing);
    (named.data.note, named.data.first_key) = (Some(SCRIPT.repeat(500)), Some(evil.clone().into_bytes()));
    let lost = |kind| {
        let mut lost = loss(SCRIPT, kind);
        (lost.data.why, lost.data.last_key) = (SCRIPT.to_owned(), Some(SCRIPT.into()));
        lost
    };
    let data = RepairData {
        unknown: vec![Unknown::Files(SCRIPT.to_owned())],
        manifest: Some(SCRIPT.to_owned()),
        comparator: Some(Name::cut(evil.as_bytes())),
        policy: Some(SCRIPT.to_owned()),
        bits_per_key: Some(10),
        target: Some(SCRIPT.into()),
        ..RepairData::default()
    };
    let mut report = RepairReport {
        data,
        files: vec![named],
        losses: vec![lost(LossKind::Table), lost(LossKind::Log)],
        notes: vec![SCRIPT.to_owned()],
        ..RepairReport::default()
    };
    report.data.sums.maybe_stale = 1;
    report.stale_keys = vec![stale(b"<b>\xff\n", false, true)];
    let html = repair_page(Path::new(SCRIPT), &report).html();
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
    let mut lost = loss("000005.ldb", LossKind::Table);
    (lost.data.first_key, lost.data.last_key) = (Some(long.clone()), Some(long.clone()));
    let mut report = RepairReport {
        files: (0..10_000)
            .map(|at| file(&format!("{at}.ldb"), RepairedKind::Table, RepairRole::Live))
            .collect(),
        losses: vec![lost; 10_000],
        stale_keys: vec![stale(&long, false, true); 10_000],
        ..RepairReport::default()
    };
    (report.data.sums.maybe_stale, report.data.sums.losses) = (1_000_000, 10_000);
    let html = repair_page(Path::new("db"), &report).html();
    assert!(html.len() < 1_000_000, "{}", html.len());
    let words = markup::check(&html).words();
    for text in ["9,500 more losses", "999,500 more keys", "9,500 more files"] {
        assert!(words.contains(text), "{text}");
    }
}
