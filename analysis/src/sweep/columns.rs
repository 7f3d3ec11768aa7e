// SPDX-License-Identifier: GPL-2.0-only
//! Metrics in words: how tables head and write them, and which of them a sweep file may ask for.

use hpcc_formats::error::nearest;

use super::claim::Series;
use super::metrics::bin_names;
use crate::human;

/// Whose metrics those of small flows are.
pub const SMALL: &str = "small flows";
/// Whose those of large flows are.
pub const LARGE: &str = "large flows";

/// What tables know of a metric.
#[derive(Debug, PartialEq)]
pub struct Word {
    /// Its name in `sweep.csv`, without brackets.
    name: &'static str,
    /// Whose it is; nothing where brackets say so.
    whose: &'static str,
    /// What it is, with its unit.
    what: &'static str,
    /// How its value is written.
    style: Style,
    /// Whether its name goes on.
    brackets: Brackets,
    /// What a run has to record.
    needs: Needs,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    Count,
    TwoDigits,
    ThreeDigits,
    Index,
    Kilobytes,
    Microseconds,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Brackets {
    None,
    /// None, a group, or sizes.
    Any,
    Group,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Needs {
    Nothing,
    /// Lengths of queues in time.
    Queues,
    /// The same where only a part of the run is measured.
    QueuesOfPart,
    /// What flows deliver in time where only a part of the run is measured, which cuts some.
    GoodputOfPart,
    /// That all of the run is measured.
    WholeRun,
    /// And all flows.
    AllFlows,
}

const fn of_flows(whose: &'static str, name: &'static str, what: &'static str, style: Style) -> Word {
    Word { name, whose, what, style, brackets: Brackets::None, needs: Needs::Nothing }
}

const fn of_rates(whose: &'static str, name: &'static str, what: &'static str, style: Style) -> Word {
    Word { needs: Needs::GoodputOfPart, ..of_flows(whose, name, what, style) }
}

const fn of_any_flows(name: &'static str, what: &'static str, style: Style) -> Word {
    Word { brackets: Brackets::Any, ..of_flows("all flows", name, what, style) }
}

const fn of_group(name: &'static str, what: &'static str, style: Style) -> Word {
    Word { brackets: Brackets::Group, ..of_rates("", name, what, style) }
}

const fn of_network(needs: Needs, whose: &'static str, name: &'static str, what: &'static str, style: Style) -> Word {
    Word { needs, ..of_flows(whose, name, what, style) }
}

const WORDS: &[Word] = &[
    of_any_flows("flows", "flows", Style::Count),
    of_flows("unfinished", "flows_unfinished", "flows", Style::Count),
    of_any_flows("slowdown_mean", "slowdown mean", Style::TwoDigits),
    of_any_flows("slowdown_p50", "slowdown p50", Style::TwoDigits),
    of_any_flows("slowdown_p95", "slowdown p95", Style::TwoDigits),
    of_any_flows("slowdown_p99", "slowdown p99", Style::TwoDigits),
    of_any_flows("fct_p50_ns", "FCT p50 (us)", Style::Microseconds),
    of_any_flows("fct_p99_ns", "FCT p99 (us)", Style::Microseconds),
    of_flows(SMALL, "slowdown_small_mean", "slowdown mean", Style::TwoDigits),
    of_flows(SMALL, "slowdown_small_p50", "slowdown p50", Style::TwoDigits),
    of_flows(SMALL, "slowdown_small_p95", "slowdown p95", Style::TwoDigits),
    of_flows(SMALL, "slowdown_small_p99", "slowdown p99", Style::TwoDigits),
    of_flows(LARGE, "slowdown_large_mean", "slowdown mean", Style::TwoDigits),
    of_flows(LARGE, "slowdown_large_p50", "slowdown p50", Style::TwoDigits),
    of_flows(LARGE, "slowdown_large_p95", "slowdown p95", Style::TwoDigits),
    of_flows(LARGE, "slowdown_large_p99", "slowdown p99", Style::TwoDigits),
    of_rates(LARGE, "goodput_large_p50_gbps", "Gb/s, median", Style::TwoDigits),
    of_rates(LARGE, "goodput_large_mean_gbps", "Gb/s, mean", Style::TwoDigits),
    of_rates(LARGE, "goodput_large_jain", "Jain's index", Style::Index),
    of_group("goodput_p50_gbps", "Gb/s, median", Style::TwoDigits),
    of_group("goodput_mean_gbps", "Gb/s, mean", Style::TwoDigits),
    of_group("goodput_jain", "Jain's index", Style::Index),
    of_network(Needs::Queues, "busiest queue", "queue_p50_bytes", "p50 (kB)", Style::Kilobytes),
    of_network(Needs::Queues, "busiest queue", "queue_p95_bytes", "p95 (kB)", Style::Kilobytes),
    of_network(Needs::QueuesOfPart, "busiest queue", "queue_p99_bytes", "p99 (kB)", Style::Kilobytes),
    of_network(Needs::QueuesOfPart, "busiest queue", "queue_max_bytes", "max (kB)", Style::Kilobytes),
    of_network(Needs::Queues, "longest queue", "queue_growth_ns", "grew for (us)", Style::Microseconds),
    of_network(Needs::Nothing, "PFC", "pfc_pauses", "pauses", Style::Count),
    of_network(Needs::Nothing, "PFC", "pfc_pause_ns", "paused (us)", Style::Microseconds),
    of_network(Needs::Nothing, "PFC, paused", "pfc_paused_percent", "of all time (%)", Style::ThreeDigits),
    of_network(Needs::WholeRun, "packets", "drops", "dropped", Style::Count),
    of_network(Needs::WholeRun, "packets", "resent_packets", "sent again", Style::Count),
    of_network(Needs::WholeRun, "telemetry", "telemetry_bytes", "bytes", Style::Count),
    of_network(Needs::AllFlows, "telemetry", "telemetry_per_kb", "B per kB", Style::ThreeDigits),
    of_network(Needs::WholeRun, "feedback", "feedback_packets", "packets", Style::Count),
    of_network(Needs::AllFlows, "feedback", "feedback_per_ms", "packets per ms", Style::Count),
    of_network(Needs::WholeRun, "telemetry", "probes", "probes", Style::Count),
    of_network(Needs::Nothing, "telemetry", "telemetry_sender_bytes", "B from sender", Style::Count),
    of_network(Needs::Nothing, "telemetry", "telemetry_hop_bytes", "B from a switch", Style::Count),
];

impl Word {
    /// That of a metric, whatever its brackets.
    pub fn of(metric: &str) -> Option<&'static Word> {
        let name = metric.split_once('[').map_or(metric, |(name, _)| name);
        WORDS.iter().find(|word| word.name == name)
    }

    /// A value as tables have it.
    pub fn write(&self, value: f64) -> String {
        match self.style {
            Style::Count => count(value),
            Style::TwoDigits => format!("{value:.2}"),
            Style::ThreeDigits => human::three_digits(value),
            Style::Index => format!("{value:.3}"),
            Style::Kilobytes | Style::Microseconds => human::three_digits(value / 1e3),
        }
    }
}

/// Counts; small means over seeds need not be whole.
fn count(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        return human::count(value.round() as u64);
    }
    human::three_digits(value)
}

/// A column that a sweep file asks for.
#[derive(Debug, PartialEq)]
pub struct Column {
    /// The metric's name in `sweep.csv`.
    pub name: String,
    word: &'static Word,
    of: Of,
}

/// What brackets behind a name say.
#[derive(Debug, PartialEq)]
enum Of {
    All,
    Group(String),
    Sizes(String),
}

impl Column {
    /// The column of a metric, where flows have these classes of size. Groups are not known yet.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub fn parse(name: &str, bins: Option<&[u64]>) -> Result<Column, String> {
        let word = Word::of(name).ok_or_else(|| unknown(name))?;
        let of = of(name, bins)?;
        match (word.brackets, &of) {
            (Brackets::None, Of::Group(_) | Of::Sizes(_)) => Err(format!("{} has no brackets", word.name)),
            (Brackets::Group, Of::All | Of::Sizes(_)) => Err(format!("{0} is that of a group: {0}[NAME]", word.name)),
            _ => Ok(Column { name: name.to_owned(), word, of }),
        }
    }

    /// The group whose flows it is of, if it is of one.
    pub fn group(&self) -> Option<&str> {
        match &self.of {
            Of::Group(name) => Some(name),
            Of::All | Of::Sizes(_) => None,
        }
    }

    /// The time series that it is made from, if it is; with only a part of the run measured or all of it, and only groups or
    /// all flows.
    ///
    /// # Errors
    /// If there is no such metric of a part.
    pub fn series(&self, of_part: bool, of_groups: bool) -> Result<Option<Series>, String> {
        match self.word.needs {
            Needs::AllFlows if of_groups => Err(format!("{} is known of all flows only, not with groups", self.name)),
            Needs::WholeRun | Needs::AllFlows if of_part => {
                Err(format!("{} is known of the whole run only, not with warm_up or until", self.name))
            }
            Needs::Queues => Ok(Some(Series::Queues)),
            Needs::QueuesOfPart => Ok(of_part.then_some(Series::Queues)),
            Needs::GoodputOfPart => Ok(of_part.then_some(Series::Goodput)),
            Needs::Nothing | Needs::WholeRun | Needs::AllFlows => Ok(None),
        }
    }

    /// Its head, in two lines: whose it is, and what.
    pub fn head(&self) -> String {
        let whose = match &self.of {
            Of::All => self.word.whose,
            Of::Group(words) | Of::Sizes(words) => words,
        };
        format!("{whose}\n{}", self.word.what)
    }

    /// Whether it is that of [`SMALL`] or [`LARGE`] flows.
    pub fn is_of(&self, whose: &str) -> bool {
        self.word.whose == whose
    }
}

fn unknown(name: &str) -> String {
    let base = name.split_once('[').map_or(name, |(base, _)| base);
    let names: Vec<&str> = WORDS.iter().map(|word| word.name).collect();
    let hint = nearest(base, &names)
        .map_or_else(|| format!("; expected one of {}", names.join(", ")), |near| format!("; did you mean {near}?"));
    format!("there is no metric {base}{hint}")
}

fn of(name: &str, bins: Option<&[u64]>) -> Result<Of, String> {
    let Some((_, rest)) = name.split_once('[') else { return Ok(Of::All) };
    let Some(inside) = rest.strip_suffix(']') else { return Err(format!("{name} does not end with ]")) };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((above, up_to)) = inside.split_once("..").filter(|(a, b)| is_number(a) && is_number(b)) else {
        return Ok(Of::Group(inside.to_owned()));
    };
    let known = bin_names(bins);
    if !known.contains(&format!("[{inside}]")) {
        return Err(format!(
            "{name}: there are no such sizes; only the bins of size_bins can stand in brackets; expected one of {}",
            known.join(" ")
        ));
    }
    let words = |text: &str| text.parse().map_or_else(|_| text.to_owned(), human::bytes);
    Ok(Of::Sizes(match (above, up_to) {
        ("0", up_to) => format!("up to {}", words(up_to)),
        (above, "") => format!("over {}", words(above)),
        (above, up_to) => format!("{} - {}", words(above), words(up_to)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str) -> String {
        Column::parse(name, None).unwrap_or_else(|error| panic!("{error}")).head()
    }

    fn wrong(name: &str) -> String {
        Column::parse(name, None).expect_err(name)
    }

    #[test]
    fn heads_say_whose_and_what() {
        assert_eq!(head("slowdown_small_p99"), "small flows\nslowdown p99");
        assert_eq!(head("goodput_mean_gbps[incast]"), "incast\nGb/s, mean");
        assert_eq!(head("slowdown_p50[0..10000]"), "up to 10.0 kB\nslowdown p50");
        assert_eq!(head("slowdown_p50[1000000..]"), "over 1.00 MB\nslowdown p50");
        assert_eq!(Word::of("queue_p99_bytes").expect("known").write(12_345.0), "12.3");
    }

    #[test]
    fn what_is_no_metric_is_refused_with_the_nearest() {
        assert_eq!(wrong("slowdown_p98"), "there is no metric slowdown_p98; did you mean slowdown_p99?");
        assert!(wrong("zzz").contains("expected one of flows, flows_unfinished, "));
        assert_eq!(wrong("drops[incast]"), "drops has no brackets");
        assert_eq!(wrong("goodput_jain"), "goodput_jain is that of a group: goodput_jain[NAME]");
        assert_eq!(wrong("flows[incast"), "flows[incast does not end with ]");
        let sizes = wrong("flows[0..5]");
        assert!(
            sizes.contains("only the bins of size_bins can stand in brackets; expected one of [0..10000] "),
            "{sizes}"
        );
    }

    #[test]
    fn what_is_not_recorded_is_known() {
        let series = |name: &str, of_part| Column::parse(name, None).expect("a metric").series(of_part, of_part);
        assert_eq!(series("queue_p50_bytes", false), Ok(Some(Series::Queues)));
        assert_eq!(
            (series("queue_max_bytes", false), series("queue_max_bytes", true)),
            (Ok(None), Ok(Some(Series::Queues)))
        );
        for name in ["goodput_large_jain", "goodput_mean_gbps[a]"] {
            assert_eq!((series(name, false), series(name, true)), (Ok(None), Ok(Some(Series::Goodput))), "{name}");
        }
        assert!(series("drops", true).is_err_and(|error| error.contains("whole run")));
        assert!(series("feedback_per_ms", true).is_err_and(|error| error.contains("all flows only, not with groups")));
    }

    #[test]
    fn counts_stay_whole_and_means_may_not() {
        assert_eq!(count(12_345.0), "12,345");
        assert_eq!(count(2.5), "2.50");
        assert_eq!(count(8_393.4), "8,393");
    }
}
