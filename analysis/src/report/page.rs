// SPDX-License-Identifier: GPL-2.0-only
//! The page: one HTML file that needs no other, and no network.

use std::path::Path;

use anyhow::Result;
use hpcc_model::visible;

use super::data;
use super::entry::Entry;
use super::swept::swept;
use crate::save::{self, Own};

const TEMPLATE: &str = include_str!("page.html");
/// Words of the template, and their replacements.
const PARTS: [(&str, &str); 4] = [
    ("{{uplot.css}}", include_str!("../../vendor/uplot/uPlot.min.css")),
    ("{{uplot.js}}", include_str!("../../vendor/uplot/uPlot.iife.min.js")),
    ("{{page.css}}", include_str!("page.css")),
    ("{{page.js}}", include_str!("page.js")),
];

/// Writes the page of some entries, with what a sweep says if they are its; whoever opens the file finds an old one or the new one.
///
/// # Errors
/// If a run's files cannot be read, or the page cannot be written.
pub fn write(entries: &[Entry], sweep: Option<&Path>, file: &Path) -> Result<()> {
    let mut data = data::data(entries)?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut title = names.join(", ");
    if let Some(folder) = sweep {
        data["sweep"] = swept(folder)?;
        data["sweep"]["title"].as_str().unwrap_or_default().clone_into(&mut title);
    }
    OWN.ensure(file)?;
    save::replace(file, render(&title, &data.to_string()))
}

/// Pages are known by the end of their title, as those of earlier versions are.
pub const OWN: Own = Own {
    what: "page of hpcc",
    is_it: |begin| begin.starts_with(b"<!DOCTYPE html>") && String::from_utf8_lossy(begin).contains(" - hpcc</title>"),
};

fn render(title: &str, data: &str) -> String {
    let escaped = visible::word(title).replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut text = TEMPLATE.replace("{{title}}", &escaped);
    for (name, part) in PARTS {
        text = text.replace(name, part);
    }
    // Data comes last, as it may hold anything; no text in it can end the element that it is in.
    text.replace("{{data}}", &data.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_data_is_markup() {
        let page = render("a<b & \"c\"", "{\"name\":\"</script><img src=x>{{page.js}}\"}");
        assert!(page.contains("<title>a&lt;b &amp; &quot;c&quot;"));
        assert!(!page.contains("</script><img") && page.contains("\\u003c/script>\\u003cimg src=x>{{page.js}}"));
    }

    #[test]
    fn the_page_asks_for_nothing_from_elsewhere() {
        let page = render("a", "{}");
        for attribute in ["src=\"http", "href=\"http", "url(http", "@import", "<link"] {
            assert!(!page.contains(attribute), "{attribute}");
        }
        assert!(page.contains("default-src 'none'") && !page.contains("{{"), "a part is missing");
    }
}
