//! The false-positive rates of the filters in use, level by level.

use maud::html;

use crate::audit::overview::sums::TableSums;
use crate::audit::rates::Rate;
use crate::page::names::place_title;
use crate::page::parts::Section;
use crate::page::pictures::{Lane, lanes, of_rate, rate_fields};
use crate::page::shown::Shown;
use crate::report::{TableLevel, TableState};
use crate::text::{bits_per_entry, measured};

/// The ends of a scale of rates.
const ENDS: [f64; 6] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// `None`: no rate is known.
pub(crate) fn rates(page: &Shown<'_>) -> Option<Section> {
    let places = page.overview.places();
    // Tables without filters let all pass, which is no rate of filters.
    let filtered = |sums: &TableSums| sums.tables() > sums.in_state(TableState::NoFilter);
    let rated = places
        .iter()
        .filter(|(at, sums)| **at != TableLevel::NotLive && filtered(sums))
        .filter_map(|(&at, sums)| Some((place_title(at), sums, sums.random_fpr.mean()?)));
    let rated: Vec<_> = rated.collect();
    let mut by_rate: Vec<Rate> = rated.iter().map(|(.., rate)| *rate).collect();
    by_rate.sort_by(|one, other| one.rate.total_cmp(&other.rate));
    let (least, greatest) = (*by_rate.first()?, *by_rate.last()?);
    let most = greatest.rate;
    let end = ENDS.into_iter().find(|end| most <= *end).unwrap_or(1.0);
    let shown: Vec<_> = rated
        .iter()
        .map(|(name, sums, rate)| {
            let bits = sums.bits_per_entry().map(|bits| format!("{} bits per entry", bits_per_entry(bits)));
            let missing = sums.in_state(TableState::NoFilter);
            let missing = (missing > 0).then(|| format!("{missing} without filters"));
            let about = bits.into_iter().chain(missing).collect::<Vec<_>>().join(", ");
            let text = measured(*rate);
            Lane {
                name: name.clone(),
                label: format!("{name}: {about}, false-positive rate {text}"),
                about,
                bars: vec![(of_rate(rate.rate), rate.rate)],
                text: html! { b { (text) } },
            }
        })
        .collect();
    let answer = match [least, greatest].map(measured) {
        [least, greatest] if least == greatest => format!("{least} of random absent keys"),
        [least, greatest] => format!("{least} to {greatest} of random absent keys, by level"),
    };
    Some(Section {
        title: "False-positive rates",
        answer,
        content: html! {
            p { "The share of absent keys that filters do not rule out, so that a lookup reads a data block in vain. Tables \
                 without filters rule out none." }
            (lanes(&shown, end, ["0%", &format!("{:.0}%", end * 100.0)], &rate_fields(rated.iter().map(|(.., rate)| rate.rate))))
        },
    })
}
