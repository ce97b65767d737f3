//! Tests of all pictures, of databases of many kinds, including strange ones: the rules for each picture, and
//! a page to look at.

use maud::{Markup, PreEscaped, html};

use super::*;

const STRANGE: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-320, 1e300, f64::MAX];
const HOSTILE: &str = "<script>alert(1)</script>\"'&";

/// Numbers that look random, and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn rate(rate: f64) -> TableFilter {
    TableFilter::Rate { measured: Interval::exact(rate), expected: 0.008 }
}

fn level(name: &str, tables: u32, overlap: f64) -> TreeLevel {
    let mut numbers = Numbers(tables.into());
    let mut table = |at: u32| {
        let (start, width) = (f64::from(at) / f64::from(tables), 1.0 / f64::from(tables));
        let filter = match numbers.share() {
            share if share < 0.04 => TableFilter::Missing,
            share if share < 0.06 => TableFilter::Unknown,
            _ => rate(10_f64.powf(-4.0 + 3.5 * numbers.share())),
        };
        let end = start + width * (0.9 + overlap * numbers.share());
        let size = 400_000 + (1_700_000.0 * numbers.share()) as u64;
        TreeTable {
            name: format!("{at:06}.ldb"),
            range: Some((start * 0.9, (end * 0.9).min(1.0))),
            size,
            filter,
        }
    };
    TreeLevel { name: name.to_owned(), tables: (0..tables).map(&mut table).collect() }
}

fn some_reads(advised: f64) -> Vec<ReadsPair> {
    let around = |value: f64| Interval { value, low: value * 0.93, high: value * 1.08 };
    let pair = |name: &str, now: f64| ReadsPair {
        name: name.to_owned(),
        now: around(now),
        advised: Some(around(now * advised)),
    };
    vec![
        pair("absent keys near stored ones", 0.0809),
        pair("random absent keys", 0.072),
        pair("your absent keys", 0.11),
        ReadsPair { name: "stored keys".to_owned(), now: around(0.103), advised: None },
    ]
}

fn some_curve() -> TuneCurve {
    let point = |bits_per_key: u32| {
        let value = 0.6185_f64.powi(bits_per_key as i32) * 1.1;
        let size = f64::from(bits_per_key) * 125_000.0 + 30_000.0;
        CurvePoint { bits_per_key, size, rate: Interval { value, low: value * 0.9, high: value * 1.1 } }
    };
    let mark = |name: &str, bits: f64| CurveMark {
        name: name.to_owned(),
        size: bits * 130_000.0,
        rate: Interval::exact(0.6185_f64.powf(bits) * 1.2),
    };
    TuneCurve {
        points: (4..=20).map(point).collect(),
        present: Some(mark("now: 10 bits per key", 10.6)),
        advised: Some(mark("advised: 12 bits per key", 12.3)),
        budget: Some(1_600_000.0),
    }
}

fn usual() -> Vec<Markup> {
    let levels = vec![
        level("level 0", 4, 3.0),
        level("level 1", 5, 0.0),
        level("level 2", 49, 0.0),
        level("level 3", 490, 0.0),
    ];
    vec![tree(&Tree { levels }), reads(&some_reads(0.2)), reads(&some_reads(0.003)), curve(&some_curve())]
}

fn large() -> Vec<Markup> {
    let mut lowest = level("level 2", 9_400, 0.0);
    lowest.tables.iter_mut().take(3).for_each(|table| table.range = None);
    let levels = vec![level("level 0", 40, 30.0), level("level 1", 560, 0.0), lowest];
    vec![tree(&Tree { levels })]
}

/// Pictures of nothing at all, and then pictures of one or two things each.
fn small() -> Vec<Markup> {
    let one = TreeTable { name: HOSTILE.to_owned(), range: Some((1.0, 1.0)), size: 0, filter: rate(0.0) };
    let levels = vec![
        TreeLevel { name: HOSTILE.to_owned(), tables: vec![one.clone()] },
        TreeLevel { name: "level 1".to_owned(), tables: vec![] },
        TreeLevel { name: "level 2".to_owned(), tables: vec![TreeTable { range: None, ..one }] },
    ];
    vec![
        tree(&Tree::default()),
        reads(&[]),
        curve(&TuneCurve::default()),
        tree(&Tree { levels }),
        reads(&[ReadsPair { name: HOSTILE.to_owned(), ..ReadsPair::default() }]),
        curve(&TuneCurve { points: vec![CurvePoint::default()], ..TuneCurve::default() }),
    ]
}

/// Pictures in which each pair of strange numbers stands for the values that are not integers.
fn strange() -> Vec<Markup> {
    let mut pictures = Vec::new();
    for a in STRANGE {
        for b in STRANGE {
            let interval = Interval { value: a, low: b, high: a };
            let table =
                |filter| TreeTable { name: HOSTILE.to_owned(), range: Some((a, b)), size: u64::MAX, filter };
            let filters =
                [rate(a), TableFilter::Rate { measured: interval, expected: b }, TableFilter::Missing];
            let tables = filters.map(table).into();
            pictures.push(tree(&Tree { levels: vec![TreeLevel { name: HOSTILE.to_owned(), tables }] }));
            let pair = |now| ReadsPair { name: HOSTILE.to_owned(), now, advised: Some(Interval::exact(b)) };
            pictures.push(reads(&[pair(interval), pair(Interval::exact(a))]));
            let curve_point = |rate| CurvePoint { bits_per_key: u32::MAX, size: b, rate };
            let points = [interval, Interval::exact(a)].map(curve_point).into();
            let mark = Some(CurveMark { name: HOSTILE.to_owned(), size: a, rate: Interval::exact(b) });
            pictures.push(curve(&TuneCurve {
                points,
                present: mark.clone(),
                advised: mark,
                budget: Some(a),
            }));
        }
    }
    pictures
}

/// The names of the elements that are still open at the end of `text`, from the outermost. Panics if an end
/// tag does not match the innermost open element.
fn open_elements(text: &str) -> Vec<&str> {
    let mut open = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap();
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{text}"),
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    open
}

/// The values of all attributes in `text`, with their names.
fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let tags = text.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag);
    let pairs = tags.flat_map(|tag| tag.split("\" ").filter_map(|pair| pair.split_once("=\"")));
    pairs.map(|(name, value)| (name.rsplit(' ').next().unwrap(), value.trim_end_matches('"')))
}

#[test]
fn every_picture_is_sound_svg_whatever_it_shows() {
    const PLACES: [&str; 12] = ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "d"];
    let pictures = [usual(), large(), small(), strange()].concat();
    assert!(pictures.len() > 200);
    for picture in pictures {
        let text = picture.into_string();
        assert!(open_elements(&text).is_empty(), "{text}");
        let start = text.split_once("</desc>").unwrap().0;
        let (frame, described) = start.split_once("<title>").unwrap();
        assert!(
            frame.starts_with("<svg class=\"p-picture") && frame.contains(" role=\"img\" width=\"100%\"")
        );
        let (title, description) = described.split_once("</title><desc>").unwrap();
        assert!(title.len() > 10 && description.len() > 10, "{start}");
        assert!(!text.contains("<script") && !text.contains("NaN"), "{text}");
        for (name, value) in attributes(&text).filter(|(name, _)| PLACES.contains(name)) {
            let is_path = name == "d";
            let is_number = value.trim_end_matches('%').parse::<f64>().is_ok_and(f64::is_finite);
            assert!(is_number || is_path, "{name}={value}: {text}");
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
            let is_negative_size = ["r", "width", "height"].contains(&name) && value.starts_with('-');
            assert!(!is_negative_size, "{name}={value}: {text}");
        }
        // Paths consist only of numbers, spaces and command letters.
        let paths = attributes(&text).filter(|(name, _)| *name == "d");
        paths.for_each(|(_, path)| {
            assert!(path.chars().all(|c| " .-0123456789MLHVhvaz".contains(c)), "{path}")
        });
    }
}

#[test]
fn pictures_of_ten_thousand_tables_are_small() {
    let sizes: Vec<usize> = large().into_iter().map(|picture| picture.into_string().len()).collect();
    assert!(sizes.iter().sum::<usize>() < 600_000, "{sizes:?}");
}

/// Writes a page of all but the strange pictures to the file that the variable `FILTERBLOCK_GALLERY` names, if that
/// is set.
#[test]
fn the_page_of_all_pictures_has_them_all() {
    let figures = |pictures: Vec<Markup>| html! { @for picture in pictures { figure { (picture) } } };
    let page = html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Pictures" }
                style {
                    (PreEscaped(crate::page::STYLE))
                    "body{background:var(--p-paper);margin:1rem;max-width:60rem}figure{margin:0 0 2rem}"
                }
            }
            body { (figures(usual())) (figures(large())) (figures(small())) }
        }
    };
    let page = page.into_string();
    assert_eq!(page.matches("class=\"p-picture").count(), 4 + 1 + 6);
    if let Some(path) = std::env::var_os("FILTERBLOCK_GALLERY") {
        std::fs::write(path, page).unwrap();
    }
}
