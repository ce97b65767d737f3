//! The effects that filters with other numbers of bits per key would have.

use maud::html;

use super::grid::{Cell, grid};
use crate::page::names::message;
use crate::page::parts::Section;
use crate::page::shown::Shown;
use crate::report::{Candidate, Effect, Tuning};
use crate::text::{about_size, bits_text, estimate, measured, or_dash};

/// `None`: none were tried.
pub(crate) fn candidates(page: &Shown<'_>, title: &'static str) -> Option<Section> {
    let tuning = match page.tuned? {
        Ok(tuning) => tuning,
        Err(why) => {
            return Some(Section {
                title,
                answer: "it could not be found out".to_owned(),
                content: html! { p { (message(&why.text)) } },
            });
        }
    };
    let lines: Vec<_> = tuning.telling(Some(page.advice)).map(|of| line(page, tuning, of)).collect();
    let has_own = tuning.lookups.is_some();
    let mut titles = vec!["#bits per key", "", "#size", "#random keys", "#similar keys"];
    titles.extend(has_own.then_some("#own lookups"));
    titles.extend(["#reads, absent", "#reads, stored"]);
    let answer = match (page.advised(), tuning.bits_per_key) {
        (Some(advised), _) => format!("{}, as programs set them", bits_text(advised.bits_per_key)),
        (None, Some(bits)) => format!("{} are in use", bits_text(bits)),
        (None, None) => format!("{} were tried", lines.len()),
    };
    (!lines.is_empty()).then(|| Section {
        title,
        answer,
        content: html! {
            p { "Size, false-positive rates and data blocks read by a lookup, measured on the keys of this database." }
            (grid(&titles, &lines))
        },
    })
}

fn line(page: &Shown<'_>, tuning: &Tuning, of: &Candidate) -> Vec<Cell> {
    let Effect { size, rates, reads, .. } = &of.outcome;
    let is_advised = page.advised().is_some_and(|advised| advised.bits_per_key == of.bits_per_key);
    let mark = match (tuning.bits_per_key == Some(of.bits_per_key), is_advised) {
        (_, true) => "advised",
        (true, _) => "in use",
        _ => "",
    };
    let mut line = vec![
        Cell::Number(of.bits_per_key.to_string()),
        Cell::text(mark),
        Cell::Number(about_size(*size)),
        Cell::Number(or_dash(rates.random.map(measured))),
        Cell::Number(or_dash(rates.worst.map(measured))),
    ];
    line.extend(tuning.lookups.map(|_| Cell::Number(or_dash(rates.lookups.map(measured)))));
    line.push(Cell::Number(or_dash(reads.map(|reads| estimate(reads.absent)))));
    line.push(Cell::Number(or_dash(reads.map(|reads| estimate(reads.stored)))));
    line
}
