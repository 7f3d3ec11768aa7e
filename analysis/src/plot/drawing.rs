// SPDX-License-Identifier: GPL-2.0-only
//! For whom plots are drawn, and as which files.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use super::look::{Look, Style};
use super::png;
use crate::save::{self, Draft};

/// Options of plots.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Drawing {
    /// For whom plots are drawn.
    #[arg(long, value_enum, default_value_t)]
    style: Style,
    /// Also writes each plot as PNG, 300 pixels an inch, by rsvg-convert, which is installed if it is missing.
    #[arg(long)]
    png: bool,
}

impl Drawing {
    /// Gets the tools for the files, before anything that takes long.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn prepare(self) -> Result<()> {
        if self.png { png::prepare() } else { Ok(()) }
    }

    /// Whether plots have the usual look.
    pub fn is_usual(self) -> bool {
        !self.png && self.style == Style::default()
    }

    /// How plots look.
    pub fn look(self) -> Look {
        self.style.look()
    }

    /// Writes a plot's files, and returns their names.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn write(self, path: &Path, svg: &str) -> Result<Vec<String>> {
        let picture = png::beside(path);
        let mut draft = Draft::of(path)?;
        draft.fill(|out| out.write_all(svg.as_bytes()))?;
        if self.png {
            let converted = Draft::of(&picture)?;
            png::convert(draft.path(), converted.path()).with_context(|| path.display().to_string())?;
            converted.replace()?;
        } else {
            save::remove(&picture)?;
        }
        draft.replace()?;
        let files = [path, &picture].into_iter().take(1 + usize::from(self.png));
        Ok(files.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect())
    }
}
