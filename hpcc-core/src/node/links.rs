// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings against the links that they must serve.

use super::{Located, NodeSettings, in_section};
use crate::cc::Algorithm;
use crate::settings::Conflict;
use crate::switch::{BufferKind, PauseConfig, Priorities, SharedBuffer, SwitchSettings};
use crate::telemetry::{Layout, Reads, listed, relative};
use crate::topology::{Link, Network};
use crate::transport::feedback::room;
use crate::units::{BitRate, Bytes, Nanos};
use crate::wire::{FrameSizes, in_a_round_trip};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Bytes of headers and telemetry that every frame counts with, also where it has fewer.
const LEAST_OVERHEAD: u64 = 48 + 128;

/// Rates of a network's links: found once for the checks of all its nodes.
#[derive(Clone, Debug)]
pub struct LinkRates {
    /// That of the slowest link of a host; `None`: there is no host.
    slowest_host: Option<BitRate>,
    /// Those of links that end at a switch.
    at_switches: BTreeSet<BitRate>,
}

impl LinkRates {
    /// Those of this network.
    pub fn of(network: &Network) -> LinkRates {
        LinkRates { slowest_host: network.host_rates().min(), at_switches: network.switch_rates().collect() }
    }
}

/// Checks the lowest sending rate of an algorithm: some, and no more than the slowest link of a host has.
///
/// # Errors
/// If it is none, or more than that.
pub fn lowest_rate(algorithm: &dyn Algorithm, rates: &LinkRates) -> Result<(), Conflict> {
    let Some(slowest) = rates.slowest_host else { return Ok(()) };
    let Some(lowest) = algorithm.min_rate(slowest) else { return Ok(()) };
    if (BitRate(1)..=slowest).contains(&lowest) {
        return Ok(());
    }
    let message = format!(
        "the lowest sending rate is {lowest}; expected more than 0 and at most {slowest}, the slowest host link"
    );
    Err(Conflict::new("min_rate", message))
}

impl NodeSettings {
    /// Checks, once all is [resolved](NodeSettings::resolve), that telemetry of a switch can tell the rate of one of its links.
    ///
    /// # Errors
    /// If its layout has no code for it.
    pub fn check_link(&self, link: &Link) -> Result<(), Located> {
        let layout = self.stamped_layout();
        if self.can_tell(&layout, link.rate) {
            return Ok(());
        }
        let able = self.layout.able(Reads::Records, self.wire.profile);
        let able = listed(able.filter(|layout| self.can_tell(layout, link.rate)), " or ");
        let known = layout.records().map(|records| records.rates).unwrap_or_default();
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let expected = if able.is_empty() { "one of these".into() } else { format!("layout = {able}") };
        let message = format!(
            "the link from {} to {} runs at {}, which records of telemetry.layout = \"{}\" cannot tell: they know {}; \
             expected {expected}",
            link.a,
            link.b,
            link.rate,
            layout.name(),
            known.join(", ")
        );
        Err(in_section("telemetry")(Conflict::new("layout", message)))
    }

    /// Whether records of a layout tell that a link has this rate; at a border that [hides](relative) rates, by a part of the one
    /// that all links have.
    fn can_tell(&self, layout: &Layout, rate: BitRate) -> bool {
        let hidden = relative::rate(layout).filter(|_| self.hides_telemetry());
        layout.tells_rate(rate) && hidden.is_none_or(|told| told.0.is_multiple_of(rate.0.max(1)))
    }

    /// Checks that a port of some switch has each rate that ECN thresholds are for.
    ///
    /// # Errors
    /// The first rate that none has.
    pub fn check_thresholds(&self, rates: &LinkRates) -> Result<(), Located> {
        let is_used = |rate| rates.at_switches.contains(rate);
        let unused = self.ecn_thresholds.iter().flatten().find(|threshold| !is_used(&threshold.rate));
        let Some(unused) = unused else { return Ok(()) };
        let known: Vec<String> = rates.at_switches.iter().map(ToString::to_string).collect();
        let message = format!(
            "there are thresholds for {}, but no switch has such a port; expected {}",
            unused.rate,
            known.join(", ")
        );
        Err(in_section("switch")(Conflict::new("ecn_thresholds", message)))
    }

    /// Checks that the packet memory of a switch with this number suffices for ports of these rates and delays.
    ///
    /// # Errors
    /// If it is less than what the ports keep for themselves, or than two packets.
    pub fn check_memory(&self, switch: u32, ports: impl Iterator<Item = (BitRate, Nanos)>) -> Result<(), Located> {
        if let Some(plan) = &self.buffer_plan {
            return self.check_ports(plan, switch, ports.map(|(rate, _)| rate));
        }
        let wrong = match self.switch.mode {
            BufferKind::Lossless => self.memory_of_ports(switch, ports),
            BufferKind::Lossy => self.memory_of_a_queue(),
            BufferKind::Credit => self.memory_of_credits(switch, ports),
        };
        wrong.map_err(|message| in_section("switch")(Conflict::new("buffer", message)))
    }

    /// Checks that headroom that is set has room for a packet: the first one there is what sends a pause.
    pub(super) fn check_headroom(&self) -> Result<(), Located> {
        let needed = self.largest_frame();
        let Some(Bytes(headroom)) = self.switch.headroom.filter(|headroom| headroom.0 < needed) else { return Ok(()) };
        let message = format!(
            "headroom is {headroom} bytes, less than a packet, the first of which to be there sends a pause; expected \
             {needed} or more, or auto"
        );
        Err(in_section("switch")(Conflict::new("headroom", message)))
    }

    /// Bytes that no frame exceeds: neither data with all the telemetry that there is room for, nor what brings that back.
    pub(crate) fn largest_frame(&self) -> u64 {
        let (sizes, layout, Bytes(mtu)) = (self.sizes(), self.layout(), self.transport.mtu);
        let data = sizes.data(mtu as u32, true, layout.max_len() as u32);
        let answer = sizes.ack(
            room(&layout, self.feedback.records_per_ack, self.transport.seal.is_some()) as u32
                + FrameSizes::SELECTIVE_ACK,
        );
        u64::from(data.max(answer)).max(mtu + LEAST_OVERHEAD)
    }

    /// Bytes that the transmitter of a link keeps to send them again, if links do; `Some(None)`: what a round trip needs.
    pub(crate) fn retry_buffer(&self) -> Option<Option<u64>> {
        self.wire.llr.then(|| self.wire.llr_buffer.map(|buffer| buffer.0))
    }

    /// Checks that a link keeps a frame: one without room for it would never send.
    pub(super) fn check_retry(&self) -> Result<(), Located> {
        let needed = self.largest_frame();
        let Some(buffer) = self.retry_buffer().flatten().filter(|&buffer| buffer < needed) else { return Ok(()) };
        let message = format!("llr_buffer is {buffer} bytes, less than a packet; expected {needed} or more, or auto");
        Err(in_section("wire")(Conflict::new("llr_buffer", message)))
    }

    /// Bytes of credit that a switch gives for each priority to who sends by a link of this rate and delay, and those of the largest
    /// frame; `None`: it gives no credits.
    pub(crate) fn credits(&self, link: (BitRate, Nanos)) -> Option<(u32, u32)> {
        let largest = self.largest_frame();
        let limit = || self.switch.credits.map_or_else(|| in_a_round_trip(largest, link), |credits| credits.0);
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        (self.switch.mode == BufferKind::Credit).then(|| (bytes(limit()), bytes(largest)))
    }

    /// Checks that credits suffice for a packet, and that nobody pauses who takes frames slowly.
    pub(super) fn check_credits(&self) -> Result<(), Located> {
        if self.switch.mode != BufferKind::Credit {
            return Ok(());
        }
        let refuse = |key, message| Err(in_section("switch")(Conflict::new(key, message)));
        let needed = self.largest_frame();
        if let Some(credits) = self.switch.credits.filter(|credits| credits.0 < needed) {
            let message =
                format!("credits are {} bytes, less than a packet; expected {needed} or more, or auto", credits.0);
            return refuse("credits", message);
        }
        if self.receivers().next().is_some() {
            let message = "slow hosts pause by PFC, or drop; expected mode = \"lossless\" or \"lossy\"";
            return refuse("mode", message.into());
        }
        Ok(())
    }

    /// The memory of each port and priority is its own.
    fn memory_of_credits(&self, switch: u32, ports: impl Iterator<Item = (BitRate, Nanos)>) -> Result<(), String> {
        let (Bytes(buffer), priorities) = (self.switch.buffer, self.pfc_priorities().unwrap_or_default());
        let of_one = ports.filter_map(|link| self.credits(link)).map(|(limit, _)| u64::from(limit)).sum::<u64>();
        let needed = u64::from(priorities.count()) * of_one;
        if needed <= buffer {
            return Ok(());
        }
        Err(format!(
            "the buffer has {buffer} bytes, but the credits that switch {switch} gives for the priorities {priorities} are \
             {needed}; expected at least that much, or fewer credits"
        ))
    }

    /// The same for headroom, where that counts frames.
    fn counted_frame(&self) -> u32 {
        if self.faults().short_headroom { 0 } else { u32::try_from(self.largest_frame()).unwrap_or(u32::MAX) }
    }

    /// What NICs may pause, and what may come after that; `None`: nothing is paused.
    pub(super) fn receive_pause(&self) -> Option<PauseConfig> {
        let pause = PauseConfig { priorities: self.pfc_priorities().unwrap_or(Priorities::ALL), ..self.pause() };
        (self.switch.mode == BufferKind::Lossless).then_some(pause)
    }

    /// When lossless buffers pause.
    pub(super) fn pause(&self) -> PauseConfig {
        self.switch.pause(self.counted_frame())
    }

    /// Each port keeps room for what arrives in each priority after it asked its peer to pause. What is left is shared.
    fn memory_of_ports(&self, switch: u32, ports: impl Iterator<Item = (BitRate, Nanos)>) -> Result<(), String> {
        let (Bytes(buffer), pause) = (self.switch.buffer, self.pause());
        let needed = SharedBuffer::kept(pause, ports);
        if needed <= buffer {
            return Ok(());
        }
        let (each, instead) = match pause.priorities.count() {
            0 | 1 => (String::new(), ""),
            count => (
                format!(", {} for each of the priorities {}", needed / u64::from(count), pause.priorities),
                ", or fewer",
            ),
        };
        Err(format!(
            "the buffer has {buffer} bytes, but the headroom and reserve of switch {switch}'s ports take {needed}{each}; \
             expected at least that much{instead}, or buffer_pools, whose xoff is headroom that ports share"
        ))
    }

    /// A queue that cannot hold two packets loses every other one.
    fn memory_of_a_queue(&self) -> Result<(), String> {
        let SwitchSettings { alpha, buffer: Bytes(buffer), .. } = self.switch;
        let most = (buffer as f64 * (alpha / (1.0 + alpha))) as u64;
        let needed = 2 * self.largest_frame();
        if most >= needed {
            return Ok(());
        }
        Err(format!(
            "of the buffer's {buffer} bytes one queue may hold {most}, less than two packets; expected {needed} or more"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{ControlLaw, HpccConfig};
    use crate::ecn::EcnThreshold;
    use crate::switch::{Priorities, RESERVE};
    use crate::telemetry::LayoutSettings;
    use crate::topology::NodeKind;
    use crate::wire::WireProfile;

    /// A switch and a host with a link of this many Gb/s and 1 us, and settings that are resolved for them.
    fn network(gbps: u64, settings: NodeSettings) -> (Network, NodeSettings) {
        let link = Link { a: 0, b: 1, rate: BitRate::gbps(gbps), delay: Nanos(1_000), loss: 0.0 };
        let network = Network { nodes: [NodeKind::Switch, NodeKind::Host].into(), links: [link].into() };
        let mut settings = settings;
        settings.resolve(&network);
        (network, settings)
    }

    #[test]
    fn telemetry_must_tell_the_rate_unless_the_switch_knows_nothing_of_it() {
        let check = |gbps, layout, stamp_telemetry| {
            let mut settings = NodeSettings { layout, ..NodeSettings::default() };
            settings.switch.stamp_telemetry = stamp_telemetry;
            let (network, settings) = network(gbps, settings);
            settings.check_link(&network.links[0]).map_err(|wrong| wrong.conflict.message)
        };
        let reference = LayoutSettings::of("reference");
        assert_eq!((check(100, reference.clone(), true), check(40, reference.clone(), false)), (Ok(()), Ok(())));
        for gbps in [1, 10, 40, 160, 800, 1_600, 2_400] {
            assert_eq!(check(gbps, LayoutSettings::default(), true), Ok(()));
            assert_eq!(check(gbps, LayoutSettings::of("int_md"), true), Ok(()));
        }
        let wrong = check(160, reference, true).expect_err("no code");
        let expected = "the link from 0 to 1 runs at 160Gbps, which records of telemetry.layout = \"reference\" cannot tell: \
                        they know 25Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps; expected layout = \"int_md\" or \"ioam\"";
        assert_eq!(wrong, expected);
    }

    /// A border writes records as if all links had one rate, of which theirs must be a part.
    #[test]
    fn a_border_hides_rates_that_divide_the_one_it_tells() {
        let check = |gbps| {
            let mut settings = NodeSettings { layout: LayoutSettings::of("int_md"), ..NodeSettings::default() };
            settings.switch.telemetry_hidden_from = "1".into();
            let (network, settings) = network(gbps, settings);
            settings.check_link(&network.links[0]).is_ok()
        };
        assert_eq!([160, 800, 1_600, 300].map(check), [true, true, false, false]);
    }

    #[test]
    fn thresholds_are_for_rates_that_ports_have() {
        let check = |gbps| {
            let rate = BitRate::gbps(gbps);
            let ecn_thresholds = Some([EcnThreshold { rate, kmin: 1, kmax: 2, pmax: 1.0 }].into());
            let (network, settings) = network(100, NodeSettings { ecn_thresholds, ..NodeSettings::default() });
            settings.check_thresholds(&LinkRates::of(&network)).map_err(|wrong| wrong.conflict.key)
        };
        assert_eq!((check(100), check(40)), (Ok(()), Err("ecn_thresholds")));
    }

    #[test]
    fn memory_holds_what_ports_keep_or_two_packets() {
        let check = |mode, buffer| {
            let mut settings = NodeSettings::default();
            (settings.switch.mode, settings.switch.buffer) = (mode, Bytes(buffer));
            let (network, settings) = network(100, settings);
            let ports = network.links.iter().map(|link| (link.rate, link.delay));
            settings.check_memory(0, ports).map_err(|wrong| wrong.conflict.key)
        };
        // 12.5 kB are on the link.
        let needed = 3 * 12_500 + u64::from(RESERVE);
        let lossless = [needed, needed - 1].map(|buffer| check(BufferKind::Lossless, buffer));
        assert_eq!(lossless, [Ok(()), Err("buffer")]);
        // Half of the memory is what a queue may hold.
        let needed = 2 * 2 * (1_000 + LEAST_OVERHEAD);
        let lossy = [needed, needed - 2].map(|buffer| check(BufferKind::Lossy, buffer));
        assert_eq!(lossy, [Ok(()), Err("buffer")]);
    }

    /// Two ports of 12.5 kB on the link each.
    #[test]
    fn memory_holds_what_ports_keep_for_every_priority() {
        let check = |buffer, pfc_priorities| {
            let mut settings = NodeSettings::default();
            settings.switch.buffer = Bytes(buffer);
            settings.switch.pfc_priorities = pfc_priorities;
            let (network, settings) = network(100, settings);
            let ports = [network.links[0]; 2].map(|link| (link.rate, link.delay));
            settings.check_memory(7, ports.into_iter()).map_err(|wrong| wrong.conflict.message)
        };
        let each = 2 * (3 * 12_500 + u64::from(RESERVE));
        let two = Some(Priorities::default().with(5));
        assert_eq!((check(each, None), check(2 * each, two)), (Ok(()), Ok(())));
        let expected = "the buffer has 166383 bytes, but the headroom and reserve of switch 7's ports take 166384, 83192 for each \
                        of the priorities 3, 5; expected at least that much, or fewer, or buffer_pools, whose xoff is \
                        headroom that ports share";
        assert_eq!(check(2 * each - 1, two), Err(expected.into()));
    }

    /// The first packet of a WRITE over IPv6, with INT of 15 hops; one of a single byte, whose acknowledgement is longer.
    #[test]
    fn the_largest_frame_has_all_the_telemetry_that_there_is_room_for() {
        let largest = |mtu, records_per_ack| {
            let mut settings = NodeSettings::default();
            settings.wire.profile = WireProfile::RoceV6;
            settings.layout = LayoutSettings::of("int_md");
            settings.transport.mtu = Bytes(mtu);
            settings.feedback.records_per_ack = records_per_ack;
            network(100, settings).1.largest_frame()
        };
        let (headers, section) = (14 + 40 + 8 + 12 + 4 + 4, 16 + 15 * 28);
        assert_eq!(largest(1_000, 1), headers + 16 + 1_000 + section);
        assert_eq!(
            largest(1, 4),
            headers + 4 + 4 * (section + 2) + 4 + 4,
            "AETH, seal and the packet ahead of its turn"
        );
        let without = NodeSettings::default();
        assert_eq!(network(100, without).1.largest_frame(), 1_000 + LEAST_OVERHEAD);
    }

    /// Without room for a packet a lossless switch would pause nobody, and drop.
    #[test]
    fn headroom_that_is_set_holds_a_packet() {
        let check = |headroom: Option<u64>| {
            let mut settings = NodeSettings::default();
            settings.switch.headroom = headroom.map(Bytes);
            let (network, settings) = network(100, settings);
            settings.check(&network).map_err(|wrong| (wrong.section, wrong.conflict.key))
        };
        let needed = 1_000 + LEAST_OVERHEAD;
        assert_eq!([None, Some(needed)].map(check), [Ok(()), Ok(())]);
        assert_eq!([Some(needed - 1), Some(0)].map(check), [Err(("switch", "headroom")); 2]);
    }

    #[test]
    fn the_lowest_rate_is_one_that_links_have() {
        let check = |min_rate, rate| {
            let (mut network, _) = network(100, NodeSettings::default());
            network.links[0].rate = rate;
            let law = ControlLaw { min_rate, ..ControlLaw::default() };
            let algorithm = HpccConfig { law, ..HpccConfig::default() };
            lowest_rate(&algorithm, &LinkRates::of(&network)).map_err(|wrong| wrong.key)
        };
        let least = Some(BitRate::mbps(100));
        assert_eq!((check(least, BitRate::mbps(100)), check(least, BitRate::mbps(99))), (Ok(()), Err("min_rate")));
        assert_eq!(check(None, BitRate::mbps(10)), Ok(()));
    }
}
