//! The rebuild that is advised if filters deny stored keys, and the hash that a rebuild has to be told.

use filterblock::LegacyHash;

use super::hash_evidence::{HashEvidence, HashNeeded};
use super::lookups::Survey;
use crate::audit::policies::{Policy, PolicyCounts};
use crate::report::{Action, Advice};
use crate::words::{
    USUAL_BITS_TEXT, equality_text, hash_if_asked_text, hash_text, renew_text, several_policies_text,
};

/// The filters to make in place of those that deny stored keys.
pub(super) struct Renewal {
    policy: Policy,
    /// Tables have filters that are not of `policy`, so that it has to be named.
    names_policy: bool,
    /// The policy was chosen among those of several tables' filters.
    is_chosen: bool,
    /// The bits a key that are most in use; `None` if they are not known.
    bits: Option<u32>,
    hashes: HashEvidence,
    /// Every table was looked at for `hashes`.
    all: bool,
    /// The program that opens the database is goleveldb, whose hash is unsigned.
    is_goleveldb: bool,
}

impl Renewal {
    /// `given`: the policy of the request. `policy`: the one to tune for. `bits`: the bits a key most in use by filters
    /// of `policy`. `hashes`: what the filters reveal, and true if every table was looked at. `is_goleveldb`: the program
    /// that opens the database is goleveldb.
    pub(super) fn new(
        given: Option<Policy>,
        policy: Policy,
        survey: &Survey,
        bits: Option<u32>,
        (hashes, all): (HashEvidence, bool),
        is_goleveldb: bool,
    ) -> Self {
        let mut names =
            survey.iter().filter_map(|filters| Some(filters.as_ref().ok()?.name.as_deref()?.as_bytes()));
        let names = PolicyCounts::of(&mut names);
        // No filters are of a policy that is assumed. Those that deny keys are of a known policy, sound or not.
        let is_kept = given.is_some() || names.has(policy);
        let renewed = if is_kept { policy } else { names.most_frequent().unwrap_or(policy) };
        Self {
            policy: renewed,
            names_policy: names.has_other_than(renewed),
            is_chosen: given.is_none() && names.are_several(),
            bits: bits.filter(|_| renewed == policy),
            hashes,
            all,
            is_goleveldb,
        }
    }

    /// The advice for filters that deny this number of stored keys. `is_order_known`: keys of different bytes are known
    /// to be different keys, or to be compared by Chromium's rules.
    pub(super) fn advice(&self, denied: u64, is_order_known: bool) -> Advice {
        let mut text = renew_text(denied);
        let mut arguments = Vec::new();
        match self.bits {
            Some(bits) => arguments.extend(["--bits-per-key".to_owned(), bits.to_string()]),
            None => text += &format!(". {USUAL_BITS_TEXT}"),
        }
        if self.names_policy {
            arguments.extend(["--policy".to_owned(), self.policy.name().to_owned()]);
        }
        if self.is_chosen {
            text += &format!(". {}", several_policies_text(self.policy.name()));
        }
        let mut arguments = self.with_hash(self.policy, arguments, &mut text);
        if !is_order_known {
            text += &format!(". {}", equality_text(arguments.as_deref().unwrap_or_default()));
            arguments = None;
        }
        Advice { action: Action::Rebuild, text, choice: None, arguments }
    }

    /// Adds the hash to the arguments of a rebuild with this policy, if it has to be told, or else a remark on it to the
    /// text of the advice. `None`: the hash has to be told and is not known. The text then has the arguments.
    pub(super) fn with_hash(
        &self,
        policy: Policy,
        mut arguments: Vec<String>,
        text: &mut String,
    ) -> Option<Vec<String>> {
        if !matches!(policy, Policy::Builtin(_)) {
            return Some(arguments);
        }
        let hash = match self.hashes.needed() {
            HashNeeded::This(LegacyHash::Signed) => "signed",
            HashNeeded::This(_) => "unsigned",
            HashNeeded::Either | HashNeeded::Unknown if self.is_goleveldb => "unsigned",
            HashNeeded::Either => {
                // A key of another table may have two different hashes.
                if !self.all {
                    *text += &format!(". {}", hash_if_asked_text());
                }
                return Some(arguments);
            }
            HashNeeded::Unknown => {
                *text += &format!(". {}", hash_text(&arguments));
                return None;
            }
        };
        arguments.extend(["--hash", hash].map(str::to_owned));
        Some(arguments)
    }
}
