// SPDX-License-Identifier: GPL-2.0-only
//! Congestion control that is written in C++ (`ns3::RdmaCongestionOps`), as an algorithm of the core.

use crate::mirror::mirror;
use hpcc_core::cc::{
    Algorithm, CongestionControl, Feedback, FlowLimits, Loss, LossSignal, MAX_TIMERS, Needs, NoEffect, Notification,
    RateDecision, Reaction, Reads, Sent, TcpClass, Timers,
};
use hpcc_core::ecn::EcnThreshold;
use hpcc_core::random::Rng;
use hpcc_core::settings::{Input, Kind, Setting, SettingError, Settings, Value};
use hpcc_core::telemetry::{Hop, Modulus, Telemetry};
use hpcc_core::units::{BitRate, Nanos};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

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
        /// Place of the only record on the path, -1 if there is one of each hop.
        busiest_place: i8,
        /// 0 where telemetry does not say it.
        sent_at_ns: u64,
        /// Below 0 where telemetry does not say it.
        utilisation: f64,
    }

    /// `hpcc_core::cc::Reads`.
    #[derive(Clone, Copy, Debug)]
    enum OpsReads {
        Nothing,
        Records,
        SendTime,
        Utilisation,
        Load,
        Delay,
        Bolt,
    }

    /// What a class says of itself.
    #[derive(Clone, Debug)]
    struct OpsNeeds {
        reads: OpsReads,
        digests: bool,
        reacts: bool,
    }

    /// Timers that a controller armed: bit n of `armed` stands for timer n.
    #[derive(Clone, Copy, Debug, Default)]
    struct OpsTimers {
        armed: u8,
        due_ns: [u64; 4],
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
        /// Whether the wait for the packet that is due next is computed anew.
        repace: bool,
    }

    unsafe extern "C++" {
        include!("model/core-congestion-ops.h");

        /// The state of one flow.
        type CongestionOps;
        fn is_congestion_ops(name: &str) -> bool;
        fn is_tcp_congestion_ops(name: &str) -> bool;
        /// Why a name belongs to no class of either kind.
        fn why_no_congestion_ops(name: &str) -> String;
        fn congestion_ops_attributes(name: &str) -> Vec<OpsAttribute>;
        fn congestion_ops_needs(name: &str) -> OpsNeeds;
        fn is_ops_value(name: &str, attribute: &str, value: &str) -> bool;
        fn new_congestion_ops(name: &str, attributes: &[OpsAttribute], limits: &OpsLimits) -> UniquePtr<CongestionOps>;
        fn on_feedback(self: Pin<&mut CongestionOps>, feedback: &OpsFeedback, hops: &[OpsHop]) -> OpsDecision;
        fn on_sent(self: Pin<&mut CongestionOps>, sent: &OpsSent);
        fn on_loss(self: Pin<&mut CongestionOps>, loss: &OpsLoss) -> OpsDecision;
        fn on_notification(self: Pin<&mut CongestionOps>, now_ns: u64) -> OpsDecision;
        fn on_timer(self: Pin<&mut CongestionOps>, timer: u8, now_ns: u64) -> OpsDecision;
        fn on_port(self: Pin<&mut CongestionOps>, line_rate_bps: u64);
        /// The fault by which a controller has ended the run; empty if none has.
        fn run_fault() -> String;
        /// Moves what was armed since the last call there; whether anything was.
        fn take_armed(self: Pin<&mut CongestionOps>, timers: &mut OpsTimers) -> bool;
    }
}

use ffi::{
    CongestionOps, OpsAttribute, OpsDecision, OpsFeedback, OpsHop, OpsLimits, OpsLoss, OpsNeeds, OpsReads, OpsSent,
    OpsTimers,
};

mirror! { OpsReads = Reads { Nothing, Records, SendTime, Utilisation, Load, Delay, Bolt } }

// As many timers as C++ has room for.
const _: () = assert!(MAX_TIMERS == 4);

/// Why a controller has ended the run, if one has.
pub fn fault() -> Option<String> {
    Some(ffi::run_fault()).filter(|fault| !fault.is_empty())
}

/// What a class needs of RDMA's hosts that controls none of their flows.
const NO_RDMA: OpsNeeds = OpsNeeds { reads: OpsReads::Nothing, digests: false, reacts: false };

/// The algorithm of a registered class; the error says which names there are besides the core's.
pub fn find(name: &str) -> Result<Box<dyn Algorithm>, String> {
    if ffi::is_congestion_ops(name) {
        return Ok(Box::new(Class::new(name, ffi::congestion_ops_needs(name))));
    }
    if ffi::is_tcp_congestion_ops(name) {
        return Ok(Box::new(TcpClass::new(name, Class::of_attributes(name))));
    }
    let expected =
        "the name of a class derived from ns3::RdmaCongestionOps, or for TCP of one of ns-3's such as ns3::TcpDctcp";
    if !name.contains("::") {
        return Err(expected.into());
    }
    Err(format!("{expected}; {}", ffi::why_no_congestion_ops(name)))
}

/// Names of attributes, which settings keep for good: each once.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

pub(crate) fn kept(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.iter().find(|known| **known == name) {
        Some(known) => known,
        None => {
            let known: &'static str = String::from(name).leak();
            names.push(known);
            known
        }
    }
}

/// A class and the values of its attributes.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    name: String,
    attributes: Vec<OpsAttribute>,
    initial: Vec<OpsAttribute>,
    /// Of one that controls RDMA flows.
    needs: OpsNeeds,
}

impl Class {
    fn new(name: &str, needs: OpsNeeds) -> Class {
        let attributes = ffi::congestion_ops_attributes(name);
        Class { name: name.into(), initial: attributes.clone(), attributes, needs }
    }

    /// One that controls no flows.
    pub(crate) fn of_attributes(name: &str) -> Class {
        Class::new(name, NO_RDMA)
    }

    pub(crate) fn class_name(&self) -> &str {
        &self.name
    }

    /// The attributes that differ from their initial values.
    pub(crate) fn changed(&self) -> Vec<OpsAttribute> {
        let changed = self.attributes.iter().zip(&self.initial).filter(|(now, initial)| now.value != initial.value);
        changed.map(|(now, _)| now.clone()).collect()
    }
}

impl Settings for Class {
    fn list(&self) -> Vec<Setting> {
        let setting = |attribute: &OpsAttribute| Setting {
            key: kept(&attribute.name),
            kind: Kind::Text,
            auto: false,
            default: Value::Text(attribute.value.clone()),
            condition: None,
            of_network: false,
            assumed: None,
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

impl Algorithm for Class {
    fn name(&self) -> &str {
        &self.name
    }

    fn summary(&self) -> &str {
        "a class of the program"
    }

    fn start(&self, limits: Arc<FlowLimits>) -> Box<dyn CongestionControl> {
        let known = OpsLimits {
            line_rate_bps: limits.line_rate.0,
            base_rtt_ns: limits.base_rtt.0,
            window_bytes: limits.window,
            mtu: limits.mtu,
            hops: limits.hops,
        };
        let ops = ffi::new_congestion_ops(&self.name, &self.changed(), &known);
        let mut flow = OpsFlow { ops, limits, hops: Vec::new(), timers: Timers::default() };
        flow.arm();
        Box::new(flow)
    }

    fn min_rate(&self, _: BitRate) -> Option<BitRate> {
        None
    }

    fn needs(&self) -> Needs {
        let OpsNeeds { reads, digests, reacts } = self.needs;
        let reaction = if reacts { Reaction::Mark } else { Reaction::Nothing };
        let ecn = Some(EcnThreshold::USUAL);
        Needs { reads: reads.into(), digests, reaction, rtt: true, sent: true, program: true, ecn, ..Needs::default() }
    }
}

/// The state of one flow.
struct OpsFlow {
    ops: cxx::UniquePtr<CongestionOps>,
    limits: Arc<FlowLimits>,
    /// Used again for each acknowledgement.
    hops: Vec<OpsHop>,
    timers: Timers,
}

// SAFETY: ns-3 runs in one thread, and a flow of its program never leaves it.
unsafe impl Send for OpsFlow {}

impl fmt::Debug for OpsFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpsFlow").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl OpsFlow {
    /// Takes over the timers that the controller has armed.
    fn arm(&mut self) {
        let mut armed = OpsTimers::default();
        if !self.ops.pin_mut().take_armed(&mut armed) {
            return;
        }
        for (timer, due) in (0..).zip(armed.due_ns) {
            if armed.armed >> timer & 1 == 1 {
                self.timers.arm(timer, Nanos(due));
            }
        }
    }

    /// What the controller wants, and its timers.
    fn decided(&mut self, decision: &OpsDecision) -> RateDecision {
        self.arm();
        self.bounded(decision)
    }

    /// The decision within bounds; a rate of 0 has ended the program.
    fn bounded(&self, decision: &OpsDecision) -> RateDecision {
        if decision.keep {
            return RateDecision::Keep;
        }
        let rate = BitRate(decision.rate_bps).min(self.limits.line_rate);
        match (decision.window_bytes, decision.repace) {
            (0, true) => RateDecision::Repace(rate),
            (0, false) => RateDecision::Set(rate),
            (bytes, _) => RateDecision::Window { bytes, rate },
        }
    }
}

impl CongestionControl for OpsFlow {
    fn on_feedback(&mut self, feedback: &Feedback<'_>, _: &mut Rng) -> RateDecision {
        self.hops.clear();
        let hop = |hop: &Hop| OpsHop { rate_bps: hop.rate.0, ts_ns: hop.ts, tx_bytes: hop.tx_bytes, qlen: hop.qlen };
        let (mut modulus, mut busiest_place) = (Modulus::default(), -1);
        let (mut sent_at_ns, mut utilisation) = (0, -1.0);
        match feedback.telemetry {
            Telemetry::Hops(stack) => {
                modulus = stack.modulus;
                self.hops.extend(stack.hops().iter().map(hop));
            }
            Telemetry::Link(record) => {
                modulus = record.modulus;
                busiest_place = i8::try_from(record.place).unwrap_or(i8::MAX);
                self.hops.push(hop(&record.hop));
            }
            Telemetry::SentAt(Nanos(time)) => sent_at_ns = time,
            Telemetry::Utilisation(load) => utilisation = load,
            // A receiver computes windows only by parameters of its sender's algorithm.
            Telemetry::Nothing
            | Telemetry::Overwritten(_)
            | Telemetry::Window(_)
            | Telemetry::Signal(_)
            | Telemetry::Bolt(_) => {}
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
            busiest_place,
            sent_at_ns,
            utilisation,
        };
        let decision = self.ops.pin_mut().on_feedback(&told, &self.hops);
        self.decided(&decision)
    }

    fn on_sent(&mut self, sent: &Sent) {
        let &Sent { now: Nanos(now_ns), seq, bytes, in_flight, retransmission, .. } = sent;
        self.ops.pin_mut().on_sent(&OpsSent { now_ns, seq, bytes, in_flight, retransmission });
        self.arm();
    }

    fn on_loss(&mut self, loss: &Loss) -> RateDecision {
        let &Loss { now: Nanos(now_ns), seq, in_flight, signal } = loss;
        let timeout = match signal {
            LossSignal::Nack | LossSignal::Trimmed { .. } => false,
            LossSignal::Timeout => true,
        };
        let decision = self.ops.pin_mut().on_loss(&OpsLoss { now_ns, seq, in_flight, timeout });
        self.decided(&decision)
    }

    fn on_notification(&mut self, notification: &Notification<'_>) -> Result<RateDecision, NoEffect> {
        let decision = self.ops.pin_mut().on_notification(notification.now.0);
        Ok(self.decided(&decision))
    }

    fn on_port(&mut self, line_rate: BitRate) {
        Arc::make_mut(&mut self.limits).line_rate = line_rate;
        self.ops.pin_mut().on_port(line_rate.0);
        self.arm();
    }

    fn on_timer(&mut self, timer: u8, now: Nanos) -> RateDecision {
        if !self.timers.fire(timer, now) {
            return RateDecision::Keep;
        }
        let decision = self.ops.pin_mut().on_timer(timer, now.0);
        self.decided(&decision)
    }

    fn object(&self) -> Option<usize> {
        Some(std::ptr::from_ref(&*self.ops) as usize)
    }

    fn timers(&self) -> Option<&Timers> {
        Some(&self.timers)
    }

    fn timers_mut(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }
}
