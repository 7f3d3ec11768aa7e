// SPDX-License-Identifier: MIT OR Apache-2.0
//! The telemetry of frames that leave a switch.

use super::{Departing, Head, PRIORITIES, Records, Section, Switch};
use crate::random::Rng;
use crate::telemetry::{Codec, Met, Snapshot};
use crate::units::Nanos;

impl Switch {
    /// Stamps this hop into the telemetry of a data frame, and counts the frame as sent. What it needs of the frame comes with it.
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        egress: u16,
        now: Nanos,
        (frame, head): (&impl Departing, Head),
        section: &mut Section<'_>,
        rng: &mut Rng,
    ) {
        if !self.reports_plainly {
            return self.send_with_report(egress, now, frame, section, rng);
        }
        let port = &mut self.ports[usize::from(egress)];
        if let (true, Some(reference)) = (head.is_data, self.reference) {
            let snapshot = port.snapshot(self.told_id, egress, now, &head);
            section.len = reference.stamp(section.bytes, section.len, &snapshot);
        }
        port.tx_bytes += u64::from(head.size);
    }

    /// The same whatever the layout, and where telemetry may leave packets out or report other than the port's own counters.
    #[inline(never)]
    fn send_with_report(
        &mut self,
        egress: u16,
        now: Nanos,
        frame: &impl Departing,
        section: &mut Section<'_>,
        rng: &mut Rng,
    ) {
        let (head, len) = (frame.head(), section.len);
        if head.is_data {
            if self.strips.get(usize::from(egress)) == Some(&true) {
                section.len = 0;
            }
            self.report(egress, now, head, section, rng);
        }
        let size = head.size + section.len as u32 - len as u32;
        self.count_sent(egress, now, size);
        if let Some(report) = &mut self.report {
            report.count(egress, head.priority, size);
        }
    }

    /// Adds this hop to such telemetry.
    fn report(&mut self, egress: u16, now: Nanos, head: Head, section: &mut Section<'_>, rng: &mut Rng) {
        let len = section.len;
        let left_out = |records: &mut Records| len == 0 || !records.reports(egress, now, head.queue);
        if self.records.as_mut().is_some_and(left_out) {
            return;
        }
        let port = &self.ports[usize::from(egress)];
        let queued = u64::from(port.queued[usize::from(head.priority) % PRIORITIES]);
        let own = (port.tx_bytes, head.queue);
        let load = self.report.as_ref().map_or(own, |report| report.read(egress, now, &head, port.tx_bytes, queued));
        let snapshot = Snapshot { tx_bytes: load.0, qlen: load.1, ..port.snapshot(self.told_id, egress, now, &head) };
        section.len = self.layout.stamp(section.bytes, len, &snapshot);
        if let Some(meter) = &mut self.meter {
            // The meter has the port's bytes; next to a queue's scaled ones they would say nothing.
            let bytes = section.bytes.get_mut(..len).unwrap_or_default();
            meter.stamp(bytes, &snapshot, head.queue, &mut rng.rand);
        }
    }

    /// A packet with this telemetry was to wait at port `egress`, and has been cut.
    pub fn cut(&mut self, egress: u16, now: Nanos, frame: &impl Departing, section: &mut [u8]) {
        if let Some(meter) = &mut self.meter {
            let head = frame.head();
            meter.cut(section, &self.ports[usize::from(egress)].snapshot(self.told_id, egress, now, &head), head.queue);
        }
    }

    /// Whether telemetry looks at data packets as they come.
    pub fn meets(&self) -> bool {
        self.meter.as_ref().is_some_and(|meter| meter.meets())
    }

    /// A data packet has come that is to wait at port `egress`: what telemetry makes of it, and of `answer`.
    pub fn meet(&mut self, egress: u16, now: Nanos, size: u32, section: &mut [u8], answer: &mut [u8]) -> usize {
        let queue = self.queued(egress).into();
        self.meter.as_mut().map_or(0, |meter| meter.meet(section, &Met { now, port: egress, size, queue }, answer))
    }

    #[inline]
    pub(super) fn count_sent(&mut self, egress: u16, now: Nanos, size: u32) {
        self.ports[usize::from(egress)].tx_bytes += u64::from(size);
        if let Some(meter) = &mut self.meter {
            meter.sent(egress, now, size);
        }
    }
}
