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
use crate::sweep::{Form, SweepFile, Verdict, Verdicts};

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
        rows += &claims(&figure, kept.first());
        pages.push((format!("{}.md", figure.name), page(&folder, &figure, &file, &kept)?));
    }
    let (before, rest) = old.split_once(BEGIN).with_context(|| format!("{}: no {BEGIN}", readme.display()))?;
    let (_, behind) = rest.split_once(END).with_context(|| format!("{}: no {END}", readme.display()))?;
    let table = "| figure | claim | paper | ours | form | verdict |\n| --- | --- | --- | --- | --- | --- |\n";
    pages.push(("README.md".to_owned(), format!("{before}{BEGIN}\n{table}{rows}\n{END}{behind}")));
    Ok(pages)
}

/// The rows of a figure in the table of all claims.
fn claims(figure: &Figure, kept: Option<&Verdicts>) -> String {
    let name = &figure.name;
    let Some(kept) = kept else { return format!("| [{name}]({name}.md) | | | | | not run yet |\n") };
    let row = |judged: &crate::sweep::Judged| {
        format!(
            "| [{name}]({name}.md) | {} | {} | {} | {} | {} |\n",
            judged.claim,
            judged.paper,
            judged.ours_words(),
            kept.form.name(),
            emphasised(judged.verdict),
        )
    };
    kept.claims.iter().map(row).collect()
}

fn emphasised(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds | Verdict::HoldsInDirection => verdict.words().to_owned(),
        Verdict::DoesNotHold | Verdict::NotMeasured => format!("**{}**", verdict.words()),
    }
}

/// The page of a figure: what it shows, what differs, the command, and what came out.
fn page(folder: &Path, figure: &Figure, file: &SweepFile, kept: &[Verdicts]) -> Result<String> {
    let name = &figure.name;
    let mut text = format!("{HEAD}# {}\n\n{}.\n\n", file.title, file.source);
    text += &format!("```\n./hpcc reproduce {name} --quick\n./hpcc reproduce {name}\n```\n");
    for verdicts in kept {
        text += &results(folder, figure, verdicts)?;
    }
    Ok(text)
}

fn results(folder: &Path, figure: &Figure, verdicts: &Verdicts) -> Result<String> {
    let cost = verdicts.cost;
    let mut text = format!(
        "\n## The {} form\n\n{}, {}, {}, {} of processor time.\n",
        verdicts.form.name(),
        human::counted(cost.runs as u64, "run"),
        human::counted(cost.flows, "flow"),
        human::counted(cost.packet_hops, "packet-hop"),
        time(cost.cpu_s),
    );
    if !verdicts.deviations.is_empty() {
        text += "\nWhat differs from the source:\n\n";
        text.extend(verdicts.deviations.iter().map(|deviation| format!("- {deviation}\n")));
    }
    text += "\n| claim | paper | holds if | ours | verdict |\n| --- | --- | --- | --- | --- |\n";
    for judged in &verdicts.claims {
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            judged.claim,
            judged.paper,
            judged.criterion,
            judged.ours_words(),
            emphasised(judged.verdict)
        );
    }
    let reasons = verdicts.claims.iter().filter_map(|judged| Some((judged, judged.reason.as_ref()?)));
    let reasons: Vec<String> = reasons.map(|(judged, reason)| format!("- *{}*: {reason}\n", judged.claim)).collect();
    if !reasons.is_empty() {
        text += &format!("\nWhy:\n\n{}", reasons.concat());
    }
    let own = format!("{RESULTS}/{}", figure.folder(verdicts.form));
    let mut plots = Vec::new();
    for entry in fs::read_dir(folder.join(&own)).with_context(|| own.clone())? {
        let file_name = entry?.file_name().to_string_lossy().into_owned();
        plots.extend(file_name.strip_suffix(".svg").map(str::to_owned));
    }
    plots.sort();
    text.extend(plots.iter().map(|plot| format!("\n![{plot}]({own}/{plot}.svg)\n")));
    Ok(text)
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
