// SPDX-License-Identifier: GPL-2.0-only
//! The variants side by side, as text.

use hpcc_measures::quantity::{LARGE, Metric, SMALL};

use super::file::SweepFile;
use super::group::Group;
use super::metrics::{self, Sizes};
use super::report::TableKind;
use crate::chart::{Spread, mean_and_deviation};
use crate::human;
use crate::table::Titled;
use hpcc_model::visible;

/// A column below a heading: its title and its metric.
type Column = (String, String);

/// The tables, what is to be said of seeds, and the file's title ahead, with the word that runs are fluid.
pub fn render(file: &SweepFile, groups: &[Group<'_>], tables: &[Titled]) -> String {
    let mut text = format!("{}\n", file.title);
    if groups.iter().flat_map(Group::results).any(|results| results.summary.is_fluid()) {
        text += "Fluid: flows at max-min fair rates, no packets.\n";
    }
    tables.iter().for_each(|table| text += &table.render());
    if file.seeds.len() > 1 {
        let is_less = tables.iter().any(|table| table.note.contains(LESS));
        text += &format!("\n{}\n", legend(file.seeds.len(), is_less, file.spread));
    }
    text
}

/// What the cells of tables are.
fn legend(seeds: usize, is_less: bool, spread: Spread) -> String {
    let (less, words) = (", or of as many as a cell says", spread.words());
    match is_less {
        false => format!("mean of {seeds} seeds{words}"),
        true if words.starts_with(' ') => format!("mean of {seeds} seeds{less},{words}"),
        true => format!("mean of {seeds} seeds{less}{words}"),
    }
}

/// A heading, and the columns below it.
type Part = (String, Vec<Column>);

/// The columns that the file asks for, then its tables, one below the other, with a row for each variant and step of the axes.
pub fn tables(file: &SweepFile, groups: &[Group<'_>]) -> Vec<Titled> {
    let names = group_names(groups);
    let kinds = file.tables.iter().flat_map(|kind| parts(*kind, file.sizes, &names));
    let kinds = kinds.map(|(heading, columns)| Titled { heading, ..rows(file, "", &columns, groups) });
    (!file.columns.is_empty()).then(|| chosen(file, groups)).into_iter().chain(kinds).collect()
}

/// The groups of flows that any run has, if there are several.
fn group_names(groups: &[Group<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let runs = groups.iter().flat_map(|group| &group.runs);
    for (_, name) in runs.flat_map(|run| run.results.groups()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if names.len() > 1 { names } else { Vec::new() }
}

/// What one choice shows.
fn parts(kind: TableKind, sizes: Sizes, names: &[String]) -> Vec<Part> {
    let (small, large) = (human::bytes(sizes.small_up_to), human::bytes(sizes.large_above));
    let of = |name: &String| format!("[{name}]");
    match kind {
        TableKind::Slowdown => {
            let mut all = columns(&[("flows", "flows"), ("unfinished", "flows_unfinished")]);
            all.extend(slowdowns("slowdown", ""));
            let of_group = |name: &String| {
                let flows = [("flows".to_owned(), format!("flows{}", of(name)))].into_iter();
                (format!("Slowdown of the group {name}"), flows.chain(slowdowns("slowdown", &of(name))).collect())
            };
            let mut parts = vec![
                ("Slowdown of all flows".to_owned(), all),
                (format!("Slowdown of small flows (up to {small})"), slowdowns("slowdown_small", "")),
                (format!("Slowdown of large flows (over {large})"), slowdowns("slowdown_large", "")),
            ];
            parts.extend(names.iter().map(of_group));
            parts
        }
        TableKind::Goodput => {
            let heading = format!("Goodput of large flows (over {large}) in Gb/s");
            let of_group = |name| (format!("Goodput in Gb/s of the group {name}"), goodput("goodput", &of(name)));
            [(heading, goodput("goodput_large", ""))].into_iter().chain(names.iter().map(of_group)).collect()
        }
        TableKind::Queue => vec![("Queue of the busiest port, and what queues led to".to_owned(), columns(QUEUE))],
        TableKind::Overhead => vec![
            ("Bytes of telemetry in a frame that collects it".to_owned(), columns(OVERHEAD)),
            ("What telemetry and its way back took".to_owned(), columns(FEEDBACK)),
        ],
    }
}

fn columns(titles: &[(&str, &str)]) -> Vec<Column> {
    titles.iter().map(|(title, metric)| ((*title).to_owned(), (*metric).to_owned())).collect()
}

fn slowdowns(metric: &str, of: &str) -> Vec<Column> {
    ["mean", "p50", "p95", "p99"].map(|figure| (figure.to_owned(), format!("{metric}_{figure}{of}"))).into()
}

fn goodput(metric: &str, of: &str) -> Vec<Column> {
    let figures = [("median", "p50_gbps"), ("mean", "mean_gbps"), ("Jain's index", "jain")];
    figures.map(|(title, figure)| (title.to_owned(), format!("{metric}_{figure}{of}"))).into()
}

const QUEUE: &[(&str, &str)] = &[
    ("p50 (kB)", "queue_p50_bytes"),
    ("p95 (kB)", "queue_p95_bytes"),
    ("p99 (kB)", "queue_p99_bytes"),
    ("max (kB)", "queue_max_bytes"),
    ("grew for (us)", "queue_growth_ns"),
    ("PFC pauses", "pfc_pauses"),
    ("paused (us)", "pfc_pause_ns"),
    ("of all time (%)", "pfc_paused_percent"),
    ("drops", "drops"),
    ("sent again", "resent_packets"),
];
const OVERHEAD: &[(&str, &str)] =
    &[("from the sender", "telemetry_sender_bytes"), ("added by each switch", "telemetry_hop_bytes")];
const FEEDBACK: &[(&str, &str)] = &[
    ("bytes on links per kB of payload", "telemetry_per_kb"),
    ("feedback packets per ms", "feedback_per_ms"),
    ("probes", "probes"),
];

/// The table of the columns that the file chose, with what small and large flows are if any is of those.
fn chosen(file: &SweepFile, groups: &[Group<'_>]) -> Titled {
    let columns: Vec<Column> = file.columns.iter().map(|column| (column.head(), column.name.clone())).collect();
    let notes = [
        (SMALL, format!("up to {}", human::bytes(file.sizes.small_up_to))),
        (LARGE, format!("over {}", human::bytes(file.sizes.large_above))),
    ];
    let notes = notes.iter().filter(|(whose, _)| file.columns.iter().any(|column| column.is_of(whose)));
    let notes: Vec<String> = notes.map(|(whose, sizes)| format!("{whose}: {sizes}")).collect();
    let table = rows(file, "\n", &columns, groups);
    let notes = [notes.join("; "), table.note].into_iter().filter(|note| !note.is_empty());
    Titled { note: notes.collect::<Vec<_>>().join("\n"), ..table }
}

/// A row for each variant and step of the axes; columns are titles and metrics. What is ahead of the titles that have one line
/// moves these to the last line of the others.
fn rows(file: &SweepFile, ahead: &str, columns: &[Column], groups: &[Group<'_>]) -> Titled {
    let names = ["variant"].into_iter().chain(file.axes.iter().map(|axis| axis.name.as_str()));
    let mut header: Vec<String> = names.map(|name| format!("{ahead}{name}")).collect();
    header.extend(columns.iter().map(|(title, _)| title.clone()));
    let mut less = Less::default();
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.label.to_owned()];
        row.extend(group.values.iter().map(|value| (*value).to_owned()));
        row.extend(columns.iter().map(|(_, metric)| cell(file, group, metric, &mut less)));
        row
    });
    let rows = rows.collect();
    Titled { heading: String::new(), header, rows, note: less.words() }
}

/// What the first cell of a table that leaves out seeds, and flows, says.
#[derive(Default)]
struct Less {
    seeds: Option<usize>,
    flows: Option<u64>,
}

const LESS: &str = ": only so many seeds have a value";

impl Less {
    fn words(&self) -> String {
        let seeds = self.seeds.map(|seeds| format!("of {seeds}{LESS}"));
        let flows = self.flows.map(|flows| {
            let flows = human::count(flows);
            format!("-{flows}: so many flows had not finished and are left out, which can be the slowest")
        });
        seeds.into_iter().chain(flows).collect::<Vec<_>>().join("; ")
    }
}

/// The mean over the runs, with its spread if there are several; of how many seeds, if not of all, and without how many
/// flows.
fn cell(file: &SweepFile, group: &Group<'_>, metric: &str, less: &mut Less) -> String {
    let (values, left_out) = (group.metric(metric), group.left_out(metric));
    if group.runs.is_empty() {
        return "missing".to_owned();
    }
    let Some(metric) = Metric::of(metric).filter(|_| !values.is_empty()) else { return "-".to_owned() };
    let unit = metric.quantity.def().unit;
    let mut text = file.spread.words_of(&values, metric.quantity.possible(), |value| metrics::write(unit, value));
    if values.len() < file.seeds.len() {
        less.seeds.get_or_insert(values.len());
        text += &format!(" of {}", values.len());
    }
    if left_out > 0.0 {
        less.flows.get_or_insert(left_out as u64);
        text += &format!(" -{}", human::count(left_out as u64));
    }
    text
}

/// The columns that the file asks for as data: a row for each variant and step of the axes, the mean of each metric in the unit
/// of its name, and with several seeds the standard deviation and the number of seeds that have it beside it; last, of completion
/// times, how many flows had not finished and are left out. Empty where no run has such a metric.
///
/// # Errors
/// Never: it is written to memory.
pub fn wide(file: &SweepFile, groups: &[Group<'_>]) -> anyhow::Result<String> {
    let spreads = file.seeds.len() > 1;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = vec!["variant".to_owned()];
    header.extend(file.axes.iter().map(|axis| axis.name.clone()));
    for column in &file.columns {
        header.push(column.name.clone());
        if spreads {
            header.extend(["std", "seeds"].map(|what| format!("{}_{what}", column.name)));
        }
        header.extend(Metric::left_out(&column.name).map(|_| format!("{}_left_out", column.name)));
    }
    writer.write_record(&header)?;
    for group in groups {
        let mut row: Vec<String> =
            [group.variant].iter().chain(&group.values).map(|word| visible::cell(word).into_owned()).collect();
        for column in &file.columns {
            let values = group.metric(&column.name);
            let (mean, spread) = mean_and_deviation(&values);
            row.push(if values.is_empty() { String::new() } else { mean.to_string() });
            if spreads {
                row.push(spread.map_or_else(String::new, |spread| spread.to_string()));
                row.push(values.len().to_string());
            }
            row.extend(Metric::left_out(&column.name).map(|_| group.left_out(&column.name).to_string()));
        }
        writer.write_record(&row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_has_one_comma_between_its_parts() {
        let less = "mean of 6 seeds, or of as many as a cell says";
        for (spread, all, some) in [
            (Spread::Deviation, "mean of 6 seeds ± standard deviation", ", ± standard deviation"),
            (Spread::MinMax, "mean of 6 seeds, lowest to highest", ", lowest to highest"),
            (Spread::Interval, "mean of 6 seeds with its 95 % interval", ", with its 95 % interval"),
            (Spread::None, "mean of 6 seeds", ""),
        ] {
            assert_eq!([false, true].map(|is_less| legend(6, is_less, spread)), [all.into(), format!("{less}{some}")]);
        }
    }
}
