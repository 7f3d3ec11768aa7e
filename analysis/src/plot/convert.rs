// SPDX-License-Identifier: GPL-2.0-only
//! PNG and PDF files beside the SVG files of plots. rsvg-convert makes them: the crate svg2pdf and what it needs would take 113 s of
//! processor time of everybody's first build, nearly as much as all the rest (127 s).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::packages;

const PROGRAM: &str = "rsvg-convert";
/// The usual resolution in print.
const PIXELS_PER_INCH: f64 = 300.0;
/// A pixel of an SVG file is so small, whatever a screen's is.
const SVG_PIXELS_PER_INCH: f64 = 96.0;

/// Sees to it that plots can be converted, as an option asks for.
///
/// # Errors
/// If there is no converter and it cannot be installed.
pub fn prepare(option: &str) -> Result<()> {
    if is_there() {
        return Ok(());
    }
    let needs = || format!("{option} needs rsvg-convert, of the package librsvg2-bin");
    packages::need(&["rsvg-convert:librsvg2-bin"]).with_context(needs)?;
    ensure!(is_there(), "{option}: {PROGRAM} was installed, but cannot be started");
    Ok(())
}

fn is_there() -> bool {
    let status = Command::new(PROGRAM).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What an SVG file can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Vectors, with text as text and its font in the file.
    Pdf,
}

impl Format {
    /// The file that [`convert`](Format::convert) makes of an SVG file.
    pub fn beside(self, svg: &Path) -> PathBuf {
        svg.with_extension(self.name())
    }

    fn name(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Pdf => "pdf",
        }
    }

    /// Converts an SVG file.
    ///
    /// # Errors
    /// If the converter says so, or the file cannot be written.
    pub fn convert(self, svg: &Path, target: &Path) -> Result<()> {
        let zoom = if self == Format::Png { PIXELS_PER_INCH / SVG_PIXELS_PER_INCH } else { 1.0 }.to_string();
        let resolution = SVG_PIXELS_PER_INCH.to_string();
        let mut command = Command::new(PROGRAM);
        command.args(["--format", self.name(), "--dpi-x", &resolution, "--dpi-y", &resolution]);
        command.args(["--zoom", &zoom, "--output"]).arg(target).arg(svg);
        let output = command.output().with_context(|| format!("cannot start {PROGRAM}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{PROGRAM} cannot convert it: {}", said.trim());
        Ok(())
    }
}
