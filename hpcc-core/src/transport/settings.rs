// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of the transport, and what follows where nothing is set.

use super::{CongestionNotification, Entropy, QueuePairs, Recovery, TimeoutConfig, TransportConfig};
use crate::cc::Needs;
use crate::pfc::DATA_PRIORITY;
use crate::reference_faults::ReferenceFaults;
use crate::settings::{Conflict, Written};
use crate::switch::Classes;
use crate::topology::Network;
use crate::units::{Bytes, Nanos};
use alloc::format;

crate::settings! {
    /// How a host sends and acknowledges.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TransportSettings {
        /// Whether each flow has a queue pair, or flows of one source, destination, priority and destination port share
        /// one and are its messages, one after the other (those of a job among themselves). With `auto` the messages of
        /// jobs share queue pairs, other flows do not.
        #[change = "Choose `per_pair` for applications that send many messages over a connection: a message begins at \
            the rate of the one before."]
        #[assumed = "messages of a job share a queue pair for each pair of hosts, as NCCL's do; other flows have one each"]
        pub queue_pairs: QueuePairs = QueuePairs::Auto;
        /// Largest payload of a packet.
        #[change = "Larger packets spend less on headers and simulate faster; smaller ones bring feedback more often."]
        #[network]
        #[assumed = "the 2019 simulator's packet, near RoCEv2's 1,024 bytes"]
        pub mtu: Bytes {1..=9000} = Bytes(1_000);
        /// What a sender repeats after a loss: all from the missing byte on, all from the last multiple of `chunk` on, or
        /// only the missing bytes, of which receivers tell packet by packet (`selective_repeat`; an answer that is lost costs
        /// a packet, too) or by bitmaps (`sack`). What bounds the bytes in flight is `window` and `bdp_cap`.
        #[change = "Choose `sack` for networks that drop frames (`switch.mode` = `lossy`, `topology.loss`): it finds what is lost twice \
            by the packets behind it. With `selective_repeat`, as in IRN, that takes a `timeout`, and a window stands still for each \
            loss. The table in configs/README.md has the cost of each."]
        #[network]
        #[assumed = "what NICs do for networks that PFC keeps from losing frames"]
        pub recovery: Recovery = Recovery::GoBackN;
        /// Bytes to whose last multiple `go_back_zero` returns after a loss; each flow has to be a multiple. With an
        /// `ack_offset` above 1 the receiver also acknowledges where a chunk ends.
        #[change = "A larger value repeats more for each loss."]
        pub chunk: Bytes {1..=u32::MAX.into()} = Bytes(4_000);
        /// Next expected byte from which on the receiver acknowledges, as in the 2019 simulator; 1: every packet.
        #[change = "Change it only to repeat the 2019 simulator's files; `ack_every` makes acknowledgements rarer."]
        pub ack_offset: Bytes {0..=u32::MAX.into()} = Bytes(1);
        /// Bytes after which the sender asks for an acknowledgement; 0: the receiver goes by `ack_offset`. It also asks
        /// at least twice in a window and with its last packet.
        #[change = "A larger value saves acknowledgements and simulates faster; flows react later."]
        #[network]
        pub ack_every: Bytes {0..=u32::MAX.into()} = Bytes(0);
        /// Least time between two negative acknowledgements for one missing byte.
        #[change = "Lower it where a repeated packet may be lost again; too low, one loss is repeated several times."]
        pub nack_interval: Nanos = Nanos(500_000) => recovery = "go_back_n" | "go_back_zero";
        /// Packets that may overtake another one before it counts as lost and is sent again.
        #[change = "Raise it where packets of a flow take several paths (`load_balancing.scheme`): as far as they overtake each \
            other, nothing is sent again. Where frames are dropped, losses are found later."]
        pub reorder_window: u32 = 0 => recovery = "selective_repeat" | "sack";
        /// Which UDP source port a packet has, by which switches with `ecmp` choose its path: that of its flow, each of
        /// several in turn (`oblivious`), the same but for ports whose packets were marked (`bitmap`), ports whose
        /// packets arrived unmarked (`reps`), or as `reps` and, without such a port, as `bitmap` (`mixed`). Marks count
        /// as acknowledgements bring them back.
        #[change = "Choose another than `flow` to spread packets from the sender on, with a `reorder_window`."]
        pub entropy: Entropy = Entropy::Flow;
        /// How many source ports a flow has; a power of two.
        #[change = "More find more of the paths; fewer remember better which are good."]
        pub entropies: u16 {2..=32_768} = 64 => entropy = "oblivious" | "bitmap" | "reps" | "mixed";
        /// Time for which a flow whose packet has timed out keeps to the source ports that came through last (freezing); 0: none. For
        /// networks where a timeout means a failed link: switches that trim or pause.
        #[change = "Set it to 10ms, as published, to leave a failed link before routes change."]
        pub entropy_freeze: Nanos = Nanos(0) => entropy = "reps";
        /// Time without progress after which the bytes in flight are sent again; 0: never; `auto`: the time in which the
        /// slowest host link drains a switch buffer.
        #[change = "Lower it where frames are dropped and buffers are small; raise it where the end of a run says that \
            it expired without a loss."]
        #[assumed = "in this time the slowest link of a host drains a switch's buffer"]
        pub timeout: Option<Nanos> = None;
        /// Timeout while at most `timeout_low_packets` are in flight, at most `timeout`; `auto`: 100 us.
        #[change = "Lower it for short flows over lossy links; keep it above the usual round-trip time, queues included."]
        pub timeout_low: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Most packets in flight for which `timeout_low` holds; `auto`: 3 with `selective_repeat` or where `timeout_low`
        /// is set, otherwise 0: it never does.
        #[change = "Raise it to repeat sooner, at the risk of repeating packets that only wait."]
        pub timeout_low_packets: Option<u32> = None;
        /// Number of T that is added to both timeouts; `auto`: 3 where `timeout` is `auto`, otherwise 0.
        #[change = "Raise it where distances differ much."]
        pub timeout_base_rtts: Option<u32> = None;
        /// Whether the timeout doubles each time that it expires in a row, up to 64-fold.
        #[change = "Turn it off to try again at a steady pace."]
        pub timeout_back_off: bool = true;
        /// Whether a window, at first a bandwidth-delay product, bounds the bytes in flight, with any `recovery`; `auto`: not with
        /// `dcqcn` and `timely`.
        #[change = "Turn it on to bound the queues of these two, off to see its part in the others."]
        #[assumed = "as the algorithm is published"]
        pub window: Option<bool> = None;
        /// Whether the window follows the sending rate; otherwise it stays as at line rate.
        #[change = "Turn it off to leave control to pacing alone."]
        pub variable_window: bool = true;
        /// Whether a fixed cap bounds the bytes in flight besides: IRN's BDP-FC, one bandwidth-delay product of the longest path, by the
        /// rate of the sender's port (or of the flow's own path, if `global_rtt` is off). What has arrived behind a loss counts as in
        /// flight, up to `reorder_window` packets less.
        #[change = "Turn it on for IRN as published, or to keep queues of `dcqcn` short; off for the selective repeat of NICs, \
            which bounds nothing."]
        pub bdp_cap: bool = false;
        /// Base round-trip time T of all flows; `auto`: the time of a full packet, telemetry included, and its
        /// acknowledgement on an idle path.
        #[change = "Set it to compare with numbers of a fixed T, such as the 5 us of the drafts' table."]
        #[assumed = "reckoned from the links: a full packet and its acknowledgement on the longest idle path"]
        pub base_rtt: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None;
        /// Whether all flows use the longest T of the network; otherwise each uses the T of its pair.
        #[change = "Turn it off where distances differ much: near pairs get smaller windows and shorter queues."]
        pub global_rtt: bool = true;
        /// Whether packets are paced at the controller's rate; otherwise only the window obeys it.
        #[change = "Turn it off to see the worth of pacing: a window then leaves as one burst."]
        pub rate_bound: bool = true;
        /// Priority of acknowledgements; 0 goes ahead of all others and is never paused; `auto`: 0 with `dcqcn`,
        /// `timely` and `bolt`, otherwise 3.
        #[change = "Take 0 to let feedback overtake data, the data's priority to let it wait and be paused with data."]
        pub ack_priority: Option<u8> {0..=7} = None;
        /// Priority of receivers' CNPs: 1 to 7 makes them a class of their own, which only pauses of that priority stop; `auto`: 0
        /// at switches, while their host holds them back with acknowledgements.
        #[change = "Set it as a NIC's `cnp_802p_prio`, with a class for it in `switch.classes`."]
        pub cnp_priority: Option<u8> {1..=7} = None => congestion_notification = "cnp";
        /// DSCP of receivers' CNPs in captures, NVIDIA's `cnp_dscp`; `auto`: 8 times `cnp_priority`, 48 without it. It decides on no
        /// queue here: that is `cnp_priority`.
        #[change = "Set it to your NICs' value, to read captures with the filters that you have."]
        #[network]
        pub cnp_dscp: Option<u8> {0..=63} = None => congestion_notification = "cnp";
        /// How a host shares a link among its flows by their priorities, in the form of a switch's `classes`; empty: all
        /// flows in turn. Within a priority flows send in turn, and answers go ahead of data.
        #[change = "Set it where the flows of one host have several priorities."]
        pub classes: Written<Option<Classes>> = Written::default();
        /// What brings congestion marks back: acknowledgements (`ack`), congestion notification packets (`cnp`), or those
        /// of `[fast_cnp]`, which senders must accept from hosts. A flow under DCQCN hears of marks at most once in its
        /// `notification_interval`; another flow at most once in 50 us by packets, and with every acknowledgement of a
        /// marked packet by `ack`.
        #[change = "Choose `cnp` for NICs with DCQCN; `ack` takes no packets of its own."]
        pub congestion_notification: CongestionNotification = CongestionNotification::Echo;
        /// Key of 32 hexadecimal digits with which receivers authenticate acknowledgements, negative ones, feedback packets
        /// and CNPs; empty: they do not. Senders ignore what is not authentic.
        #[change = "Set it against attackers that forge packets of receivers; each but CNPs is 4 bytes longer."]
        #[network]
        pub seal: Written<Option<[u8; 16]>> = Written::default();
    }
}

/// Base round-trip times added to a timeout that nobody set.
const TIMEOUT_BASE_RTTS: u32 = 3;
/// IRN's RTO_low, and the packets in flight up to which it holds.
const TIMEOUT_LOW: (Nanos, u32) = (Nanos(100_000), 3);

impl TransportSettings {
    /// Settles what was left to the simulator, for an algorithm with these needs and a network whose switches have this
    /// buffer in bytes.
    pub fn resolve(&mut self, needs: &Needs, network: &Network, buffer: u64) {
        if self.timeout.is_none() {
            self.timeout = Some(network.longest_wait(buffer).min(Nanos::LONGEST));
            self.timeout_base_rtts.get_or_insert(TIMEOUT_BASE_RTTS);
        }
        let few = self.recovery.keeps || self.timeout_low.is_some();
        self.timeout_low_packets.get_or_insert(if few { TIMEOUT_LOW.1 } else { 0 });
        self.timeout_base_rtts.get_or_insert(0);
        if let Some(high @ Nanos(1..)) = self.timeout {
            self.timeout_low.get_or_insert(TIMEOUT_LOW.0.min(high));
        }
        self.window.get_or_insert(needs.window);
        self.ack_priority.get_or_insert(if needs.acks_first { 0 } else { DATA_PRIORITY });
    }

    /// Checks settings against each other.
    ///
    /// # Errors
    /// The first that contradicts another one.
    pub fn check(&self) -> Result<(), Conflict> {
        if let (Some(low), Some(high)) = (self.timeout_low, self.timeout)
            && low > high
        {
            let message = format!("timeout_low is {low}, more than timeout, {high}; expected at most that");
            return Err(Conflict::new("timeout_low", message));
        }
        if self.ack_every.0 > 0 && self.ack_offset != TransportSettings::default().ack_offset {
            return Err(Conflict::new("ack_every", "ack_every and ack_offset exclude each other".into()));
        }
        if self.queue_pairs == QueuePairs::PerPair && self.recovery.to_chunks {
            let message = "queue_pairs = \"per_pair\" excludes recovery = \"go_back_zero\", which goes back to multiples of chunk \
                           and so into messages that have finished";
            return Err(Conflict::new("queue_pairs", message.into()));
        }
        if !self.entropies.is_power_of_two() {
            return Err(Conflict::new(
                "entropies",
                format!("entropies is {}; expected a power of two", self.entropies),
            ));
        }
        Ok(())
    }

    /// What hosts run by, once all is [settled](TransportSettings::resolve).
    pub fn config(&self, needs: &Needs, faults: ReferenceFaults) -> TransportConfig {
        // The declared ranges end at 2^32 - 1.
        let bytes = |size: Bytes| u32::try_from(size.0).unwrap_or(u32::MAX);
        let high = self.timeout.unwrap_or_default();
        TransportConfig {
            mtu: bytes(self.mtu),
            recovery: self.recovery,
            chunk: bytes(self.chunk),
            ack_offset: bytes(self.ack_offset),
            ack_every: bytes(self.ack_every),
            nack_interval: self.nack_interval,
            reorder_window: self.reorder_window,
            entropy: self.entropy,
            entropies: self.entropies.next_power_of_two(),
            entropy_freeze: self.entropy_freeze,
            timeout: (high > Nanos(0)).then_some(TimeoutConfig {
                high,
                low: self.timeout_low.unwrap_or(TIMEOUT_LOW.0).min(high),
                few: self.timeout_low_packets.unwrap_or_default(),
                base_rtts: self.timeout_base_rtts.unwrap_or_default(),
                back_off: self.timeout_back_off,
            }),
            window: self.window.unwrap_or(needs.window),
            variable_window: self.variable_window,
            bdp_cap: self.bdp_cap,
            global_rtt: self.global_rtt,
            base_rtt: self.base_rtt,
            rate_bound: self.rate_bound,
            ack_priority: self.ack_priority.unwrap_or(if needs.acks_first { 0 } else { DATA_PRIORITY }),
            cnp_priority: self.cnp_priority.filter(|_| self.congestion_notification == CongestionNotification::Packet),
            queue_pairs: self.queue_pairs,
            notification: self.congestion_notification,
            classes: *self.classes,
            seal: *self.seal,
            exact_rates: false,
            frame_gap: 0,
            faults,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Input, SettingError, Settings, Value};

    /// A host on a switch, by a link of 8 Gb/s: a buffer of 1000 bytes drains in 1 us.
    fn network() -> Network {
        crate::testing::network(1, 1, &[(0, 1, 8)])
    }

    fn resolved(settings: TransportSettings, needs: &Needs) -> TransportSettings {
        let mut settings = settings;
        settings.resolve(needs, &network(), 1_000_000);
        settings
    }

    /// What is settled of timeouts: the long one, the short one, packets up to which it holds, and T in both.
    fn timeouts(settings: TransportSettings) -> (Option<Nanos>, Option<Nanos>, Option<u32>, Option<u32>) {
        let settled = resolved(settings, &Needs::default());
        (settled.timeout, settled.timeout_low, settled.timeout_low_packets, settled.timeout_base_rtts)
    }

    #[test]
    fn timeouts_that_are_not_set_follow_from_the_network() {
        let (unset, drained) = (TransportSettings::default, network().longest_wait(1_000_000));
        assert!(drained >= Nanos::MILLISECOND, "{drained}");
        let short = Some(Nanos(100_000));
        assert_eq!(timeouts(unset()), (Some(drained), short, Some(0), Some(3)));
        let selective = TransportSettings { recovery: Recovery::SelectiveRepeat, ..unset() };
        assert_eq!(timeouts(selective), (Some(drained), short, Some(3), Some(3)));
        let given = || TransportSettings { timeout: Some(Nanos(7_000)), ..unset() };
        assert_eq!(timeouts(given()), (Some(Nanos(7_000)), Some(Nanos(7_000)), Some(0), Some(0)));
        let low = TransportSettings { timeout_low: Some(Nanos(5_000)), ..given() };
        assert_eq!(timeouts(low), (Some(Nanos(7_000)), Some(Nanos(5_000)), Some(3), Some(0)));
        let never = TransportSettings { timeout: Some(Nanos(0)), ..unset() };
        assert_eq!(timeouts(never), (Some(Nanos(0)), None, Some(0), Some(0)));
    }

    #[test]
    fn window_and_priority_are_as_the_algorithm_needs_them() {
        for (window, acks_first, priority) in [(true, false, 3), (false, true, 0)] {
            let needs = Needs { window, acks_first, ..Needs::default() };
            let settled = resolved(TransportSettings::default(), &needs);
            assert_eq!((settled.window, settled.ack_priority), (Some(window), Some(priority)));
            let config = TransportSettings::default().config(&needs, ReferenceFaults::NONE);
            assert_eq!((config.window, config.ack_priority), (window, priority));
        }
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let check = |low, high, ack_every, ack_offset| {
            let (timeout_low, timeout) = (Some(Nanos(low)), Some(Nanos(high)));
            let (ack_every, ack_offset) = (Bytes(ack_every), Bytes(ack_offset));
            let settings =
                TransportSettings { timeout_low, timeout, ack_every, ack_offset, ..TransportSettings::default() };
            settings.check().map_err(|conflict| conflict.key)
        };
        assert_eq!((check(5, 6, 0, 1), check(6, 6, 0, 1), check(7, 6, 0, 1)), (Ok(()), Ok(()), Err("timeout_low")));
        assert_eq!((check(5, 6, 0, 9), check(5, 6, 8, 1), check(5, 6, 8, 9)), (Ok(()), Ok(()), Err("ack_every")));
        assert_eq!(TransportSettings { timeout_low: Some(Nanos(7)), ..TransportSettings::default() }.check(), Ok(()));
    }

    #[test]
    fn a_shared_queue_pair_does_not_go_back_into_finished_messages() {
        for (recovery, refused) in
            [(Recovery::GoBackN, None), (Recovery::SelectiveRepeat, None), (Recovery::GoBackZero, Some("queue_pairs"))]
        {
            let settings =
                TransportSettings { queue_pairs: QueuePairs::PerPair, recovery, ..TransportSettings::default() };
            assert_eq!(settings.check().err().map(|conflict| conflict.key), refused, "{recovery:?}");
            assert!(settings.config(&Needs::default(), ReferenceFaults::NONE).shares_queue_pairs(false));
        }
    }

    #[test]
    fn texts_of_a_form_are_read_where_they_are_set() {
        let mut settings = TransportSettings::default();
        for (key, text, wrong) in [
            ("classes", "3:3000, 4:strict", "\"3\" is no list of classes"),
            ("seal", "000102030405060708090a0b0c0d0e0F", "expected a key of 32 hexadecimal digits"),
        ] {
            assert_eq!(settings.set(key, Input::Text(text)), Ok(()));
            assert_eq!(settings.get(key), Some(Value::Text(text.into())), "as it was written");
            let refused = settings.set(key, Input::Text("3"));
            assert!(matches!(&refused, Err(SettingError::Value(why)) if why.starts_with(wrong)), "{refused:?}");
        }
        let config = settings.config(&Needs::default(), ReferenceFaults::NONE);
        assert_eq!(config.classes.map(|classes| classes.text()).as_deref(), Some("3:3000,4:strict"));
        assert_eq!(config.seal, Some(core::array::from_fn(|n| n as u8)));
    }
}
