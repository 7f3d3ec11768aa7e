// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiver's part: what becomes of the telemetry that its packets bring.

use super::accumulated::Accumulated;
use super::{FeedbackConfig, FeedbackContent, Return};
use crate::cc::{FlowCount, FlowLimits, Needs, RxHpccReceiver};
use crate::switch::Section;
use crate::telemetry::seal::SealKey;
use crate::telemetry::{BusiestLink, HopStack, Layout, Telemetry, link_codec, normalised};
use crate::units::Nanos;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A packet that may have brought telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Simulated time of the packet's arrival.
    pub now: Nanos,
    /// The byte up to which its acknowledgement acknowledges; `None` if it gets none.
    pub acks: Option<u64>,
    /// The byte for which feedback in a packet of its own stands.
    pub seq: u64,
    /// Whether it is a probe.
    pub is_probe: bool,
}

/// What makes answers of sections.
#[derive(Clone, Debug)]
enum Reporter {
    Nothing,
    Records,
    BusiestLink(BusiestLink),
    Loads(normalised::Exporter),
    Window(RxHpccReceiver),
}

/// The reporting end of one flow.
#[derive(Clone, Debug)]
pub struct Reporting {
    reporter: Reporter,
    by: Return,
    seal: Option<SealKey>,
    /// The flow's identity in seals, and where flows are counted.
    flow: u64,
    /// An answer that waits for an acknowledgement.
    pending: Vec<u8>,
    /// Where acknowledgements bring the records of several packets: those.
    accumulated: Option<Accumulated>,
}

impl Reporting {
    /// The receiver of a flow whose sender has these limits.
    pub fn new(config: &FeedbackConfig, needs: &Needs, limits: Arc<FlowLimits>, flow: u64) -> Self {
        let base_rtt = limits.base_rtt;
        let reporter = match (config.answer_to(needs), needs.receiver) {
            (FeedbackContent::Window, Some(rx)) => Reporter::Window(RxHpccReceiver::new(&rx, limits)),
            (FeedbackContent::BusiestLink, _) => Reporter::BusiestLink(BusiestLink::new(base_rtt)),
            (FeedbackContent::Loads, _) => Reporter::Loads(normalised::Exporter::new(base_rtt)),
            (FeedbackContent::Records, _) => Reporter::Records,
            (FeedbackContent::Nothing | FeedbackContent::Window, _) => Reporter::Nothing,
        };
        let seal = config.seal.as_ref().map(SealKey::new);
        let accumulated = config.accumulates().then(|| Accumulated::new(config.records_per_ack.into()));
        Reporting { reporter, by: config.by, seal, flow, pending: Vec::new(), accumulated }
    }

    /// Records that could not be compared with the last ones.
    pub fn baseline_resets(&self) -> u64 {
        match &self.reporter {
            Reporter::Records | Reporter::Nothing => 0,
            Reporter::BusiestLink(choice) => choice.baseline_resets(),
            Reporter::Loads(exporter) => exporter.baseline_resets(),
            Reporter::Window(receiver) => receiver.baseline_resets(),
        }
    }

    /// Puts what goes back for a packet in place of its section. Returns whether that takes a packet of its own.
    ///
    /// `stack` is where records are decoded; `flows` counts who shares the last hop.
    pub fn on_packet(
        &mut self,
        layout: &Layout,
        arrived: &Arrived,
        section: &mut Section<'_>,
        stack: &mut HopStack,
        flows: Option<&mut FlowCount>,
    ) -> bool {
        section.len = self.report(layout, arrived.now, section, stack, flows);
        if arrived.is_probe || self.by == Return::Notification {
            let alone = section.len > 0;
            if alone {
                self.close(arrived, arrived.seq, section);
            }
            return alone;
        }
        if let Some(accumulated) = &mut self.accumulated {
            accumulated.add(section.bytes.get(..section.len).unwrap_or_default());
            section.len = 0;
        }
        match arrived.acks {
            Some(seq) => {
                if section.len == 0 {
                    self.take_pending(section);
                }
                self.pending.clear();
                self.close(arrived, seq, section);
            }
            None => self.keep(section),
        }
        false
    }

    /// Writes the answer to a section in its place; returns its length, 0 for none.
    fn report(
        &mut self,
        layout: &Layout,
        now: Nanos,
        section: &mut Section<'_>,
        stack: &mut HopStack,
        flows: Option<&mut FlowCount>,
    ) -> usize {
        if let Reporter::Records = self.reporter {
            return section.len;
        }
        let bytes = section.bytes.get(..section.len).unwrap_or_default();
        let Telemetry::Hops(stack) = layout.read(bytes, stack) else { return 0 };
        match &mut self.reporter {
            Reporter::Records => section.len,
            Reporter::Nothing => 0,
            Reporter::BusiestLink(choice) => {
                choice.choose(now, stack).map_or(0, |record| put(section.bytes, &link_codec::emit(&record)))
            }
            Reporter::Loads(exporter) => exporter.export(now, stack, section.bytes),
            Reporter::Window(receiver) => {
                let update = receiver.on_records(now, stack);
                if let Some(flows) = flows {
                    flows.on_data(now, self.flow, update.last_hop_is_busiest);
                    receiver.expect_flows(flows.flows());
                }
                let window = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
                update.window.map_or(0, |bytes| put(section.bytes, &window(bytes)))
            }
        }
    }

    /// The newest answer takes the place of an older one that nobody has come for.
    fn keep(&mut self, section: &mut Section<'_>) {
        if let Some(answer) = section.bytes.get(..section.len).filter(|answer| !answer.is_empty()) {
            self.pending.clear();
            self.pending.extend_from_slice(answer);
        }
        section.len = 0;
    }

    fn take_pending(&mut self, section: &mut Section<'_>) {
        if let Some(accumulated) = &mut self.accumulated {
            section.len = put(section.bytes, accumulated.bytes());
            return accumulated.clear();
        }
        section.len = put(section.bytes, &self.pending);
    }

    /// The answer leaves. That there is none is sealed as well, or whoever takes the answer out would not be noticed.
    fn close(&mut self, arrived: &Arrived, seq: u64, section: &mut Section<'_>) {
        if let Reporter::Window(receiver) = &mut self.reporter {
            receiver.on_answer(arrived.now);
        }
        if let Some(seal) = &self.seal {
            section.len = seal.seal(self.flow, seq, section.bytes, section.len);
        }
    }
}

/// Writes an answer to the front of `bytes`; returns its length, 0 without room.
fn put(bytes: &mut [u8], answer: &[u8]) -> usize {
    let Some(front) = bytes.get_mut(..answer.len()) else { return 0 };
    front.copy_from_slice(answer);
    answer.len()
}
