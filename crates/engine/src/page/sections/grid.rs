//! Tables of a page.

use maud::{Markup, html};

pub(crate) enum Cell {
    /// Of a row.
    Head(Markup),
    Text(Markup),
    /// Of any length.
    Key(Markup),
    /// Of many words.
    Words(Markup),
    Number(String),
}

impl Cell {
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(html! { (text.as_ref()) })
    }

    pub(crate) fn head(text: impl AsRef<str>) -> Self {
        Self::Head(html! { (text.as_ref()) })
    }

    /// `label`: the title of the column, where a narrow page has no room for a head.
    fn to_html(&self, label: Option<&str>) -> Markup {
        match self {
            Self::Head(text) => html! { th scope="row" { (text) } },
            Self::Text(text) => html! { td data-l=[label] { (text) } },
            Self::Key(text) => html! { td.k data-l=[label] { (text) } },
            Self::Words(text) => html! { td.w data-l=[label] { (text) } },
            Self::Number(text) => html! { td.n data-l=[label] { (text) } },
        }
    }
}

/// A table of numbers, which scrolls within its box. A title that begins with `#` heads a column of numbers.
pub(crate) fn grid(titles: &[&str], lines: &[Vec<Cell>]) -> Markup {
    table("scroll", titles, lines)
}

/// A table of texts, whose lines are blocks where the page is narrow.
pub(crate) fn stacked(titles: &[&str], lines: &[Vec<Cell>]) -> Markup {
    table("scroll stack", titles, lines)
}

fn table(class: &str, titles: &[&str], lines: &[Vec<Cell>]) -> Markup {
    let label = |at: usize| {
        let title =
            titles.get(at).map(|title| title.trim_start_matches('#')).filter(|title| !title.is_empty());
        title.filter(|_| class != "scroll")
    };
    html! {
        div class=(class) {
            table {
                thead { tr { @for title in titles {
                    @match title.strip_prefix('#') {
                        Some(title) => th.n scope="col" { (title) },
                        None => th scope="col" { (title) },
                    }
                } } }
                tbody { @for line in lines { tr { @for (at, cell) in line.iter().enumerate() { (cell.to_html(label(at))) } } } }
            }
        }
    }
}
