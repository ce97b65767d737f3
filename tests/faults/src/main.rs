//! Switches faults on in a copy of the project, one at a time, and sees whether the tests notice. See
//! `tests/README.md`.

mod catalogue;
mod copy;
mod programs;
mod switch;
mod tester;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use std::{env, fs, io, thread};

use catalogue::{Build, Fault, Row};
use switch::Switch;
use tester::{Tester, Times};

const USAGE: &str = "\
usage: tests/faults/run.sh [WORD...]        all faults, or those whose description has one of the words
       tests/faults/run.sh --part=K/N       one of N parts, K from 1 on, as large as the others
       tests/faults/run.sh --check [--fix]  only see whether each can be put in; --fix corrects the files' names";

/// The programs of the unit tests, which are in the code's own files.
const UNIT_TESTS: [&str; 3] = ["filterblock", "filterblock_cli", "filterblock_engine"];

/// The folders of the code that can have faults.
const SOURCES: [&str; 3] = ["src/", "cli/src/", "engine/src/"];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let is_given = |option: &str| arguments.iter().any(|argument| argument == option);
    let words: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !word.starts_with("--")).collect();
    let known = ["--check", "--fix"];
    let mut part = Part::ALL;
    for option in arguments.iter().filter(|argument| argument.starts_with('-')) {
        match option.strip_prefix("--part=").map(Part::parse) {
            Some(Some(given)) => part = given,
            None if known.contains(&option.as_str()) => {}
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let result = match (is_given("--check"), is_given("--fix")) {
        (true, fix) => Project::read().and_then(|project| project.check(fix)),
        (false, true) => Err(USAGE.to_owned()),
        (false, false) => Project::read().and_then(|project| project.run(&words, part)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// A part of the faults: every `of`-th, so that neighbours are in different parts.
#[derive(Clone, Copy)]
struct Part {
    number: usize,
    of: usize,
}

impl Part {
    const ALL: Self = Self { number: 1, of: 1 };

    /// Reads `K/N`, with K from 1 to N.
    fn parse(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        let part = Self { number: number.parse().ok()?, of: of.parse().ok()? };
        (1..=part.of).contains(&part.number).then_some(part)
    }

    fn has(self, number: usize) -> bool {
        number % self.of == self.number % self.of
    }
}

/// The contents of the project's folder, which is the current one.
struct Project {
    catalogue: String,
    /// The faults. Their numbers count from 1.
    faults: Vec<Fault>,
    rows: Vec<Row>,
    files: Vec<(PathBuf, Vec<u8>)>,
    /// The text of each source file in the folders of [`SOURCES`].
    sources: BTreeMap<String, String>,
}

const CATALOGUE: &str = "tests/faults/faults.txt";
const TABLE: &str = "tests/faults/tests.txt";

impl Project {
    fn read() -> Result<Self, String> {
        let text = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let catalogue = text(CATALOGUE)?;
        let read = |path: PathBuf| fs::read(&path).map(|contents| (path, contents));
        let files: Result<Vec<_>, _> =
            copy::files(Path::new(".")).and_then(|files| files.into_iter().map(read).collect());
        let files = files.map_err(|error| format!("reading the project: {error}"))?;
        let sources = files.iter().filter_map(|(path, contents)| {
            let path = path.to_str()?;
            let is_source = SOURCES.iter().any(|folder| path.starts_with(folder)) && path.ends_with(".rs");
            is_source.then(|| Some((path.to_owned(), String::from_utf8(contents.clone()).ok()?)))?
        });
        Ok(Self {
            faults: catalogue::faults(&catalogue)?,
            rows: catalogue::rows(&text(TABLE)?)?,
            sources: sources.collect(),
            catalogue,
            files,
        })
    }

    /// Returns the sources with all faults in them, or all the reasons why that is impossible.
    fn switched(&self) -> Result<BTreeMap<&str, String>, Vec<String>> {
        let mut wrong = Vec::new();
        let mut places: BTreeMap<&str, Vec<Switch<'_>>> = BTreeMap::new();
        for (number, fault) in (1..).zip(&self.faults) {
            let source = self.sources.get(&fault.path).map_or("", String::as_str);
            match switch::place(source, fault) {
                Ok(place) => {
                    places.entry(&fault.path).or_default().push((number, place, &fault.replacement));
                }
                Err(what) => {
                    wrong.push(format!("{}: {}: {what}{}", fault.path, fault.name, self.elsewhere(fault)));
                }
            }
            if catalogue::row(&self.rows, &fault.path).is_none() {
                wrong.push(format!("{}: {}: {TABLE} names no tests for it", fault.path, fault.name));
            }
        }
        for row in self.rows.iter().filter(|row| !Path::new(&row.path).exists()) {
            wrong.push(format!("{TABLE}: {}: no such file or folder", row.path));
        }
        for selection in self.rows.iter().flat_map(|row| &row.tests) {
            let program = &selection.program;
            let is_there = ["tests", "cli/tests"].iter().any(|folder| {
                let folder = Path::new(folder);
                folder.join(program).join("main.rs").is_file()
                    || folder.join(format!("{program}.rs")).is_file()
            });
            if !is_there && !UNIT_TESTS.contains(&program.as_str()) {
                wrong.push(format!("{TABLE}: {program}: no such test program"));
            }
        }
        let name = |number: usize| {
            number.checked_sub(1).and_then(|at| self.faults.get(at)).map_or("", |fault| &fault.name)
        };
        let mut switched = BTreeMap::new();
        for (path, faults) in places {
            match switch::apply(self.sources.get(path).map_or("", String::as_str), &faults) {
                Ok(text) => drop(switched.insert(path, text)),
                Err((one, other)) => {
                    wrong.push(format!("{path}: \"{}\" and \"{}\" overlap", name(one), name(other)));
                }
            }
        }
        wrong.dedup();
        if wrong.is_empty() { Ok(switched) } else { Err(wrong) }
    }

    /// The other source files that hold the fault's text exactly once.
    fn others(&self, fault: &Fault) -> Vec<&str> {
        let others = self
            .sources
            .iter()
            .filter(|(path, text)| **path != fault.path && switch::place(text, fault).is_ok());
        others.map(|(path, _)| path.as_str()).collect()
    }

    fn elsewhere(&self, fault: &Fault) -> String {
        match *self.others(fault) {
            [] => String::new(),
            [path] => format!(", but in {path}"),
            ref paths => format!(", but in each of {}", paths.join(", ")),
        }
    }

    fn check(mut self, fix: bool) -> Result<(), String> {
        if fix {
            self.fix()?;
        }
        match self.switched() {
            Ok(_) => {
                println!("all of {} faults can be put in", self.faults.len());
                Ok(())
            }
            Err(wrong) => Err(format!("{}\n{} not applicable", wrong.join("\n"), wrong.len())),
        }
    }

    /// Corrects the paths of faults whose text has moved to another file, if only one other file holds the text.
    fn fix(&mut self) -> Result<(), String> {
        let mut lines: Vec<String> = self.catalogue.lines().map(str::to_owned).collect();
        let mut fixed = 0;
        for at in 0..self.faults.len() {
            let Some(fault) = self.faults.get(at) else { continue };
            let is_gone = self.sources.get(&fault.path).is_none_or(|text| !text.contains(&fault.context));
            if let (true, [path]) = (is_gone, &*self.others(fault))
                && let Some(line) = lines.get_mut(fault.path_line)
            {
                println!("{}: {} -> {path}", fault.name, fault.path);
                let path = (*path).to_owned();
                line.clone_from(&path);
                fixed += 1;
                if let Some(fault) = self.faults.get_mut(at) {
                    fault.path = path;
                }
            }
        }
        if fixed > 0 {
            let text = lines.join("\n") + "\n";
            fs::write(CATALOGUE, text).map_err(|error| format!("{CATALOGUE}: {error}"))?;
        }
        Ok(())
    }

    fn run(mut self, words: &[&str], part: Part) -> Result<(), String> {
        let begun = Instant::now();
        let switched = self.switched().map_err(|wrong| format!("{}\nnothing was built", wrong.join("\n")))?;
        let switched: BTreeMap<String, String> =
            switched.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
        let tester = self.build(switched)?;
        println!("{:>4} s  built", begun.elapsed().as_secs());
        tester.check_names(&self.rows, &self.faults)?;
        let times = Times::default();

        let chosen: Vec<(usize, &Fault)> = (1..)
            .zip(&self.faults)
            .filter(|(number, _)| part.has(*number))
            .filter(|(_, fault)| words.is_empty() || words.iter().any(|word| fault.name.contains(word)))
            .collect();
        let (next, noticed, skipped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some((number, fault)) = chosen.get(next.fetch_add(1, Relaxed)) {
                        let Some(row) = catalogue::row(&self.rows, &fault.path) else { continue };
                        let start = Instant::now();
                        let (word, by) = match () {
                            () if !row.cpu.is_here() => {
                                skipped.fetch_add(1, Relaxed);
                                ("skipped", format!("no {:?}", row.cpu))
                            }
                            () => match tester.notice(*number, fault, row, &times) {
                                Some(by) => {
                                    noticed.fetch_add(1, Relaxed);
                                    ("noticed", by)
                                }
                                None => ("MISSED", String::new()),
                            },
                        };
                        let seconds = start.elapsed().as_secs_f64();
                        println!("{word:<8} {seconds:>5.1} s  {}  [{by}]", fault.name);
                    }
                });
            }
        });
        let (noticed, skipped) = (noticed.into_inner(), skipped.into_inner());
        let asked = chosen.len() - skipped;
        println!("{noticed} of {asked} faults noticed, in {} s", begun.elapsed().as_secs());
        drop(fs::remove_dir_all(&tester.temporary));
        let failing = Tester::failing(&self.rows, &self.faults, &times);
        if !failing.is_empty() {
            Err(format!("without a fault, these fail, or have no tests: {}", failing.join(", ")))
        } else if noticed == asked && !chosen.is_empty() {
            Ok(())
        } else {
            Err("some were missed, or there were none".into())
        }
    }

    /// Makes the copy, with every fault behind a switch, and builds its tests.
    fn build(&mut self, mut switched: BTreeMap<String, String>) -> Result<Tester, String> {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        let target = std::path::absolute(target).map_err(|error| error.to_string())?.join("faults");
        let (copy, temporary) = (target.join("copy"), target.join("temporary"));
        let prepared = || -> io::Result<()> {
            drop(fs::remove_dir_all(&temporary));
            fs::create_dir_all(&temporary)?;
            // Copies leave out folders with this tag, so that no copy holds itself.
            fs::write(target.join("CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n")
        };
        prepared().map_err(|error| format!("{}: {error}", temporary.display()))?;

        let mut add = |path: &str, line: &str| {
            let text = switched
                .entry(path.to_owned())
                .or_insert_with(|| self.sources.get(path).cloned().unwrap_or_default());
            text.push_str(line);
        };
        add("src/lib.rs", "\n#[doc(hidden)]\npub mod fault;\n");
        add("cli/src/lib.rs", "\nuse filterblock::fault;\n");
        add("engine/src/lib.rs", "\nuse filterblock::fault;\n");
        for (path, contents) in &mut self.files {
            if let Some(text) = path.to_str().and_then(|path| switched.remove(path)) {
                *contents = text.into_bytes();
            }
        }
        self.files.push(("src/fault.rs".into(), switch::MODULE.into()));
        copy::update(&copy, &self.files).map_err(|error| format!("{}: {error}", copy.display()))?;

        let built = |arguments: &[&str]| programs::build(&copy, &target.join("target"), arguments);
        // Most programs have no tests without features.
        let mut portable =
            vec!["-p", "filterblock", "-p", "filterblock-tests", "--no-default-features", "--lib"];
        let named = self.rows.iter().flat_map(|row| &row.tests);
        for selection in named.filter(|selection| selection.build == Build::Portable) {
            if !UNIT_TESTS.contains(&selection.program.as_str()) {
                portable.extend(["--test", &selection.program]);
            }
        }
        // The tool asks for all features of the library. Its own, for object storage, takes a long time to build.
        let packages = ["filterblock", "filterblock-engine", "filterblock-cli", "filterblock-tests"];
        let full: Vec<_> = packages.into_iter().flat_map(|name| ["-p", name]).chain(["--tests"]).collect();
        let explain = |text: String| format!("{text}\n{}", self.culprits(&text, &copy));
        Ok(Tester {
            full: built(&full).map_err(explain)?,
            portable: built(&portable).map_err(explain)?,
            temporary,
        })
    }

    /// Names the faults at the places where cargo found errors.
    fn culprits(&self, errors: &str, copy: &Path) -> String {
        let mut found = Vec::new();
        for line in errors.lines().filter_map(|line| line.trim_start().strip_prefix("--> ")) {
            let mut parts = line.split(':');
            let (Some(path), Some(number)) =
                (parts.next(), parts.next().and_then(|number| number.parse().ok()))
            else {
                continue;
            };
            let number: usize = number;
            let text = fs::read_to_string(copy.join(path)).unwrap_or_default();
            for line in text.lines().skip(number.saturating_sub(2)).take(2) {
                for rest in line.split("crate::fault::on(").skip(1) {
                    let fault = rest.split(')').next().and_then(|number| number.parse::<usize>().ok());
                    if let Some(fault) = fault.and_then(|number| self.faults.get(number.checked_sub(1)?)) {
                        found.push(format!("does not build, perhaps: {} ({path})", fault.name));
                    }
                }
            }
        }
        found.dedup();
        found.join("\n")
    }
}
