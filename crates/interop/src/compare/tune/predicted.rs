//! The predictions of `filterblock tune`.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use filterblock_engine::report::{Action, Candidate, Effect, Estimate, Rebuild, SimilarKind, Tuned, Tuning};
use filterblock_engine::{Engine, Inputs, Policy, TuneRequest};

use super::model::Kind;

/// What `tune` says about a database.
#[derive(Debug)]
pub(super) struct Prediction {
    tuned: Tuned,
    pub(super) tuning: Tuning,
}

/// The predictions for some filters.
#[derive(Debug, Clone)]
pub(super) struct Predicted {
    /// The size of all filters in bytes.
    pub(super) size: f64,
    /// The reads for absent keys: the user's own, or random ones.
    pub(super) absent: Estimate,
    pub(super) stored: Estimate,
    /// The reads for the worst of the kinds of similar keys that are likely.
    pub(super) similar: Option<(Kind, Estimate)>,
}

/// Filters that the database may be given.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) policy: Policy,
    pub(super) bits_per_key: u32,
    /// The arguments for `filterblock rebuild`.
    pub(super) arguments: Vec<String>,
    pub(super) predicted: Predicted,
}

impl Prediction {
    /// Tunes a database.
    pub(super) fn of(folder: &Path, all: bool, lookups: Vec<Vec<u8>>) -> Result<Self> {
        let inputs = Inputs { paths: vec![folder.to_path_buf()], ..Inputs::default() };
        let mut found = Vec::new();
        let request = TuneRequest { lookups, all, ..TuneRequest::default() };
        Engine::default().tune(inputs, &request, &mut |tuned| {
            found.push(tuned);
            Ok(())
        })?;
        let tuned = found.pop().context("tune says nothing")?;
        ensure!(found.is_empty(), "not one tuning: {found:?}");
        let tuning = tuned.result.clone().map_err(|fault| anyhow::anyhow!("tune: {}", fault.text))?;
        Ok(Self { tuned, tuning })
    }

    /// The predictions for the filters in use.
    pub(super) fn now(&self) -> Result<Predicted> {
        Predicted::of(&self.tuning.now)
    }

    /// The choice if a rebuild is advised.
    pub(super) fn advice(&self) -> Result<Option<Choice>> {
        let Some(Action::Rebuild(rebuild)) = self.tuned.advice.as_ref().map(|advice| advice.action) else {
            return Ok(None);
        };
        let advised = self.tuning.advised(self.tuned.advice.as_ref()).context("no candidate is advised")?;
        let arguments = rebuild.arguments();
        Ok(Some(Choice { arguments, ..self.choice(advised)? }))
    }

    /// The verdict, in words.
    pub(super) fn verdict(&self) -> &'static str {
        self.tuned.advice.as_ref().map_or("", |advice| advice.verdict.words())
    }

    /// One of the numbers of bits per key shown, by `number`. `wanted`: this one.
    pub(super) fn candidate(&self, number: usize, wanted: Option<u32>) -> Result<Choice> {
        let shown: Vec<_> = self.tuning.telling(self.tuned.advice.as_ref()).collect();
        let drawn = match wanted {
            Some(bits) => self.tuning.candidate(bits),
            None => shown.get(number % shown.len().max(1)).copied(),
        };
        self.choice(drawn.context("no candidate")?)
    }

    fn choice(&self, candidate: &Candidate) -> Result<Choice> {
        let (policy, bits_per_key) = (self.tuning.policy, candidate.bits_per_key);
        let hash = match policy {
            Policy::Builtin(hash) => Some(hash),
            _ => None,
        };
        let rebuild = Rebuild { bits_per_key: Some(bits_per_key), policy: Some(policy), hash };
        let predicted = Predicted::of(&candidate.outcome)?;
        Ok(Choice { policy, bits_per_key, arguments: rebuild.arguments(), predicted })
    }
}

impl Predicted {
    fn of(effect: &Effect) -> Result<Self> {
        let reads = effect.reads.context("no reads are predicted")?;
        let kind = |of| match of {
            SimilarKind::Changed => Kind::Changed,
            SimilarKind::Between => Kind::Between,
            SimilarKind::CutShort => Kind::Cut,
            SimilarKind::Lengthened => Kind::Longer,
        };
        let similar = reads.worst.and_then(|of| Some((kind(of), reads.of_kind(of)?)));
        Ok(Self { size: effect.size.value, absent: reads.absent, stored: reads.stored, similar })
    }
}
