//! What other filters would do for a database, as JSON objects. The fields are documented in
//! `docs/json.md`.

use std::io;

use serde::Serialize;

use super::outcome::{JsonEstimate, JsonOutcome};
use crate::io::console::Console;
use crate::renderer::TuneRenderer;
use filterblock_engine::audit::tune::report::{
    Advice, Budget, BudgetOrigin, Choice, Level, Lookups, Memory, SampleSize, Tried, TuneFailure, Tuning,
};
use filterblock_engine::report::frame::Frame;
use filterblock_engine::report::line::write_line;
use filterblock_engine::report::strings::json_path;
use filterblock_engine::report::subject::Subject;
use filterblock_engine::words::advice::advice_text;

pub(crate) struct JsonTune;

#[derive(Serialize)]
struct JsonSetting<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    policy: String,
    base_lg: u8,
    bits_per_key: u32,
    in_use: bool,
    outcome: JsonOutcome,
}

#[derive(Serialize)]
struct JsonTuning<'a> {
    #[serde(flatten)]
    frame: Frame<'a>,
    status: &'static str,
    error: Option<&'a str>,
    #[serde(flatten)]
    found: JsonFound<'a>,
}

/// What was found out: nothing if there is an error.
#[derive(Default, Serialize)]
struct JsonFound<'a> {
    policy: Option<String>,
    policy_assumed: Option<bool>,
    sample: Option<JsonSample>,
    levels: Option<Vec<JsonLevel>>,
    now: Option<JsonOutcome>,
    budget: Option<JsonBudget>,
    uniform: Option<JsonChoice>,
    by_level: Option<JsonChoice>,
    advice: Option<JsonAdvice<'a>>,
    lookups: Option<JsonLookups>,
    memory: Option<JsonMemory>,
    faults: Option<Vec<JsonFault<'a>>>,
}

#[derive(Serialize)]
struct JsonSample {
    tables: u64,
    of_tables: u64,
    bytes: u64,
    of_bytes: u64,
    entries: JsonEstimate,
    all: bool,
}

#[derive(Serialize)]
struct JsonLevel {
    level: Option<u8>,
    tables: u64,
    unfiltered: u64,
    size: u64,
    entries: JsonEstimate,
    visits: Option<JsonVisits>,
}

#[derive(Serialize)]
struct JsonVisits {
    absent: f64,
    present: f64,
}

#[derive(Serialize)]
struct JsonBudget {
    bytes: u64,
    origin: &'static str,
}

#[derive(Serialize)]
struct JsonChoice {
    policy: String,
    base_lg: u8,
    bits_per_key: Vec<JsonBits>,
    outcome: JsonOutcome,
}

#[derive(Serialize)]
struct JsonBits {
    level: Option<u8>,
    bits_per_key: u32,
}

#[derive(Serialize)]
struct JsonAdvice<'a> {
    action: &'static str,
    text: String,
    choice: Option<JsonChoice>,
    arguments: Option<&'a [String]>,
}

#[derive(Serialize)]
struct JsonLookups {
    given: u64,
    used: u64,
    present: u64,
}

#[derive(Serialize)]
struct JsonMemory {
    mapped_tables: u64,
    heap_tables: u64,
    heap_bytes: u64,
}

#[derive(Serialize)]
struct JsonFault<'a> {
    path: String,
    error: &'a str,
}

impl TuneRenderer for JsonTune {
    fn tuning(
        &mut self,
        subject: Subject<'_>,
        result: Result<&Tuning, &TuneFailure>,
        console: &mut Console,
    ) -> io::Result<()> {
        console.remarks(subject.remarks);
        let found = match result {
            Ok(tuning) => tuning,
            Err(TuneFailure { text, kind }) => {
                console.message_about(subject.path, text);
                let frame = Frame::new("tuning", &subject, *kind);
                let json =
                    JsonTuning { frame, status: "error", error: Some(text), found: JsonFound::default() };
                return write_line(console, &json);
            }
        };
        found.notes.iter().for_each(|note| console.message_about(subject.path, note));
        for (table, error) in &found.faults {
            console.message_about(&subject.table_path(table), error);
        }
        // Notes and remarks stand in the last object alone.
        let bare = Subject { remarks: &[], ..subject };
        found.settings.iter().try_for_each(|tried| setting(bare, tried, &found.levels, console))?;
        let frame = Frame::new("tuning", &subject, found.fault_kind).note(found.notes.iter().cloned());
        write_line(
            console,
            &JsonTuning { frame, status: "ok", error: None, found: JsonFound::new(found, &subject) },
        )
    }
}

fn setting(subject: Subject<'_>, tried: &Tried, levels: &[Level], console: &mut Console) -> io::Result<()> {
    let Tried { setting, in_use, outcome } = tried;
    let json = JsonSetting {
        frame: Frame::new("setting", &subject, None),
        policy: setting.policy.name(),
        base_lg: setting.base_lg,
        bits_per_key: setting.bits_per_key,
        in_use: *in_use,
        outcome: JsonOutcome::new(outcome, levels),
    };
    write_line(console, &json)
}

impl<'a> JsonFound<'a> {
    fn new(tuning: &'a Tuning, subject: &Subject<'_>) -> Self {
        let levels = &tuning.levels;
        let choice = |choice: &Choice| JsonChoice::new(choice, levels);
        let faults = tuning.faults.iter().map(|(table, error)| JsonFault {
            path: json_path(&subject.table_path(table)).into_owned(),
            error,
        });
        Self {
            policy: Some(tuning.policy.name()),
            policy_assumed: Some(tuning.policy_assumed),
            sample: Some(tuning.sample.into()),
            levels: Some(levels.iter().map(JsonLevel::from).collect()),
            now: Some(JsonOutcome::new(&tuning.now, levels)),
            budget: Some(tuning.budget.into()),
            uniform: tuning.uniform.as_ref().map(choice),
            by_level: tuning.by_level.as_ref().map(choice),
            advice: Some(JsonAdvice::new(tuning, levels)),
            lookups: tuning.lookups.map(JsonLookups::from),
            memory: Some(tuning.memory.into()),
            faults: Some(faults.collect()),
        }
    }
}

impl From<SampleSize> for JsonSample {
    fn from(sample: SampleSize) -> Self {
        let SampleSize { tables, of_tables, bytes, of_bytes, entries } = sample;
        Self { tables, of_tables, bytes, of_bytes, entries: entries.into(), all: sample.is_all() }
    }
}

impl From<&Level> for JsonLevel {
    fn from(level: &Level) -> Self {
        let Level { number, tables, unfiltered, size, entries, visits } = *level;
        Self {
            level: number,
            tables,
            unfiltered,
            size,
            entries: entries.into(),
            visits: visits.map(|visits| JsonVisits { absent: visits.absent, present: visits.present }),
        }
    }
}

impl From<Budget> for JsonBudget {
    fn from(budget: Budget) -> Self {
        let origin = match budget.origin {
            BudgetOrigin::Given => "given",
            BudgetOrigin::InUse => "in-use",
            BudgetOrigin::TenBits => "ten-bits",
        };
        Self { bytes: budget.bytes, origin }
    }
}

impl JsonChoice {
    fn new(choice: &Choice, levels: &[Level]) -> Self {
        let bits = choice.bits.iter().map(|&(level, bits_per_key)| JsonBits { level, bits_per_key });
        Self {
            policy: choice.policy.name(),
            base_lg: choice.base_lg,
            bits_per_key: bits.collect(),
            outcome: JsonOutcome::new(&choice.outcome, levels),
        }
    }
}

impl<'a> JsonAdvice<'a> {
    fn new(tuning: &'a Tuning, levels: &[Level]) -> Self {
        let (action, choice, arguments) = match &tuning.advice {
            Advice::Leave { .. } => ("leave", None, None),
            Advice::Rebuild { choice, arguments, .. } => ("rebuild", Some(choice), Some(&**arguments)),
            Advice::None { .. } => ("none", None, None),
        };
        let choice = choice.map(|choice| JsonChoice::new(choice, levels));
        Self { action, text: advice_text(tuning), choice, arguments }
    }
}

impl From<Lookups> for JsonLookups {
    fn from(lookups: Lookups) -> Self {
        let Lookups { given, used, present } = lookups;
        Self { given, used, present }
    }
}

impl From<Memory> for JsonMemory {
    fn from(memory: Memory) -> Self {
        let Memory { mapped_tables, heap_tables, heap_bytes } = memory;
        Self { mapped_tables, heap_tables, heap_bytes }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::io::screen::Screen;
    use filterblock_engine::report::error_kind::ErrorKind;
    use filterblock_engine::report::subject::Remark;
    use filterblock_engine::words::tune_examples;

    fn printed(result: Result<&Tuning, &TuneFailure>) -> (String, String) {
        let (out, messages) = (Screen::default(), Screen::default());
        let mut console = Console::new(Box::new(out.clone()), Box::new(messages.clone()));
        let path = Path::new("my db");
        let remarks = [Remark::new(path, "it is in use")];
        let subject = Subject { remarks: &remarks, ..Subject::of(path) };
        JsonTune.tuning(subject, result, &mut console).unwrap();
        assert_eq!(console.finish(Ok(()), 7), 7);
        // A backslash of Windows' paths is escaped by another.
        let [out, messages] = [out, messages].map(|screen| screen.text().replace(r"my db\\0", "my db/0"));
        (out, messages)
    }

    /// The lines of a database to rebuild, of one to leave with lookups, of a table, and of one without
    /// entries. Of each, the first setting is kept.
    #[test]
    fn every_object_is_printed_with_all_its_fields() {
        let mut lines = String::new();
        for mut tuning in
            [tune_examples::rebuild(), tune_examples::leave(), tune_examples::table(), tune_examples::empty()]
        {
            tuning.settings.truncate(1);
            lines += &printed(Ok(&tuning)).0;
        }
        assert_eq!(lines, include_str!("expected/tune.jsonl").replace('\r', ""), "\n{lines}");
    }

    #[test]
    fn every_setting_is_printed_before_what_follows_from_them() {
        let tuning = tune_examples::rebuild();
        let (lines, _) = printed(Ok(&tuning));
        let mut in_use = 0;
        for (line, tried) in lines.lines().zip(&tuning.settings) {
            let setting = tried.setting;
            let expected = format!(
                r#""object":"setting","input":"my db","path":"my db","path_bytes":null,"error_kind":null,"notes":[],"policy":"{}","base_lg":{},"bits_per_key":{},"in_use":{},"#,
                setting.policy.name(),
                setting.base_lg,
                setting.bits_per_key,
                tried.in_use,
            );
            assert!(line.contains(&expected), "{line}");
            in_use += usize::from(tried.in_use);
        }
        assert_eq!((lines.lines().count(), in_use), (tuning.settings.len() + 1, 1));
        assert!(lines.lines().last().unwrap().contains(r#""object":"tuning""#));
    }

    #[test]
    fn a_failure_has_an_object_and_a_message() {
        let failure = TuneFailure { text: "no such \"file\"".to_owned(), kind: Some(ErrorKind::Missing) };
        let (line, messages) = printed(Err(&failure));
        assert_eq!(
            line,
            concat!(
                r#"{"schema_version":1,"object":"tuning","input":"my db","path":"my db","path_bytes":null,"#,
                r#""error_kind":"missing","notes":["it is in use"],"status":"error","error":"no such \"file\"","#,
                r#""policy":null,"policy_assumed":null,"sample":null,"levels":null,"now":null,"budget":null,"#,
                r#""uniform":null,"by_level":null,"advice":null,"lookups":null,"memory":null,"faults":null}"#,
                "\n"
            )
        );
        assert_eq!(messages, "filterblock: my db: it is in use\nfilterblock: my db: no such \"file\"\n");
    }

    #[test]
    fn notes_and_faults_are_messages_too() {
        let (_, messages) = printed(Ok(&tune_examples::rebuild()));
        let expected = [
            "my db: it is in use",
            "my db: the database has a log with newer writes",
            "my db/000099.ldb: expected a footer, found the end",
        ];
        let messages = messages.replace(r"my db\0", "my db/0");
        assert_eq!(messages, expected.map(|line| format!("filterblock: {line}\n")).concat());
    }
}
