// SPDX-License-Identifier: GPL-2.0-only
//! Figures as tables on a terminal.

use std::path::Path;

use anyhow::Result;

use super::figure::Figure;
use crate::human;
use crate::sweep::{Form, SweepFile, Verdict, Verdicts};
use crate::table::table;

/// All figures, with the number of each form's runs and their cost when results were kept.
///
/// # Errors
/// If a file makes no sense.
pub fn render(folder: &Path, figures: &[Figure]) -> Result<String> {
    let (mut rows, mut titles) = (Vec::new(), Vec::new());
    for figure in figures {
        let file = SweepFile::read(&figure.path, Form::Full)?;
        titles.push(human::paragraph(&format!("- {}", file.title)));
        let mut row = vec![figure.name.clone()];
        for form in [Form::Quick, Form::Full] {
            row.push(SweepFile::read(&figure.path, form)?.run_count().to_string());
            row.push(cost(figure.kept(folder, form)?.as_ref()));
        }
        rows.push(row);
    }
    let table = table(&["figure", "quick: runs", "CPU time", "full: runs", "CPU time"], rows);
    // Below each row the figure's title, behind the two lines of the header.
    let titles = ["".into(), "".into()].into_iter().chain(titles);
    let lines = table.split_inclusive('\n').zip(titles).map(|(line, title): (&str, String)| line.to_owned() + &title);
    Ok(lines.collect::<String>() + "\nCPU time: of all runs, when the kept results were made; - where none are kept.\n")
}

fn cost(kept: Option<&Verdicts>) -> String {
    kept.map_or_else(|| "-".to_owned(), |kept| time(kept.cost.cpu_s))
}

/// Seconds, minutes or hours.
pub fn time(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{} s", human::three_digits(short)),
        middle if middle < 7_200.0 => format!("{} min", human::three_digits(middle / 60.0)),
        long => format!("{} h", human::three_digits(long / 3_600.0)),
    }
}

/// How many claims of each figure came out how.
pub fn summary(done: &[(&str, Verdicts)]) -> String {
    let kinds = [Verdict::Holds, Verdict::HoldsInDirection, Verdict::DoesNotHold, Verdict::NotMeasured];
    let rows = done.iter().map(|(name, verdicts)| {
        let counts = kinds.iter().map(|kind| verdicts.count(*kind).to_string());
        [(*name).to_owned()].into_iter().chain(counts).collect()
    });
    let header: Vec<&str> = ["figure"].into_iter().chain(kinds.map(Verdict::words)).collect();
    format!("\n{}", table(&header, rows))
}
