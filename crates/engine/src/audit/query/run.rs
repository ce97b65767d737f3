//! Lookups of keys in everything that the given paths lead to.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use filterblock::escape_path;
use filterblock::table::ReadAt;

use super::LookupKeys;
use super::candidates::{self, BlockCandidates};
use super::logs;
use crate::engine::Engine;
use crate::report::{
    Answer, Count, ErrorKind, Fault, LogAnswer, QueryAnswer, QueryLine, Remark, Subject, Verdict,
};
use crate::run::{Event, ListedFolder, LogUse, TableFile, Task};
use crate::text::{counted_as, error_text};
use crate::walk::{Folder, Inputs, OtherFile};
use crate::{audit::scan::file_type::explain, audit::verify::manifest};

/// The answers that are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueryOutput {
    /// All answers.
    Answers,
    /// The answers for keys that may be in the table or log.
    Matches,
    /// For each table and each log, the number of keys that may be in it.
    Counts,
}

/// The keys to look up, and the answers that are wanted.
#[derive(Clone, Debug)]
pub struct QueryRequest {
    /// The keys to look up.
    pub keys: Arc<LookupKeys>,
    /// The answers that are wanted.
    pub wanted: QueryOutput,
}

/// The outcome of a query.
#[derive(Clone, Default, Debug)]
pub struct QueryOutcome {
    /// The number of tables and logs, also unreadable ones, and of other paths and lists that could not be read.
    pub files: u64,
    /// For each key, true if it may be in some table or log.
    pub found: Vec<bool>,
    /// A table that was read without a fault may hold one of the keys, or a log has a value for one of them.
    pub may_match: bool,
    /// A table or log is damaged or missing, a path unreadable, or a MANIFEST cannot be used: tables may be missing.
    pub is_unsound: bool,
    /// A list of paths could not be read to its end.
    pub list_failed: bool,
}

impl Engine {
    /// Looks keys up in the tables that `inputs` lead to, and in the logs of databases. `sink` takes the answers.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn query(
        &self,
        inputs: Inputs,
        question: &QueryRequest,
        sink: &mut dyn FnMut(QueryLine<'_>) -> io::Result<()>,
    ) -> io::Result<QueryOutcome> {
        let task = QueryTask { keys: Arc::clone(&question.keys), engine: self.clone() };
        let found = vec![false; question.keys.given().len()];
        let outcome = QueryOutcome { found, ..QueryOutcome::default() };
        let mut query = Query { question, sink, outcome, lookups: None };
        let list_failed = self.run(inputs, &task, &mut |event| query.take(event))?;
        Ok(QueryOutcome { list_failed, ..query.outcome })
    }
}

struct QueryTask {
    keys: Arc<LookupKeys>,
    engine: Engine,
}

/// What a file answers for each key, or why it could not be opened.
enum QueryFound {
    Table(Box<BlockCandidates>),
    Log(Vec<LogAnswer>, Option<Fault>),
    Unopened(Fault),
}

impl Task for QueryTask {
    type Found = QueryFound;

    // Fewer than by default, because each result may hold large filters.
    const WAITING: usize = 2;

    fn logs(&self) -> LogUse {
        LogUse::Read
    }

    fn wants(&self, target: &TableFile) -> bool {
        // That the database does not use a table is reported at the beginning of the folder.
        target.record().is_none_or(|record| record.live.is_some())
    }

    fn table<R: ReadAt>(&self, target: &TableFile, source: &R, _: &dyn Fn(u64)) -> QueryFound {
        match candidates::table(source, &self.engine, &self.keys, target.record()) {
            Ok(table) => QueryFound::Table(Box::new(table)),
            Err(error) => {
                let text = explain(source, &error, error_text(&error));
                QueryFound::Unopened(Fault::new(text, ErrorKind::of(&error)))
            }
        }
    }

    fn other(&self, kind: OtherFile, _: &TableFile, contents: &mut dyn Read) -> Option<QueryFound> {
        (kind == OtherFile::Log).then(|| {
            let (answers, error) = logs::read(contents, &self.keys);
            QueryFound::Log(answers, error)
        })
    }
}

struct Query<'q> {
    question: &'q QueryRequest,
    sink: &'q mut dyn FnMut(QueryLine<'_>) -> io::Result<()>,
    outcome: QueryOutcome,
    /// `None`: the file is a log or in no database, or the database's keys are not known to be in bytewise order.
    lookups: Option<LookupCosts>,
}

struct LookupCosts {
    /// For each key, the maximum number of data blocks that a lookup reads.
    blocks: Vec<u64>,
    /// The tables that the `blocks` of some key leave out, because they or their indexes cannot be used.
    tables_left_out: u64,
    /// The current table is counted in `tables_left_out`.
    is_counted: bool,
}

impl LookupCosts {
    /// Counts the data blocks of a table or log that a lookup of the key with index `at` reads.
    fn add(&mut self, at: usize, reply: &QueryAnswer) {
        let blocks = match reply {
            QueryAnswer::Blocks(blocks) => blocks.lookup_blocks,
            QueryAnswer::Log(_) => Some(0),
            QueryAnswer::Unknown => None,
        };
        match blocks {
            Some(blocks) => self.blocks[at] += blocks,
            // Counted once, for the first key: with an unusable index, the first one in the table's range.
            None => self.tables_left_out += u64::from(!std::mem::replace(&mut self.is_counted, true)),
        }
    }
}

impl Query<'_> {
    fn take(&mut self, event: Event<QueryFound>) -> io::Result<()> {
        match event {
            Event::Failed(file, error) => self.asked(file.subject(&[]), Err(error)),
            Event::Folder { place, logs, skipped, .. } => self.begin(&place, logs, &skipped),
            Event::Found(file, kind, result) => {
                // A log has no data blocks, even if it cannot be read.
                let lookups = self.lookups.take_if(|_| kind.is_some());
                self.asked(file.subject(&[]), result)?;
                self.lookups = lookups.or(self.lookups.take());
                Ok(())
            }
            Event::End(_) => self.end(),
        }
    }

    /// Reports a folder, the tables and logs in it that are not asked, and the live tables that are missing.
    fn begin(
        &mut self,
        place: &ListedFolder,
        logs: Vec<PathBuf>,
        skipped: &[(PathBuf, Fault)],
    ) -> io::Result<()> {
        let folder = &place.folder;
        let (manifest, mut checked) = manifest(folder);
        manifest.into_iter().for_each(|(_, problem)| checked.problems.push(problem));
        self.outcome.is_unsound |= !skipped.is_empty() || checked.verdict() >= Verdict::CannotTell;
        let mut remarks: Vec<_> = skipped.iter().map(|(path, error)| Remark::new(path, error)).collect();
        remarks.extend(not_asked(folder).map(|text| Remark::new(&place.path, text)));
        (self.sink)(QueryLine::Folder(Box::new(place.checked(logs, remarks, checked))))?;
        let blocks = vec![0; self.question.keys.given().len()];
        let costs = LookupCosts { blocks, tables_left_out: 0, is_counted: false };
        self.lookups = folder.is_bytewise().then_some(costs);
        for (path, live, _) in folder.missing() {
            let message = format!("is missing{}", folder.copy_text(live));
            let subject = Subject { path: &path, ..Subject::of(&place.input) };
            self.replies(subject, None, Some(&Fault::new(message, ErrorKind::Missing)), |_, _| {
                QueryAnswer::Unknown
            })?;
        }
        Ok(())
    }

    /// Reports how many data blocks a lookup in the folder reads at most, if known and if more than counts is wanted.
    fn end(&mut self) -> io::Result<()> {
        let (Some(costs), QueryOutput::Answers | QueryOutput::Matches) =
            (self.lookups.take(), self.question.wanted)
        else {
            return Ok(());
        };
        let keys = self.question.keys.given().iter().map(Vec::as_slice).zip(costs.blocks);
        let all = self.question.wanted == QueryOutput::Answers;
        let keys = &mut keys.filter(|(_, blocks)| all || *blocks > 0);
        (self.sink)(QueryLine::Lookups { keys, tables_left_out: costs.tables_left_out })
    }

    fn asked(&mut self, subject: Subject<'_>, result: Result<QueryFound, Fault>) -> io::Result<()> {
        match result.unwrap_or_else(QueryFound::Unopened) {
            QueryFound::Log(answers, error) => {
                let answer = |at| answers.get(at).copied().unwrap_or(LogAnswer::Absent);
                self.replies(subject, None, error.as_ref(), |at, _| QueryAnswer::Log(answer(at)))
            }
            QueryFound::Table(table) => {
                let mut remarks = subject.remarks.to_vec();
                if let Some(reason) = table.no_index.filter(|_| table.error.is_none()) {
                    let text = format_args!("{reason}: the filters of all data blocks are checked");
                    remarks.push(Remark::new(subject.path, text));
                }
                let subject = Subject { remarks: &remarks, ..subject };
                self.replies(subject, Some(&table), table.error.as_ref(), |at, key| {
                    QueryAnswer::Blocks(table.of(key, at))
                })
            }
            QueryFound::Unopened(reason) => {
                self.replies(subject, None, Some(&reason), |_, _| QueryAnswer::Unknown)
            }
        }
    }

    /// `table`: if it was opened. `error`: why every key may be in the table or log. `reply`: returns the facts about
    /// a key.
    fn replies(
        &mut self,
        subject: Subject<'_>,
        table: Option<&BlockCandidates>,
        error: Option<&Fault>,
        reply: impl Fn(usize, &[u8]) -> QueryAnswer,
    ) -> io::Result<()> {
        let Self { question, sink, outcome, lookups } = self;
        lookups.iter_mut().for_each(|costs| costs.is_counted = false);
        outcome.is_unsound |= error.is_some();
        outcome.files += 1;
        let mut answers = question.keys.given().iter().enumerate().map(|(at, key)| {
            let reply = reply(at, key);
            outcome.may_match |= match &reply {
                QueryAnswer::Blocks(blocks) => error.is_none() && !blocks.offsets.is_empty(),
                QueryAnswer::Log(log) => *log == LogAnswer::Value,
                QueryAnswer::Unknown => false,
            };
            if let Some(costs) = lookups {
                costs.add(at, &reply);
            }
            let answer = Answer::new(subject, key, error, reply);
            if let Some(found) = outcome.found.get_mut(at) {
                *found |= answer.may_match;
            }
            answer
        });
        let data_blocks = table.map_or(0, BlockCandidates::data_blocks);
        let has_filters = table.is_some_and(BlockCandidates::has_filters);
        let mut count = None;
        let answers: &mut dyn Iterator<Item = Answer<'_>> = match question.wanted {
            QueryOutput::Answers => &mut answers,
            QueryOutput::Matches => &mut answers.filter(|answer| answer.may_match),
            QueryOutput::Counts => {
                count = Some(Count::new(subject, error, answers));
                &mut std::iter::empty()
            }
        };
        sink(QueryLine::Table { subject, error, data_blocks, has_filters, answers })?;
        count.map_or(Ok(()), |count| sink(QueryLine::Count(count)))
    }
}

/// The message about unused tables of a folder, if there are any.
fn not_asked(folder: &Folder) -> Option<String> {
    const NAMED: usize = 4;
    let is_obsolete = |path: &&Path| folder.record(path).is_some_and(|record| record.live.is_none());
    let obsolete: Vec<_> = folder.tables().filter(is_obsolete).collect();
    let names = obsolete.iter().take(NAMED).filter_map(|path| path.file_name());
    let mut names: Vec<String> = names.map(|name| escape_path(name).to_string()).collect();
    if obsolete.len() > NAMED {
        names.push("…".to_owned());
    }
    let tables = counted_as(obsolete.len() as u64, "unused table was", "unused tables were");
    let text = format!("{tables} not checked: {}", names.join(", "));
    (!obsolete.is_empty()).then_some(text)
}
