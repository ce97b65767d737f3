//! A page, `inspect` as text and as JSON, `verify` and `tune` do not contradict each other about the same files.
//!
//! Numbers of the same thing have to be the same: to the last digit where they are counted, within the intervals where
//! they are measured or estimated.

use std::collections::BTreeMap;

use super::*;

/// All reports on a database or a table.
struct Faces {
    path: PathBuf,
    page: Node,
    /// The lines of `inspect --json` about tables, and the totals of a folder.
    tables: Vec<Value>,
    totals: Option<Value>,
    /// The text of `inspect --wide`.
    text: String,
    verified: Vec<Value>,
    /// The last line of `tune --json`.
    tuning: Option<Value>,
    /// The contradictions found.
    wrong: Vec<String>,
}

impl Faces {
    fn of(path: &Path, with_tune: bool) -> Self {
        let json = |command: &str| run_long(&args![command, "--json", path]).all_json();
        // An estimate from a sample differs from the count, and one interval in twenty does not hold it.
        let inspected = run_long(&args!["inspect", "--depth", "all", "--json", path]).all_json();
        let of_kind = |kind: &str| -> Vec<Value> {
            inspected.iter().filter(|line| line["object"] == kind).cloned().collect()
        };
        let tuning = if with_tune { json("tune").pop() } else { None };
        let page = run_long(&args!["report", path, "-o", "-"]).out;
        let page = markup::check(&page);
        Self {
            path: path.to_owned(),
            page,
            tables: of_kind("table"),
            totals: of_kind("totals").pop(),
            text: run_long(&args!["inspect", "--depth", "all", "--wide", path]).out,
            verified: json("verify").into_iter().filter(|line| line["object"] == "table").collect(),
            tuning: tuning.filter(|line| !line["levels"].is_null()),
            wrong: Vec::new(),
        }
    }

    /// Adds a contradiction to `wrong` unless `is_so`.
    fn must(&mut self, is_so: bool, what: impl FnOnce() -> String) {
        if !is_so {
            let text = format!("{}: {}", self.path.display(), what());
            self.wrong.push(text);
        }
    }

    fn same(&mut self, what: &str, one: &str, other: &str) {
        self.must(one == other, || format!("{what}: {one} and {other}"));
    }

    /// The numbers at the head of the page, by their names.
    fn head(&self) -> BTreeMap<String, String> {
        let list = self.page.of_name("ul").into_iter().find(|list| list.attribute("class") == Some("facts"));
        let facts: Vec<_> = list.unwrap().of_name("li").into_iter().map(Node::words).collect();
        let entries =
            facts.iter().find_map(|fact| fact.split_once(" entr")).map_or("-", |(entries, _)| entries);
        let mut head = BTreeMap::from([("size", facts[1].clone()), ("entries", entries.to_owned())]);
        let section = |part: &&&Node| part.words().starts_with("Size of the filters");
        if let Some(summary) = self.page.of_name("summary").iter().find(section) {
            let answer = summary.of_name("span")[0].words();
            head.insert("filters", answer.split(',').next().unwrap().to_owned());
        }
        head.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
    }

    /// The page's tables with a column of this title. A line is found by its first cell, and the titles by an empty
    /// text.
    fn grids(&self, title: &str) -> Vec<BTreeMap<String, Vec<String>>> {
        let of_table = |table: &&Node| table.of_name("th").iter().any(|cell| cell.words() == title);
        let cells = |line: &Node| line.children.iter().map(Node::words).collect::<Vec<_>>();
        let tables = self.page.of_name("table").into_iter().filter(of_table);
        let lines = tables.map(|table| {
            let mut lines = table.of_name("tr").into_iter().map(cells);
            let titles = lines.next().unwrap();
            lines.map(|line| (line[0].clone(), line)).chain([(String::new(), titles)]).collect()
        });
        lines.collect()
    }

    /// The totals, or the facts about the only table.
    fn all(&self) -> &Value {
        self.totals.as_ref().unwrap_or(&self.tables[0])
    }

    fn has_obsolete(&self) -> bool {
        self.tables.iter().any(|table| table["live"] == false)
    }

    /// Returns true if a table has filters for which `inspect` gives no rate of random keys. The sizes and rates of
    /// filters are then not compared with those of `tune`.
    fn has_unknown_filters(&self) -> bool {
        let is_unknown = |table: &Value| {
            let names = table["filter_policies"].as_array().unwrap();
            !names.is_empty() && table["filter"]["random_fpr"].is_null()
        };
        self.tables.iter().any(is_unknown)
    }
}

/// The cell of a line under this title.
fn cell<'a>(grid: &'a BTreeMap<String, Vec<String>>, line: &str, title: &str) -> Option<&'a str> {
    let at = grid.get("")?.iter().position(|column| column == title)?;
    grid.get(line)?.get(at).map(String::as_str)
}

/// Reads a number as it is shown. Returns the two numbers between which it lies, which may be equal.
/// `None`: the text is not a number.
fn shown_number(text: &str) -> Option<[u64; 2]> {
    let number = |text: &str| text.trim().trim_start_matches('~').replace(',', "").parse().ok();
    match text.split_once(" to ") {
        Some((low, high)) => Some([number(low)?, number(high)?]),
        None => number(text).map(|number| [number, number]),
    }
}

/// The ends of an interval in JSON; `None` for null.
fn ends(of: &Value) -> Option<[f64; 2]> {
    Some([of["low"].as_f64()?, of["high"].as_f64()?])
}

/// Returns true if two intervals meet, or one of them is not known.
fn meet(one: Option<[f64; 2]>, other: Option<[f64; 2]>) -> bool {
    one.zip(other).is_none_or(|([low, high], [other_low, other_high])| low <= other_high && other_low <= high)
}

/// Returns true if two false-positive rates of random keys agree: if they are equal, or, where `tuning` is about a part
/// of the tables only, if their intervals meet.
fn same_rate(tuning: &Value, one: &Value, other: &Value) -> bool {
    match (one["rate"].as_f64(), other["rate"].as_f64()) {
        (Some(one), Some(other)) if tuning["tables"] == tuning["tables_read"] => (one - other).abs() <= 1e-9,
        _ => meet(ends(one), ends(other)),
    }
}

/// Returns true if a number as it is shown agrees with an interval in JSON.
fn is_within(text: &str, of: &Value) -> bool {
    match (shown_number(text), ends(of)) {
        (Some([low, high]), Some([least, most])) => low as f64 <= most && high as f64 >= least,
        (None, None) => text == "-",
        _ => false,
    }
}

/// Reads the lines of a listing below the one with these titles. Returns the cells of these columns, which are aligned
/// to the right, by the line's first word.
fn listing(text: &str, titles: &[&str]) -> Option<BTreeMap<String, Vec<String>>> {
    let mut lines = text.lines().skip_while(|line| !titles.iter().all(|title| line.contains(title)));
    let head = lines.next()?;
    let column = |title: &&str| {
        let end = head.find(title)? + title.len();
        Some((head[..end - title.len()].trim_end().len(), end))
    };
    let columns: Vec<_> = titles.iter().map(column).collect::<Option<_>>()?;
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with('('));
    let line = |line: &str| {
        let cell = |(start, end): &(usize, usize)| {
            let cell = line.get(*start..*end)?.trim_start();
            Some(cell.rsplit("  ").next()?.trim().to_owned())
        };
        let cells: Option<Vec<String>> = columns.iter().map(cell).collect();
        Some((line.split_whitespace().next()?.to_owned(), cells?))
    };
    Some(lines.filter(|line| !line.starts_with("  e")).filter_map(line).collect())
}

/// Compares the numbers of entries and keys in all reports.
fn counts(faces: &mut Faces) {
    let verified = std::mem::take(&mut faces.verified);
    let sum = |field: &str| verified.iter().map(|line| line[field].as_u64().unwrap()).sum::<u64>();
    let is_sound = verified.iter().all(|line| line["verdict"] == "fine");
    for (table, verdict) in faces.tables.clone().iter().zip(&verified) {
        for field in ["entries", "distinct_keys"] {
            let found = verdict[field].as_u64().unwrap() as f64;
            let is_so = verdict["verdict"] != "fine" || meet(ends(&table[field]), Some([found, found]));
            faces.must(is_so, || format!("{field}: {} by inspect, {found} by verify", table[field]));
        }
    }
    let (head, all) = (faces.head(), faces.all().clone());
    if is_sound && !faces.has_obsolete() {
        faces.same("entries", &head["entries"], &grouped(sum("entries")));
    }
    let is_so = faces.has_obsolete() || is_within(&head["entries"], &all["entries"]);
    faces.must(is_so, || format!("entries: {} on the page, {} by inspect", head["entries"], all["entries"]));
    if let Some(tuning) = faces.tuning.clone().filter(|_| !faces.has_obsolete()) {
        let tuned = &tuning["entries"];
        faces.must(meet(tuned.as_f64().map(|of| [of; 2]), ends(&all["entries"])), || {
            format!("entries: {tuned} by tune, {} by inspect", all["entries"])
        });
        let words = faces.page.words();
        if is_sound && tuning["tables"] == tuning["tables_read"] {
            let text = format!("made of all {} entries", grouped(sum("entries")));
            faces.must(words.contains(&text), || format!("expected {text}"));
        }
    }
    faces.verified = verified;
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = (digits.len() - 1) % 3 + 1;
    let (head, rest) = digits.split_at(first);
    rest.as_bytes()
        .chunks(3)
        .fold(head.to_owned(), |text, group| text + "," + std::str::from_utf8(group).unwrap())
}

/// Compares the tables one by one: on the page, in the listing, and in JSON.
fn tables(faces: &mut Faces) {
    let titles = ["size", "entries", "filter size", "bits/entry", "false positives"];
    let text = listing(&faces.text, &titles);
    let grids = faces.grids("distinct keys");
    let by_name = |grid: &&BTreeMap<String, Vec<String>>| {
        cell(grid, "", "first key").is_some() || cell(grid, "", "false-positive rate").is_some()
    };
    let Some(grid) = grids.into_iter().rfind(|grid| by_name(&grid)) else { return };
    for table in faces.tables.clone() {
        let path = PathBuf::from(table["path"].as_str().unwrap());
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let on_page = |title: &str| cell(&grid, &name, title).unwrap_or("-").to_owned();
        for (title, field) in [("entries", "entries"), ("distinct keys", "distinct_keys")] {
            let is_so = is_within(&on_page(title), &table[field]);
            faces.must(is_so, || format!("{name}: {title} {} on the page, {}", on_page(title), table[field]));
        }
        if let Some(line) = text.as_ref().and_then(|text| text.get(&name)) {
            let shown = [(0, "size"), (2, "filters"), (3, "bits per entry"), (4, "false-positive rate")];
            for (at, title) in shown.into_iter().filter(|(at, _)| !line[*at].starts_with("(~")) {
                faces.same(&format!("{name}: {title}"), &line[at], &on_page(title));
            }
        }
        let (bits, entries) = (table["filter"]["bits"].as_f64(), table["entries"]["value"].as_f64());
        if let (Some(bits), Some(entries)) = (bits, entries)
            && bits * entries > 0.0
            && on_page("filters") != "-"
            && table["entries"]["low"] == table["entries"]["high"]
        {
            faces.same(
                &format!("{name}: bits"),
                &format!("{:.1}", bits / entries),
                &on_page("bits per entry"),
            );
        }
    }
}

/// Compares the levels, and all tables together.
fn sums(faces: &mut Faces) {
    let (head, all) = (faces.head(), faces.all().clone());
    if faces.totals.is_some() && !faces.has_obsolete() {
        let text = faces.text.clone();
        faces.must(text.contains(&format!(", {}, ", head["size"])), || {
            format!("size {}: {text}", head["size"])
        });
        if let Some((_, filters)) = text.split_once(
            "
  filters  ",
        ) && let Some((_, rest)) = filters.split_once(" bits per entry, ")
        {
            faces.same(
                "filters",
                head.get("filters").map_or("-", |filters| filters),
                rest.split([',', '\n']).next().unwrap(),
            );
        }
    }
    let Some(levels) = all["levels"].as_array().filter(|levels| !levels.is_empty()) else { return };
    let text = listing(&faces.text, &["tables", "size", "entries", "filters", "false positives"])
        .unwrap_or_default();
    // There is none of a damaged database.
    let Some(grid) = faces.grids("without filters").pop() else { return };
    for level in levels {
        let (Some(number), tuning) = (level["level"].as_u64(), faces.tuning.clone()) else { continue };
        let name = format!("level {number}");
        let on_page = |title: &str| cell(&grid, &name, title).unwrap_or("-").to_owned();
        for (title, field) in [("entries", "entries"), ("distinct keys", "distinct_keys")] {
            faces.must(is_within(&on_page(title), &level[field]), || {
                format!("{name}: {title} {} on the page, {}", on_page(title), level[field])
            });
        }
        if let Some(line) = text.get(&number.to_string()) {
            for (at, title) in [(1, "size"), (3, "filters"), (4, "false-positive rate")] {
                faces.same(&format!("{name}: {title}"), &line[at], &on_page(title));
            }
        }
        let mut tuned = tuning.iter().flat_map(|tuning| tuning["levels"].as_array().unwrap());
        let Some(of_level) = tuned.find(|of| of["level"] == number) else { continue };
        for (field, other) in [("tables", "tables"), ("size", "file_size")] {
            faces.same(&format!("{name}: {field}"), &of_level[field].to_string(), &level[other].to_string());
        }
        let entries = of_level["entries"].as_f64().map(|of| [of; 2]);
        faces.must(meet(entries, ends(&level["entries"])), || format!("{name}: entries"));
        if !faces.has_unknown_filters() {
            let sizes = [of_level["filter_size"].as_f64(), level["filter_size"].as_f64()];
            faces.must(sizes[0] == sizes[1], || format!("{name}: filters of {sizes:?} bytes"));
            let (one, other) = (&of_level["fpr"], &level["random_fpr"]["rate"]);
            let is_all = tuning.as_ref().is_some_and(|tuning| tuning["tables"] == tuning["tables_read"]);
            let rates = one.as_f64().zip(other.as_f64());
            let is_same = rates.is_none_or(|(one, other)| !is_all || (one - other).abs() <= 1e-9);
            faces.must(is_same && one.is_null() == other.is_null(), || {
                format!("{name}: random keys pass {one} by tune, {other} by inspect")
            });
        }
    }
}

/// Compares the rates and sizes of all filters in use, as `tune` and `inspect` report them.
fn filters_in_use(faces: &mut Faces) {
    let Some(tuning) = faces.tuning.clone() else { return };
    if faces.has_obsolete() || faces.has_unknown_filters() || faces.all()["entries"]["value"] == 0 {
        return;
    }
    let all = faces.all().clone();
    let is_folder = faces.totals.is_some();
    let size = if is_folder { &all["filter_size"] } else { &all["filter"]["size"] };
    let size = size.as_f64().unwrap_or_default();
    faces.must(tuning["filter_size"].as_f64() == Some(size), || {
        format!("filters of {} and {size} bytes", tuning["filter_size"])
    });
    let rate = if is_folder { &all["random_fpr"] } else { &all["filter"]["random_fpr"] };
    // Both commands ask each table the same questions, and weigh tables in the same way.
    let (now, is_same) = (&tuning["random_fpr"], same_rate(&tuning, rate, &tuning["random_fpr"]));
    // Without filters, all keys may match.
    let is_so = rate.is_null() && now["rate"] == 1.0 || is_same;
    faces.must(is_so, || format!("random keys pass {now} by tune, {rate} by inspect"));
}

fn check(path: &Path, with_tune: bool) -> Vec<String> {
    let mut faces = Faces::of(path, with_tune);
    // Browsers have databases with a log alone.
    if faces.tables.is_empty() {
        return faces.wrong;
    }
    counts(&mut faces);
    tables(&mut faces);
    sums(&mut faces);
    filters_in_use(&mut faces);
    faces.wrong
}

#[track_caller]
fn none_wrong(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} contradictions:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn all_databases_of_the_test_data_agree() {
    let mut wrong = Vec::new();
    let mut number = 0;
    for below in ["databases", "goleveldb"] {
        let folders = fs::read_dir(tables::testdata().join(below)).unwrap();
        for path in folders.map(|entry| entry.unwrap().path()).filter(|path| path.join("CURRENT").exists()) {
            number += 1;
            wrong.extend(check(&path, true));
        }
    }
    none_wrong(&wrong);
    assert!(number >= 5, "{number}");
}

#[test]
fn all_tables_of_the_test_data_agree() {
    let mut wrong = Vec::new();
    let mut number = 0;
    // Trying other filters takes most of the time.
    let step = if std::env::var_os("FILTERBLOCK_ALL_TABLES").is_some() { 1 } else { 20 };
    for below in ["tables", "basho", "bedrock", "constructed"] {
        let files = fs::read_dir(tables::testdata().join(below)).unwrap();
        let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "ldb"));
        paths.sort();
        for path in paths.iter().step_by(step) {
            number += 1;
            wrong.extend(check(path, true));
        }
    }
    none_wrong(&wrong);
    assert!(number * step >= 30, "{number}");
}
