// SPDX-License-Identifier: GPL-2.0-only
//! For whom plots are drawn, and as which files.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use super::convert::{self, Format};
use super::look::{Look, Style};
use super::picture::Picture;
use crate::save::{self, Draft};

/// Options of plots.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Drawing {
    /// For whom plots are drawn.
    #[arg(long, value_enum, default_value_t)]
    style: Style,
    /// Also writes each plot as PDF, with text as text and fonts in the file, by rsvg-convert, which is installed if it is missing.
    #[arg(long)]
    pdf: bool,
    /// Also writes each plot as PNG, 300 pixels an inch, by rsvg-convert.
    #[arg(long)]
    png: bool,
    /// Also writes the data of each plot as NAME.plot.csv, and NAME.plot.py, which draws it with matplotlib and is yours to edit; a sweep
    /// always does.
    #[arg(long)]
    data: bool,
}

impl Drawing {
    /// Gets the tools for the files, before anything that takes long.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn prepare(self) -> Result<()> {
        let option = if self.pdf { "--pdf" } else { "--png" };
        if self.pdf || self.png { convert::prepare(option) } else { Ok(()) }
    }

    /// Whether plots have the usual look, and the usual file.
    pub fn is_usual(self) -> bool {
        !self.png && !self.pdf && !self.data && self.style == Style::default()
    }

    /// The same, with the data.
    pub fn with_data(self) -> Drawing {
        Drawing { data: true, ..self }
    }

    /// The ends of the files of a plot with its data.
    pub fn ends(self) -> Vec<&'static str> {
        let ends = [(".svg", true), (".pdf", self.pdf), (".png", self.png), (".plot.csv", true), (".plot.py", true)];
        ends.iter().filter(|(_, written)| *written).map(|(end, _)| *end).collect()
    }

    /// How plots look.
    pub fn look(self) -> Look {
        self.style.look()
    }

    /// Writes a plot's files, removes those that it had and does not have any more, and returns their names.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn write(self, path: &Path, picture: &Picture) -> Result<Vec<String>> {
        let mut draft = Draft::of(path)?;
        draft.fill(|out| out.write_all(picture.svg.as_bytes()))?;
        let mut files = vec![path.to_owned()];
        for (format, _) in self.formats().into_iter().filter(|(_, wanted)| *wanted) {
            let converted = Draft::of(&format.beside(path))?;
            format.convert(draft.path(), converted.path()).with_context(|| path.display().to_string())?;
            converted.replace()?;
            files.push(format.beside(path));
        }
        if self.data {
            let texts = [("plot.csv", &picture.csv), ("plot.py", &picture.script)];
            for (end, text) in texts {
                let file = path.with_extension(end);
                save::replace(&file, text)?;
                files.push(file);
            }
        }
        draft.replace()?;
        for stale in beside(path).into_iter().filter(|file| !files.contains(file)) {
            save::remove(&stale)?;
        }
        Ok(files.iter().filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect())
    }

    fn formats(self) -> [(Format, bool); 2] {
        [(Format::Pdf, self.pdf), (Format::Png, self.png)]
    }
}

/// The files that a plot can have beside its SVG file.
pub fn beside(svg: &Path) -> [PathBuf; 4] {
    ["pdf", "png", "plot.csv", "plot.py"].map(|end| svg.with_extension(end))
}
