// SPDX-License-Identifier: GPL-2.0-only
//! What `configs/paper` says of its figures, made from their files and the results that are kept: the table in the README,
//! and for the site a page for each.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::figure::{FOLDER, Figure, RESULTS};
use super::list::time;
use crate::human;
use crate::save;
use crate::sweep::{Form, Judged, SweepFile, VERDICTS, Verdict, Verdicts};

const HEAD: &str = "<!-- SPDX-License-Identifier: GPL-2.0-only -->\n<!-- Made by ./hpcc docs --html -->\n";
const README: &str = "README.md";
const BEGIN: &str = "<!-- claims: rewritten by ./hpcc docs -->\n";
const END: &str = "<!-- end of claims -->\n";
/// The full form counts for more.
const FORMS: [Form; 2] = [Form::Full, Form::Quick];

/// Rewrites the table in the README of a source tree.
///
/// # Errors
/// If a file cannot be read or written.
pub fn rewrite(tree: &Path) -> Result<()> {
    let folder = tree.join(FOLDER);
    let text = readme(&folder, &experiments(&folder)?)?;
    let path = folder.join(README);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    save::replace(&path, text)?;
    human::tell(&format!("rewrote {FOLDER}/{README}\n"))
}

/// Writes the pages of figures into a source tree, where the site finds them; they are not kept.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write(tree: &Path) -> Result<()> {
    let folder = tree.join(FOLDER);
    for experiment in experiments(&folder)?.iter().filter(|one| has_page(&one.figure.name)) {
        save::replace(&folder.join(format!("{}.md", experiment.figure.name)), page(&folder, experiment)?)?;
    }
    Ok(())
}

/// A figure with what is kept of it, the full form first.
struct Experiment {
    figure: Figure,
    file: SweepFile,
    kept: Vec<Verdicts>,
}

fn experiments(folder: &Path) -> Result<Vec<Experiment>> {
    let read = |figure: Figure| {
        let file = SweepFile::read(&figure.path, Form::Full)?;
        let mut kept = Vec::new();
        for form in FORMS {
            kept.extend(figure.kept(folder, form)?);
        }
        Ok(Experiment { figure, file, kept })
    };
    Figure::all(folder)?.into_iter().map(read).collect()
}

/// The README with its table made anew, and below it what does not hold.
fn readme(folder: &Path, experiments: &[Experiment]) -> Result<String> {
    let path = folder.join(README);
    let old = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let (before, rest) = old.split_once(BEGIN).with_context(|| format!("{}: no {BEGIN}", path.display()))?;
    let (_, behind) = rest.split_once(END).with_context(|| format!("{}: no {END}", path.display()))?;
    let mut table = "| figure | experiment | holds | in direction | does not hold | kept |\n\
                     | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let (figures, causes): (Vec<_>, Vec<_>) = experiments.iter().partition(|one| has_page(&one.figure.name));
    for figure in &figures {
        table += &row(folder, figure)?;
    }
    let failed: String = figures.into_iter().map(failures).collect();
    let causes = causes.into_iter().map(cause).collect::<Vec<_>>().join(", ");
    Ok(format!(
        "{before}{BEGIN}\n{table}\nWhat does not hold:\n\n{failed}\nCauses, and how many claims hold: {causes}.\n\n{END}{behind}"
    ))
}

/// Experiments on why a claim does not hold have none: the page of the figure has what came out.
fn has_page(name: &str) -> bool {
    !name.starts_with("why-")
}

/// The row of a figure in the table of all: how many of its claims came out how, and where that is kept.
fn row(folder: &Path, Experiment { figure, file, kept }: &Experiment) -> Result<String> {
    let name = format!("[{0}]({0}.toml)", figure.name);
    let title = &file.title;
    let Some(first) = kept.first() else { return Ok(format!("| {name} | {title}: not run yet | | | | |\n")) };
    let form = if first.form == FORMS[0] { String::new() } else { format!(" ({} form)", first.form.name()) };
    let own = format!("{RESULTS}/{}", figure.folder(first.form));
    let plot = plots(folder, figure, first.form)?.first().map(|plot| format!(" [plot]({own}/{plot}.svg)"));
    Ok(format!(
        "| {name} | {title}{form} | {} | {} | {} | [claims]({own}/{VERDICTS}){} |\n",
        first.count(Verdict::Holds),
        first.count(Verdict::HoldsInDirection),
        first.claims.iter().filter(|judged| fails(judged.verdict)).count(),
        plot.unwrap_or_default(),
    ))
}

/// An experiment on a cause, and how many of its claims hold.
fn cause(Experiment { figure, kept, .. }: &Experiment) -> String {
    let counts = kept.first().map(|first| format!(" {} of {}", first.count(Verdict::Holds), first.claims.len()));
    format!("[{0}]({0}.toml){1}", figure.name, counts.unwrap_or_default())
}

/// The claims of a figure that do not hold.
fn failures(Experiment { figure, kept, .. }: &Experiment) -> String {
    let claims = kept.first().into_iter().flat_map(|first| &first.claims).filter(|judged| fails(judged.verdict));
    let item = |judged: &Judged| {
        let reason = judged.reason.as_deref().unwrap_or_default();
        format!(
            "- `{}`: {} (expected: {}; measured: {}). {reason}\n",
            figure.name,
            judged.claim,
            judged.expected,
            judged.measured_words()
        )
    };
    claims.map(item).collect()
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
fn page(folder: &Path, Experiment { figure, file, kept }: &Experiment) -> Result<String> {
    let mut text = format!("{HEAD}# {}\n\n{}.\n\n{}", file.title, file.source, commands(&figure.name, kept));
    if let Some(first) = kept.first() {
        text += &differences(first);
        text += &results(first, kept);
        text += &reasons(first);
        let own = format!("{RESULTS}/{}", figure.folder(first.form));
        text.extend(plots(folder, figure, first.form)?.iter().map(|plot| format!("\n![{plot}]({own}/{plot}.svg)\n")));
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
        "\n## Results\n\n| | claim | expected | holds if | measured |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for (judged, number) in first.claims.iter().zip(1..) {
        text += &format!(
            "| {number} | {} | {} | {} | {}",
            judged.claim,
            judged.expected,
            judged.criterion,
            outcome(judged)
        );
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
    format!("{}, {}", judged.measured_words(), emphasised(judged.verdict))
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

/// The names of a figure's plots of a form.
fn plots(folder: &Path, figure: &Figure, form: Form) -> Result<Vec<String>> {
    let own = format!("{RESULTS}/{}", figure.folder(form));
    let mut plots = Vec::new();
    for entry in fs::read_dir(folder.join(&own)).with_context(|| own.clone())? {
        let file_name = entry?.file_name().to_string_lossy().into_owned();
        plots.extend(file_name.strip_suffix(".svg").map(str::to_owned));
    }
    plots.sort();
    Ok(plots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn the_readme_says_what_the_kept_results_are() {
        let folder = tree().join(FOLDER);
        let text = readme(&folder, &experiments(&folder).expect("figures")).expect("a README");
        let kept = fs::read_to_string(folder.join(README)).expect("the README");
        assert!(kept == text, "{FOLDER}/{README} is not made from the kept results: run ./hpcc docs");
    }

    #[test]
    fn the_page_of_a_figure_has_its_claims_and_plots() {
        let folder = tree().join(FOLDER);
        let experiments = experiments(&folder).expect("figures");
        for experiment in experiments.iter().filter(|one| has_page(&one.figure.name)) {
            let page = page(&folder, experiment).expect("a page");
            let claims = &experiment.file.claims;
            assert!(claims.iter().all(|claim| page.contains(&claim.text)), "{page}");
            assert!(page.contains(".svg)\n"), "{page}");
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
            let file = SweepFile::read(&figure.path, Form::Quick).expect("a smaller version");
            let runs = crate::sweep::plan(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(runs.len(), file.run_count(), "{}", figure.name);
            assert!(!file.claims.is_empty() && !file.source.is_empty(), "{}", figure.name);
            let kept = figure.kept(&folder, Form::Quick).expect("verdicts");
            let kept = kept.unwrap_or_else(|| panic!("{}: no results with --quick are kept", figure.name));
            let texts: Vec<&str> = kept.claims.iter().map(|judged| judged.claim.as_str()).collect();
            let claims: Vec<&str> = file.claims.iter().map(|claim| claim.text.as_str()).collect();
            assert_eq!(texts, claims, "{}: the kept results are of other claims", figure.name);
        }
    }
}
