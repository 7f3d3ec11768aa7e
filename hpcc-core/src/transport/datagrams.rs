// SPDX-License-Identifier: MIT OR Apache-2.0
//! Datagrams that nothing acknowledges, as QUIC's can be (RFC 9221): HPCC++ paces them, and probes tell what has arrived.
//!
//! A probe follows all datagrams sent before it through the same queues. Its answer so stands for an acknowledgement: what
//! left before it is no longer in flight, be it delivered or lost.

use super::ProbedFlow;
use crate::units::{ExactNanos, Nanos, Rounding};

/// When the datagrams of a flow leave.
#[derive(Clone, Debug)]
pub struct DatagramPacer {
    next: ExactNanos,
    /// Sequence number behind the last datagram.
    end: u32,
    rounding: Rounding,
}

/// Windows that may be in flight as far as answers tell: between two probes as much leaves as while one is under way.
const WINDOWS: u64 = 2;

impl DatagramPacer {
    /// A flow whose first byte has the sequence number `first`.
    pub fn new(first: u32, rounding: Rounding) -> Self {
        DatagramPacer { next: ExactNanos::default(), end: first, rounding }
    }

    /// When the next datagram may leave; `None`: not before a probe is answered.
    pub fn due(&self, flow: &ProbedFlow) -> Option<Nanos> {
        (flow.in_flight() < WINDOWS * flow.window()).then_some(self.next.nanos)
    }

    /// A datagram leaves, of so many payload bytes.
    pub fn on_sent(&mut self, flow: &mut ProbedFlow, now: Nanos, bytes: u32) {
        self.end = self.end.wrapping_add(bytes);
        flow.on_sent(now, self.end);
        let since = if now > self.next.nanos { now.into() } else { self.next };
        self.next = since.after(flow.rate().tx_span(bytes, self.rounding));
    }

    /// The telemetry of the probe with the number `seq` came back. Returns whether the pace was decided anew.
    pub fn on_response(&self, flow: &mut ProbedFlow, now: Nanos, seq: u32, section: &[u8]) -> bool {
        let is_new = flow.on_response(now, seq, section);
        flow.on_acked(seq);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::HpccPlusConfig;
    use crate::cc::testing::LIMITS;
    use crate::telemetry::{Form, Layout};

    /// 100 Gb/s and 13 us: a window of 162,500 bytes.
    #[test]
    fn datagrams_are_paced_and_stop_without_answers() {
        let first = u32::MAX - 10_000;
        let mut flow = ProbedFlow::new(HpccPlusConfig::default(), LIMITS, Layout::new(Form::Draft), first);
        let mut pacer = DatagramPacer::new(first, Rounding::Nearest);
        let (mut now, mut sent) = (Nanos(0), 0);
        while let Some(due) = pacer.due(&flow) {
            now = now.max(due);
            pacer.on_sent(&mut flow, now, 1_250);
            sent += 1;
        }
        assert_eq!((sent, now), (260, Nanos(259 * 100)), "two windows, 100 ns a datagram");
        let seq = first.wrapping_add(200 * 1_250);
        assert!(!pacer.on_response(&mut flow, now, seq, &[]), "an answer without telemetry decides nothing");
        assert_eq!(
            (flow.in_flight(), pacer.due(&flow)),
            (60 * 1_250, Some(Nanos(26_000))),
            "but tells what has arrived"
        );
    }
}
