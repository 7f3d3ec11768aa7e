// SPDX-License-Identifier: GPL-2.0-only
//! What is measured: each quantity once, with its name, unit, definition and records. Columns, claims, tables, charts, the page and
//! Python read it here.
//!
//! A figure is of one run: a mean or a percentile over flows, or over time. Of several seeds the mean of their figures counts, of
//! those seeds that have one.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// What is to be known of a quantity.
#[derive(Debug)]
pub struct Def {
    /// In `measure` of a claim; empty if no claim is about it.
    pub name: &'static str,
    /// On an axis.
    pub title: &'static str,
    /// Of its values in files.
    pub unit: Unit,
    /// What it is of.
    pub of: Of,
    /// The records that it is made from, if it is.
    pub series: Option<Series>,
    /// What its `level` is, if it waits for one.
    pub waits_for: Option<Awaited>,
    /// Its definition.
    pub is: &'static str,
}

/// What a quantity is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Each flow or sample: it has a mean and percentiles.
    Each,
    /// All chosen flows together.
    Flows,
    /// The port with the longest queue, over time: it has percentiles.
    Port,
    /// The network.
    Network,
    /// The whole run, never a part of it.
    Run,
}

impl Of {
    /// Whether flows can be chosen.
    pub fn flows(self) -> bool {
        matches!(self, Of::Each | Of::Flows)
    }

    /// Whether percentiles of it can be asked for.
    pub fn percentiles(self) -> bool {
        matches!(self, Of::Each | Of::Port)
    }
}

/// What a quantity can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A short queue.
    Queue,
    /// A rate.
    Rate,
    /// Jain's index.
    Index,
}

/// A time series that a run records if its scenario says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Lengths of queues.
    Queues,
    /// Goodput of flows.
    Goodput,
    /// Congestion control of flows.
    Control,
}

impl Series {
    /// The key of a scenario that has it recorded.
    pub fn key(self) -> &'static str {
        match self {
            Series::Queues => "monitor.queue_interval",
            Series::Goodput => "monitor.goodput_interval",
            Series::Control => "monitor.control_interval",
        }
    }
}

/// The unit of values in files; readers see nanoseconds as microseconds, and bytes as kB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// A ratio.
    Ratio,
    /// A ratio that is small.
    Small,
    /// Jain's index.
    Index,
    /// Gb/s.
    Gbps,
    /// GB/s.
    Gbytes,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Percent.
    Percent,
}

impl Unit {
    /// What readers see; empty of a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Count | Unit::Ratio | Unit::Small | Unit::Index => "",
            Unit::Gbps => "Gb/s",
            Unit::Gbytes => "GB/s",
            Unit::Bytes => "kB",
            Unit::Nanos => "us",
            Unit::Percent => "%",
        }
    }

    /// What values in files have.
    pub fn in_files(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Nanos => "ns",
            Unit::Count | Unit::Ratio | Unit::Small | Unit::Index | Unit::Gbps | Unit::Gbytes | Unit::Percent => {
                self.symbol()
            }
        }
    }

    /// A value in a file is so many times what readers see.
    pub fn scale(self) -> f64 {
        if matches!(self, Unit::Bytes | Unit::Nanos) { 1e3 } else { 1.0 }
    }
}

const fn def(name: &'static str, title: &'static str, unit: Unit, of: Of, is: &'static str) -> Def {
    Def { name, title, unit, of, series: None, waits_for: None, is }
}

const fn from(series: Series, def: Def) -> Def {
    Def { series: Some(series), ..def }
}

const fn waits(awaited: Awaited, def: Def) -> Def {
    Def { waits_for: Some(awaited), ..def }
}

/// Declares the quantities, each with its definition.
macro_rules! quantities {
    ($($Name:ident: $def:expr,)+) => {
        /// A quantity; [`Quantity::def`] says everything of it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        #[expect(missing_docs, reason = "the table defines them")]
        pub enum Quantity {
            $($Name,)+
        }

        impl Quantity {
            const ALL: &[Quantity] = &[$(Quantity::$Name),+];

            /// What is to be known of it.
            pub fn def(self) -> &'static Def {
                static DEFS: &[Def] = &[$($def),+];
                &DEFS[self as usize]
            }
        }
    };
}

quantities! {
    Slowdown: def("slowdown", "Slowdown", Unit::Ratio, Of::Each, "Completion time relative to that in an empty network."),
    CompletionTime: def("completion-time", "Completion time", Unit::Nanos, Of::Each, "Completion time."),
    Goodput: def("goodput", "Goodput", Unit::Gbps, Of::Each, "Rate of a flow while it sends."),
    TotalGoodput: from(
        Series::Goodput,
        def(
            "total-goodput",
            "Goodput of all flows",
            Unit::Gbps,
            Of::Flows,
            "Rate of all selected flows together over the whole window.",
        ),
    ),
    Fairness: def("fairness", "Jain's index", Unit::Index, Of::Flows, "Jain's index of the flows' rates."),
    Queue: from(Series::Queues, def("queue", "Queue", Unit::Bytes, Of::Port, "Queue of the busiest switch port, over time.")),
    QueueSettles: waits(
        Awaited::Queue,
        from(
            Series::Queues,
            def(
                "queue-settles",
                "Time until queues settle",
                Unit::Nanos,
                Of::Network,
                "Time from the begin of the window until no switch port has a queue above \
         `level` any more.",
            ),
        ),
    ),
    QueuePeaks: from(
        Series::Queues,
        def(
            "queue-peaks",
            "Time of the longest queue",
            Unit::Nanos,
            Of::Network,
            "Time from the begin of the window until a queue is as long as any gets in it.",
        ),
    ),
    GoodputReaches: waits(
        Awaited::Rate,
        from(
            Series::Goodput,
            def(
                "goodput-reaches",
                "Time until the rate",
                Unit::Nanos,
                Of::Flows,
                "Time from the begin of the window until the selected flows together reach the \
         rate `level`; all of the window if they do not.",
            ),
        ),
    ),
    FairnessReaches: waits(
        Awaited::Index,
        from(
            Series::Goodput,
            def(
                "fairness-reaches",
                "Time until Jain's index",
                Unit::Nanos,
                Of::Flows,
                "Time from the begin of the window until Jain's index of the selected flows \
         reaches `level`; all of the window if it does not.",
            ),
        ),
    ),
    Utilisation: from(
        Series::Control,
        def(
            "utilisation",
            "U",
            Unit::Ratio,
            Of::Each,
            "U of the busiest link as the senders of the selected flows compute it, over \
         their samples.",
        ),
    ),
    TotalWindow: from(
        Series::Control,
        def(
            "total-window",
            "Window of all flows",
            Unit::Bytes,
            Of::Each,
            "The windows of the selected flows together, over time.",
        ),
    ),
    PausedShare: def(
        "paused-share",
        "Paused",
        Unit::Percent,
        Of::Network,
        "Part of the time for which PFC paused ports, over all ports.",
    ),
    JobTime: def("job-time", "Time of the longest job", Unit::Nanos, Of::Run, "Time of the longest job."),
    BusBandwidth: def(
        "bus-bandwidth",
        "Bus bandwidth of collectives",
        Unit::Gbytes,
        Of::Run,
        "Bus bandwidth of all collectives, by their time.",
    ),
    Drops: def("drops", "Packets dropped", Unit::Count, Of::Run, "Packets dropped by switches in the whole run."),
    Marks: def("marks", "Packets marked", Unit::Count, Of::Run, "Data packets that switches marked (ECN)."),
    Cnps: def("cnps", "CNPs", Unit::Count, Of::Run, "Congestion notification packets that receivers sent."),
    Unfinished: def("unfinished", "Unfinished flows", Unit::Percent, Of::Flows, "Flows that did not finish, of all."),
    Flows: def("", "Flows", Unit::Count, Of::Flows, "Number of flows."),
    FlowsUnfinished: def("", "Unfinished flows", Unit::Count, Of::Flows, "Flows that did not finish, which have no completion time."),
    QueueGrowth: from(
        Series::Queues,
        def(
            "",
            "The longest queue grew for",
            Unit::Nanos,
            Of::Network,
            "Time from the last sample in which the longest queue was empty to that of its peak.",
        ),
    ),
    Pauses: def("pauses", "Pauses", Unit::Count, Of::Network, "PFC's pauses."),
    PauseTime: def("", "Paused", Unit::Nanos, Of::Network, "Length of all of PFC's pauses, summed over ports."),
    Resent: def("resent", "Packets sent again", Unit::Count, Of::Run, "Packets sent again."),
    Telemetry: def("", "Telemetry", Unit::Count, Of::Run, "Bytes of telemetry on all links."),
    TelemetryPerKb: def("", "Telemetry for each kB", Unit::Small, Of::Run, "Bytes of telemetry on all links for each acknowledged kB."),
    SenderBytes: def(
        "",
        "Telemetry of the sender",
        Unit::Count,
        Of::Network,
        "Bytes of telemetry that a sender writes into a frame.",
    ),
    HopBytes: def("", "Telemetry of a switch", Unit::Count, Of::Network, "Bytes of telemetry that a switch writes into a frame."),
    Feedback: def("", "Feedback packets", Unit::Count, Of::Run, "Packets that return telemetry."),
    FeedbackPerMs: def(
        "",
        "Feedback packets for each ms",
        Unit::Count,
        Of::Run,
        "Packets that return telemetry, for each ms from the first flow's start to the last one's end.",
    ),
    Probes: def("", "Probes", Unit::Count, Of::Run, "Probes."),
}

impl Quantity {
    /// Those that claims are about.
    fn claimed() -> impl Iterator<Item = Quantity> {
        Quantity::ALL.iter().copied().filter(|quantity| !quantity.def().name.is_empty())
    }

    /// The least and the largest possible value, in files.
    pub fn possible(self) -> (f64, f64) {
        match (self, self.def().unit) {
            (Quantity::Slowdown, _) => (1.0, f64::INFINITY),
            (_, Unit::Index) => (0.0, 1.0),
            (_, Unit::Percent) => (0.0, 100.0),
            _ => (0.0, f64::INFINITY),
        }
    }

    /// Its title with its unit, for an axis.
    pub fn axis(self) -> String {
        let Def { title, unit, .. } = self.def();
        if unit.symbol().is_empty() { (*title).to_owned() } else { format!("{title} ({})", unit.symbol()) }
    }
}

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(name: String) -> Result<Quantity, String> {
        let known = Quantity::claimed().find(|known| known.def().name == name);
        known.ok_or_else(|| {
            let names: Vec<String> = Quantity::claimed().map(|known| format!("`{}`", known.def().name)).collect();
            format!("unknown variant `{name}`, expected one of {}", names.join(", "))
        })
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "What".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |quantity: Quantity| {
            let Def { name, is, unit, .. } = quantity.def();
            let unit = if unit.symbol().is_empty() { String::new() } else { format!(" In {}.", unit.symbol()) };
            json_schema!({ "description": format!("{is}{unit}"), "type": "string", "const": name })
        };
        json_schema!({ "description": "A kind of measurement.", "oneOf": Quantity::claimed().map(one).collect::<Vec<_>>() })
    }
}

/// The figure of a quantity in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Over flows, or over time.
    Mean,
    /// The percentile, 0 to 100; of 100 the maximum.
    Percentile(u8),
    /// There is one value only.
    Value,
}

/// The flows that a metric is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All, or those of the group or the sizes in brackets.
    Flows,
    /// Those of the group in brackets.
    Group,
    /// Small ones.
    Small,
    /// Large ones.
    Large,
    /// None: it is of the run.
    Run,
}

/// A row of `sweep.csv`, and a possible column of a table.
#[derive(Debug)]
pub struct Metric {
    /// Its name, without brackets.
    pub name: &'static str,
    /// The flows or queue that it is of, in words; empty where brackets say so.
    pub owner: &'static str,
    /// Its heading, with its unit.
    pub what: &'static str,
    /// Of which flows it is.
    pub whose: Whose,
    /// Its quantity.
    pub quantity: Quantity,
    /// Its figure.
    pub figure: Figure,
}

const fn metric(
    (name, owner, what): (&'static str, &'static str, &'static str),
    whose: Whose,
    quantity: Quantity,
    figure: Figure,
) -> Metric {
    Metric { name, owner, what, whose, quantity, figure }
}

/// Whose the metrics of small flows are, in words.
pub const SMALL: &str = "small flows";
/// Whose the metrics of large flows are, in words.
pub const LARGE: &str = "large flows";
const ALL: &str = "all flows";
const QUEUE: &str = "busiest queue";

/// All metrics, in the order of `sweep.csv`, in which those with brackets come before the last.
#[rustfmt::skip]
pub const METRICS: &[Metric] = {
    use Figure::{Mean, Percentile, Value};
    use Quantity::{
        BusBandwidth, CompletionTime, Drops, Fairness, Feedback, FeedbackPerMs, Flows, FlowsUnfinished, Goodput, HopBytes, JobTime,
        PauseTime, PausedShare, Pauses, Probes, Queue, QueueGrowth, Resent, SenderBytes, Slowdown, Telemetry, TelemetryPerKb,
    };
    use Whose::{Group, Large, Run, Small};
    &[
        metric(("flows", ALL, "flows"), Whose::Flows, Flows, Value),
        metric(("flows_unfinished", ALL, "unfinished"), Whose::Flows, FlowsUnfinished, Value),
        metric(("slowdown_mean", ALL, "slowdown mean"), Whose::Flows, Slowdown, Mean),
        metric(("slowdown_p50", ALL, "slowdown p50"), Whose::Flows, Slowdown, Percentile(50)),
        metric(("slowdown_p95", ALL, "slowdown p95"), Whose::Flows, Slowdown, Percentile(95)),
        metric(("slowdown_p99", ALL, "slowdown p99"), Whose::Flows, Slowdown, Percentile(99)),
        metric(("fct_p50_ns", ALL, "FCT p50 (us)"), Whose::Flows, CompletionTime, Percentile(50)),
        metric(("fct_p99_ns", ALL, "FCT p99 (us)"), Whose::Flows, CompletionTime, Percentile(99)),
        metric(("flows_small_unfinished", SMALL, "unfinished"), Small, FlowsUnfinished, Value),
        metric(("flows_large_unfinished", LARGE, "unfinished"), Large, FlowsUnfinished, Value),
        metric(("slowdown_small_mean", SMALL, "slowdown mean"), Small, Slowdown, Mean),
        metric(("slowdown_small_p50", SMALL, "slowdown p50"), Small, Slowdown, Percentile(50)),
        metric(("slowdown_small_p95", SMALL, "slowdown p95"), Small, Slowdown, Percentile(95)),
        metric(("slowdown_small_p99", SMALL, "slowdown p99"), Small, Slowdown, Percentile(99)),
        metric(("slowdown_large_mean", LARGE, "slowdown mean"), Large, Slowdown, Mean),
        metric(("slowdown_large_p50", LARGE, "slowdown p50"), Large, Slowdown, Percentile(50)),
        metric(("slowdown_large_p95", LARGE, "slowdown p95"), Large, Slowdown, Percentile(95)),
        metric(("slowdown_large_p99", LARGE, "slowdown p99"), Large, Slowdown, Percentile(99)),
        metric(("goodput_large_p50_gbps", LARGE, "Gb/s, median"), Large, Goodput, Percentile(50)),
        metric(("goodput_large_mean_gbps", LARGE, "Gb/s, mean"), Large, Goodput, Mean),
        metric(("goodput_large_jain", LARGE, "Jain's index"), Large, Fairness, Value),
        metric(("queue_p50_bytes", QUEUE, "p50 (kB)"), Run, Queue, Percentile(50)),
        metric(("queue_p95_bytes", QUEUE, "p95 (kB)"), Run, Queue, Percentile(95)),
        metric(("queue_p99_bytes", QUEUE, "p99 (kB)"), Run, Queue, Percentile(99)),
        metric(("queue_max_bytes", QUEUE, "max (kB)"), Run, Queue, Percentile(100)),
        metric(("pfc_pauses", "PFC", "pauses"), Run, Pauses, Value),
        metric(("pfc_pause_ns", "PFC", "paused (us)"), Run, PauseTime, Value),
        metric(("pfc_paused_percent", "PFC, paused", "of all time (%)"), Run, PausedShare, Value),
        metric(("drops", "packets", "dropped"), Run, Drops, Value),
        metric(("resent_packets", "packets", "sent again"), Run, Resent, Value),
        metric(("telemetry_bytes", "telemetry", "bytes"), Run, Telemetry, Value),
        metric(("feedback_packets", "feedback", "packets"), Run, Feedback, Value),
        metric(("probes", "telemetry", "probes"), Run, Probes, Value),
        metric(("telemetry_sender_bytes", "telemetry", "B from sender"), Run, SenderBytes, Value),
        metric(("telemetry_hop_bytes", "telemetry", "B from a switch"), Run, HopBytes, Value),
        metric(("feedback_per_ms", "feedback", "packets per ms"), Run, FeedbackPerMs, Value),
        metric(("telemetry_per_kb", "telemetry", "B per kB"), Run, TelemetryPerKb, Value),
        metric(("job_time_ns", "longest job", "time (us)"), Run, JobTime, Value),
        metric(("busbw_gbytes", "collectives", "busbw (GB/s)"), Run, BusBandwidth, Value),
        metric(("goodput_p50_gbps", "", "Gb/s, median"), Group, Goodput, Percentile(50)),
        metric(("goodput_mean_gbps", "", "Gb/s, mean"), Group, Goodput, Mean),
        metric(("goodput_jain", "", "Jain's index"), Group, Fairness, Value),
        metric(("queue_growth_ns", "longest queue", "grew for (us)"), Run, QueueGrowth, Value),
    ]
};

impl Metric {
    /// The metric of a name, whatever its brackets.
    pub fn of(name: &str) -> Option<&'static Metric> {
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// The metric that says how many flows one leaves out because they had not finished, if it is of flows that have: of the same
    /// brackets.
    pub fn left_out(name: &str) -> Option<String> {
        let metric = Metric::of(name)?;
        let brackets = name.find('[').map_or("", |at| &name[at..]);
        let of = |other: &&Metric| other.whose == metric.whose && other.quantity == Quantity::FlowsUnfinished;
        let has = matches!(metric.quantity, Quantity::Slowdown | Quantity::CompletionTime);
        METRICS.iter().find(of).filter(|_| has).map(|other| format!("{}{brackets}", other.name))
    }

    /// Its quantity with figure and unit, for an axis.
    pub fn axis(&self) -> String {
        let (axis, title) = (self.quantity.axis(), self.quantity.def().title.to_lowercase());
        match self.figure {
            Figure::Value => axis,
            Figure::Mean => format!("Mean {}{}", title, &axis[title.len()..]),
            Figure::Percentile(50) => format!("Median {}{}", title, &axis[title.len()..]),
            Figure::Percentile(100) => format!("Longest {}{}", title, &axis[title.len()..]),
            Figure::Percentile(percent) => format!("{percent}th percentile of the {}{}", title, &axis[title.len()..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_name_quantities() {
        assert!(Quantity::claimed().all(|known| Quantity::try_from(known.def().name.to_owned()) == Ok(known)));
        assert!(Quantity::try_from(String::new()).is_err());
        assert!(
            Quantity::try_from("slow".to_owned()).is_err_and(|told| told.contains("`slowdown`, `completion-time`"))
        );
    }

    #[test]
    fn axes_have_figure_and_unit() {
        let axis = |name| Metric::of(name).expect("a metric").axis();
        for (name, expected) in [
            ("slowdown_p50", "Median slowdown"),
            ("queue_p99_bytes", "99th percentile of the queue (kB)"),
            ("queue_max_bytes", "Longest queue (kB)"),
            ("goodput_large_mean_gbps", "Mean goodput (Gb/s)"),
            ("job_time_ns", "Time of the longest job (us)"),
        ] {
            assert_eq!(axis(name), expected);
        }
        assert_eq!((Quantity::Fairness.possible().1, Quantity::Slowdown.possible().0), (1.0, 1.0));
    }

    #[test]
    fn what_a_figure_leaves_out_is_of_the_same_flows() {
        for (name, left_out) in [
            ("slowdown_small_p99", Some("flows_small_unfinished")),
            ("fct_p50_ns[a]", Some("flows_unfinished[a]")),
            ("slowdown_large_mean", Some("flows_large_unfinished")),
            ("queue_p99_bytes", None),
            ("goodput_p50_gbps[a]", None),
        ] {
            assert_eq!(Metric::left_out(name).as_deref(), left_out, "{name}");
        }
    }
}
