// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a user sets of hosts that take what arrives slowly.

use super::ReceiveConfig;
use crate::settings::{Conflict, FromText, Written, quantity};
use crate::switch::{PauseConfig, Priorities};
use crate::topology::{Link, Network, NodeSet};
use crate::units::{BitRate, Bytes, Nanos};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The lowest rate, in bits per second.
const LEAST_RATE: u64 = 1_000_000;
/// The largest buffer of a NIC.
const MOST_BUFFER: u64 = u32::MAX as u64;

crate::settings! {
    /// Hosts whose bus or memory is slower than their link: their NICs hold what arrives, and pause who sends.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ReceiveSettings {
        /// Hosts that take data and probes more slowly than their links bring them. None, hosts, or numbers and ranges.
        #[change = "Name some to study congestion in receiving hosts."]
        pub hosts: String = "none".to_string();
        /// Rate at which a slow host takes frames from each of its links; less than the link's.
        #[change = "Lower it for a slower bus or memory."]
        pub rate: BitRate {BitRate(LEAST_RATE)..=BitRate(u64::MAX)} = BitRate::gbps(50);
        /// Times and rates, such as `1ms 20Gbps, 2ms 100Gbps`, from which on slow hosts take frames at another rate.
        #[change = "Give it to see what a host does to its senders that slows down or recovers."]
        pub schedule: Written<Schedule> = Written::new("none", Schedule::default());
        /// Bytes that the NIC of a slow host holds for each link; it drops the rest.
        #[change = "Raise it to bridge longer bursts without a pause."]
        pub buffer: Bytes {10_000..=MOST_BUFFER} = Bytes(2_000_000);
        /// Bytes in that buffer above which the NIC pauses its link; `auto`: the buffer without what may come after a
        /// pause. Lossless switches only.
        #[change = "Lower it to pause sooner, and hold less."]
        pub pause_above: Option<Bytes> {0..=MOST_BUFFER} = None;
        /// Bytes in that buffer down to which it resumes; `auto`: half of `pause_above`. Lossless switches only.
        #[change = "Raise it for more and shorter pauses."]
        pub resume_below: Option<Bytes> {0..=MOST_BUFFER} = None;
    }
}

/// Times from which on the rate is another one, ascending.
type Schedule = Arc<[(Nanos, BitRate)]>;

impl FromText for Schedule {
    fn from_text(text: &str) -> Result<Self, String> {
        let mut schedule: Vec<(Nanos, BitRate)> = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|_| !matches!(text.trim(), "" | "none")) {
            let (time, rate) = entry.split_once(char::is_whitespace).unwrap_or((entry, ""));
            let (Ok(time), Ok(rate)) = (quantity::time(time), quantity::rate(rate)) else {
                return Err(format!("\"{entry}\" is no time and rate; expected such as 1ms 20Gbps"));
            };
            if rate.0 < LEAST_RATE {
                let least = BitRate(LEAST_RATE);
                return Err(format!("from {time} on slow hosts take {rate}; expected at least {least}"));
            }
            if schedule.last().is_some_and(|&(before, _)| before >= time) {
                return Err(format!("{time} follows a time that is no earlier; expected ascending times"));
            }
            schedule.push((time, rate));
        }
        Ok(schedule.into())
    }
}

impl ReceiveSettings {
    /// Whether a host is slow at all.
    pub fn is_any(&self) -> bool {
        !matches!(self.hosts.trim(), "" | "none")
    }

    /// The slow hosts.
    ///
    /// # Errors
    /// If the text names others than hosts.
    pub fn slow(&self, network: &Network) -> Result<NodeSet, Conflict> {
        NodeSet::parse_hosts(&self.hosts, network).map_err(|message| Conflict::new("hosts", message))
    }

    /// Settles what was left to the simulator, by the longest and fastest of the slow hosts' links. `pause` as for
    /// [`ReceiveSettings::check`].
    pub fn resolve(&mut self, network: &Network, pause: Option<PauseConfig>) {
        let (Ok(slow), Some(pause)) = (self.slow(network), pause) else { return };
        let links = network.links.iter().filter(|link| slow.contains(link.a) || slow.contains(link.b));
        let Some(kept) = links.map(|link| headroom(link, pause)).max() else { return };
        let above = self.pause_above.get_or_insert(Bytes(self.buffer.0.saturating_sub(kept))).0;
        self.resume_below.get_or_insert(Bytes(above / 2));
    }

    /// Checks settings, which are resolved, against each other and the links of the slow hosts. `pause` is how switches reckon headroom; `None`:
    /// nothing is paused.
    ///
    /// # Errors
    /// The first that contradicts another one, or a link.
    pub fn check(&self, network: &Network, pause: Option<PauseConfig>) -> Result<(), Conflict> {
        let slow = self.slow(network)?;
        // A host that is slow at other times need not be at first.
        let least = u64::from(self.schedule.is_empty());
        for link in network.links.iter().filter(|link| slow.contains(link.a) || slow.contains(link.b)) {
            if self.rate.0.saturating_add(least) > link.rate.0 {
                let message = format!(
                    "slow hosts take frames at {}, but a link of theirs, from {} to {}, brings no more than {}; expected \
                     less than that, or a schedule",
                    self.rate, link.a, link.b, link.rate
                );
                return Err(Conflict::new("rate", message));
            }
            match pause {
                Some(pause) => self.check_room(link, pause)?,
                None => self.check_no_pauses()?,
            }
        }
        Ok(())
    }

    /// What a slow host runs by, once all is resolved and checked. `pause` as for [`ReceiveSettings::check`].
    pub fn config(&self, network: &Network, node: u32, pause: Option<PauseConfig>) -> Option<ReceiveConfig> {
        let bytes = |set: Option<Bytes>| set.map_or(self.buffer.0, |bytes| bytes.0);
        self.slow(network).ok()?.contains(node).then(|| ReceiveConfig {
            rate: self.rate,
            schedule: Arc::clone(&self.schedule),
            buffer: self.buffer.0,
            pause_above: bytes(self.pause_above),
            resume_below: bytes(self.resume_below),
            priorities: pause.map_or(Priorities::NONE, |pause| pause.priorities),
        })
    }

    /// Checks that the buffer has room for what comes after a pause.
    fn check_room(&self, link: &Link, pause: PauseConfig) -> Result<(), Conflict> {
        let (kept, buffer) = (headroom(link, pause), self.buffer.0);
        if kept > buffer {
            let message = format!(
                "the NIC of a slow host has room for {buffer} bytes, and after a pause {kept} may come over the link from \
                 {} to {}; expected at least that much",
                link.a, link.b
            );
            return Err(Conflict::new("buffer", message));
        }
        let above = self.pause_above.map_or(0, |bytes| bytes.0);
        if above > buffer - kept {
            let message = format!(
                "pauses above {above} bytes leave too little of a buffer of {buffer} for the {kept} that may come over the \
                 link from {} to {} after a pause; expected at most {}",
                link.a,
                link.b,
                buffer - kept
            );
            return Err(Conflict::new("pause_above", message));
        }
        match self.resume_below {
            Some(Bytes(below)) if below > above => {
                let message =
                    format!("resume_below is {below} bytes, more than pause_above, {above}; expected at most that");
                Err(Conflict::new("resume_below", message))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what says when to pause where nothing is paused.
    fn check_no_pauses(&self) -> Result<(), Conflict> {
        let keys = [("pause_above", self.pause_above), ("resume_below", self.resume_below)];
        match keys.into_iter().find(|(_, value)| value.is_some()) {
            Some((key, _)) => Err(Conflict::new(
                key,
                format!("{key} needs pauses, and switch.mode = \"lossy\" has none; expected auto"),
            )),
            None => Ok(()),
        }
    }
}

/// Bytes that may come over a link after a pause.
fn headroom(link: &Link, pause: PauseConfig) -> u64 {
    pause.headroom(link.rate, link.delay).into()
}
