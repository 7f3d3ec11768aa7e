// SPDX-License-Identifier: GPL-2.0-only
//! Flow-size distributions: `bytes percent` lines, linear between points.

use crate::error::InputError;
use crate::place::Place;
use std::path::Path;

/// A cumulative distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// (bytes, percent), from percent 0 to 100.
    points: Vec<(f64, f64)>,
}

/// The workloads of `configs/workloads`, which a scenario can name without a file.
const SHIPPED: [(&str, &str); 2] = [
    ("websearch", include_str!("../../../workloads/websearch.cdf")),
    ("fb_hadoop", include_str!("../../../workloads/fb_hadoop.cdf")),
];

impl Cdf {
    /// The names of workloads that need no file.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.into_iter().map(|(name, _)| name)
    }

    /// The workload of one of these [names](Cdf::names).
    pub fn shipped(name: &str) -> Option<Cdf> {
        let (_, text) = SHIPPED.into_iter().find(|(known, _)| *known == name)?;
        Cdf::parse(&Place::file(Path::new(name)), text).ok()
    }

    /// Reads a file of `bytes percent` lines; `#` starts a comment. Neither may fall, and the last percentage is 100; where it
    /// is 1, all are fractions. Unless the first percent is 0, the distribution starts at 0 bytes.
    ///
    /// # Errors
    /// A missing file, or the first line that breaks these rules.
    pub fn read(path: &Path) -> Result<Cdf, InputError> {
        Cdf::parse(&Place::file(path), &crate::text::read(path)?)
    }

    fn parse(file: &Place, text: &str) -> Result<Cdf, InputError> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut place = file.at(1);
        for (line, number) in text.lines().zip(1..) {
            let content = line.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            place = file.at(number);
            let point = point(content).map_err(|message| place.error(message))?;
            if points.is_empty() && point.1 > 0.0 {
                points.push((0.0, 0.0));
            }
            if let Some(last) = points.last().filter(|last| point.0 < last.0 || point.1 < last.1) {
                let found = format!("{} bytes at {} % follow {} bytes at {} %", point.0, point.1, last.0, last.1);
                return Err(place.error(format!("{found}; expected no fewer bytes and no lower percentage")));
            }
            points.push(point);
        }
        if points.last().is_some_and(|last| last.1 == 1.0) {
            points.iter_mut().for_each(|point| point.1 *= 100.0);
        }
        // Whatever follows 100 % is the size of no flow.
        let end = points.iter().position(|point| point.1 == 100.0).unwrap_or(points.len());
        points.truncate(end + 1);
        match points.last() {
            Some(&(bytes, 100.0)) if bytes >= 1.0 => Ok(Cdf { points }),
            Some((bytes, percent)) => Err(place
                .error(format!("the last line is {bytes} bytes at {percent} %; expected at least 1 byte at 100 %"))),
            None => Err(place.error("there are no points; expected lines of \"bytes percent\"")),
        }
    }

    /// Mean flow size in bytes, with sizes uniform between two points.
    pub fn mean(&self) -> f64 {
        let area = |pair: &[(f64, f64)]| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1) / 100.0;
        self.points.windows(2).map(area).sum()
    }

    /// The size in bytes at a percentage from 0 to 100; at least 1.
    pub fn size_at(&self, percent: f64) -> u64 {
        let above = self.points.partition_point(|point| point.1 <= percent);
        let above = above.clamp(1, self.points.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.points[above - 1], self.points[above]);
        let size = x0 + (x1 - x0) / (y1 - y0) * (percent - y0);
        (size as u64).max(1)
    }
}

fn point(content: &str) -> Result<(f64, f64), String> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let expected = "expected \"bytes percent\", such as \"10000 15\"";
    let &[bytes, percent] = words.as_slice() else {
        return Err(format!("found {} words in \"{content}\"; {expected}", words.len()));
    };
    let number = |text: &str, name: &str, max: f64| match text.parse::<f64>() {
        Ok(value) if (0.0..=max).contains(&value) => Ok(value),
        _ => Err(format!("{name} is \"{text}\"; expected a number from 0 to {max}")),
    };
    Ok((number(bytes, "the size", f64::from(u32::MAX))?, number(percent, "the percentage", 100.0)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn workloads_have_names() {
        let means = Cdf::names().map(|name| Cdf::shipped(name).expect(name).mean() as u64);
        assert_eq!(means.collect::<Vec<_>>(), [1_711_250, 120_420]);
        assert_eq!(Cdf::shipped("websearch.cdf"), None);
    }

    fn parse(text: &str) -> Result<Cdf, String> {
        Cdf::parse(&Place::file(Path::new("x.cdf")), text).map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_are_linear_between_points() {
        let cdf = parse("# c\n100 50\n300 100\n").expect("valid");
        assert_eq!(cdf.size_at(0.0), 1);
        assert_eq!(cdf.size_at(25.0), 50);
        assert_eq!(cdf.size_at(50.0), 100);
        assert_eq!(cdf.size_at(75.0), 200);
        assert_eq!(cdf.size_at(100.0), 300);
        assert_abs_diff_eq!(cdf.mean(), 125.0, epsilon = 1e-9);
    }

    #[test]
    fn shares_may_be_fractions_and_pieces_flat() {
        let percent = parse("0 0\n2000 0\n2100 2\n10000 50\n1000000 100\n2000000 100\n").expect("valid");
        assert_eq!((percent.size_at(0.0), percent.size_at(2.0), percent.size_at(100.0)), (2000, 2100, 1_000_000));
        let fractions = parse("0 0\n2000 0\n2100 0.02\n10000 0.5\n1000000 1\n").expect("valid");
        assert_eq!(fractions, percent);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("", "x.cdf:1: there are no points"),
            ("10 20\n\n20 x\n", "x.cdf:3: the percentage is \"x\""),
            ("10 20\n20 10\n", "x.cdf:2: 20 bytes at 10 % follow 10 bytes at 20 %"),
            ("10 20\n5 30\n", "x.cdf:2: 5 bytes"),
            ("10 20\n20 90\n", "x.cdf:2: the last line is 20 bytes at 90 %"),
            ("10 20 30\n", "x.cdf:1: found 3 words"),
            ("nan 20\n", "x.cdf:1: the size is \"nan\""),
            ("-1 20\n", "x.cdf:1: the size is \"-1\""),
            ("10 120\n", "x.cdf:1: the percentage is \"120\""),
            ("0 100\n", "x.cdf:1: the last line is 0 bytes"),
        ] {
            let message = parse(text).expect_err(text);
            assert!(message.starts_with(expected), "{message} / {expected}");
        }
    }
}
