// SPDX-License-Identifier: GPL-2.0-only
//! The figures that there are: the sweep files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::sweep::{Form, VERDICTS, Verdicts};

/// Where figures are, in a source tree.
pub const FOLDER: &str = "configs/paper";
/// Where their results are kept, in [`FOLDER`].
pub const RESULTS: &str = "results";

/// A figure of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Name, such as `fig13`.
    pub name: String,
    /// Its sweep file.
    pub path: PathBuf,
}

impl Figure {
    /// All figures in a folder, by number.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn all(folder: &Path) -> Result<Vec<Figure>> {
        let mut figures = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name =
                path.file_stem().and_then(|stem| stem.to_str()).filter(|_| path.extension() == Some("toml".as_ref()));
            figures.extend(name.map(|name| Figure { name: name.to_owned(), path: path.clone() }));
        }
        figures.sort_by_key(|figure| order(&figure.name));
        Ok(figures)
    }

    /// The folder of its results in a form.
    pub fn folder(&self, form: Form) -> String {
        format!("{}-{}", self.name, form.name())
    }

    /// Its kept results in a form, if there are any.
    ///
    /// # Errors
    /// If the file is damaged, or another version wrote it.
    pub fn kept(&self, folder: &Path, form: Form) -> Result<Option<Verdicts>> {
        let file = folder.join(RESULTS).join(self.folder(form)).join(VERDICTS);
        file.exists().then(|| Verdicts::read(&file)).transpose()
    }
}

/// Letters, then the number as one, then the rest: `fig9ab` is before `fig13`.
fn order(name: &str) -> (String, u64, String) {
    let begin = name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(name.len());
    let (letters, rest) = name.split_at(begin);
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    (letters.to_owned(), number.parse().unwrap_or(0), rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_by_number() {
        let mut names = ["fig13", "pint", "fig9cd", "fig9ab", "fig2"];
        names.sort_by_key(|name| order(name));
        assert_eq!(names, ["fig2", "fig9ab", "fig9cd", "fig13", "pint"]);
    }
}
