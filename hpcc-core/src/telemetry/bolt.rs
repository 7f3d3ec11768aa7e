// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bolt at switches (Arslan et al., NSDI 2023): what a data packet says of its flow, what a port makes of it, and what goes back to
//! its sender at once.
//!
//! ```text
//! flags (8) | link rate (24) Mb/s | drain time (32) ns | send time (64) ns            16 bytes
//! ```
//! A port does one of these with each data packet that comes to it, the first that fits:
//!
//! | if | then |
//! | --- | --- |
//! | its queue has `bolt_threshold` or more | INC is cleared; without DEC, sets that and the time that the queue takes, and sends a copy back (SRC); with DEC, raises the time |
//! | LAST without FIRST | one token more (proactive ramp-up, PRU): this sender's share is free a round trip from now |
//! | INC, and a token is there | takes it; INC stays |
//! | INC, and supply of a packet is there | takes that; INC stays (supply matching, SM) |
//! | else | INC is cleared |
//!
//! Supply grows with the port's rate and falls with what arrives, preamble and gap included; at most 30 kB of it are kept, which a
//! port has that never had a packet. The paper's header packs these fields closer; tokens are at most 256.

use super::codec::{Codec, Met, Meter};
use super::{HopStack, Reads, Telemetry, Unusable};
use crate::units::{BitRate, Bytes, Nanos};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The flow is in its first window.
pub const FIRST: u8 = 1;
/// The flow is in its last window.
pub const LAST: u8 = 2;
/// The flow may grow by a packet.
pub const INC: u8 = 4;
/// A port has told the sender of its queue.
pub const DEC: u8 = 8;
/// One packet in a round trip: its acknowledgement adds to the window in any case.
pub const AI: u8 = 16;
/// A port's report of its queue.
pub const SRC: u8 = 32;

const LEN: usize = 16;
const MEGABIT: u64 = 1_000_000;
const MOST_TOKENS: u32 = 256;
const MOST_SUPPLY: i64 = 30_000;
/// Preamble and gap, in bytes, without the last one.
const BETWEEN: i64 = 19;
/// The port that an attacker claims: 5 MB are queued.
const CLAIMED_RATE: BitRate = BitRate::gbps(100);
const CLAIMED_DRAIN: Nanos = Nanos(400_000);

crate::settings! {
    /// Switches of Bolt.
    #[derive(Clone, Debug)]
    pub struct Bolt {
        /// Queue length of a port from which on it notifies senders.
        #[change = "A few packets keep queues short; a long one spares notifications."]
        pub bolt_threshold: Bytes {1..=u64::MAX} = Bytes(62_000) => layout = "bolt";
        /// Whether flows that end let others grow ahead of time (proactive ramp-up).
        #[change = "Turn it off to see its worth for small flows."]
        pub bolt_ramp_up: bool = true => layout = "bolt";
        /// Whether flows grow where a port has capacity left (supply matching).
        #[change = "Turn it off to see how long bandwidth then stays unused."]
        pub bolt_supply_matching: bool = true => layout = "bolt";
    }
}

/// Bolt's fields in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoltHeader {
    /// [`FIRST`] to [`SRC`].
    pub flags: u8,
    /// Rate of the port that reported its queue.
    pub rate: BitRate,
    /// Time in which this port drains it.
    pub drain: Nanos,
    /// When the packet left its sender.
    pub sent: Nanos,
}

impl BoltHeader {
    fn parse(section: &[u8]) -> Option<BoltHeader> {
        let (&first, rest) = section.split_first_chunk().filter(|_| section.len() == LEN)?;
        let first = u64::from_be_bytes(first);
        Some(BoltHeader {
            flags: (first >> 56) as u8,
            rate: BitRate((first >> 32 & 0xff_ffff) * MEGABIT),
            drain: Nanos(first & 0xffff_ffff),
            sent: Nanos(u64::from_be_bytes(*rest.first_chunk()?)),
        })
    }

    fn emit(&self, section: &mut [u8]) {
        let rate = (self.rate.0 / MEGABIT).min(0xff_ffff);
        let first = u64::from(self.flags) << 56 | rate << 32 | self.drain.0.min(0xffff_ffff);
        let bytes = first.to_be_bytes().into_iter().chain(self.sent.0.to_be_bytes());
        section.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }
}

impl Codec for Bolt {
    fn name(&self) -> &'static str {
        "bolt"
    }

    fn parameters(&self) -> String {
        format!("{} bytes", self.bolt_threshold.0)
    }

    fn tells(&self) -> Reads {
        Reads::Bolt
    }

    fn len_after(&self, _: usize) -> usize {
        LEN
    }

    fn prepare(&self, section: &mut [u8], now: Nanos) {
        BoltHeader { flags: 0, rate: BitRate(0), drain: Nanos(0), sent: now }.emit(section);
    }

    fn label(&self, section: &mut [u8], label: u8) {
        if let Some(flags) = section.first_mut() {
            *flags = label;
        }
    }

    fn meter(&self, ports: &[BitRate], _: Nanos) -> Option<Box<dyn Meter>> {
        let ports = ports.iter().map(|&rate| Port { rate, last: None, supply: 0, tokens: 0 }).collect();
        Some(Box::new(Ports { config: self.clone(), ports }))
    }

    fn claim(&self, section: &mut [u8], busy: bool) -> bool {
        let Some(mut header) = BoltHeader::parse(section) else { return false };
        if busy {
            header.flags = header.flags & !INC | DEC;
            (header.rate, header.drain) = (CLAIMED_RATE, CLAIMED_DRAIN);
        } else {
            header.flags = header.flags & !DEC | INC;
        }
        header.emit(section);
        true
    }

    fn read<'a>(&self, section: &[u8], _: &'a mut HopStack) -> Result<Telemetry<'a>, Unusable> {
        BoltHeader::parse(section).map(Telemetry::Bolt).ok_or(Unusable)
    }
}

#[derive(Debug)]
struct Ports {
    config: Bolt,
    ports: Vec<Port>,
}

#[derive(Debug)]
struct Port {
    rate: BitRate,
    /// When a packet came last; `None`: never, so that supply has grown for ever.
    last: Option<Nanos>,
    supply: i64,
    tokens: u32,
}

impl Port {
    /// A packet of `size` bytes arrives.
    fn arrive(&mut self, now: Nanos, size: u32) {
        let grown = self.last.map_or(u64::MAX, |last| self.rate.bytes_in(now.saturating_sub(last)));
        self.last = Some(now);
        let grown = i64::try_from(grown).unwrap_or(i64::MAX);
        self.supply = self.supply.saturating_add(grown).saturating_sub(i64::from(size) + BETWEEN).min(MOST_SUPPLY);
    }

    /// Whether a packet of `size` bytes may still say that its flow grows.
    fn grants(&mut self, config: &Bolt, size: u32) -> bool {
        if config.bolt_ramp_up && self.tokens > 0 {
            self.tokens -= 1;
            return true;
        }
        let has = config.bolt_supply_matching && self.supply >= i64::from(size);
        self.supply -= if has { i64::from(size) } else { 0 };
        has
    }
}

impl Meter for Ports {
    fn meets(&self) -> bool {
        true
    }

    fn meet(&mut self, section: &mut [u8], at: &Met, answer: &mut [u8]) -> usize {
        let Ports { config, ports } = self;
        let Some(port) = ports.get_mut(usize::from(at.port)) else { return 0 };
        port.arrive(at.now, at.size);
        let Some(mut header) = BoltHeader::parse(section) else { return 0 };
        let mut tells = false;
        if at.queue >= config.bolt_threshold.0 {
            header.flags &= !INC;
            let drain = port.rate.time_for(at.queue);
            tells = header.flags & DEC == 0;
            if tells || drain > header.drain {
                (header.rate, header.drain) = (port.rate, drain);
            }
            header.flags |= DEC;
        } else if header.flags & (LAST | FIRST) == LAST {
            port.tokens = (port.tokens + 1).min(MOST_TOKENS);
        } else if header.flags & INC != 0 && !port.grants(config, at.size) {
            header.flags &= !INC;
        }
        header.emit(section);
        if tells {
            BoltHeader { flags: header.flags | SRC, ..header }.emit(answer);
        }
        if tells { LEN } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port of 100 Gb/s, on which a byte takes 0.08 ns.
    struct Bench(Box<dyn Meter>);

    impl Bench {
        fn new(change: impl FnOnce(&mut Bolt)) -> Bench {
            let mut bolt = Bolt::default();
            change(&mut bolt);
            Bench(bolt.meter(&[BitRate::gbps(100)], Nanos(0)).expect("ports"))
        }

        /// A packet of 1,000 bytes comes; its header then, and what goes back.
        fn meet(&mut self, now: u64, flags: u8, queue: u64) -> (BoltHeader, Option<BoltHeader>) {
            let (mut section, mut answer) = ([0; LEN], [0; LEN]);
            Bolt::default().prepare(&mut section, Nanos(7));
            Bolt::default().label(&mut section, flags);
            let at = Met { now: Nanos(now), port: 0, size: 1_000, queue };
            let len = self.0.meet(&mut section, &at, &mut answer);
            (BoltHeader::parse(&section).expect("a header"), BoltHeader::parse(&answer[..len]))
        }
    }

    #[test]
    fn a_header_has_these_bytes() {
        let header = BoltHeader {
            flags: INC | AI,
            rate: BitRate::gbps(400),
            drain: Nanos(4_960),
            sent: Nanos(0x0102_0304_0506),
        };
        let mut section = [0; LEN];
        header.emit(&mut section);
        assert_eq!(section, [0x14, 0x06, 0x1a, 0x80, 0, 0, 0x13, 0x60, 0, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((BoltHeader::parse(&section), BoltHeader::parse(&section[1..])), (Some(header), None));
    }

    #[test]
    fn a_long_queue_is_told_once_and_then_only_raised() {
        let mut port = Bench::new(|_| {});
        let (header, told) = port.meet(0, INC | AI, 62_000);
        let expected = BoltHeader { flags: DEC | AI, rate: BitRate::gbps(100), drain: Nanos(4_960), sent: Nanos(7) };
        assert_eq!((header, told), (expected, Some(BoltHeader { flags: DEC | AI | SRC, ..expected })));
        let (raised, told) = port.meet(0, DEC, 125_000);
        assert_eq!((raised.drain, told), (Nanos(10_000), None), "another port has told");
        assert_eq!(
            port.meet(100_000, INC, 61_999),
            (BoltHeader { flags: INC, drain: Nanos(0), rate: BitRate(0), sent: Nanos(7) }, None)
        );
    }

    /// Without supply: the packets come faster than the port sends.
    #[test]
    fn a_flow_that_ends_lets_another_grow() {
        let mut port = Bench::new(|bolt| bolt.bolt_supply_matching = false);
        let mut grows = |flags| port.meet(0, flags, 0).0.flags & INC != 0;
        assert!(!grows(INC), "no token");
        grows(LAST | FIRST);
        assert!(!grows(INC), "a flow of one window leaves nothing");
        grows(LAST);
        grows(LAST);
        assert_eq!([INC, INC, INC].map(grows), [true, true, false]);
    }

    /// 1,019 bytes of supply go with each packet, and 1,000 more with each that grows: 200 ns bring 2,500. A port that never had a
    /// packet is as one that had none for long.
    #[test]
    fn flows_grow_by_what_a_port_has_left() {
        let mut port = Bench::new(|_| {});
        let mut grow = |now| (0..40).filter(|_| port.meet(now, INC, 0).0.flags & INC != 0).count();
        assert_eq!(
            [0, 1_000_000].map(&mut grow),
            [15, 15],
            "30,000 bytes at most, 2,019 each but for the first of a time"
        );
        let mut grows = |now| port.meet(now, INC, 0).0.flags & INC != 0;
        let granted = [1_002_000, 1_002_400, 1_002_400, 1_002_400].map(&mut grows);
        assert_eq!(granted, [false, true, true, false], "-24,741 and 25,000 are -760; 3,221; 1,202; -817");
    }
}
