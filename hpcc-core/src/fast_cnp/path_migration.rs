// SPDX-License-Identifier: MIT OR Apache-2.0
//! Around a switch that keeps complaining (REQ-46): another UDP source port makes the network's hashes choose another
//! path.
//!
//! Some switches are on every path, the last one for instance. A migration that meets the same complaints again doubles
//! the time for which the flow then stays, so that it does not wander.

use super::Address;
use crate::cc::Origin;
use crate::units::Nanos;

/// Switches whose complaints a flow counts at a time.
const SWITCHES: usize = 4;
/// The first of the dynamic ports, which RoCEv2 senders use; they end at 65535.
const FIRST_PORT: u16 = 0xc000;
/// How many there are.
const PORTS: u16 = 0x4000;

/// When a flow takes another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationConfig {
    /// Whether it does at all.
    pub enabled: bool,
    /// Complaints of one switch, at least 1, ...
    pub notifications: u32,
    /// ... within this time.
    pub within: Nanos,
    /// Least time between two migrations, during which nothing counts: complaints about the old path are still on the way.
    pub hold: Nanos,
    /// To this the hold grows. After as long a time without a migration it is short again.
    pub max_hold: Nanos,
}

impl Default for MigrationConfig {
    /// Off. For notifications every 50 us.
    fn default() -> Self {
        MigrationConfig {
            enabled: false,
            notifications: 5,
            within: Nanos(500_000),
            hold: Nanos::MILLISECOND,
            max_hold: Nanos(64_000_000),
        }
    }
}

/// A switch that complains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Complaints {
    switch: Address,
    since: Nanos,
    count: u32,
}

/// The migrations of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMigration {
    config: MigrationConfig,
    switches: [Option<Complaints>; SWITCHES],
    hold: Nanos,
    held_until: Nanos,
    /// The switch that the last migration was to avoid.
    avoided: Option<Address>,
}

impl PathMigration {
    /// A flow without complaints.
    pub fn new(config: MigrationConfig) -> Self {
        let hold = config.hold;
        PathMigration { config, switches: [None; SWITCHES], hold, held_until: Nanos(0), avoided: None }
    }

    /// A notification was accepted about the flow, whose source port is `port`. Returns the port that it takes instead,
    /// if any. `draw` gives a number in [0, 1) and is called only where a port must be chosen.
    pub fn on_notification(
        &mut self,
        now: Nanos,
        origin: Origin,
        port: u16,
        draw: impl FnOnce() -> f64,
    ) -> Option<u16> {
        let Origin::Network(switch) = origin else { return None };
        if !self.config.enabled || now < self.held_until || self.count(now, switch) < self.config.notifications {
            return None;
        }
        let in_vain = self.avoided == Some(switch) && now - self.held_until <= self.config.max_hold;
        let longer = (self.hold + self.hold).min(self.config.max_hold);
        self.hold = if in_vain { longer } else { self.config.hold };
        self.held_until = now + self.hold;
        self.avoided = Some(switch);
        self.switches = [None; SWITCHES];
        Some(other_port(port, draw()))
    }

    /// Counts a complaint. A new switch takes the place of the one whose last complaint is oldest.
    fn count(&mut self, now: Nanos, switch: Address) -> u32 {
        let within = self.config.within;
        let fresh = |complaints: &Complaints| now - complaints.since <= within;
        for complaints in self.switches.iter_mut().flatten().filter(|complaints| fresh(complaints)) {
            if complaints.switch == switch {
                complaints.count = complaints.count.saturating_add(1);
                return complaints.count;
            }
        }
        let oldest = self.switches.iter_mut().min_by_key(|place| place.map(|complaints| complaints.since));
        if let Some(place) = oldest {
            *place = Some(Complaints { switch, since: now, count: 1 });
        }
        1
    }
}

/// A dynamic port other than `port`: one of the next 16383, counted around.
fn other_port(port: u16, draw: f64) -> u16 {
    let step = 1 + (draw * f64::from(PORTS - 1)) as u16 % (PORTS - 1);
    FIRST_PORT + (port.wrapping_sub(FIRST_PORT) % PORTS + step) % PORTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Fractions;
    use alloc::vec::Vec;

    const SPINE: Origin = Origin::Network([1; 16]);
    const CONFIG: MigrationConfig = MigrationConfig {
        enabled: true,
        notifications: 3,
        within: Nanos(1_000),
        hold: Nanos(5_000),
        max_hold: Nanos(20_000),
    };

    /// When a flow that hears `origin(n)` every 100 ns changes its port.
    fn migrations(config: MigrationConfig, count: u64, origin: impl Fn(u64) -> Origin) -> Vec<u64> {
        let mut migration = PathMigration::new(config);
        let mut port = FIRST_PORT;
        let hear = |n: &u64| {
            let next = migration.on_notification(Nanos(n * 100), origin(*n), port, || 0.5);
            assert_ne!(next, Some(port));
            port = next.unwrap_or(port);
            next.is_some()
        };
        (0..count).filter(hear).map(|n| n * 100).collect()
    }

    #[test]
    fn req_46_a_switch_that_keeps_complaining_is_avoided() {
        assert_eq!(migrations(CONFIG, 10, |_| SPINE), [200]);
        assert!(migrations(CONFIG, 2, |_| SPINE).is_empty());
        assert!(migrations(MigrationConfig::default(), 10_000, |_| SPINE).is_empty(), "off by default");
        assert!(migrations(CONFIG, 10_000, |_| Origin::Receiver).is_empty());
    }

    /// The hold doubles: 5, 10, 20, 20 us, and three complaints then take 200 ns.
    #[test]
    fn req_46_a_switch_on_every_path_is_not_run_from_for_ever() {
        assert_eq!(migrations(CONFIG, 600, |_| SPINE), [200, 5_400, 15_600, 35_800, 56_000]);
        let moved = migrations(CONFIG, 200, |n| if n < 50 { SPINE } else { Origin::Network([2; 16]) });
        assert_eq!(moved, [200, 5_400, 10_600], "the second spine's first migration holds for 5 us, not 10");
        // After more than 20 us without complaints the hold is short again.
        let calm = |n: u64| if (100..400).contains(&n) { Origin::Receiver } else { SPINE };
        assert_eq!(migrations(CONFIG, 460, calm), [200, 5_400, 40_200, 45_400]);
    }

    #[test]
    fn req_46_complaints_that_are_rare_or_of_many_move_no_flow() {
        let rare = MigrationConfig { within: Nanos(199), ..CONFIG };
        assert!(migrations(rare, 10_000, |_| SPINE).is_empty());
        let many = |n: u64| Origin::Network([(n % 5) as u8; 16]);
        assert!(migrations(CONFIG, 10_000, many).is_empty(), "five take turns in four places");
        let four = |n: u64| Origin::Network([(n % 4) as u8; 16]);
        assert_eq!(migrations(CONFIG, 12, four), [800]);
    }

    #[test]
    fn ports_are_others_and_dynamic() {
        let mut stream = Fractions::new(1, 1);
        for port in [0, 4_791, FIRST_PORT - 1, FIRST_PORT, 0xffff] {
            let drawn = [0.0, 0.999_999_999, 1.0].into_iter().chain((0..1_000).map(|_| stream.uniform()));
            for draw in drawn {
                let other = other_port(port, draw);
                assert!(other >= FIRST_PORT && other != port, "{port} {draw} {other}");
            }
        }
        assert_eq!([f64::NAN, -1.0, f64::INFINITY].map(|draw| other_port(FIRST_PORT, draw) >= FIRST_PORT), [true; 3]);
    }
}
