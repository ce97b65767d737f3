//! The tables of the report, in Markdown.

/// The unit of the number beside a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A factor; above 1, ours is faster.
    TimesFaster,
    /// A factor; below 1, ours is faster.
    TimesAsLong,
    /// A part of our time.
    Share,
}

/// Our time at one level of the processor, and the number beside it.
pub(crate) struct Cell {
    pub(crate) time: f64,
    pub(crate) value: f64,
    /// The same value in other processes.
    pub(crate) processes: Vec<f64>,
    pub(crate) aim: Option<f64>,
}

/// A line of a table.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// Names and times of work that has no levels. Empty if a row above has them.
    pub(crate) fixed: Vec<(&'static str, f64)>,
    /// Our time at each level of the processor.
    pub(crate) levels: Vec<Cell>,
}

/// A table of rows. The first row names all columns.
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
}

/// The names of the levels, in ascending order.
const LEVELS: [&str; 3] = ["portable", "AVX2", "AVX-512"];

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::TimesFaster | Self::TimesAsLong => format!("{value:.2}"),
            Self::Share => format!("{:.1} %", 100.0 * value),
        }
    }

    fn aim(self, value: f64) -> String {
        match self {
            Self::TimesFaster => format!("≥ {value}"),
            Self::TimesAsLong => format!("≤ {value}"),
            Self::Share => format!("≤ {:.0} %", 100.0 * value),
        }
    }

    /// Returns the value that 95 % of all processes reach or surpass.
    fn percentile(self, values: &[f64]) -> f64 {
        match self {
            Self::TimesFaster => at(values.to_vec(), 0.05),
            Self::TimesAsLong | Self::Share => -at(values.iter().map(|value| -value).collect(), 0.05),
        }
    }
}

impl Cell {
    fn show(&self, unit: Unit) -> String {
        let mut text = format!("{:.1} **{}**", self.time, unit.show(self.value));
        if !self.processes.is_empty() {
            let median = unit.show(at(self.processes.clone(), 0.5));
            text += &format!(" ({median}, {})", unit.show(unit.percentile(&self.processes)));
        }
        if let Some(aim) = self.aim {
            text += &format!(" {}", unit.aim(aim));
        }
        text
    }
}

impl Section {
    pub(crate) fn new(title: &str, rows: Vec<Row>) -> Self {
        Self { title: title.to_owned(), rows }
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        println!("\n### {}\n", self.title);
        let columns: Vec<&str> =
            self.rows.first().map_or_else(Vec::new, |row| row.fixed.iter().map(|(name, _)| *name).collect());
        let all: Vec<&str> = columns.iter().copied().chain(LEVELS).collect();
        println!("| | {} |\n|---|{}", all.join(" | "), "---|".repeat(all.len()));
        for row in &self.rows {
            print!("| {} |", row.name);
            let base = row.fixed.first().map_or(f64::NAN, |(_, time)| *time);
            for (index, name) in columns.iter().enumerate() {
                match row.fixed.iter().find(|(other, _)| other == name) {
                    Some((_, time)) if index == 0 || !name.starts_with('`') => print!(" {time:.1} |"),
                    Some((_, time)) => print!(" {time:.1} ({:.2}) |", base / time),
                    None => print!(" |"),
                }
            }
            for index in 0..LEVELS.len() {
                match row.levels.get(index) {
                    Some(cell) => print!(" {} |", cell.show(row.unit)),
                    None => print!(" |"),
                }
            }
            println!();
        }
    }

    /// Prints only the values, for the process that started this one.
    pub(crate) fn print_values(&self) {
        for row in &self.rows {
            let values: Vec<_> = row.levels.iter().map(|cell| cell.value.to_string()).collect();
            println!("{}", values.join(" "));
        }
    }

    /// Adds the values that another process printed. `None` if that process printed fewer values or
    /// more lines than there are here, or a value is no number.
    pub(crate) fn add_values(&mut self, text: &str) -> Option<()> {
        let mut lines = text.lines();
        for row in &mut self.rows {
            let mut values = lines.next()?.split(' ');
            for cell in &mut row.levels {
                cell.processes.push(values.next()?.parse().ok()?);
            }
        }
        lines.next().is_none().then_some(())
    }
}

/// The value below which this part of all values lies. NaN if there are no values.
pub(crate) fn at(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN)
}
