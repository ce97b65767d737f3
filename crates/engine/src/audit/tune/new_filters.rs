//! The filters that a rebuild would make.

use filterblock::LegacyHash;

use super::hash_evidence::HashEvidence;
use crate::audit::policies::{Policy, PolicyCounts};
use crate::report::{Action, Rebuild};

#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFilters {
    pub(crate) policy: Policy,
    /// Has to be given: no table has filters of it, or some have others.
    pub(crate) is_named: bool,
    /// Chosen among the policies of several tables.
    pub(crate) is_chosen: bool,
    /// No table has filters of it: the program may use none.
    pub(crate) is_assumed: bool,
    /// The most used; `None` if unknown.
    pub(crate) bits: Option<u32>,
    /// Set if it has to be given.
    pub(crate) hash: Option<LegacyHash>,
    /// It has to be given, and nothing tells which.
    pub(crate) is_hash_unknown: bool,
}

impl Default for NewFilters {
    fn default() -> Self {
        Self::of(None, Policy::Builtin2, &PolicyCounts::of(&mut std::iter::empty()))
    }
}

impl NewFilters {
    /// `given`: the policy of the request. `policy`: the one to tune for. `names`: the policies that tables have.
    pub(crate) fn of(given: Option<Policy>, policy: Policy, names: &PolicyCounts<'_>) -> Self {
        // Filters with false negatives are of a known policy, and no others may be.
        let is_kept = given.is_some() || names.has(policy);
        let policy = if is_kept { policy } else { names.most_frequent().unwrap_or(policy) };
        Self {
            policy,
            is_named: !names.has(policy) || names.has_other_than(policy),
            is_chosen: given.is_none() && names.are_several(),
            is_assumed: given.is_none() && !names.has(policy),
            bits: None,
            hash: None,
            is_hash_unknown: false,
        }
    }

    /// Sets the hash if it has to be given. `is_goleveldb`: the program is goleveldb, whose hash is unsigned.
    pub(super) fn hash(self, evidence: HashEvidence, is_goleveldb: bool) -> Self {
        if !matches!(self.policy, Policy::Builtin(_)) {
            return self;
        }
        let hash = evidence.revealed().or(is_goleveldb.then_some(LegacyHash::Unsigned));
        Self { hash, is_hash_unknown: hash.is_none() && evidence.is_needed(), ..self }
    }

    pub(super) fn with_bits(&self, bits_per_key: Option<u32>) -> Action {
        Action::Rebuild(Rebuild {
            bits_per_key,
            policy: self.is_named.then_some(self.policy),
            hash: self.hash,
        })
    }
}
