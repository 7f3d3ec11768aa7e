// SPDX-License-Identifier: GPL-2.0-only
//! The congestion controls of `hpcc-core` as Python objects: feedback in, rate and window out.

use hpcc_core::cc::{self, Algorithm, Feedback, FlowLimits, LossSignal, MAX_TIMERS};
use hpcc_core::random::Rng;
use hpcc_core::reference_faults::ReferenceFaults;
use hpcc_core::settings::{Input, SettingError, quantity};
use hpcc_core::telemetry::{Hop, HopStack, Modulus, Reads, Telemetry};
use hpcc_core::transport::{QueuePair, TransportConfig, TransportSettings};
use hpcc_core::units::{BitRate, Nanos};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A setting's value as Python has it.
#[derive(FromPyObject)]
enum Given {
    Switch(bool),
    Whole(i64),
    Real(f64),
    Text(String),
}

/// A hop's record: rate in bit/s, time in ns, bytes that its port has sent, bytes that wait there.
type Record = (u64, u64, u64, u64);

/// Exact counters, which never wrap.
const EXACT: Modulus = Modulus { ts: u64::MAX, tx_bytes: u64::MAX };

/// The congestion control of one flow without end. Times are in ns, rates in bit/s.
///
/// Settings are the keys of [congestion_control] in scenario files, with the same values.
#[pyclass(unsendable, module = "hpcc_control")]
struct Controller {
    config: TransportConfig,
    pair: QueuePair,
    rng: Rng,
    hops: HopStack,
}

#[pymethods]
impl Controller {
    #[new]
    #[pyo3(signature = (algorithm, *, line_rate = "100Gbps", base_rtt = "13us", seed = 1, **settings))]
    fn new(
        algorithm: &str,
        line_rate: &str,
        base_rtt: &str,
        seed: u32,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Controller> {
        let line_rate = quantity::rate(line_rate).ok().filter(|rate| *rate > BitRate(0));
        let line_rate = line_rate.ok_or_else(|| wrong("line_rate: expected a rate such as \"100Gbps\""))?;
        let base_rtt = quantity::time(base_rtt).ok().filter(|time| *time > Nanos(0));
        let base_rtt = base_rtt.ok_or_else(|| wrong("base_rtt: expected a time such as \"13us\""))?;
        let algorithm = configured(algorithm, settings)?;
        let config = TransportSettings::default().config(&algorithm.needs(), ReferenceFaults::NONE);
        let path_bytes = line_rate.bytes_in(base_rtt);
        let window = config.first_window(line_rate, base_rtt, path_bytes);
        let limits = Arc::new(FlowLimits { path_bytes, mtu: config.mtu, ..FlowLimits::of(line_rate, base_rtt, window) });
        let pair = QueuePair::new(&config, u64::MAX, 0, Arc::clone(&limits), algorithm.start(limits), Nanos(0));
        Ok(Controller { config, pair, rng: Rng::new(1, seed), hops: HopStack::new(EXACT) })
    }

    /// Takes in an acknowledgement: the first byte still expected, the first not yet sent, bytes acknowledged for the first
    /// time, the round-trip time, whether a mark came back, and its telemetry: (rate, time, sent bytes, queue bytes) of each
    /// hop, or what else the algorithm reads. Returns rate and window.
    #[pyo3(signature = (now, ack_seq, snd_nxt, *, acked = 0, rtt = None, marked = false, hops = None, utilisation = None, sent_at = None, window = None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn feedback(
        &mut self,
        now: u64,
        ack_seq: u64,
        snd_nxt: u64,
        acked: u64,
        rtt: Option<u64>,
        marked: bool,
        hops: Option<Vec<Record>>,
        utilisation: Option<f64>,
        sent_at: Option<u64>,
        window: Option<u64>,
    ) -> (u64, Option<u64>) {
        self.hops.reset(EXACT);
        for (rate, ts, tx_bytes, qlen) in hops.iter().flatten().copied() {
            self.hops.push(Hop { rate: BitRate(rate), ts, tx_bytes, qlen });
        }
        let telemetry = match (hops, utilisation, sent_at, window) {
            (Some(_), ..) => Telemetry::Hops(&self.hops),
            (_, Some(utilisation), ..) => Telemetry::Utilisation(utilisation),
            (_, _, Some(sent_at), _) => Telemetry::SentAt(Nanos(sent_at)),
            (.., Some(window)) => Telemetry::Window(window),
            (None, None, None, None) => Telemetry::Nothing,
        };
        let (rtt, now) = (rtt.map(Nanos), Nanos(now));
        let feedback = Feedback { now, ack_seq, snd_nxt, acked, rtt, congestion_marked: marked, telemetry };
        self.pair.on_feedback(&self.config, &feedback, &mut self.rng);
        self.decision()
    }

    /// Takes in a loss: a missing byte, or nothing acknowledged for too long. Returns rate and window.
    #[pyo3(signature = (now, in_flight, *, timeout = false))]
    fn loss(&mut self, now: u64, in_flight: u64, timeout: bool) -> (u64, Option<u64>) {
        let signal = if timeout { LossSignal::Timeout } else { LossSignal::Nack };
        self.pair.on_loss(&self.config, Nanos(now), in_flight, signal);
        self.decision()
    }

    /// Lets time pass: timers of the algorithm that are due until then come, in their order. Returns rate and window.
    fn advance(&mut self, now: u64) -> (u64, Option<u64>) {
        while let Some((due, timer)) = self.next().filter(|(due, _)| due.0 <= now) {
            self.pair.on_timer(&self.config, timer, due);
        }
        self.decision()
    }

    /// When the next timer is due; None without any.
    #[getter]
    fn next_timer(&self) -> Option<u64> {
        self.next().map(|(due, _)| due.0)
    }

    /// The rate, in bit/s.
    #[getter]
    fn rate(&self) -> u64 {
        self.pair.rate().0
    }

    /// Bytes that may be in flight; None without a bound.
    #[getter]
    fn window(&self) -> Option<u64> {
        Some(self.pair.window()).filter(|window| *window > 0)
    }

    /// U of the busiest link, where the algorithm reckons with it.
    #[getter]
    fn utilisation(&self) -> Option<f64> {
        self.pair.utilisation()
    }
}

impl Controller {
    fn decision(&self) -> (u64, Option<u64>) {
        (self.rate(), self.window())
    }

    fn next(&self) -> Option<(Nanos, u8)> {
        let timers = self.pair.controller().timers()?;
        (0..MAX_TIMERS as u8).filter_map(|timer| Some((timers.due(timer)?, timer))).min()
    }
}

fn wrong(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

fn configured(name: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Box<dyn Algorithm>> {
    let found = cc::all().into_iter().find(|algorithm| algorithm.name() == name);
    let mut algorithm =
        found.ok_or_else(|| wrong(format!("no algorithm {name}; expected one of {}", algorithms().join(", "))))?;
    if algorithm.needs().reads == Reads::Bolt {
        return Err(wrong(format!(
            "{name} reads a header that switches write, which is not among this class's feedback"
        )));
    }
    for (key, value) in settings.into_iter().flat_map(|settings| settings.iter()) {
        let key: String = key.extract()?;
        let value: Given = value.extract()?;
        let input = match &value {
            Given::Switch(on) => Input::Switch(*on),
            Given::Whole(number) => Input::Whole(*number),
            Given::Real(number) => Input::Real(*number),
            Given::Text(text) => Input::Text(text),
        };
        algorithm.set(&key, input).map_err(|error| match error {
            SettingError::Value(message) => wrong(format!("{key}: {message}")),
            SettingError::Unknown => {
                let keys: Vec<_> = algorithm.list().iter().map(|setting| setting.key).collect();
                wrong(format!("{name} has no {key}; expected one of {}", keys.join(", ")))
            }
        })?;
    }
    algorithm.check().map_err(|conflict| wrong(format!("{}: {}", conflict.key, conflict.message)))?;
    Ok(algorithm)
}

/// The names of all algorithms.
#[pyfunction]
fn algorithms() -> Vec<String> {
    cc::all().iter().map(|algorithm| algorithm.name().to_owned()).collect()
}

/// The congestion controls of hpcc.
#[pymodule]
fn hpcc_control(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Controller>()?;
    module.add_function(wrap_pyfunction!(algorithms, module)?)
}
