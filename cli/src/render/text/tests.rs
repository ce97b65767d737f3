//! Results on a terminal: with small pictures, which output elsewhere does not have.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use filterblock::database::Database;

use super::{detail, levels};
use crate::audit::inspect;
use crate::audit::inspect::report::TableReport;
use crate::audit::inspect::totals::FolderTotals;
use crate::audit::rates::effort::Effort;
use crate::audit::reading::read_options;
use crate::audit::record::TableRecord;
use crate::io::console::{Console, Signs};
use crate::io::screen::Screen;

/// What `write` writes to a terminal, or elsewhere if there is none.
fn shown(terminal: Option<(Signs, usize)>, write: impl FnOnce(&mut Console)) -> String {
    let screen = Screen::default();
    let mut console = match terminal {
        Some((signs, width)) => screen.terminal(signs, width),
        None => screen.console(),
    };
    write(&mut console);
    console.flush().unwrap();
    screen.text()
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

fn report(table: &str) -> (PathBuf, TableReport<'static>) {
    let path = testdata().join(table);
    let file = File::open(&path).unwrap();
    let report = inspect::table(file, &read_options(), Effort::for_each_of(1)).unwrap();
    (path, report)
}

fn details(table: &str, terminal: Option<(Signs, usize)>) -> Vec<String> {
    let (path, report) = report(table);
    let text = shown(terminal, |console| detail::write(&path, &report, false, console).unwrap());
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_table_has_pictures_on_a_terminal_only() {
    const TABLE: &str = "tables/large-65536-bloom10.ldb";
    let plain = details(TABLE, None);
    let ascii = details(TABLE, Some((Signs::Ascii, 100)));
    let added: Vec<_> = ascii.iter().filter(|line| !plain.contains(line)).map(String::as_str).collect();
    // Three filters for values of 64 KiB.
    let fill = format!("  fill by range    [-{0}-{0}-    ]", " ".repeat(31));
    assert_eq!(
        added,
        [
            "  bits             760, 45.8 % of them set  [#########           ]",
            &fill,
            "                   a filter a sign, blank: no keys",
        ]
    );
    let removed: Vec<_> = plain.iter().filter(|line| !ascii.contains(line)).map(String::as_str).collect();
    assert_eq!(removed, ["  bits             760, 45.8 % of them set"]);
    let blocks = details(TABLE, Some((Signs::Blocks, 100))).join("\n");
    assert!(blocks.contains("[\u{2584} ") && blocks.contains("\u{2588}\u{258f}          ]"), "{blocks}");
}

#[test]
fn the_fill_of_filters_fits_the_terminal() {
    let line = |width| {
        let lines = details("tables/large-65536-bloom10.ldb", Some((Signs::Ascii, width)));
        lines.into_iter().skip_while(|line| !line.contains("fill by range")).take(2).collect::<Vec<_>>()
    };
    for width in [29, 40, 80] {
        let lines = line(width);
        assert_eq!(lines[0].len(), width.min(21 + 69), "{lines:?}");
        // None of the three is lost where a sign stands for several.
        assert_eq!(lines[0].matches('-').count(), 3, "{lines:?}");
    }
    assert_eq!(line(40)[1], "                   up to 4 filters a sign, blank: no keys");
    assert_eq!(line(28), [""; 0], "there is no room for it");
}

#[test]
fn what_has_no_filters_to_show_has_no_pictures() {
    for table in [
        "tables/single-4096-bloom10.ldb",
        "tables/words-4096-unfiltered.ldb",
        "tables/empty-4096-bloom10.ldb",
    ] {
        let text = details(table, Some((Signs::Blocks, 100))).join("\n");
        assert!(!text.contains("fill by range"), "{text}");
        assert_eq!(text.contains('['), table.contains("single"), "{text}");
    }
}

#[test]
fn levels_have_bars_where_there_is_room() {
    let text = |terminal| {
        let mut totals = FolderTotals::default();
        let database = Database::open(testdata().join("databases/levels")).unwrap();
        for live in database.manifest().unwrap().tables() {
            let (_, report) = report(&format!("databases/levels/{:06}.ldb", live.number));
            let (comparator, is_bytewise) = (None, true);
            let record = TableRecord {
                comparator,
                is_bytewise,
                live: Some(live),
                is_unlisted: false,
                overlapped: None,
            };
            totals.add(&report.with_record(Some(record)));
        }
        shown(terminal, |console| levels::write(&totals, console).unwrap())
    };
    let plain = text(None);
    let wide = text(Some((Signs::Ascii, 120)));
    let ends: Vec<_> = wide.lines().skip(2).filter_map(|line| Some(&line[line.find('[')?..])).collect();
    assert_eq!(ends, ["[##          ]", "[###         ]", "[#######     ]"]);
    let without: Vec<_> = wide.lines().map(|line| line.split("  [").next().unwrap().trim_end()).collect();
    assert_eq!(without, plain.lines().collect::<Vec<_>>());
    assert_eq!(text(Some((Signs::Ascii, 100))), plain);
}
