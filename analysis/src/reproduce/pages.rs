// SPDX-License-Identifier: GPL-2.0-only
//! What `configs/paper` says of its figures, made from their files and the results that are kept: a page for each, and
//! the table of all claims in the README.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::figure::{FOLDER, Figure, RESULTS};
use super::list::time;
use crate::human;
use crate::save;
use crate::sweep::{Form, Judged, SweepFile, Verdict, Verdicts};

const HEAD: &str = "<!-- SPDX-License-Identifier: GPL-2.0-only -->\n<!-- Rewritten by ./hpcc docs -->\n";
const BEGIN: &str = "<!-- claims: rewritten by ./hpcc docs -->\n";
const END: &str = "<!-- end of claims -->\n";
/// The full form counts for more.
const FORMS: [Form; 2] = [Form::Full, Form::Quick];

/// Rewrites the pages of a source tree.
///
/// # Errors
/// If a file cannot be read or written.
pub fn rewrite(tree: &Path) -> Result<()> {
    for (name, text) in pages(tree)? {
        let path = tree.join(FOLDER).join(&name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        save::replace(&path, text)?;
        human::tell(&format!("rewrote {FOLDER}/{name}\n"))?;
    }
    Ok(())
}

/// Each page with its name.
fn pages(tree: &Path) -> Result<Vec<(String, String)>> {
    let folder = tree.join(FOLDER);
    let readme = folder.join("README.md");
    let old = fs::read_to_string(&readme).with_context(|| readme.display().to_string())?;
    let (mut pages, mut rows) = (Vec::new(), String::new());
    for figure in Figure::all(&folder)? {
        let file = SweepFile::read(&figure.path, Form::Full)?;
        let mut kept = Vec::new();
        for form in FORMS {
            kept.extend(figure.kept(&folder, form)?);
        }
        rows += &row(&figure.name, &file.title, kept.first());
        if has_page(&figure.name) {
            pages.push((format!("{}.md", figure.name), page(&folder, &figure, &file, &kept)?));
        }
    }
    let (before, rest) = old.split_once(BEGIN).with_context(|| format!("{}: no {BEGIN}", readme.display()))?;
    let (_, behind) = rest.split_once(END).with_context(|| format!("{}: no {END}", readme.display()))?;
    let table = format!(
        "| figure | experiment | holds | in direction | does not hold |\n| --- | --- | --- | --- | --- |\n{rows}"
    );
    pages.push(("README.md".to_owned(), format!("{before}{BEGIN}\n{table}\n{END}{behind}")));
    Ok(pages)
}

/// Experiments on why a claim does not hold have none: the page of the figure has what came out.
fn has_page(name: &str) -> bool {
    !name.starts_with("why-")
}

/// The row of a figure in the table of all: how many of its claims came out how.
fn row(name: &str, title: &str, kept: Option<&Verdicts>) -> String {
    let name = if has_page(name) { format!("[{name}]({name}.md)") } else { format!("`{name}`") };
    let Some(kept) = kept else { return format!("| {name} | {title}: not run yet | | | |\n") };
    let form = if kept.form == FORMS[0] { String::new() } else { format!(" ({} form)", kept.form.name()) };
    format!(
        "| {name} | {title}{form} | {} | {} | {} |\n",
        kept.count(Verdict::Holds),
        kept.count(Verdict::HoldsInDirection),
        kept.claims.iter().filter(|judged| fails(judged.verdict)).count(),
    )
}

fn fails(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Holds | Verdict::HoldsInDirection => false,
        Verdict::DoesNotHold | Verdict::NotMeasured => true,
    }
}

fn emphasised(verdict: Verdict) -> String {
    if fails(verdict) { format!("**{}**", verdict.words()) } else { verdict.words().to_owned() }
}

/// The page of a figure: the commands, what differs from the source, what came out of each form and why, and the plots of
/// the first form that is kept.
fn page(folder: &Path, figure: &Figure, file: &SweepFile, kept: &[Verdicts]) -> Result<String> {
    let mut text = format!("{HEAD}# {}\n\n{}.\n\n{}", file.title, file.source, commands(&figure.name, kept));
    if let Some(first) = kept.first() {
        text += &differences(first);
        text += &results(first, kept);
        text += &reasons(first);
        text += &plots(folder, figure, first.form)?;
    }
    Ok(text)
}

/// How to repeat the figure, and what each form costs.
fn commands(name: &str, kept: &[Verdicts]) -> String {
    let cost = |verdicts: &Verdicts| {
        let option = if verdicts.form == Form::Quick { "--quick: " } else { "" };
        format!("{option}{}, {}", human::counted(verdicts.cost.runs as u64, "run"), time(verdicts.cost.cpu_s))
    };
    let costs: Vec<String> = kept.iter().map(cost).collect();
    let comment = if costs.is_empty() { String::new() } else { format!("   # {} of CPU time", costs.join("; ")) };
    format!("```\n./hpcc reproduce {name}{comment}\n```\n")
}

/// What differs from the source.
fn differences(first: &Verdicts) -> String {
    let text: String = first.deviations.iter().map(|deviation| format!("- {deviation}\n")).collect();
    if text.is_empty() { text } else { format!("\n## What differs from the source\n\n{text}") }
}

/// A table of the claims; of other forms than the first, what came out otherwise.
fn results(first: &Verdicts, kept: &[Verdicts]) -> String {
    let mut text =
        "\n## Results\n\n| | claim | paper | holds if | ours |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for (judged, number) in first.claims.iter().zip(1..) {
        text +=
            &format!("| {number} | {} | {} | {} | {}", judged.claim, judged.paper, judged.criterion, outcome(judged));
        for verdicts in kept {
            let other = same(judged, verdicts).filter(|other| other.verdict != judged.verdict);
            text +=
                &other.map_or_else(String::new, |other| format!("; {} form: {}", verdicts.form.name(), outcome(other)));
        }
        text += " |\n";
    }
    text
}

/// The value of a claim, and its verdict.
fn outcome(judged: &Judged) -> String {
    format!("{}, {}", judged.ours_words(), emphasised(judged.verdict))
}

/// What became of a claim in another form.
fn same<'a>(judged: &Judged, verdicts: &'a Verdicts) -> Option<&'a Judged> {
    verdicts.claims.iter().find(|other| other.claim == judged.claim)
}

/// Why claims do not hold.
fn reasons(first: &Verdicts) -> String {
    let given = first.claims.iter().zip(1..).filter_map(|(judged, number)| Some((number, judged.reason.as_ref()?)));
    let text: String = given.map(|(number, reason)| format!("- Claim {number}: {reason}\n")).collect();
    if text.is_empty() { text } else { format!("\n## Why\n\n{text}") }
}

fn plots(folder: &Path, figure: &Figure, form: Form) -> Result<String> {
    let own = format!("{RESULTS}/{}", figure.folder(form));
    let mut plots = Vec::new();
    for entry in fs::read_dir(folder.join(&own)).with_context(|| own.clone())? {
        let file_name = entry?.file_name().to_string_lossy().into_owned();
        plots.extend(file_name.strip_suffix(".svg").map(str::to_owned));
    }
    plots.sort();
    Ok(plots.iter().map(|plot| format!("\n![{plot}]({own}/{plot}.svg)\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn the_pages_say_what_the_kept_results_are() {
        for (name, text) in pages(&tree()).expect("pages") {
            let path = tree().join(FOLDER).join(&name);
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert!(kept == text, "{FOLDER}/{name} is not made from the kept results: run ./hpcc docs");
        }
    }

    #[test]
    fn what_does_not_hold_has_a_reason() {
        let folder = tree().join(FOLDER);
        for figure in Figure::all(&folder).expect("figures") {
            for kept in FORMS.iter().filter_map(|form| figure.kept(&folder, *form).expect("verdicts")) {
                for judged in kept.claims {
                    let holds = judged.verdict == Verdict::Holds;
                    assert!(holds || judged.reason.is_some(), "{}: {}: no reason", figure.name, judged.claim);
                }
            }
        }
    }

    #[test]
    fn every_figure_has_runs_that_the_simulator_accepts_and_results() {
        let folder = tree().join(FOLDER);
        let figures = Figure::all(&folder).expect("figures");
        assert!(!figures.is_empty());
        for figure in figures {
            let file = SweepFile::read(&figure.path, Form::Quick).expect("quick form");
            let runs = crate::sweep::plan(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(runs.len(), file.run_count(), "{}", figure.name);
            assert!(!file.claims.is_empty() && !file.source.is_empty(), "{}", figure.name);
            let kept = figure.kept(&folder, Form::Quick).expect("verdicts");
            let kept = kept.unwrap_or_else(|| panic!("{}: no results of the quick form are kept", figure.name));
            let texts: Vec<&str> = kept.claims.iter().map(|judged| judged.claim.as_str()).collect();
            let claims: Vec<&str> = file.claims.iter().map(|claim| claim.text.as_str()).collect();
            assert_eq!(texts, claims, "{}: the kept results are of other claims", figure.name);
        }
    }
}
