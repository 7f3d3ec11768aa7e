// SPDX-License-Identifier: GPL-2.0-only
//! What the page of a sweep has beside its runs: the sweep's tables, verdicts and figures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::manifest::{MANIFEST, Manifest};
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
    let figure = |name: &String| -> Result<Value> {
        Ok(json!({ "name": name, "svg": read(&format!("{name}.svg"))?, "csv": read(&format!("{name}.plot.csv"))? }))
    };
    let verdicts = dir.join(VERDICTS);
    let verdicts = verdicts.exists().then(|| Verdicts::read(&verdicts)).transpose()?;
    let claims = verdicts.iter().flat_map(|verdicts| &verdicts.claims).map(|judged| {
        let ours = judged.ours_words();
        let reason = judged.reason.as_deref().unwrap_or_default();
        json!([judged.claim, judged.paper, judged.criterion, ours, judged.verdict.words(), reason])
    });
    Ok(json!({
        "title": manifest.title,
        "tables": manifest.tables,
        "claims": claims.collect::<Vec<_>>(),
        "figures": manifest.plots.iter().map(figure).collect::<Result<Vec<_>>>()?,
    }))
}
