// SPDX-License-Identifier: GPL-2.0-only
//! What the page of a sweep has beside its runs: the sweep's tables, verdicts and figures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::manifest::{FIGURES, MANIFEST, Manifest};
use crate::sweep::{VERDICTS, Verdicts};

/// The title and those parts of the sweep in a folder, as JSON.
///
/// # Errors
/// If one of its files cannot be read.
pub fn swept(dir: &Path) -> Result<Value> {
    let read = |name: &str| {
        let file = dir.join(name);
        fs::read_to_string(&file).with_context(|| file.display().to_string())
    };
    let manifest: Manifest = serde_json::from_str(&read(MANIFEST)?).with_context(|| dir.display().to_string())?;
    let figures = dir.join(FIGURES);
    let figures: Value = if figures.exists() {
        serde_json::from_str(&read(FIGURES)?).with_context(|| figures.display().to_string())?
    } else {
        json!([])
    };
    let verdicts = dir.join(VERDICTS);
    let verdicts = verdicts.exists().then(|| Verdicts::read(&verdicts)).transpose()?;
    let claims = verdicts.iter().flat_map(|verdicts| &verdicts.claims).map(|judged| {
        let ours = judged.measured_words();
        let reason = judged.reason.as_deref().unwrap_or_default();
        json!([judged.claim, judged.expected, judged.criterion, ours, judged.verdict.words(), reason])
    });
    Ok(json!({
        "title": manifest.title,
        "tables": manifest.tables,
        "metrics": manifest.metrics,
        "claims": claims.collect::<Vec<_>>(),
        "figures": figures,
    }))
}
