//! The report of a database, a folder of tables or a table: the verdict, then sections in its order.

use maud::{Markup, html};

use super::names::message;
use super::parts::{Section, VerdictBox, command, name_and_facts};
use super::pictures::{Bar, bars};
use super::repair_report::{aside_title, facts_of, tally_of};
use super::sections::repaired::{files, places, saved_and_lost};
use super::sections::{
    about, candidates, checked, hidden, lookups, map, problems, program, rates, sizes, tables,
};
use super::shown::Shown;
use super::verdict::logs_not_read;
use crate::report::{Basis, HugeManifest, Severity, Verdict};
use crate::text::{AdviceText, before_repair, capitalized, counted, entry_sum, prospect, sentence, size};

/// From the name on.
pub(super) fn body(page: &Shown<'_>, advice: &AdviceText) -> Markup {
    let facts = match page.repair {
        Some(Ok(report)) => facts_of(report),
        _ => facts(page),
    };
    let (open, closed) = sections(page);
    html! {
        (name_and_facts(page.path, &facts))
        (verdict(page, advice))
        div.parts {
            @for section in open.into_iter().flatten() { (section.show(true)) }
            @for section in closed.into_iter().flatten() { (section.show(false)) }
        }
    }
}

fn facts(page: &Shown<'_>) -> Vec<String> {
    let sums = page.overview.sums();
    let mut facts = vec![counted(sums.tables(), "table"), size(sums.size)];
    let entries = sums.entries.value.filter(|_| !page.is_damaged());
    facts.extend(entries.map(|entries| {
        let unit = if entries == 1 { "entry" } else { "entries" };
        format!("{} {unit}", entry_sum(&sums.entries))
    }));
    let logs = page.overview.logs.len() as u64;
    facts.extend((logs > 0).then(|| counted(logs, "log")));
    facts
}

fn verdict(page: &Shown<'_>, advice: &AdviceText) -> Markup {
    let severity = advice.verdict.severity();
    let tag = capitalized(advice.verdict.words());
    let mut conditions = advice.conditions.clone();
    let mut meaning = advice.sentence.clone();
    if let Some(Ok(report)) = page.repair {
        // The sentence of the verdict is known without a repair.
        let known = std::mem::replace(&mut meaning, prospect(report));
        conditions.insert(0, known);
        conditions.retain(|text| !text.is_empty());
        conditions = before_repair(conditions, report);
    }
    if severity == Severity::Good {
        conditions.push(sentence(&checked::answer(page)));
        conditions.extend(logs_not_read(page.overview).map(|text| sentence(&text)));
    }
    let verdict = VerdictBox {
        severity,
        tag: &tag,
        title: &advice.title,
        sentence: &meaning,
        action: html! {
            @if advice.commands.is_empty() && severity == Severity::Good { p { b { "Nothing to do." } } }
            @for text in &advice.commands { (command(text)) }
        },
        conditions: &conditions,
        aside: aside(page),
    };
    verdict.show()
}

/// The picture of the verdict.
fn aside(page: &Shown<'_>) -> Option<(&'static str, Markup)> {
    match &page.advice.reason {
        Basis::Damage(_) => {
            let report = page.repair?.as_ref().ok()?;
            Some((aside_title(true), tally_of(report)))
        }
        Basis::FalseNegatives(_) => Some(("Stored keys", hidden::aside(page)?)),
        Basis::HugeManifest(HugeManifest { len, needed, .. }) => {
            let bar = |name, class, bytes: u64| Bar {
                of: String::new(),
                name,
                class,
                value: bytes as f64,
                text: size(bytes),
                needed: None,
            };
            let rows = [bar("now", "g-now", *len), bar("after", "g-then", *needed)];
            Some(("Size of the MANIFEST", bars(&rows, *len as f64)))
        }
        Basis::Reads | Basis::Size | Basis::Enough => {
            Some(("Data blocks that a lookup reads", lookups::aside(page)?))
        }
        _ => None,
    }
}

type Sections = Vec<Option<Section>>;

/// Those that are open at first, and the others.
fn sections(page: &Shown<'_>) -> (Sections, Sections) {
    let about = || Some(about::about(page));
    let checked = || Some(checked::checked(page));
    let problems = || problems::problems(page);
    let (map, tables) = (|| map::map(page), || tables::tables(page));
    let (rates, sizes) = (|| rates::rates(page), || sizes::sizes(page));
    let lookups = || lookups::lookups(page);
    match (page.advice.verdict, &page.advice.reason) {
        (Verdict::Damaged, Basis::Damage(_)) => damaged(page),
        (Verdict::Damaged, _) => {
            (vec![problems()], vec![rates(), map(), sizes(), checked(), tables(), about()])
        }
        (Verdict::FalseNegatives, _) => (
            vec![hidden::hidden(page), Some(hidden::why())],
            vec![checked(), map(), lookups(), problems(), tables(), about()],
        ),
        (Verdict::CannotTell, _) => (vec![problems()], vec![map(), sizes(), checked(), tables(), about()]),
        (Verdict::CouldBeBetter, Basis::Reads | Basis::Size) => {
            let which = candidates::candidates(page, "Which filters");
            match program::program(page) {
                Some(program) => {
                    (vec![Some(program), lookups()], vec![which, map(), checked(), tables(), about()])
                }
                None => (vec![rates(), lookups(), which], vec![map(), sizes(), checked(), tables(), about()]),
            }
        }
        (Verdict::CouldBeBetter, _) => {
            (vec![problems()], vec![lookups(), rates(), map(), sizes(), checked(), tables(), about()])
        }
        (Verdict::Fine, Basis::Enough) => {
            let others = candidates::candidates(page, "Could they be better?");
            (vec![lookups(), map()], vec![rates(), sizes(), others, checked(), tables(), about()])
        }
        (Verdict::Fine, _) => {
            let others = page.tuned.filter(|tuned| tuned.is_err());
            let others = others.and_then(|_| candidates::candidates(page, "Could they be better?"));
            // Who gives own lookups wants to know what they read.
            let own = page.tuned().is_some_and(|tuning| tuning.lookups.is_some());
            let lookups = own.then(lookups).flatten();
            (vec![], vec![lookups, map(), rates(), sizes(), others, checked(), tables(), about()])
        }
    }
}

/// What is lost comes before anything else, and filters are not judged.
fn damaged(page: &Shown<'_>) -> (Sections, Sections) {
    let (problems, about) = (problems::problems(page), Some(about::about(page)));
    let tables = tables::tables(page);
    let filters = Some(Section {
        title: "Filters",
        answer: "not judged while the data is damaged".to_owned(),
        content: html! { p { "A new database has filters as this one has them now." } },
    });
    let map = map::damage(page);
    match page.repair {
        Some(Ok(report)) => {
            let places = places(report, "Where the damage is", &map.unwrap_or_else(|| html! {}));
            (
                vec![Some(saved_and_lost(report, 0)), places],
                vec![problems, Some(files(report)), filters, about],
            )
        }
        Some(Err(why)) => {
            let section = Section {
                title: "Saved and lost",
                answer: "it could not be found out".to_owned(),
                content: html! { p { (sentence(&message(why))) } },
            };
            (vec![Some(section), problems], vec![tables, filters, about])
        }
        None => (vec![problems], vec![tables, about]),
    }
}
