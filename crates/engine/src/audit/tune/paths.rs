//! Finds the tables to tune at each path, and tunes them.

use std::collections::BTreeSet;
use std::{io, path::Path, sync::Arc};

use filterblock::database::{LiveTable, Manifest};
use filterblock::table::{ReadAt, Table};
use filterblock::{Error, escape_path};

use super::advice::{Facts, Scope, advise};
use super::input::{Input, TableInfo, TuneRequest};
use super::tuner::tune;
use crate::audit::current_manifest::{NO_CURRENT, is_goleveldb, missing_manifest};
use crate::audit::inspect::missing_text;
use crate::audit::key_encoding::KeyEncoding;
use crate::audit::order::KeyOrder;
use crate::audit::scan::file_type::explain;
use crate::audit::state;
use crate::audit::stats::encoding_of;
use crate::engine::Engine;
use crate::report::{
    Advice, Basis, Damage, DamagedPart, ErrorKind, Fault, FaultDetail, Outcome, StateFault, Tuned, Tuning,
    Verdict,
};
use crate::run::Relist;
use crate::walk::{Folder, Inputs, OtherFile, Target, open};

/// How many times more a database is tuned whose tables vanish: each takes as long as the first.
const MAX_ROUNDS: u32 = 3;

type Result<T> = std::result::Result<T, Fault>;

impl Engine {
    /// Finds the filters that would best serve the databases and tables that `inputs` lead to.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn tune(
        &self,
        inputs: Inputs,
        request: &TuneRequest,
        sink: &mut impl FnMut(Tuned) -> io::Result<()>,
    ) -> io::Result<Outcome> {
        let mut outcome = Outcome::default();
        for found in self.targets(inputs) {
            outcome.list_failed |= matches!(found, Target::ListFailed { .. });
            let tuned = tuned(found, request, self);
            outcome.verdicts.add(match (&tuned.advice, &tuned.result) {
                (Some(advice), _) => advice.verdict,
                (None, Ok(_)) => Verdict::Fine,
                (None, Err(_)) => Verdict::CannotTell,
            });
            sink(tuned)?;
            if self.progress.is_interrupted() {
                break;
            }
        }
        Ok(outcome)
    }

    /// Fails if there is no database or table, if it cannot be read, or if its MANIFEST cannot be relied on.
    pub(crate) fn tune_one(&self, inputs: Inputs, request: &TuneRequest) -> Result<Tuning> {
        let tuned = self.targets(inputs).last().map(|found| tuned(found, request, self).result);
        tuned.unwrap_or_else(|| Err(Fault::new("found nothing to tune", ErrorKind::Missing)))
    }
}

fn tuned(found: Target, request: &TuneRequest, engine: &Engine) -> Tuned {
    let (input, path, result) = match found {
        Target::ListFailed { input, error } => (input.clone(), input.to_path_buf(), Err(error)),
        Target::Failed { input, path, error } => (input, path, Err(error)),
        Target::Folder { input, path, folder: found } => (input, path, folder(&found, request, engine)),
        Target::File { input, path, .. } => {
            let result = table(&path, request, engine);
            (input, path, result)
        }
    };
    let advice = match &result {
        // Of a table by itself nothing but faults is said.
        Ok(tuning) => Some(advise(&tuning.facts, Some(tuning)))
            .filter(|advice| advice.verdict != Verdict::Fine || tuning.facts.scope == Scope::Database),
        Err(fault) => advice_on(fault),
    };
    Tuned { input, path, advice, result }
}

/// Advises where there are no results. `None`: there is neither a database nor a table.
fn advice_on(fault: &Fault) -> Option<Advice> {
    let unknown = |basis| Facts { unknown: Some(basis), ..Facts::default() };
    let damaged = |damage, scope| Facts { damage: Some(damage), scope, ..Facts::default() };
    let facts = match (fault.detail.as_deref(), fault.kind) {
        (Some(FaultDetail::OtherFormat(format)), _) => unknown(Basis::Format(format.clone())),
        (Some(FaultDetail::Database(damage)), _) => damaged(damage.clone(), Scope::Database),
        (_, ErrorKind::Damaged) => {
            let damage = Damage::new(String::new(), DamagedPart::Files);
            damaged(Damage { detail: Some(fault.text.clone()), ..damage }, Scope::Table)
        }
        (_, ErrorKind::Missing) => return None,
        _ => unknown(Basis::Unread { what: String::new(), why: fault.text.clone() }),
    };
    Some(advise(&facts, None))
}

/// Begins again if tables vanish because a program compacts the database. Fails if there is no MANIFEST that can be
/// relied on, or if the folder cannot be listed again.
fn folder(folder: &Arc<Folder>, request: &TuneRequest, engine: &Engine) -> Result<Tuning> {
    let mut relist = Relist::new(Arc::clone(folder), MAX_ROUNDS);
    loop {
        let before = Arc::clone(relist.folder());
        let tuning = folder_once(&before, request, engine)?;
        if tuning.left_out.is_empty() {
            return Ok(tuning);
        }
        let Some(now) = relist.again(false)? else { return Ok(tuning) };
        let tables = BTreeSet::from_iter(now.tables());
        if before.tables().all(|table| tables.contains(table)) {
            return Ok(tuning);
        }
    }
}

/// `error`: why the MANIFEST cannot be relied on.
fn failure_of(error: &Error) -> Fault {
    let (kind, missing) = (ErrorKind::of(error), missing_manifest(error));
    let text = missing.clone().unwrap_or_else(|| error.to_string());
    let name = error.path().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let damage = Damage {
        detail: missing.is_none().then(|| error.without_path().to_string()),
        warning: (missing.is_some() && name == "CURRENT").then(|| NO_CURRENT.to_owned()),
        ..Damage::new(missing.unwrap_or_else(|| format!("{name} is damaged")), DamagedPart::Manifest)
    };
    let is_damage = matches!(kind, ErrorKind::Damaged | ErrorKind::Missing);
    let fault = Fault::new(text, kind);
    if is_damage { fault.with_detail(FaultDetail::Database(damage)) } else { fault }
}

fn folder_once(folder: &Arc<Folder>, request: &TuneRequest, engine: &Engine) -> Result<Tuning> {
    if !folder.is_database() {
        let text = "expected a database, found tables without a MANIFEST: give them one by one";
        return Err(Fault::new(text, ErrorKind::Missing));
    }
    let manifest = folder.database().manifest().map_err(failure_of)?;
    let faults = state::faults(folder);
    let damage = (!faults.is_empty()).then(|| {
        let title = faults.iter().map(StateFault::title).collect::<Vec<_>>().join("; ");
        let warning = faults.iter().find_map(StateFault::warning);
        Damage { warning, ..Damage::new(title, DamagedPart::Logs) }
    });
    if let Some(damage) = damage.as_ref().filter(|damage| damage.warning.is_some()) {
        let fault = Fault::new(damage.title.clone(), ErrorKind::Damaged);
        return Err(fault.with_detail(FaultDetail::Database(damage.clone())));
    }
    let order = manifest.comparator().and_then(KeyOrder::of);
    let input = Input {
        manifest: order.map(|_| manifest),
        order: order.unwrap_or(KeyOrder::Bytewise),
        is_goleveldb: is_goleveldb(folder),
        ..Input::of(engine, tables(folder, manifest), KeyEncoding::Internal)
    };
    let mut tuning = tune(&input, request, &*engine.progress);
    tuning.logs = folder.logs_with_data(|_, _| {}).len() as u64;
    let facts = &mut tuning.facts;
    facts.damage = facts.damage.take().or(damage);
    let copy = folder.missing().find_map(|(_, table, _)| folder.copy_of(table));
    if let Some((damage, copy)) = facts.damage.as_mut().zip(copy) {
        let copy = escape_path(Path::new(copy));
        damage.detail = Some(format!("{copy} has its size, and repair takes it for this table"));
    }
    facts.manifest = state::huge_manifest(folder);
    facts.has_undo = folder.has_undo();
    if order.is_none() && facts.has_tables {
        let name = String::from_utf8_lossy(folder.comparator().unwrap_or_default()).into_owned();
        facts.unknown = Some(Basis::KeyOrder(name));
    }
    Ok(tuning)
}

fn tables(folder: &Folder, manifest: &Manifest) -> Vec<TableInfo> {
    let database = folder.database();
    let missing = BTreeSet::from_iter(folder.missing().map(|(_, table, _)| table.number));
    let info = |table: &LiveTable| TableInfo {
        path: match database.files().table(table.number) {
            Ok(Some(file)) => file.path.clone(),
            _ => database.table_path(table.number),
        },
        level: Some(table.level),
        size: table.size,
        missing: missing.contains(&table.number).then(|| missing_text(folder, table)),
    };
    manifest.tables().iter().map(info).collect()
}

/// Fails if the file is no table, or if the encoding of its keys cannot be found.
fn table(path: &Path, request: &TuneRequest, engine: &Engine) -> Result<Tuning> {
    let source: &dyn ReadAt = &open(&**engine.files.storage(), path, false)?;
    if let Some(kind) = OtherFile::of(path, source) {
        let text = match kind {
            OtherFile::Log => "a log has no filters; give a database or a table",
            OtherFile::Manifest => "a MANIFEST has no filters; give a database or a table",
            _ => kind.refusal(),
        };
        return Err(Fault::new(text, ErrorKind::Missing));
    }
    let failure = |error: Error| {
        let text = explain(source, &error, error.without_path().to_string());
        Fault::new(text, ErrorKind::of(&error))
    };
    let table = Table::open(source, &engine.read).map_err(failure)?;
    let encoding = encoding_of(&table).map_err(failure)?;
    let info = TableInfo { path: path.to_owned(), level: None, size: table.file_size(), missing: None };
    Ok(tune(&Input::of(engine, vec![info], encoding), request, &*engine.progress))
}
