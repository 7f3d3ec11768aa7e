// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether congestion control can steer a host's flows: a signal arrives, the algorithm reads it, and what it decides is
//! enforced. Without a link of this chain a flow has no control though its algorithm promises one, so that is refused; the
//! algorithm "none" says that none is wanted.

use super::{Located, NodeSettings, in_section};
use crate::cc::{Reads, Steers};
use crate::settings::Conflict;
use crate::telemetry::{MAX_HOPS, Sampling, listed};
use crate::transport::feedback::{FeedbackContent, SamplingMode};
use crate::transport::{CongestionNotification, Protocol};
use alloc::format;
use alloc::string::ToString;

impl NodeSettings {
    /// Checks the chain of a host's flows, once all is resolved and checked; `by_switches` says whether switches notify it
    /// ([`FastCnpHostSettings::acceptor`](crate::fast_cnp::FastCnpHostSettings::acceptor)).
    ///
    /// # Errors
    /// The link that is missing, and what would mend it.
    pub fn check_control(&self, by_switches: bool) -> Result<(), Located> {
        self.check_notifications(by_switches)?;
        if self.needs().steers == Steers::Nothing {
            return Ok(());
        }
        let marks = self.switch.ecn;
        let by_receivers = self.transport.congestion_notification != CongestionNotification::Echo && marks;
        if !by_switches && !by_receivers {
            self.check_telemetry()?;
            self.check_marks(marks)?;
        }
        self.check_effect()
    }

    /// `without`: the link of the chain that `why` takes away.
    fn uncontrolled(&self, section: &'static str, key: &'static str, why: &str, without: &str, mend: &str) -> Located {
        let name = self.control.chosen().name();
        let message = format!(
            "{why} leaves {name} without {without}, and so without any control; expected {mend}, or congestion_control.algorithm = \
             \"none\""
        );
        in_section(section)(Conflict::new(key, message))
    }

    /// Whether telemetry that the algorithm reads comes back.
    fn check_telemetry(&self) -> Result<(), Located> {
        let reads = self.needs().reads;
        if reads == Reads::Nothing {
            return Ok(());
        }
        let mend = "telemetry that comes back, notifications";
        let refuse = |section, key, why| Err(self.uncontrolled(section, key, why, "telemetry", mend));
        if self.feedback.sampling == SamplingMode::Nothing {
            return refuse("telemetry", "sampling", "sampling = \"none\"");
        }
        if self.feedback.content == FeedbackContent::Nothing {
            return refuse("telemetry", "content", "content = \"none\"");
        }
        if reads != Reads::SendTime && !self.switch.stamp_telemetry {
            return refuse("switch", "stamp_telemetry", "stamp_telemetry = false");
        }
        Ok(())
    }

    fn check_marks(&self, marks: bool) -> Result<(), Located> {
        let goes_by_marks = self.reads_marks() && self.protocol.protocol == Protocol::Rdma;
        if goes_by_marks && !marks {
            return Err(self.uncontrolled("switch", "ecn", "ecn = false", "marks", "true, notifications"));
        }
        Ok(())
    }

    /// Whether window or pace follow the algorithm.
    fn check_effect(&self) -> Result<(), Located> {
        let transport = self.transport();
        let paced = self.needs().steers == Steers::WindowAndPace;
        let has_window = transport.window && transport.variable_window;
        if has_window || paced && transport.rate_bound || self.protocol.protocol != Protocol::Rdma {
            return Ok(());
        }
        let key = if transport.window { "variable_window" } else { "window" };
        let (beside, effect, mend) = if paced {
            (" beside rate_bound = false", "a window or a pace to set", "one of them true")
        } else {
            ("", "a window to set", "true")
        };
        Err(self.uncontrolled("transport", key, &format!("{key} = false{beside}"), effect, mend))
    }

    /// Checks whether telemetry can report a path over so many switches.
    ///
    /// # Errors
    /// If it cannot, with the layouts that can.
    pub fn check_hops(&self, switches: usize) -> Result<(), Located> {
        let most = self.most_hops();
        if most.is_none_or(|most| switches <= most) {
            return Ok(());
        }
        let why = format!(
            "layout = {} reports {} switches, and a flow passes {switches}, which",
            self.layout(),
            most.unwrap_or_default()
        );
        let refuse = |key, mend: &str| Err(self.uncontrolled("telemetry", key, &why, "telemetry", mend));
        let mut roomy = self.layout.clone();
        roomy.shared.hops = Some(MAX_HOPS as u8);
        let able = || {
            let able = roomy.able(self.needs().reads, self.wire.profile);
            able.filter(|layout| layout.max_hops().is_some_and(|most| switches <= most))
        };
        if able().any(|layout| layout.name() == self.layout().name()) {
            return refuse("hops", &format!("hops = {switches}"));
        }
        let able = listed(able(), " or ");
        let mend = if able.is_empty() { "a shorter path".to_string() } else { format!("layout = {able}") };
        refuse("layout", &mend)
    }

    /// The most switches on a path that its flows can be controlled on; `None`: any number.
    pub fn most_hops(&self) -> Option<usize> {
        if self.needs().reads == Reads::Records { self.layout().max_hops() } else { None }
    }

    /// Checks whether a flow of so many bytes collects telemetry more than once: one record tells no rate.
    ///
    /// # Errors
    /// If it does not.
    pub fn check_samples(&self, bytes: u64) -> Result<(), Located> {
        let packets = bytes.div_ceil(self.transport.mtu.0.max(1));
        let every = match self.feedback().sampling {
            Sampling::EveryNth(every) => u64::from(every),
            Sampling::EveryPacket
            | Sampling::OncePerRtt
            | Sampling::OnCongestion
            | Sampling::Probes
            | Sampling::Never => 1,
        };
        if packets > every || self.needs().reads == Reads::Nothing {
            return Ok(());
        }
        let why = format!("every = {every}, of which the longest flow, of {packets} packets, collects one,");
        Err(self.uncontrolled("telemetry", "every", &why, "telemetry to compare", "less"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::node_with;
    use crate::topology::Network;

    /// What is wrong with a host of this algorithm and these settings; texts, but for switches.
    fn wrong(algorithm: &str, set: &[(&str, &str, &str)], by_switches: bool) -> Option<(&'static str, &'static str)> {
        let mut node = node_with(&[&[("congestion_control", "algorithm", algorithm)][..], set].concat());
        node.resolve(&Network::default());
        node.check_control(by_switches).err().map(|wrong| (wrong.section, wrong.conflict.key))
    }

    /// Each algorithm with one link of its chain cut.
    #[test]
    fn a_chain_without_a_link_is_refused() {
        let packets = [("telemetry", "sampling", "none")];
        let answer = [("telemetry", "content", "none")];
        let stamps = [("switch", "stamp_telemetry", "false")];
        let ecn = [("switch", "ecn", "false")];
        let window = [("transport", "window", "false")];
        let both = [window[0], ("transport", "rate_bound", "false")];
        let fixed = [("transport", "variable_window", "false"), both[1]];
        for known in crate::cc::all() {
            let name = known.name();
            let cut = |set: &[(&str, &str, &str)]| wrong(name, set, false);
            let is_none = name == "none";
            let reads = known.needs().reads;
            let expected = |section, key, is_cut: bool| is_cut.then_some((section, key));
            assert_eq!(cut(&[]), None, "{name}");
            assert_eq!(cut(&packets), expected("telemetry", "sampling", reads != Reads::Nothing), "{name}");
            assert_eq!(cut(&answer), expected("telemetry", "content", reads != Reads::Nothing), "{name}");
            let by_switches = !matches!(reads, Reads::Nothing | Reads::SendTime);
            assert_eq!(cut(&stamps), expected("switch", "stamp_telemetry", by_switches), "{name}");
            assert_eq!(cut(&ecn), expected("switch", "ecn", ["dcqcn", "dctcp"].contains(&name)), "{name}");
            assert_eq!(
                cut(&window),
                expected("transport", "window", ["swift", "strack", "bolt"].contains(&name)),
                "{name}"
            );
            assert_eq!(cut(&both), expected("transport", "window", !is_none), "{name}");
            let key = if ["dcqcn", "timely"].contains(&name) { "window" } else { "variable_window" };
            assert_eq!(cut(&fixed), expected("transport", key, !is_none), "{name}");
        }
    }

    #[test]
    fn notifications_stand_in_for_telemetry_where_somebody_sends_them() {
        let packets = ("telemetry", "sampling", "none");
        let cnp = ("transport", "congestion_notification", "cnp");
        assert_eq!(wrong("hpcc_plus", &[packets], true), None);
        assert_eq!(wrong("hpcc_plus", &[packets, cnp], false), None);
        let unmarked = [packets, cnp, ("switch", "ecn", "false")];
        assert_eq!(wrong("hpcc_plus", &unmarked, false), Some(("telemetry", "sampling")));
        assert_eq!(wrong("hpcc", &[packets], true), Some(("fast_cnp", "enabled")), "it does not react to them");
    }

    #[test]
    fn a_path_must_fit_into_telemetry() {
        let check = |layout: &str, switches| {
            let mut node = node_with(&[("telemetry", "layout", layout)]);
            node.resolve(&Network::default());
            node.check_hops(switches).map_err(|wrong| wrong.to_string())
        };
        assert_eq!((check("reference", 5), check("int_md", 15)), (Ok(()), Ok(())));
        let told = check("reference", 6).expect_err("no room");
        assert!(
            told.starts_with("telemetry.layout: layout = \"reference\" (multiplier 1) reports 5 switches"),
            "{told}"
        );
        assert!(told.contains("passes 6, which leaves hpcc without telemetry, and so without any control; expected layout = \"paper\" or \"draft\" or \"int_md\""), "{told}");
        assert!(check("int_md", 16).expect_err("no room").contains("expected a shorter path"));
    }

    #[test]
    fn one_sample_of_a_flow_is_too_few() {
        let check = |every, bytes| {
            let mut node = node_with(&[("telemetry", "sampling", "nth"), ("telemetry", "every", every)]);
            node.resolve(&Network::default());
            node.check_samples(bytes).map_err(|wrong| wrong.conflict.key)
        };
        assert_eq!((check("1000", 1_000_001), check("1000", 1_000_000)), (Ok(()), Err("every")));
    }
}
