// SPDX-License-Identifier: GPL-2.0-only
//! A scenario as a tree, which relations change and write as a file.

use crate::ScenarioRng;
use std::fmt::Write;
use toml::{Table, Value};

/// Sections that a reader looks for first.
const FIRST: &[&str] = &["run", "topology"];

/// A scenario: sections, and lists of sections, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document(pub Table);

impl Document {
    /// Reads a file's text.
    ///
    /// # Errors
    /// If it is no TOML.
    pub fn parse(text: &str) -> Result<Document, String> {
        text.parse().map(Document).map_err(|error| error.to_string())
    }

    /// The value of a key.
    pub fn get(&self, section: &str, key: &str) -> Option<&Value> {
        self.0.get(section)?.get(key)
    }

    /// Sets a key.
    pub fn set(&mut self, section: &str, key: &str, value: impl Into<Value>) {
        let table = self.0.entry(section).or_insert_with(|| Table::new().into());
        if let Some(table) = table.as_table_mut() {
            table.insert(key.into(), value.into());
        }
    }

    /// Takes a key out, and the section with its last one.
    pub fn remove(&mut self, section: &str, key: &str) -> bool {
        let Some(table) = self.0.get_mut(section).and_then(Value::as_table_mut) else { return false };
        let had = table.remove(key).is_some();
        if table.is_empty() {
            self.0.remove(section);
        }
        had
    }

    /// The sections of a list, such as `traffic`; nothing if there is none.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &Table> {
        self.0.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
    }

    /// The same, to be changed.
    pub fn list_mut(&mut self, name: &str) -> impl Iterator<Item = &mut Table> {
        self.0.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_table_mut)
    }

    /// Adds a section to a list.
    pub fn push(&mut self, name: &str, section: Table) {
        if let Value::Array(list) = self.0.entry(name).or_insert_with(|| Vec::<Value>::new().into()) {
            list.push(section.into());
        }
    }

    /// Keeps the sections of a list that are wanted; none leaves no list.
    pub fn retain(&mut self, name: &str, mut wanted: impl FnMut(&Table) -> bool) {
        if let Some(list) = self.0.get_mut(name).and_then(Value::as_array_mut) {
            list.retain(|section| section.as_table().is_none_or(&mut wanted));
            if list.is_empty() {
                self.0.remove(name);
            }
        }
    }

    /// The file.
    pub fn text(&self) -> String {
        let others = self.0.keys().map(String::as_str).filter(|name| !FIRST.contains(name));
        self.write(FIRST.iter().copied().chain(others), |keys| keys)
    }

    /// The file with sections, and keys in sections, in another order; sections of a list follow each other as before.
    pub fn shuffled(&self, rng: &mut ScenarioRng) -> String {
        let mut names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        rng.shuffle(&mut names);
        self.write(names.into_iter(), |mut keys| {
            rng.shuffle(&mut keys);
            keys
        })
    }

    fn write<'a>(
        &'a self,
        names: impl Iterator<Item = &'a str>,
        mut order: impl FnMut(Vec<&'a String>) -> Vec<&'a String>,
    ) -> String {
        let mut text = String::new();
        for name in names {
            let Some(value) = self.0.get(name) else { continue };
            let (head, sections): (_, Vec<&Table>) = match value {
                Value::Array(_) => (format!("[[{name}]]"), self.list(name).collect()),
                Value::Table(section) => (format!("[{name}]"), vec![section]),
                _ => continue,
            };
            for section in sections {
                text += &format!("{head}\n");
                for key in order(section.keys().collect()) {
                    writeln!(text, "{key} = {}", section[key]).expect("a text");
                }
            }
        }
        text
    }

    /// The place in a list of the section that has a line of the text; the name of the list, too.
    pub fn section_at(text: &str, line: u32) -> Option<(&str, usize)> {
        let heads = || text.lines().take(line as usize).filter_map(|line| line.strip_prefix("[[")?.strip_suffix("]]"));
        let name = heads().last()?;
        let is_single = |line: &str| line.starts_with('[') && !line.starts_with("[[");
        let last = text.lines().take(line as usize).filter(|line| line.starts_with('[')).last()?;
        (!is_single(last)).then(|| (name, heads().filter(|head| *head == name).count() - 1))
    }
}

/// A time as files have it.
pub fn time(nanos: u64) -> Value {
    format!("{nanos}ns").into()
}

/// The nanoseconds of a time in a file of ours, whatever its unit.
pub fn nanos(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(0) => Some(0),
        Value::String(text) => {
            let text = text.trim();
            let (digits, unit) = text.split_at(text.find(|letter: char| letter.is_ascii_alphabetic())?);
            let factor = match unit {
                "ns" => 1.0,
                "us" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                _ => return None,
            };
            Some((digits.trim().parse::<f64>().ok()? * factor).round() as u64)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = "run = { seed = 1, stop = '1ms' }\n[[traffic]]\na = 1\n[[traffic]]\nb = [{ c = 2 }, { c = 3 }]\n";
        let document = Document::parse(text).expect("TOML");
        let written = document.text();
        assert_eq!(Document::parse(&written), Ok(document.clone()), "{written}");
        let shuffled = document.shuffled(&mut ScenarioRng::new(1, 1));
        assert_eq!(Document::parse(&shuffled), Ok(document), "{shuffled}");
        assert_eq!(Document::section_at(&written, 7), Some(("traffic", 1)), "{written}");
        assert_eq!(Document::section_at(&written, 2), None);
    }

    #[test]
    fn times_are_read_in_any_unit() {
        assert_eq!(
            ["3ns", "2 us", "1.5ms", "0.25s"].map(|text| nanos(&text.into())),
            [3, 2_000, 1_500_000, 250_000_000].map(Some)
        );
        assert_eq!(nanos(&time(7)), Some(7));
    }
}
