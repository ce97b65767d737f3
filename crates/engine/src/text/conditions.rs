//! What has to be so for advice to hold, and what comes before it, in words.

use super::blocks;
use crate::audit::Policy;
use crate::report::{Action, Advice, Condition, Obstacle, Rebuild, SimilarKind};

/// Ends the sentence about programs that set a policy.
pub(super) const SEE_PROGRAMS: &str = ": see docs/programs.md.";

/// Programs that set this filter policy, and those that set none.
pub(crate) const fn programs(policy: Policy) -> [&'static str; 2] {
    match policy {
        Policy::Builtin(_) => ["go-ethereum and the Cosmos SDK", "CometBFT and Syncthing"],
        _ => ["Bitcoin Core, Minecraft and Foundry VTT", "Chromium's Local Storage and Session Storage"],
    }
}

pub(super) fn condition_text(condition: Condition) -> String {
    match condition {
        Condition::ProgramSetsPolicy(policy) => {
            let [set, set_none] = programs(policy);
            format!(
                "A program uses filters only if it sets this filter policy. {set} do; {set_none} do not{SEE_PROGRAMS} If \
                 yours does:"
            )
        }
        Condition::SeveralPolicies(policy) => format!(
            "Tables have filters of several policies. If the program does not set {}, give its own to --policy:",
            policy.name()
        ),
        Condition::SimilarKeys { kind, reads, larger_range_helps } => {
            let what = match kind {
                SimilarKind::Between => "numbers that are missing".to_owned(),
                SimilarKind::Changed => "stored keys with one byte changed".to_owned(),
                kind => format!("stored keys {}", similar_text(kind)),
            };
            let helps = if larger_range_helps { ": --base-lg 63 helps until compactions" } else { "" };
            let reads = blocks(reads);
            format!("If the program looks up {what} (see --lookups), a lookup reads {reads} blocks{helps}.")
        }
    }
}

pub(super) fn obstacle_text(obstacle: Obstacle, advice: &Advice) -> String {
    let with = match advice.action {
        Action::Rebuild(rebuild) if rebuild != Rebuild::default() => {
            format!(", with {}", rebuild.arguments().join(" "))
        }
        _ => String::new(),
    };
    match obstacle {
        Obstacle::HashUnknown => format!(
            "Rebuild has to be given the hash{with}: --hash unsigned for goleveldb, --hash signed for LevelDB before 1.18 \
             on x86."
        ),
        Obstacle::KeyOrderUnknown => format!(
            "Rebuild has to be given --assume-bytewise-equality{with}, if the order of keys takes no different bytes for \
             equal."
        ),
        Obstacle::UndoExists => {
            "The tables from before an earlier rebuild are still there. First delete them, or go back:"
                .to_owned()
        }
    }
}

/// A kind of absent key similar to stored ones, in words.
pub const fn similar_text(kind: SimilarKind) -> &'static str {
    match kind {
        SimilarKind::Changed => "one byte changed",
        SimilarKind::Between => "between stored numbers",
        SimilarKind::CutShort => "cut short",
        SimilarKind::Lengthened => "lengthened",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines of a terminal, so that the text of a sound database has five.
    #[test]
    fn similar_keys_have_a_sentence() {
        let of = |kind, larger_range_helps| {
            condition_text(Condition::SimilarKeys { kind, reads: 1.0449, larger_range_helps })
        };
        let numbers =
            "If the program looks up numbers that are missing (see --lookups), a lookup reads 1.04 blocks";
        let helps = ": --base-lg 63 helps until compactions.";
        assert_eq!(of(SimilarKind::Between, true), format!("{numbers}{helps}"));
        assert_eq!(of(SimilarKind::Between, false), format!("{numbers}."));
        assert!(SimilarKind::ALL.iter().all(|kind| of(*kind, true).len() < 2 * 78));
    }
}
