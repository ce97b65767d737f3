//! The advice of `tune` in words, for every kind of output.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::numbers::{counted, size};
use super::shell_word::{path_word, shell_word};
use crate::report::{
    Budget, BudgetOrigin, COPIES_ONLY, Choice, FoundFilters, LevelBits, NearKind, Outcome, Reads,
};

/// The user is not asked for lookups if, for every kind of absent key, a lookup reads no more blocks than
/// this on average.
const TELLING: f64 = 0.02;

/// The advice on filters that deny stored keys, without its last full stop.
pub const RENEW: &str = "No entry is lost: new filters bring them back";

/// A remark that new filters have 10 bits a key since no others are known, without its last full stop.
pub(crate) const USUAL_BITS_TEXT: &str =
    "They get 10 bits a key, as it is not known how many the others have";

/// The hashes that the old name of LevelDB's policy stands for, each with the programs that use it.
const HASHES: &str = "--hash signed for LevelDB up to 1.17 on x86, --hash unsigned for goleveldb and LevelDB up to 1.17 on ARM";

/// A remark that a rebuild is refused until another command has run, without its last full stop.
pub const DECIDE: &str = "The tables from before an earlier rebuild are still there: first, filterblock rebuild --discard has to remove \
     them or, if no program has opened the database since, --undo to bring them back";

/// The advice on damage, before the command that saves what can be saved.
pub const SAVE: &str = "A backup from before the damage is best, then the program's own way to make its data anew. Failing these, save \
     what can be saved; this database is only read:";

/// A remark that a rebuild is refused as tables are not whole, without its last full stop.
pub(crate) const RESTORE: &str = "Rebuild refuses a damaged database: first, restore it from a backup or, failing that, save what can be saved with \
     filterblock repair";

/// A remark that a rebuild has to be told what to do with tables that it cannot read, without its last full stop.
pub(crate) const UNDECODABLE: &str =
    "Rebuild refuses tables that it cannot decode, unless --keep-undecodable leaves them as they are";

/// The factor below which a saving of reads is negligible.
pub const LEAST_GAIN: f64 = 1.05;

/// A kind of absent key near stored ones, in words that follow a number of reads.
pub const fn near_text(kind: NearKind) -> &'static str {
    match kind {
        NearKind::Changed => "with a byte changed",
        NearKind::Between => "between stored ones",
        NearKind::Cut => "cut short",
        NearKind::Longer => "made longer",
    }
}

/// A request for the user's lookups, if the kinds of absent keys differ much in their reads. `None` if they
/// do not, if lookups of every kind read few blocks, or if the user's lookups were given.
pub fn ask_for_lookups(reads: &Reads) -> Option<&'static str> {
    let kinds = reads.near.all().into_iter().flatten().chain([reads.random]);
    let (least, most) = kinds.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), reads| {
        (least.min(reads.high), most.max(reads.low))
    });
    let differs = reads.lookups.is_none() && most > 2.0 * least && most > TELLING;
    differs.then_some(
        "which absent keys the program asks for makes much of a difference here: with --lookups the numbers are for those",
    )
}

/// Advice to leave the filters as they are, since the tables take `taken` bytes, which are fewer than
/// `least`.
pub fn small_text(taken: u64, least: u64) -> String {
    format!(
        "leave the filters as they are: tables of {} fit into any cache, and below {} no program notices other filters",
        size(taken),
        size(least),
    )
}

/// Advice to leave the filters as they are, without its last full stop. `ten_bits`: the outcome of ten bits a
/// key, if they would save many reads at the cost of more space.
///
/// `is_at_a_price`: other filters save enough, but make lookups of some kind of key read more.
pub fn leave_text(budget: Budget, now: &Outcome, ten_bits: Option<&Outcome>, is_at_a_price: bool) -> String {
    let within = match budget.origin {
        BudgetOrigin::Given => format!("of at most {}", size(budget.bytes)),
        BudgetOrigin::InUse | BudgetOrigin::TenBits => "of the same size".to_owned(),
    };
    let price = if is_at_a_price { " for some keys without costing others more" } else { "" };
    let mut text = format!("leave the filters as they are, as no others {within} save enough{price}");
    if let Some((reads, then)) = now.reads.zip(ten_bits) {
        let fewer = then.reads.map_or(0.0, |reads| reads.absent().value);
        let more = then.size.value - now.size.value;
        text += &format!(
            ". With {} more, 10 bits a key, an absent key would read {fewer:.3} data blocks instead of {:.3}",
            size(more.max(0.0) as u64),
            reads.absent().value,
        );
    }
    text
}

/// The fault of filters that deny this number of stored keys, without a full stop.
pub fn denied_text(denied: u64) -> String {
    format!("filters deny {} that are stored: programs do not find them", counted(denied, "key"))
}

/// Advice to make filters anew that deny this number of stored keys, without its last full stop.
pub fn renew_text(denied: u64) -> String {
    format!("{}. {RENEW}", denied_text(denied))
}

/// A remark that the policy of this name was chosen among those of the tables' filters, without its last full stop.
pub(crate) fn several_policies_text(name: &str) -> String {
    format!(
        "Tables have filters of several policies, and the new ones are of {name}: if the program sets another policy, its \
         name has to follow --policy instead"
    )
}

/// A remark that a rebuild also has to be told the hash, besides these arguments, without its last full stop.
pub(crate) fn hash_text(arguments: &[String]) -> String {
    besides(format!("Rebuild has to be told the hash, which the filters do not reveal: {HASHES}"), arguments)
}

/// A remark that a rebuild has to be told that the order of keys permits filters, besides these arguments, without its last
/// full stop.
pub(crate) fn equality_text(arguments: &[String]) -> String {
    let text = "Rebuild refuses an order of keys that is not known, unless --assume-bytewise-equality says that it takes no \
                keys of different bytes for equal";
    besides(text.to_owned(), arguments)
}

fn besides(text: String, arguments: &[String]) -> String {
    if arguments.is_empty() { text } else { format!("{text}, besides {}", arguments.join(" ")) }
}

/// A remark that a rebuild may have to be told the hash, without its last full stop.
pub(crate) fn hash_if_asked_text() -> String {
    format!("Should rebuild ask for the hash, it is {HASHES}")
}

/// Advice to rebuild with the filters of `choice` in place of those of `now`, without its last full stop.
/// `found`: the filters that tables have. If no table has filters of the policy, the advice depends on the program.
pub fn rebuild_text(now: &Outcome, choice: &Choice, found: FoundFilters) -> String {
    let (bits, ranges) = (bits_text(choice), ranges_text(choice.base_lg));
    let what = format!("rebuild with {bits} and {ranges}");
    let text = match (gain(now, &choice.outcome), reads_change(now, &choice.outcome)) {
        (Some(gain), Some(reads)) => format!("{gain}: {what}, and {reads}"),
        (_, Some(reads)) => format!("{what}: {reads}; {}", size_change(now, &choice.outcome)),
        (_, None) => format!("{what}: {}", size_change(now, &choice.outcome)),
    };
    let (having, sign) = match found {
        FoundFilters::OfPolicy => return text,
        FoundFilters::OfOthers => ("filters of that policy", "another, and then these filters"),
        FoundFilters::None => ("filters", "none, and then filters"),
    };
    let name = choice.policy.name();
    format!(
        "if the program that opens the database sets the filter policy {name}, and only then, {text}. That no table has \
         {having} is a sign that it sets {sign} save nothing: look for filter_policy in its source, or run inspect on \
         a table that it has just written"
    )
}

/// The gain of a rebuild in reads: `10 times fewer wasted reads for 2 MiB more`. `None`: the reads do not
/// decrease noticeably, or are not known.
fn gain(now: &Outcome, then: &Outcome) -> Option<String> {
    let (now_reads, then_reads) = (now.reads?.absent().value, then.reads?.absent().value);
    let factor = now_reads / then_reads;
    let gain = match factor {
        _ if factor.is_nan() || factor < LEAST_GAIN => return None,
        // Less than a thousandth of the reads is left, which is next to nothing.
        _ if factor > 1000.0 => "hardly any wasted reads".to_owned(),
        _ if factor < 9.95 => format!("{factor:.1} times fewer wasted reads"),
        _ => format!("{factor:.0} times fewer wasted reads"),
    };
    let (now, then) = (now.size.value.round() as u64, then.size.value.round() as u64);
    Some(match now.cmp(&then) {
        Ordering::Less => format!("{gain} for {} more", size(then - now)),
        Ordering::Equal => gain,
        Ordering::Greater => format!("{gain}, and {} less", size(now - then)),
    })
}

/// The reads of lookups if the filters of `now` are replaced by those of `then`. `None`: reads are not
/// known.
fn reads_change(now: &Outcome, then: &Outcome) -> Option<String> {
    let (reads, fewer) = (now.reads?, then.reads?);
    let [of_absent, of_absent_then, of_stored, of_stored_then] =
        [reads.absent(), fewer.absent(), reads.present, fewer.present]
            .map(|reads| format!("{:.3}", reads.value));
    let mut text = format!("an absent key then reads {of_absent_then} data blocks instead of {of_absent}");
    if of_stored_then != of_stored {
        text += &format!(", a stored one {of_stored_then} instead of {of_stored}");
    }
    Some(text)
}

fn size_change(now: &Outcome, then: &Outcome) -> String {
    let (now, then) = (now.size.value.round() as u64, then.size.value.round() as u64);
    let word = if then > now { "more" } else { "less" };
    format!("filters take {} {word}", size(now.abs_diff(then)))
}

/// The reason why bits by level read noticeably more than the same bits on all levels, as the end of a sentence.
/// `None`: they do not, or that is not known. Empty: there is no simple reason.
pub fn loss_by_level(by_level: &Choice, uniform: &Choice) -> Option<&'static str> {
    let reads = |choice: &Choice| Some(choice.outcome.reads?.absent().value);
    let of_top = |choice: &Choice| Some(choice.bits.iter().find(|of| of.level == Some(0))?.bits_per_key);
    let is_loss = reads(by_level)? > reads(uniform)? * LEAST_GAIN;
    let reason =
        if of_top(by_level) == of_top(uniform) { "" } else { ", as level 0 keeps the program's own bits" };
    is_loss.then_some(reason)
}

/// The command that carries out the advice: in place, or by a copy beside the database where `rebuild` makes
/// [copies only](COPIES_ONLY).
pub fn rebuild_command(database: &Path, arguments: &[String]) -> String {
    let mut command = format!("filterblock rebuild {} ", path_word(database));
    if COPIES_ONLY {
        command += &format!("--to {}", path_word(&copy_beside(database, "-rebuilt")));
    } else {
        command += "--in-place";
    }
    for argument in arguments {
        command.push(' ');
        command.push_str(&shell_word(argument));
    }
    command
}

/// The command that makes a new database, beside this one, from what can be saved of this one.
pub fn repair_command(database: &Path) -> String {
    let copy = copy_beside(database, "-repaired");
    format!("filterblock repair {} --to {}", path_word(database), path_word(&copy))
}

/// A path beside `database`, whose name is that of the database followed by `ending`, or `NEW` if the path of the
/// database ends in no name, as `.` does. Of a root, which nothing lies beside, it is the word `NEW`.
fn copy_beside(database: &Path, ending: &str) -> PathBuf {
    match database.file_name() {
        Some(name) => database.with_file_name([name, ending.as_ref()].join(OsStr::new(""))),
        // A folder that is chosen in a browser has a name.
        None if cfg!(target_family = "wasm") || database.parent().is_none() => "NEW".into(),
        None => database.strip_prefix(".").unwrap_or(database).join("../NEW"),
    }
}

/// The bits a key of all levels: `20 bits a key on levels 0 and 1, 17 on level 2`, or one number if it is the
/// same on all levels.
pub fn bits_text(choice: &Choice) -> String {
    if let Some(bits) = choice.same_bits() {
        return format!("{bits} {} a key", if bits == 1 { "bit" } else { "bits" });
    }
    let mut parts = Vec::new();
    for group in choice.bits.chunk_by(|one, next| one.bits_per_key == next.bits_per_key) {
        let Some(LevelBits { bits_per_key: bits, .. }) = group.first() else { continue };
        let unit = if parts.is_empty() { " bits a key" } else { "" };
        let levels: Vec<_> = group.iter().filter_map(|of| Some(of.level?.to_string())).collect();
        let levels = match levels.split_last() {
            Some((last, [])) => format!("level {last}"),
            Some((last, others)) => format!("levels {} and {last}", others.join(", ")),
            None => "tables of no level".to_owned(),
        };
        parts.push(format!("{bits}{unit} on {levels}"));
    }
    parts.join(", ")
}

/// The size of the ranges of data blocks that have a filter each, for this `base_lg`.
pub fn ranges_text(base_lg: u8) -> String {
    /// With this `base_lg` or a greater one, a range is longer than any table.
    const WHOLE_TABLE: u8 = 40;
    match 1_u64.checked_shl(base_lg.into()) {
        Some(range) if base_lg < WHOLE_TABLE => format!("a filter for every {} of data blocks", size(range)),
        _ => "one filter for each table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::policies::Policy;
    use crate::report::{Code, Estimate, Reads};

    fn choice(base_lg: u8, bits: &[(Option<u8>, u32)]) -> Choice {
        let bits = bits.iter().map(|&(level, bits_per_key)| LevelBits { level, bits_per_key }).collect();
        Choice { policy: Policy::Builtin2, base_lg, bits, outcome: Outcome::default() }
    }

    #[test]
    fn advice_is_a_sentence() {
        let outcome = |bytes: f64, absent: f64, present: f64| {
            let exact = Estimate::exact;
            let reads = Reads { neighbours: exact(absent), present: exact(present), ..Reads::default() };
            Outcome { size: exact(bytes), reads: Some(reads), ..Outcome::default() }
        };
        let now = outcome(4096.0, 0.5, 1.25);
        let budget = Budget { bytes: 16 << 20, origin: BudgetOrigin::Given };
        assert_eq!(
            leave_text(budget, &now, Some(&outcome(5120.0, 0.031, 1.0)), false),
            "leave the filters as they are, as no others of at most 16 MiB save enough. With 1 KiB more, 10 bits a key, \
             an absent key would read 0.031 data blocks instead of 0.500"
        );
        assert_eq!(
            leave_text(budget, &now, None, true),
            "leave the filters as they are, as no others of at most 16 MiB save enough for some keys without costing \
             others more"
        );
        let bits = [(Some(0), 20), (Some(1), 20), (Some(2), 17), (Some(4), 9)];
        let choice = Choice { outcome: outcome(1024.0, 0.0625, 1.0), ..choice(14, &bits) };
        assert_eq!(
            rebuild_text(&now, &choice, FoundFilters::OfPolicy),
            "8.0 times fewer wasted reads, and 3 KiB less: rebuild with 20 bits a key on levels 0 and 1, 17 on level 2, 9 on \
             level 4 and a filter for every 16 KiB of data blocks, and an absent key then reads 0.062 data blocks \
             instead of 0.500, a stored one 1.000 instead of 1.250"
        );
        assert!(
            rebuild_text(&now, &choice, FoundFilters::None).starts_with(
                "if the program that opens the database sets the filter policy leveldb.BuiltinBloomFilter2, and only then, \
                 8.0 times fewer wasted reads, and 3 KiB less: rebuild with 20 bits"
            )
        );
        let text = rebuild_text(&outcome(4096.0, 0.5, 1.0004), &choice, FoundFilters::OfPolicy);
        assert!(text.ends_with("and an absent key then reads 0.062 data blocks instead of 0.500"), "{text}");
        // A choice that saves no reads may save space.
        let text = rebuild_text(&outcome(4096.0, 0.0625, 1.0), &choice, FoundFilters::OfPolicy);
        assert!(
            text.starts_with("rebuild with 20 bits") && text.ends_with("; filters take 3 KiB less"),
            "{text}"
        );
    }

    #[test]
    fn bits_are_named_once_if_they_are_the_same() {
        assert_eq!(bits_text(&choice(11, &[(None, 12)])), "12 bits a key");
        assert_eq!(bits_text(&choice(11, &[(Some(0), 1), (Some(3), 1)])), "1 bit a key");
        let four = [(Some(0), 9), (Some(1), 9), (Some(2), 9), (Some(3), 4)];
        assert_eq!(bits_text(&choice(11, &four)), "9 bits a key on levels 0, 1 and 2, 4 on level 3");
    }

    #[test]
    fn a_range_is_a_size_or_the_table() {
        assert_eq!(ranges_text(11), "a filter for every 2 KiB of data blocks");
        assert_eq!(ranges_text(16), "a filter for every 64 KiB of data blocks");
        assert_eq!([ranges_text(63), ranges_text(255)], ["one filter for each table"; 2]);
    }

    #[test]
    fn the_command_is_made_of_words_for_a_shell() {
        let arguments =
            ["--bits-per-key".to_owned(), "0=20,1=9".to_owned(), "--policy".to_owned(), "a b".to_owned()];
        let [command, of_dash] = if cfg!(windows) {
            [
                r#"filterblock rebuild "my db" --to "my db-rebuilt" --bits-per-key "0=20,1=9" --policy "a b""#,
                "filterblock rebuild ./- --to ./--rebuilt",
            ]
        } else {
            [
                "filterblock rebuild 'my db' --in-place --bits-per-key 0=20,1=9 --policy 'a b'",
                "filterblock rebuild ./- --in-place",
            ]
        };
        assert_eq!(rebuild_command(Path::new("my db"), &arguments), command);
        assert_eq!(rebuild_command(Path::new("-"), &[]), of_dash);
    }

    /// The page shows the remedy for a finding and the command.
    #[test]
    fn remedies_name_the_rebuild_of_the_command() {
        let command = rebuild_command(Path::new("DB"), &[]).replace("DB-rebuilt", "NEW");
        for code in [Code::FilterDeniesKey, Code::FilterMalformed, Code::FilterUnusable] {
            assert!(code.remedy().contains(&command), "{command}: {}", code.remedy());
        }
    }

    #[test]
    fn a_copy_lies_beside_its_database() {
        for (database, copy) in [
            ("x/my db", "x/my db-rebuilt"),
            ("db/", "db-rebuilt"),
            ("./db", "./db-rebuilt"),
            (".", "../NEW"),
            ("./.", "../NEW"),
            ("..", "../../NEW"),
            ("x/..", "x/../../NEW"),
            ("/", "NEW"),
        ] {
            assert_eq!(copy_beside(Path::new(database), "-rebuilt"), Path::new(copy));
        }
    }
}
