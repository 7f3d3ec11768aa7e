// SPDX-License-Identifier: GPL-2.0-only
//! The axes of a sweep: every variant runs with each combination of their values, which are counted as steps.

use super::placed::Setting;

/// A setting with several values.
#[derive(Debug)]
pub struct Axis {
    /// The name, fit for a file.
    pub name: String,
    /// Each value, fit for a file, with its `KEY=VALUE`.
    pub values: Vec<(String, Setting)>,
}

/// The axes in the order of the file; the last one changes fastest from step to step. Without axes there is one step.
#[derive(Debug, Default)]
pub struct Axes(Vec<Axis>);

impl Axes {
    /// These axes.
    pub fn new(axes: Vec<Axis>) -> Axes {
        Axes(axes)
    }

    /// Each axis.
    pub fn iter(&self) -> impl Iterator<Item = &Axis> {
        self.0.iter()
    }

    /// Keeps some values, by name of the axis and value.
    pub fn retain(&mut self, has: impl Fn(&str, &str) -> bool) {
        for Axis { name, values } in &mut self.0 {
            values.retain(|(value, _)| has(name, value));
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only one.
    pub fn only(&self) -> Option<&Axis> {
        if let [axis] = self.0.as_slice() { Some(axis) } else { None }
    }

    /// Combinations of values.
    pub fn steps(&self) -> usize {
        self.iter().map(|axis| axis.values.len()).product()
    }

    /// How far two neighbours on an axis are from each other, in steps.
    fn stride(&self, axis: usize) -> usize {
        self.0[axis + 1..].iter().map(|behind| behind.values.len()).product()
    }

    /// Index of the value that an axis has at a step.
    fn place(&self, step: usize, axis: usize) -> usize {
        step / self.stride(axis) % self.0[axis].values.len()
    }

    /// Each axis with its value at a step, and the setting that makes it.
    fn at(&self, step: usize) -> impl Iterator<Item = (&Axis, &(String, Setting))> {
        self.iter().enumerate().map(move |(index, axis)| (axis, &axis.values[self.place(step, index)]))
    }

    /// The values at a step, one of each axis.
    pub fn values(&self, step: usize) -> Vec<&str> {
        self.at(step).map(|(_, (label, _))| label.as_str()).collect()
    }

    /// The settings of a step.
    pub fn settings(&self, step: usize) -> impl Iterator<Item = &Setting> {
        self.at(step).map(|(_, (_, setting))| setting)
    }

    /// A step as names of folders: `load-0.5`.
    pub fn folders(&self, step: usize) -> impl Iterator<Item = String> {
        self.at(step).map(|(axis, (label, _))| format!("{}-{label}", axis.name))
    }

    /// A step in words: `load 0.5, eta 0.95`; nothing without axes.
    pub fn words(&self, step: usize) -> String {
        let words: Vec<String> = self.at(step).map(|(axis, (label, _))| format!("{} {label}", axis.name)).collect();
        words.join(", ")
    }

    /// The step at which each axis has the value of this index.
    pub fn step(&self, places: &[usize]) -> usize {
        places.iter().enumerate().map(|(axis, place)| place * self.stride(axis)).sum()
    }

    /// Every way to go along an axis while the others stand still.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for (index, axis) in self.0.iter().enumerate() {
            for first in (0..self.steps()).filter(|step| self.place(*step, index) == 0) {
                let steps = (0..axis.values.len()).map(|place| first + place * self.stride(index)).collect();
                let others = || self.at(first).filter(|(other, _)| other.name != axis.name);
                lines.push(Line {
                    axis,
                    steps,
                    others: others().map(|(other, (label, _))| (other.name.clone(), label.clone())).collect(),
                });
            }
        }
        lines
    }
}

/// The steps along one axis.
pub struct Line<'a> {
    /// The axis.
    pub axis: &'a Axis,
    /// A step for each of its values.
    pub steps: Vec<usize>,
    /// The other axes, with the value that they have all along.
    pub others: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: &[&str]) -> Axis {
        let value = |label: &&str| ((*label).to_owned(), Setting { text: format!("k.{name}={label}"), at: None });
        Axis { name: name.into(), values: values.iter().map(value).collect() }
    }

    #[test]
    fn steps_are_all_combinations() {
        let axes = Axes::new(vec![axis("load", &["0.3", "0.5"]), axis("eta", &["a", "b", "c"])]);
        let steps: Vec<String> = (0..axes.steps()).map(|step| axes.values(step).concat()).collect();
        assert_eq!(steps, ["0.3a", "0.3b", "0.3c", "0.5a", "0.5b", "0.5c"]);
        assert_eq!((axes.step(&[1, 2]), axes.words(4)), (5, "load 0.5, eta b".to_owned()));
        assert_eq!(axes.folders(1).collect::<Vec<_>>(), ["load-0.3", "eta-b"]);
        assert_eq!(
            axes.settings(3).map(|setting| setting.text.as_str()).collect::<Vec<_>>(),
            ["k.load=0.5", "k.eta=a"]
        );
        let lines = axes.lines();
        assert_eq!(
            lines.iter().map(|line| line.steps.clone()).collect::<Vec<_>>()[1..4],
            [vec![1, 4], vec![2, 5], vec![0, 1, 2]]
        );
        assert_eq!(lines[1].others, [("eta".to_owned(), "b".to_owned())]);
    }
}
