// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ultra Ethernet: packets of a message over many paths, in any order; switches that trim; a window of the sender (NSCC), credit of
//! the receiver (RCCC), or both.
//!
//! After uet-htsim, the simulator of the Ultra Ethernet Consortium, whose congestion control follows the specification.
//!
//! | module | decides |
//! | --- | --- |
//! | [`header`] | what packets say |
//! | [`nscc`] | the window |
//! | [`credit`] | what a sender may send and asks for, under RCCC |
//! | [`pacer`] | whom a receiver grants how much, and when |
//! | [`overbooking`] | how much less a receiver grants where the network is the bottleneck |
//! | [`sleek`] | which packets were lost, without trimming |
//! | [`sender`] | which packet leaves, and which is sent again |
//! | [`receiver`] | what is acknowledged |
//! | [`endpoint`] | all this at a host |

mod credit;
mod endpoint;
mod header;
mod nscc;
mod overbooking;
mod pacer;
mod receiver;
mod sender;
mod sleek;

use crate::ecn::EcnThreshold;
use crate::host_transport::{Endpoint, HostSetup, HostTransport};
use crate::telemetry::Reads;
use crate::units::{BitRate, Bytes, Nanos};
use crate::wire::FrameSizes;
use alloc::boxed::Box;
use endpoint::UecEndpoint;

crate::named! {
    /// Who controls congestion.
    #[derive(Default)]
    pub enum Control {
        /// The sender, by its window.
        #[default]
        Nscc = "nscc",
        /// The receiver, by credit.
        Rccc = "rccc",
        /// Both: a packet needs window and credit.
        Both = "both",
    }
}

crate::settings! {
    /// Ultra Ethernet.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Uec {
        /// Who controls congestion: the sender by a window (`nscc`), the receiver by credit (`rccc`), or `both`.
        #[change = "Choose `rccc` where receivers are the bottlenecks, `both` where the network is one, too."]
        pub uec_control: Control = Control::Nscc => kind = "uec";
        /// The window that a message begins with, headers included; `auto`: 1.5 bandwidth-delay products.
        #[change = "Lower it for large incasts: the first round trip then fills fewer queues."]
        pub uec_first_window: Option<Bytes> = None => kind = "uec";
        /// Queuing delay that senders keep; `auto`: 3/4 of the longest T, where switches do not trim all of it.
        #[change = "A longer one fills links better, and queues further."]
        pub uec_target_delay: Option<Nanos> {Nanos(1)..=Nanos::LONGEST} = None => kind = "uec";
        /// Bytes after which a receiver acknowledges, headers included; it acknowledges marked packets at once.
        #[change = "More save acknowledgements; senders react later."]
        pub uec_ack_bytes: Bytes = Bytes(16_384) => kind = "uec";
        /// Whether senders under `nscc` or `both` find losses by packets that arrive out of order, and by probes (SLEEK); otherwise
        /// by trimmed packets and by the timeout.
        #[change = "Turn it on where switches drop packets (`switch.overflow` = `drop`)."]
        pub uec_loss_detection: bool = false => kind = "uec";
        /// How many times the rate of the network the links of hosts have together. Above 1, receivers under `rccc` or
        /// `both` grant less where packets are marked, or trimmed before the last hop, but at least 0.9 of their part.
        #[change = "Set it to the oversubscription of the network, or all that is beyond is trimmed."]
        pub uec_oversubscription: f64 {1.0..=1000.0} = 1.0 => kind = "uec";
    }
}

impl HostTransport for Uec {
    fn name(&self) -> &'static str {
        "uec"
    }

    fn start(&self, host: &HostSetup<'_>) -> Option<Box<dyn Endpoint>> {
        Some(Box::new(UecEndpoint::new(self, host)))
    }

    fn sizes(&self) -> Option<FrameSizes> {
        Some(FrameSizes::ULTRA_ETHERNET)
    }

    fn marks(&self, packets: u64, bytes: u64) -> Option<EcnThreshold> {
        // From a fifth to four fifths of it, in whole packets.
        let part = |fifths: u64| (packets * fifths).div_ceil(5) * bytes;
        Some(EcnThreshold { rate: BitRate::gbps(100), kmin: part(1), kmax: part(4), pmax: 1.0 })
    }

    fn sprays(&self) -> bool {
        true
    }

    fn reads(&self) -> Reads {
        if self.uec_control == Control::Rccc { Reads::Nothing } else { Reads::Delay }
    }

    fn timeout(&self, drain: Nanos) -> Option<Nanos> {
        Some(Nanos(15_000) + Nanos(6 * drain.0))
    }

    fn shared_keys(&self) -> &'static [&'static str] {
        &["mtu", "base_rtt", "global_rtt", "entropy", "entropies", "entropy_freeze", "timeout"]
    }
}
