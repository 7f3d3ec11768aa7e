// SPDX-License-Identifier: GPL-2.0-only
//! `dissect`: what the frames of a capture say, one JSON object a line.

use anyhow::{Context, Result, bail};
use hpcc_core::cc::{Algorithm, RxHpccConfig};
use hpcc_core::frame::{Encapsulation, SectionLen, TELEMETRY_MARK};
use hpcc_core::settings::{Input, Named, Settings};
use hpcc_core::telemetry::{Form, Layout, LayoutSettings};
use hpcc_core::transport::feedback::FeedbackContent;
use hpcc_dissect::{At, Captured, Dissector, Frames, Returned, capture, line};
use hpcc_model::results::Summary;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::human;

/// What to dissect, and how.
#[derive(clap::Args)]
pub struct Options {
    /// A capture: pcap or pcapng, of Ethernet, Linux's cooked captures, loopback or raw IP.
    #[arg(required_unless_present_any = ["hex", "lua"])]
    file: Option<PathBuf>,
    /// One frame as hexadecimal digits, from its Ethernet header on, instead of a file.
    #[arg(long, value_name = "DIGITS", conflicts_with = "file")]
    hex: Option<String>,
    /// The format of packets whose DSCP ends in 001, which does not show in the packets: paper, draft, timestamp, pint or bolt
    /// [default: the format of summary.json beside the capture, otherwise paper]. With --at also int_md.
    #[arg(long, value_name = "LAYOUT")]
    telemetry: Option<String>,
    /// Which packets have this format behind UDP instead: dscp=24 (of packets to RoCEv2's port) or port=5000.
    #[arg(long, value_name = "PLACE", requires = "telemetry")]
    at: Option<At>,
    /// A line for a reader instead of JSON.
    #[arg(long)]
    summary: bool,
    /// Frames at most.
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::count::<u64, { u64::MAX }>)]
    limit: Option<u64>,
    /// Prints a dissector for Wireshark in Lua instead, which shows telemetry and Fast CNP.
    #[arg(long, exclusive = true)]
    lua: bool,
}

/// Prints every frame.
///
/// # Errors
/// If the digits are none, or the file cannot be read or stops making sense; what came before has been printed then.
pub fn dissect(options: &Options) -> Result<()> {
    if options.lua {
        return human::printed(io::stdout().lock().write_all(hpcc_dissect::lua().as_bytes()).map_err(Into::into));
    }
    // The summary beside the capture, where a run leaves it.
    let beside = |capture: &PathBuf| Summary::read(&capture.with_file_name("summary.json")).ok();
    let scenario = options.file.as_ref().and_then(beside).map(|summary| summary.scenario).unwrap_or_default();
    let told = || layout_told(&scenario["telemetry"]).filter(is_anonymous);
    let named = options.telemetry.as_deref().map(|name| layout_of(name, options.at.is_some())).transpose()?;
    let (asked, named) = match options.at {
        Some(at) => (named.map(|layout| (at, layout)), None),
        None => (None, named),
    };
    let layout = named.or_else(told).unwrap_or(Layout::new(Form::Paper));
    let frames: Frames = match (&options.hex, &options.file) {
        (Some(digits), _) => Box::new(std::iter::once(Ok(Captured::alone(digits_of(digits)?)))),
        (None, Some(file)) => capture::open(file)?,
        (None, None) => bail!("expected a file or --hex"),
    };
    let dissector = Dissector::new(layout).asked_for(asked).reading_answers(returned_told(&scenario));
    human::printed(print(frames, &dissector, options, BufWriter::new(io::stdout().lock())))
}

/// Whether frames do not tell by themselves that they have this layout.
fn is_anonymous(layout: &Layout) -> bool {
    layout.encapsulation() == Some(Encapsulation::Marked { mark: TELEMETRY_MARK })
}

/// The kind of answers in the run of a summary, if each is one whole answer. A window is no setting: it follows from
/// the algorithm.
fn returned_told(scenario: &serde_json::Value) -> Option<Returned> {
    let told = &scenario["telemetry"];
    let is_sealed = told["seal"].as_bool().unwrap_or(false);
    let is_single = told["records_per_ack"].as_u64().unwrap_or(1) == 1;
    if is_sealed || !is_single {
        return None;
    }
    let answer = match FeedbackContent::from_name(told["content"].as_str()?)? {
        FeedbackContent::Nothing => return None,
        _ if scenario["congestion_control"]["algorithm"] == RxHpccConfig::default().name() => FeedbackContent::Window,
        chosen @ (FeedbackContent::Records
        | FeedbackContent::BusiestLink
        | FeedbackContent::Loads
        | FeedbackContent::Window) => chosen,
    };
    Some(Returned { answer, layout: layout_told(told)? })
}

/// The layout that a summary names.
fn layout_told(told: &serde_json::Value) -> Option<Layout> {
    let mut settings = LayoutSettings::default();
    for setting in settings.list() {
        let value = &told[setting.key];
        let number = || value.as_i64().map(Input::Whole).or_else(|| value.as_f64().map(Input::Real));
        let Some(input) = value.as_str().map(Input::Text).or_else(number) else { continue };
        settings.set(setting.key, input).ok()?;
    }
    Some(settings.config(false))
}

/// The layout of this name, if it is one that frames do not tell by themselves, or INT-MD where its place is told. The
/// 2019 simulator's is none of them: the unit of its counters is not in its bytes.
fn layout_of(name: &str, has_place: bool) -> Result<Layout> {
    let is_int = |layout: &Layout| layout.section_len() == SectionLen::IntMd;
    let is_asked = |layout: &Layout| {
        has_place && is_int(layout) || is_anonymous(layout) && layout.records().is_none_or(|it| it.tx_unit.is_none())
    };
    Layout::all().filter(is_asked).find(|known| known.name() == name).with_context(|| {
        let names: Vec<&str> = Layout::all().filter(is_asked).map(|known| known.name()).collect();
        format!("--telemetry {name}: expected one of {}", names.join(", "))
    })
}

fn print(frames: Frames, dissector: &Dissector, options: &Options, mut out: impl Write) -> Result<()> {
    let limit = options.limit.unwrap_or(u64::MAX);
    for (captured, number) in frames.zip(1..).take_while(|(_, number)| *number <= limit) {
        // Readable frames are printed before the error.
        let captured = captured.inspect_err(|_| drop(out.flush()))?;
        let frame = dissector.frame(number, &captured);
        if options.summary {
            writeln!(out, "{}", line(&frame))?;
        } else {
            serde_json::to_writer(&mut out, &frame)?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}

/// The bytes of hexadecimal digits; white space and colons between them do not count.
fn digits_of(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace() && *c != ':').collect();
    if digits.is_empty() {
        bail!("--hex: there are no digits");
    }
    let digit = |(place, c): (usize, &char)| {
        c.to_digit(16).map(|digit| digit as u8).with_context(|| format!("--hex: \"{c}\" at {} is no digit", place + 1))
    };
    let digits: Vec<u8> = digits.iter().enumerate().map(digit).collect::<Result<_>>()?;
    if !digits.len().is_multiple_of(2) {
        bail!("--hex: {} digits; expected an even number", digits.len());
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_algorithm_and_the_settings_say_what_comes_back() {
        let told = |algorithm: &str, answer: &str, seal: bool, records: u64| {
            let telemetry = json!({ "layout": "int_md", "content": answer, "seal": seal, "records_per_ack": records });
            let scenario = json!({ "congestion_control": { "algorithm": algorithm }, "telemetry": telemetry });
            returned_told(&scenario).map(|returned| returned.answer)
        };
        assert_eq!(told("rx_hpcc", "records", false, 1), Some(FeedbackContent::Window));
        assert_eq!(told("hpcc_plus", "records", false, 1), Some(FeedbackContent::Records));
        assert_eq!(told("hpcc_plus", "busiest_link", false, 1), Some(FeedbackContent::BusiestLink));
        for (answer, seal, records) in [("none", false, 1), ("records", true, 1), ("records", false, 4)] {
            assert_eq!(told("hpcc_plus", answer, seal, records), None, "{answer} {seal} {records}");
        }
    }
}
