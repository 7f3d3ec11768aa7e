// SPDX-License-Identifier: GPL-2.0-only
//! For whom plots are drawn, and as which files.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use super::look::{Look, Style};
use super::png;

/// What the command line says of plots.
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
    /// Gets what the files take. This comes before anything that takes long.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn prepare(self) -> Result<()> {
        if self.png { png::prepare() } else { Ok(()) }
    }

    /// Whether plots are as they are where nobody asks for something else.
    pub fn is_usual(self) -> bool {
        !self.png && self.style == Style::default()
    }

    /// How plots look.
    pub fn look(self) -> Look {
        self.style.look()
    }

    /// Makes what else a plot's file shall have beside it, and removes what an earlier plot had. Returns the names of all its files.
    ///
    /// # Errors
    /// If a file cannot be made or removed.
    pub fn complete(self, svg: &Path) -> Result<Vec<String>> {
        let other = png::beside(svg);
        let mut files = vec![svg];
        if self.png {
            png::convert(svg)?;
            files.push(&other);
        } else {
            remove(&other)?;
        }
        Ok(files.into_iter().filter_map(Path::file_name).map(|name| name.to_string_lossy().into_owned()).collect())
    }
    /// Removes a plot of earlier, in all its files.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn remove(self, svg: &Path) -> Result<()> {
        remove(svg)?;
        remove(&png::beside(svg))
    }
}

/// Removes a file if it is there. Where nothing can be written, a file that is not there is no trouble, either.
fn remove(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).with_context(|| path.display().to_string()),
        _ => Ok(()),
    }
}
