// SPDX-License-Identifier: GPL-2.0-only
//! The metrics that a sweep file asks for as columns of a table of its own.

use hpcc_model::error::nearest;

use hpcc_measures::quantity::{Figure, METRICS, Metric, Of, Quantity, Series, Whose};

use super::metrics::bin_names;
use crate::human;

/// A column that a sweep file asks for.
#[derive(Debug)]
pub struct Column {
    /// The metric's name in `sweep.csv`.
    pub name: String,
    metric: &'static Metric,
    /// The group in brackets.
    group: Option<String>,
    /// The flows or queue that it is of, in words.
    whose: String,
}

impl Column {
    /// The column of a metric, where flows have these classes of size. Groups are not known yet.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub fn parse(name: &str, bins: Option<&[u64]>) -> Result<Column, String> {
        let metric = Metric::of(name).ok_or_else(|| unknown(name))?;
        let inside = match name.split_once('[').map(|(_, rest)| rest.strip_suffix(']')) {
            Some(None) => return Err(format!("{name} does not end with ]")),
            inside => inside.flatten().map(str::to_owned),
        };
        let sizes = inside.as_deref().and_then(|inside| inside.split_once(".."));
        if let (Some(inside), Some(_)) = (&inside, sizes)
            && !bin_names(bins).contains(&format!("[{inside}]"))
        {
            let known = bin_names(bins).join(" ");
            return Err(format!("{name}: only the bins of size_bins can stand in brackets; expected one of {known}"));
        }
        match (metric.whose, &inside, sizes) {
            (Whose::Run | Whose::Small | Whose::Large, Some(_), _) => Err(format!("{} has no brackets", metric.name)),
            (Whose::Group, None, _) | (Whose::Group, _, Some(_)) => {
                Err(format!("{0} is that of a group: {0}[NAME]", metric.name))
            }
            (_, _, Some((above, up_to))) => {
                let whose = size_words(above, up_to);
                Ok(Column { name: name.to_owned(), metric, group: None, whose })
            }
            _ => {
                let whose = inside.clone().unwrap_or_else(|| metric.owner.to_owned());
                Ok(Column { name: name.to_owned(), metric, group: inside, whose })
            }
        }
    }

    /// The group whose flows it is of, if it is of one.
    pub fn group(&self) -> Option<&String> {
        self.group.as_ref()
    }

    /// The time series that it is made from, if it is; with only a part of the run measured or all of it, and only groups or
    /// all flows.
    ///
    /// # Errors
    /// If there is no such metric of a part.
    pub fn series(&self, of_part: bool, of_groups: bool) -> Result<Option<Series>, String> {
        let Metric { quantity, figure, .. } = self.metric;
        let def = quantity.def();
        match (quantity, figure) {
            (Quantity::FeedbackPerMs | Quantity::TelemetryPerKb, _) if of_groups => {
                Err(format!("{} is known of all flows only, not with groups", self.name))
            }
            _ if def.of == Of::Run && of_part => {
                Err(format!("{} is known of the whole run only, not with warm_up or until", self.name))
            }
            // The summary of a run has them.
            (Quantity::Queue, Figure::Percentile(99 | 100)) => Ok(of_part.then_some(Series::Queues)),
            (Quantity::Goodput | Quantity::Fairness, _) => Ok(of_part.then_some(Series::Goodput)),
            _ => Ok(def.series),
        }
    }

    /// Its head, in two lines: whose it is, and what.
    pub fn head(&self) -> String {
        format!("{}\n{}", self.whose, self.metric.what)
    }

    /// Whether it is a metric of the flows that `whose` names.
    pub fn is_of(&self, whose: &str) -> bool {
        self.metric.owner == whose
    }
}

fn unknown(name: &str) -> String {
    let base = name.split_once('[').map_or(name, |(base, _)| base);
    let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    let hint = nearest(base, &names)
        .map_or_else(|| format!("; expected one of {}", names.join(", ")), |near| format!("; did you mean {near}?"));
    format!("there is no metric {base}{hint}")
}

/// The sizes of a bin.
fn size_words(above: &str, up_to: &str) -> String {
    let words = |text: &str| text.parse().map_or_else(|_| text.to_owned(), human::bytes);
    match (above, up_to) {
        ("0", up_to) => format!("up to {}", words(up_to)),
        (above, "") => format!("over {}", words(above)),
        (above, up_to) => format!("{} - {}", words(above), words(up_to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_whose_and_what_and_wrong_ones_the_nearest() {
        for (name, head) in [
            ("slowdown_small_p99", "small flows\nslowdown p99"),
            ("goodput_mean_gbps[incast]", "incast\nGb/s, mean"),
            ("slowdown_p50[0..10000]", "up to 10.0 kB\nslowdown p50"),
            ("slowdown_p50[1000000..]", "over 1.00 MB\nslowdown p50"),
        ] {
            assert_eq!(Column::parse(name, None).expect(name).head(), head);
        }
        for (name, wrong) in [
            ("slowdown_p98", "there is no metric slowdown_p98; did you mean slowdown_p99?"),
            ("zzz", "expected one of flows, flows_unfinished, "),
            ("drops[incast]", "drops has no brackets"),
            ("flows[incast", "flows[incast does not end with ]"),
            ("goodput_jain", "goodput_jain is that of a group: goodput_jain[NAME]"),
            ("flows[0..5]", "only the bins of size_bins can stand in brackets; expected one of [0..10000] "),
        ] {
            let told = Column::parse(name, None).expect_err(name);
            assert!(told.contains(wrong), "{told}");
        }
        let written = [("queue_p99_bytes", 12_345.0), ("flows", 12_345.0), ("flows", 2.5), ("flows", 8_393.4)];
        let unit = |name| Metric::of(name).expect("known").quantity.def().unit;
        let written = written.map(|(name, value)| super::super::metrics::write(unit(name), value));
        assert_eq!(written, ["12.3", "12,345", "2.50", "8,393"]);
    }

    #[test]
    fn what_is_not_recorded_is_known() {
        let series = |name: &str, of_part| Column::parse(name, None).expect("a metric").series(of_part, of_part);
        for (name, of_run, of_part) in [
            ("queue_p50_bytes", Some(Series::Queues), Some(Series::Queues)),
            ("queue_max_bytes", None, Some(Series::Queues)),
            ("goodput_large_jain", None, Some(Series::Goodput)),
            ("goodput_mean_gbps[a]", None, Some(Series::Goodput)),
        ] {
            assert_eq!((series(name, false), series(name, true)), (Ok(of_run), Ok(of_part)), "{name}");
        }
        assert!(series("drops", true).is_err_and(|error| error.contains("whole run")));
        assert!(series("feedback_per_ms", true).is_err_and(|error| error.contains("all flows only, not with groups")));
    }
}
