//! Measures false positives of LevelDB's Bloom filter over the number of keys in a filter, and draws
//! them beside the formula as SVG:
//!
//! ```text
//! cargo run --release -p filterblock-bench --example plot-rates > docs/rates.svg
//! ```
//!
//! The measured numbers go to standard error. The same numbers come out of every run.

use std::fmt::Write as _;

use filterblock::{BloomFilterPolicy, FilterPolicy, KeyBuf, expected_false_positive_rate};

/// The settings in bits a key, with the colours of their curves. They have 1 to 30 probes.
const SETTINGS: [(u32, &str); 6] =
    [(2, "#7a7a7a"), (6, "#8c564b"), (10, "#1f77b4"), (14, "#2ca02c"), (20, "#d62728"), (44, "#9467bd")];
const KEYS: [usize; 21] =
    [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000];
/// Each rate is measured until [`ENOUGH`] keys have passed, or [`MOST`] were asked for.
const ENOUGH: u64 = 2000;
const MOST: u64 = 6_000_000;
/// The number of keys for which a filter is asked before another one is made.
const ASKED_A_FILTER: u64 = 2000;
/// The length of keys in bytes: a multiple of four, so that a key's last byte is the last of a word that is hashed.
const KEY_LEN: usize = 16;

#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// Keys that have nothing to do with those stored.
    Random,
    /// Stored keys with another last byte.
    Neighbours,
}

struct Point {
    keys: usize,
    formula: f64,
    /// The measured rate; 0 if no key passed.
    measured: f64,
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn key(&mut self) -> [u8; KEY_LEN] {
        let mut key = [0; KEY_LEN];
        let (first, second) = key.split_at_mut(8);
        first.copy_from_slice(&self.next().to_le_bytes());
        second.copy_from_slice(&self.next().to_le_bytes());
        key
    }
}

fn measure(policy: BloomFilterPolicy, keys: usize, asked: Asked, random: &mut Random) -> Point {
    let (mut passed, mut count) = (0, 0);
    let mut formula = 0.0;
    while passed < ENOUGH && count < MOST {
        let stored: Vec<_> = (0..keys).map(|_| random.key()).collect();
        let mut filter = Vec::new();
        let all: KeyBuf = stored.iter().collect();
        policy.create_filter(all.as_keys(), &mut filter).expect("a filter of few keys");
        let bits = 8 * (filter.len() as u64 - 1);
        formula = expected_false_positive_rate(bits, policy.probes().into(), keys as u64);
        for at in 0..ASKED_A_FILTER {
            let mut key = random.key();
            if asked == Asked::Neighbours {
                let other = key[0].max(1);
                key = stored[at as usize % keys];
                key[KEY_LEN - 1] ^= other;
            }
            passed += u64::from(policy.key_may_match(&key, &filter));
        }
        count += ASKED_A_FILTER;
    }
    Point { keys, formula, measured: passed as f64 / count as f64 }
}

const PANEL_WIDTH: f64 = 400.0;
const PANEL_HEIGHT: f64 = 420.0;
const TOP: f64 = 60.0;
const LEFT: f64 = 84.0;
const BETWEEN: f64 = 40.0;
/// The number of decades of rates that are drawn.
const DECADES: f64 = 6.0;

fn x(panel: f64, keys: usize) -> f64 {
    LEFT + panel * (PANEL_WIDTH + BETWEEN) + (keys as f64).log10() / 4.0 * PANEL_WIDTH
}

fn y(rate: f64) -> f64 {
    TOP + (-rate.log10() / DECADES).clamp(0.0, 1.0) * PANEL_HEIGHT
}

fn line(svg: &mut String, points: &[(f64, f64)], colour: &str, style: &str) {
    let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let points = points.join(" ");
    writeln!(svg, r#"<polyline points="{points}" fill="none" stroke="{colour}" {style}/>"#)
        .expect("a string");
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, colour: &str, text: &str) {
    writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="{colour}">{text}</text>"#)
        .expect("a string");
}

fn axes(svg: &mut String, panel: f64, title: &str) {
    let (start, end) = (x(panel, 1), x(panel, 10_000));
    for decade in 0..=DECADES as i32 {
        let at = y(10_f64.powi(-decade));
        line(svg, &[(start, at), (end, at)], "#dddddd", "");
        if panel == 0.0 {
            let percent = 10_f64.powi(2 - decade);
            text(svg, start - 8.0, at + 4.0, "end", "#333333", &format!("{percent} %"));
        }
    }
    for keys in [1, 10, 100, 1000, 10_000] {
        let at = x(panel, keys);
        line(svg, &[(at, TOP), (at, TOP + PANEL_HEIGHT)], "#dddddd", "");
        text(svg, at, TOP + PANEL_HEIGHT + 18.0, "middle", "#333333", &keys.to_string());
    }
    let middle = f64::midpoint(start, end);
    text(svg, middle, TOP - 12.0, "middle", "#000000", title);
    text(svg, middle, TOP + PANEL_HEIGHT + 38.0, "middle", "#333333", "keys in a filter");
}

fn legend(svg: &mut String) {
    let at = TOP + PANEL_HEIGHT + 66.0;
    for (number, (bits, colour)) in SETTINGS.iter().enumerate() {
        let start = LEFT + number as f64 * 142.0;
        let probes = BloomFilterPolicy::new(*bits).probes();
        line(svg, &[(start, at - 4.0), (start + 24.0, at - 4.0)], colour, r#"stroke-width="2.5""#);
        text(svg, start + 30.0, at, "start", "#333333", &format!("{bits} bits, k = {probes}"));
    }
    let at = at + 24.0;
    line(svg, &[(LEFT, at - 4.0), (LEFT + 24.0, at - 4.0)], "#333333", r#"stroke-width="2.5""#);
    text(svg, LEFT + 30.0, at, "start", "#333333", "measured");
    let start = LEFT + 142.0;
    line(svg, &[(start, at - 4.0), (start + 24.0, at - 4.0)], "#333333", r#"stroke-dasharray="4 3""#);
    text(svg, start + 30.0, at, "start", "#333333", "by the formula");
}

fn main() {
    let mut svg = String::new();
    let width = LEFT + 2.0 * PANEL_WIDTH + BETWEEN + 40.0;
    let height = TOP + PANEL_HEIGHT + 110.0;
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">
<title>Measured false positives of LevelDB's Bloom filter, and those by the formula</title>
<rect width="100%" height="100%" fill="white"/>"#
    )
    .expect("a string");
    let panels = [(Asked::Random, "random keys"), (Asked::Neighbours, "stored keys with another last byte")];
    for (panel, (asked, title)) in panels.into_iter().enumerate() {
        let panel = panel as f64;
        axes(&mut svg, panel, title);
        for (bits, colour) in SETTINGS {
            let policy = BloomFilterPolicy::new(bits);
            let mut random = Random(u64::from(bits));
            let points: Vec<_> = KEYS.iter().map(|&keys| measure(policy, keys, asked, &mut random)).collect();
            for point in &points {
                let Point { keys, formula, measured } = point;
                let factor = measured / formula;
                eprintln!("{title}: {bits} bits, {keys} keys: {formula:.2e} {measured:.2e} {factor:.2}");
            }
            let formula: Vec<_> =
                points.iter().map(|point| (x(panel, point.keys), y(point.formula))).collect();
            line(&mut svg, &formula, colour, r#"stroke-dasharray="4 3" stroke-width="1.2""#);
            let known = points.iter().filter(|point| point.measured > 0.0);
            let measured: Vec<_> = known.map(|point| (x(panel, point.keys), y(point.measured))).collect();
            line(&mut svg, &measured, colour, r#"stroke-width="2.5""#);
        }
    }
    legend(&mut svg);
    svg.push_str("</svg>\n");
    print!("{svg}");
}
