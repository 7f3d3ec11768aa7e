// SPDX-License-Identifier: GPL-2.0-only
//! Congestion control that is written in C++ (`ns3::RdmaCongestionOps`), as an algorithm of the core.

use hpcc_core::cc::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, Needs, NoEffect, Notification, RateDecision,
    Reaction, Reads, Sent,
};
use hpcc_core::random::Rng;
use hpcc_core::settings::{Input, Kind, Setting, SettingError, Settings, Value};
use hpcc_core::telemetry::{Hop, Telemetry};
use hpcc_core::units::{BitRate, Nanos};
use std::cell::RefCell;
use std::fmt;

#[cxx::bridge(namespace = "hpcc")]
mod ffi {
    /// An attribute of a class.
    #[derive(Clone, Debug)]
    struct OpsAttribute {
        name: String,
        /// The value, as a configuration would spell it.
        value: String,
        help: String,
    }

    /// `hpcc_core::cc::FlowLimits`.
    struct OpsLimits {
        line_rate_bps: u64,
        base_rtt_ns: u64,
        window_bytes: u64,
        mtu: u32,
        hops: u8,
    }

    /// `hpcc_core::cc::Feedback`, without the records of hops.
    struct OpsFeedback {
        now_ns: u64,
        ack_seq: u64,
        snd_nxt: u64,
        acked: u64,
        /// 0 where it is not known.
        rtt_ns: u64,
        congestion_marked: bool,
        ts_modulus: u64,
        tx_bytes_modulus: u64,
    }

    /// `hpcc_core::telemetry::Hop`.
    struct OpsHop {
        rate_bps: u64,
        ts_ns: u64,
        tx_bytes: u64,
        qlen: u64,
    }

    /// `hpcc_core::cc::Sent`.
    struct OpsSent {
        now_ns: u64,
        seq: u64,
        bytes: u32,
        in_flight: u64,
        retransmission: bool,
    }

    /// `hpcc_core::cc::Loss`.
    struct OpsLoss {
        now_ns: u64,
        seq: u64,
        in_flight: u64,
        timeout: bool,
    }

    /// What a controller wants; nothing if `keep`.
    struct OpsDecision {
        keep: bool,
        rate_bps: u64,
        /// 0: in proportion to the rate.
        window_bytes: u64,
    }

    unsafe extern "C++" {
        include!("model/core-congestion-ops.h");

        /// The state of one flow.
        type CongestionOps;
        fn is_congestion_ops(name: &str) -> bool;
        fn congestion_ops_attributes(name: &str) -> Vec<OpsAttribute>;
        fn congestion_ops_read_telemetry(name: &str) -> bool;
        fn congestion_ops_react(name: &str) -> bool;
        fn is_ops_value(name: &str, attribute: &str, value: &str) -> bool;
        fn new_congestion_ops(name: &str, attributes: &[OpsAttribute], limits: &OpsLimits) -> UniquePtr<CongestionOps>;
        fn on_feedback(self: Pin<&mut CongestionOps>, feedback: &OpsFeedback, hops: &[OpsHop]) -> OpsDecision;
        fn on_sent(self: Pin<&mut CongestionOps>, sent: &OpsSent);
        fn on_loss(self: Pin<&mut CongestionOps>, loss: &OpsLoss) -> OpsDecision;
        fn on_notification(self: Pin<&mut CongestionOps>, now_ns: u64) -> OpsDecision;
    }
}

use ffi::{CongestionOps, OpsAttribute, OpsDecision, OpsFeedback, OpsHop, OpsLimits, OpsLoss, OpsSent};

/// The algorithm that a registered class is, if one has this name.
pub fn find(name: &str) -> Option<Box<dyn Algorithm>> {
    ffi::is_congestion_ops(name).then(|| Box::new(OpsAlgorithm::new(name)) as Box<dyn Algorithm>)
}

thread_local! {
    /// Names of attributes, which settings keep for good: each once.
    static NAMES: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn kept(name: &str) -> &'static str {
    NAMES.with_borrow_mut(|names| match names.iter().find(|known| **known == name) {
        Some(known) => known,
        None => {
            let known: &'static str = String::from(name).leak();
            names.push(known);
            known
        }
    })
}

/// A class and the values of its attributes.
#[derive(Clone, Debug)]
struct OpsAlgorithm {
    name: String,
    attributes: Vec<OpsAttribute>,
    initial: Vec<OpsAttribute>,
    reads_telemetry: bool,
    reacts: bool,
}

impl OpsAlgorithm {
    fn new(name: &str) -> OpsAlgorithm {
        let attributes = ffi::congestion_ops_attributes(name);
        let reads_telemetry = ffi::congestion_ops_read_telemetry(name);
        let reacts = ffi::congestion_ops_react(name);
        OpsAlgorithm { name: name.into(), initial: attributes.clone(), attributes, reads_telemetry, reacts }
    }
}

impl Settings for OpsAlgorithm {
    fn list(&self) -> Vec<Setting> {
        let setting = |attribute: &OpsAttribute| Setting {
            key: kept(&attribute.name),
            kind: Kind::Text,
            auto: false,
            default: Value::Text(attribute.value.clone()),
            condition: None,
            help: attribute.help.clone(),
        };
        self.initial.iter().map(setting).collect()
    }

    fn get(&self, key: &str) -> Option<Value> {
        let attribute = self.attributes.iter().find(|attribute| attribute.name == key)?;
        Some(Value::Text(attribute.value.clone()))
    }

    fn set(&mut self, key: &str, input: Input<'_>) -> Result<(), SettingError> {
        let attribute = self.attributes.iter_mut().find(|attribute| attribute.name == key);
        let attribute = attribute.ok_or(SettingError::Unknown)?;
        let text = match input {
            Input::Switch(on) => on.to_string(),
            Input::Whole(number) => number.to_string(),
            Input::Large(number) => number.to_string(),
            Input::Real(number) => number.to_string(),
            Input::Text(text) => text.into(),
        };
        if !ffi::is_ops_value(&self.name, key, &text) {
            let message = format!("\"{text}\" is no value of the attribute {}::{key}", self.name);
            return Err(SettingError::Value(message));
        }
        attribute.value = text;
        Ok(())
    }
}

impl Algorithm for OpsAlgorithm {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        "a class of the program"
    }

    fn start(&self, limits: FlowLimits) -> Box<dyn CongestionControl> {
        let changed = self.attributes.iter().zip(&self.initial).filter(|(now, initial)| now.value != initial.value);
        let attributes: Vec<OpsAttribute> = changed.map(|(now, _)| now.clone()).collect();
        let known = OpsLimits {
            line_rate_bps: limits.line_rate.0,
            base_rtt_ns: limits.base_rtt.0,
            window_bytes: limits.window,
            mtu: limits.mtu,
            hops: limits.hops,
        };
        let ops = ffi::new_congestion_ops(&self.name, &attributes, &known);
        Box::new(OpsFlow { ops, limits, hops: Vec::new() })
    }

    fn min_rate(&self) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        let reads = if self.reads_telemetry { Reads::Records } else { Reads::Nothing };
        let reaction = if self.reacts { Reaction::Mark } else { Reaction::Nothing };
        Needs { reads, reaction, rtt: true, sent: true, ..Needs::default() }
    }
}

/// The state of one flow.
struct OpsFlow {
    ops: cxx::UniquePtr<CongestionOps>,
    limits: FlowLimits,
    /// Used again for each acknowledgement.
    hops: Vec<OpsHop>,
}

impl fmt::Debug for OpsFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpsFlow").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl OpsFlow {
    /// The decision within bounds: no program of a user makes a rate of 0 or a window of nothing.
    fn bounded(&self, decision: &OpsDecision) -> RateDecision {
        if decision.keep {
            return RateDecision::Keep;
        }
        let rate = BitRate(decision.rate_bps).max(BitRate(1)).min(self.limits.line_rate);
        match decision.window_bytes {
            0 => RateDecision::Repace(rate),
            bytes => RateDecision::Window { bytes, rate },
        }
    }
}

impl CongestionControl for OpsFlow {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        self.hops.clear();
        let mut modulus = hpcc_core::telemetry::Modulus::default();
        if let Telemetry::Hops(stack) = feedback.telemetry {
            modulus = stack.modulus;
            let hop =
                |hop: &Hop| OpsHop { rate_bps: hop.rate.0, ts_ns: hop.ts, tx_bytes: hop.tx_bytes, qlen: hop.qlen };
            self.hops.extend(stack.hops().iter().map(hop));
        }
        let told = OpsFeedback {
            now_ns: feedback.now.0,
            ack_seq: feedback.ack_seq,
            snd_nxt: feedback.snd_nxt,
            acked: feedback.acked,
            rtt_ns: feedback.rtt.map_or(0, |rtt| rtt.0),
            congestion_marked: feedback.congestion_marked,
            ts_modulus: modulus.ts,
            tx_bytes_modulus: modulus.tx_bytes,
        };
        let decision = self.ops.pin_mut().on_feedback(&told, &self.hops);
        self.bounded(&decision)
    }

    fn on_sent(&mut self, sent: &Sent) {
        let &Sent { now: Nanos(now_ns), seq, bytes, in_flight, retransmission } = sent;
        self.ops.pin_mut().on_sent(&OpsSent { now_ns, seq, bytes, in_flight, retransmission });
    }

    fn on_loss(&mut self, loss: &Loss) -> RateDecision {
        let &Loss { now: Nanos(now_ns), seq, in_flight, signal } = loss;
        let timeout = match signal {
            LossSignal::Nack => false,
            LossSignal::Timeout => true,
        };
        let decision = self.ops.pin_mut().on_loss(&OpsLoss { now_ns, seq, in_flight, timeout });
        self.bounded(&decision)
    }

    fn on_notification(&mut self, notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        let decision = self.ops.pin_mut().on_notification(notification.now.0);
        Ok(self.bounded(&decision))
    }
}
