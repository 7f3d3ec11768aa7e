// SPDX-License-Identifier: GPL-2.0-only
//! PNG files beside the SVG files of plots. rsvg-convert makes them: a rasterizer of our own would cost everybody's first build a minute.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::script;

const PROGRAM: &str = "rsvg-convert";
/// The usual resolution in print.
const PIXELS_PER_INCH: f64 = 300.0;
/// A pixel of an SVG file is so small, whatever a screen's is.
const SVG_PIXELS_PER_INCH: f64 = 96.0;

/// Sees to it that plots can be converted.
///
/// # Errors
/// If there is no converter and it cannot be installed.
pub fn prepare() -> Result<()> {
    if is_there() {
        return Ok(());
    }
    script::install(&["rsvg-convert:librsvg2-bin"]).context("--png needs rsvg-convert, of the package librsvg2-bin")?;
    ensure!(is_there(), "--png: {PROGRAM} was installed, but cannot be started");
    Ok(())
}

fn is_there() -> bool {
    let status = Command::new(PROGRAM).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The file that [`convert`] makes of an SVG file.
pub fn beside(svg: &Path) -> PathBuf {
    svg.with_extension("png")
}

/// Converts an SVG file.
///
/// # Errors
/// If the converter says so, or the file cannot be written.
pub fn convert(svg: &Path, target: &Path) -> Result<()> {
    let zoom = (PIXELS_PER_INCH / SVG_PIXELS_PER_INCH).to_string();
    let resolution = SVG_PIXELS_PER_INCH.to_string();
    let mut command = Command::new(PROGRAM);
    command.args(["--format", "png", "--dpi-x", &resolution, "--dpi-y", &resolution, "--zoom", &zoom, "--output"]);
    let output = command.arg(target).arg(svg).output().with_context(|| format!("cannot start {PROGRAM}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{PROGRAM} cannot convert it: {}", said.trim());
    Ok(())
}
