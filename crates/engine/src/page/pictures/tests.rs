//! Pictures of strange numbers and hostile names, and of many tables.

use maud::{Markup, html};

use super::*;

const STRANGE: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-320, 1e300, f64::MAX];
const HOSTILE: &str = "<script>alert(1)</script>\"'&";

fn table(at: u32, of: u32, mark: Mark) -> MapTable {
    let place = |at: u32| f64::from(at) / f64::from(of);
    MapTable { name: format!("{at:06}.ldb"), range: Some((place(at), place(at + 1))), size: 2_000_000, mark }
}

fn level(name: &str, tables: u32) -> MapLevel {
    let mark =
        |at: u32| [Mark::Rate(0.01), Mark::Rate(0.05), Mark::Rate(0.2), Mark::NoFilters][at as usize % 4];
    MapLevel { name: name.to_owned(), tables: (0..tables).map(|at| table(at, tables, mark(at))).collect() }
}

/// Pictures of nothing, and of numbers that no database has.
fn strange() -> Vec<Markup> {
    let mut pictures = vec![map(&[], "", ""), strip(&[]), bars(&[], 0.0), lanes(&[], 0.0, ["", ""], &[])];
    for a in STRANGE {
        for b in STRANGE {
            let name = || HOSTILE.to_owned();
            let of = |mark| MapTable { name: name(), range: Some((a, b)), size: u64::MAX, mark };
            let tables = [Mark::Rate(a), Mark::NoFilters, Mark::Plain, Mark::Bad].map(of).into();
            pictures.push(map(&[MapLevel { name: name(), tables }], HOSTILE, HOSTILE));
            let bar =
                Bar { of: name(), name: "now", class: "g-now", value: a, text: name(), needed: Some(b) };
            pictures.push(bars(&[bar], b));
            let lane = Lane {
                name: name(),
                about: name(),
                bars: vec![("g-now", a), ("g-then", b)],
                text: html! {},
                label: name(),
            };
            pictures.push(lanes(&[lane], b, ["0", HOSTILE], &[]));
        }
    }
    let places =
        [(0, 0), (u64::MAX, u64::MAX), (7, 1)].map(|(offset, bytes)| (Damaged::Lost, offset, bytes)).into();
    let file = |size| StripFile {
        name: HOSTILE.to_owned(),
        about: HOSTILE.to_owned(),
        size,
        places: Vec::clone(&places),
        text: [HOSTILE, HOSTILE].map(str::to_owned),
    };
    pictures.push(strip(&[file(0), file(9), file(u64::MAX)]));
    pictures
}

#[test]
fn every_picture_is_sound_whatever_it_shows() {
    const SIZES: [&str; 2] = ["width", "height"];
    for picture in strange() {
        let text = picture.into_string();
        assert!(!text.contains("<script") && !text.contains("NaN"), "{text}");
        let tags = text.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag);
        let pairs = tags.flat_map(|tag| tag.split("\" ").filter_map(|pair| pair.split_once("=\"")));
        for (name, value) in
            pairs.map(|(name, value)| (name.rsplit(' ').next().unwrap(), value.trim_end_matches('"')))
        {
            if ["x", "y", "x1", "x2", "y1", "y2"].iter().chain(&SIZES).any(|of| *of == name) {
                let number = value.trim_end_matches('%').parse::<f64>();
                assert!(
                    number
                        .is_ok_and(|number| number.is_finite() && (number >= 0.0 || !SIZES.contains(&name))),
                    "{name}={value}: {text}"
                );
            }
        }
    }
}

#[test]
fn neighbours_share_a_rectangle_where_tables_are_many() {
    let mut lowest = level("Level 2", 9_400);
    lowest.tables.iter_mut().take(3).for_each(|table| table.range = None);
    lowest.tables[5000].mark = Mark::Bad;
    let text =
        map(&[level("Level 0", 40), level("Level 1", 560), lowest], "plain", "hides keys").into_string();
    assert!(text.len() < 400_000, "{}", text.len());
    let rectangles = text.matches("<rect class=\"t-").count();
    assert!((1500..=2010).contains(&rectangles), "{rectangles}");
    assert!(text.contains("aria-label=\"Level 2: 9,400 tables, 17.5 GiB, 2,350 without filters, 3 of no known range of keys, 1: hides keys\""), "{text}");
    // The worst of its tables is seen.
    assert_eq!(text.matches("<rect class=\"t-bad\" x").count(), 1);
}

#[test]
fn the_worst_table_gives_the_colour_and_narrow_ones_are_seen() {
    let one = |mark| {
        map(
            &[MapLevel { name: "Level 1".to_owned(), tables: vec![table(9_999, 10_000, mark)] }],
            "plain",
            "bad",
        )
        .into_string()
    };
    for (mark, class, words) in [
        (Mark::Rate(0.02), "t-good", "false-positive rate 2.00%"),
        (Mark::Rate(0.1), "t-fair", "false-positive rate 10.0%"),
        (Mark::Rate(0.11), "t-poor", "false-positive rate 11.0%"),
        (Mark::NoFilters, "t-none", "no filters"),
        (Mark::Plain, "t-grey", "1.9 MiB<"),
        (Mark::Bad, "t-bad", ", bad<"),
    ] {
        let text = one(mark);
        assert!(
            text.contains(&format!("<rect class=\"{class}\" x=\"99.7%\" y=\"0\" width=\"0.3%\"")),
            "{text}"
        );
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn bars_are_on_one_scale_of_whole_blocks() {
    let bar = |name, value| Bar {
        of: String::new(),
        name,
        class: "g-now",
        value,
        text: value.to_string(),
        needed: Some(1.0),
    };
    let text = bars(&[bar("now", 4.0), bar("after", 1.0)], 1.0).into_string();
    for part in [
        "width=\"100%\" height=\"10\"></rect><line class=\"g-need\" x1=\"25%\"",
        "width=\"25%\" height=\"10\"></rect><line",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // What is less than a block is not stretched to the whole width.
    assert!(bars(&[bar("now", 0.04)], 1.0).into_string().contains("width=\"4%\""));
}

#[test]
fn a_damaged_place_is_wide_enough_to_be_seen() {
    let file = StripFile {
        name: "000007.ldb".to_owned(),
        about: String::new(),
        size: 1_000_000_000,
        places: vec![(Damaged::Lost, 500_000_000, 1), (Damaged::Corrected, 0, 1)],
        text: ["2 places".to_owned(), "the first at offset 0".to_owned()],
    };
    let text = strip(&[file]).into_string();
    assert!(
        text.contains("x=\"50%\" y=\"0\" width=\"0%\"")
            && text.contains("<rect class=\"t-bad\" x=\"-2\" width=\"4\""),
        "{text}"
    );
    assert!(
        text.contains("aria-label=\"000007.ldb: 2 places, the first at offset 0\"")
            && text.contains("corrected</li>"),
        "{text}"
    );
}
