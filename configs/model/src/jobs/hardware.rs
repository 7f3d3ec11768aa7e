// SPDX-License-Identifier: GPL-2.0-only
//! Profiles of GPUs and NICs: what sending costs them, so that times of collectives stand beside measured ones.
//!
//! Base latencies, those of a step, and the most that LL and LL128 copy are NCCL's ([`tuning`]), as the model of `auto` has them; what
//! that does not know was fitted to published tables of all-reduces. `configs/beside-measurements.md` shows what comes out.

use super::Gpu;
use super::tuning::{self, Latency, Protocol};
use hpcc_core::settings::Named;
use hpcc_core::units::{BitRate, Nanos};
use hpcc_core::workload::collective::{self, Kind, Pattern};
use hpcc_core::workload::{Hardware, MessageCosts};
use serde_json::{Value, json};

hpcc_core::named! {
    /// GPUs whose costs are known.
    #[derive(Default)]
    pub enum GpuProfile {
        /// They take no time.
        #[default]
        None = "none",
        /// H100 and H200 in servers of eight.
        H100 = "h100",
        /// B200 in servers of eight.
        B200 = "b200",
        /// GB200 in racks of up to 72.
        Gb200 = "gb200",
    }
}

hpcc_core::named! {
    /// NICs whose costs are known.
    #[derive(Default)]
    pub enum NicProfile {
        /// They take no time.
        #[default]
        None = "none",
        /// 400 Gb/s with InfiniBand or RoCE: ConnectX-7, BlueField-3.
        Cx7 = "cx7-400",
        /// 400 Gb/s of AWS's EFA.
        Efa = "efa-400",
    }
}

/// A value of a profile: what it is, in which unit, and which rows of which table it follows from.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it says.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// Microseconds (us), GB/s, KiB, or messages.
    pub unit: &'static str,
    /// Where it is from.
    pub source: &'static str,
}

/// What is known of a GPU.
struct OfGpu {
    /// Whose figures NCCL's model takes.
    gpu: Gpu,
    /// From the call to the first step, beside NCCL's base latency.
    launch: (f64, &'static str),
    /// The base latency of NVLS.
    nvls_base: (f64, &'static str),
    /// What a channel of rings and trees copies of whole messages.
    channel: (f64, &'static str),
    /// The same of LL128 in rings.
    ll128: (f64, &'static str),
    /// What NVLS moves over the links of a GPU: (1 + 1/g) S each way in a server of g.
    nvls: (f64, &'static str),
    /// The same with trees between servers.
    nvls_tree: (f64, &'static str),
    /// What a GPU copies into the buffers of NVLS, and out of them.
    staging: (f64, &'static str),
}

/// GB/s of data that a channel copies in rings, by protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub simple: f64,
    pub ll128: f64,
}

/// What is known of a NIC.
struct OfNic {
    /// What a step takes beyond NCCL's latency and the network: proxy, PCIe, NIC. Whole messages take it twice, as NCCL counts the
    /// latency of its plugins.
    step: (f64, &'static str),
    /// What a message takes, and how many are in flight: B(S) = min(C, Q S / T0).
    message: (f64, &'static str),
    in_flight: (f64, &'static str),
}

const H100: OfGpu = OfGpu {
    gpu: Gpu::Hopper,
    launch: (2.0, "1 x 8 H100, NVIDIA dgxc-benchmarking, 1 KiB: 16.9 us, of which NCCL's LL ring takes 15"),
    nvls_base: (20.0, "the same table, 4 MiB: what NVLS leaves over, with its launch"),
    channel: (34.0, "1 x 8 H200, large rings: 363 to 366 GB/s of 12 channels, with a step's latency for each MiB"),
    ll128: (36.7, "NCCL 2.30, tuning.cc"),
    nvls: (307.0, "1 x 8 H100, 16 GiB: 62,648 us; 5 to 8 H200: 414, 436, 460, 473 GB/s are 304 to 310"),
    nvls_tree: (290.0, "2 x 8 H200, RoCE, from 256 MiB to 1 GiB: 3,113 us more"),
    staging: (350.0, "1 x 8 H100, 16 MiB: 123.8 us"),
};

const B200: OfGpu = OfGpu {
    gpu: Gpu::Blackwell,
    launch: (26.0, "1 x 8 B200, ml-engineering, 1 MiB: 36.1 GB/s"),
    nvls_base: (46.0, "the same table, 4 MiB: 76.5 GB/s"),
    channel: (38.0, "72 GB200, CoreWeave, 1 GiB: 3,109 us; 1 x 8 B200, 16 GiB: 845.7 GB/s"),
    ll128: (26.0, "1 x 8 B200, 64 MiB: 400.6 GB/s, and 72 GB200, 512 MiB: 1,807 us"),
    nvls: (490.0, "no row decides it: 0.54 of the links, below the 0.68 of H100"),
    nvls_tree: (490.0, "as nvls: no row decides it"),
    staging: (350.0, "as h100: no row decides it"),
};

const GB200: OfGpu = OfGpu {
    launch: (2.0, "as h100: rows begin at 512 MiB, where it decides nothing"),
    nvls_base: (20.0, "as h100: rows begin at 512 MiB"),
    ..B200
};

const CX7: OfNic = OfNic {
    step: (6.5, "2 x 8 H200, BlueField-3 with RoCE, 1 KiB: 45.1 us"),
    message: (18.7, "UCCL, figure 14: 28 GB/s at 32 KB with 16 in flight"),
    in_flight: (16.0, "the same figure"),
};

const EFA: OfNic = OfNic {
    step: (18.6, "2 x 8 H100, awsome-distributed-training, 1 KiB: 69.2 us"),
    message: (9.4, "UCCL, all-to-all on 2 x p5 by rails: 13.8 GB/s at 8 KB, with 16 in flight"),
    in_flight: (16.0, "as cx7-400"),
};

/// Where NCCL's own values are from.
const NCCL: &str = "NCCL 2.30, tuning.cc";

/// The figures of a profile, whether of a GPU or of a NIC; `None`: there is none of this name, or it has none.
pub fn figures(name: &str) -> Option<Vec<Figure>> {
    let gpu = GpuProfile::from_name(name).and_then(GpuProfile::figures);
    let nic = NicProfile::from_name(name).and_then(NicProfile::figures);
    gpu.map(OfGpu::all).or(nic.map(OfNic::all))
}

fn figure(name: impl Into<String>, unit: &'static str, (value, source): (f64, &'static str)) -> Figure {
    Figure { name: name.into(), value, unit, source }
}

/// Figures of NCCL's latencies, for each protocol of rings, which all but trees have, and of trees.
fn latencies(what: &str, of: fn(Latency) -> f64) -> impl Iterator<Item = Figure> {
    let both = ["ring", "tree"].into_iter().flat_map(|name| Protocol::ALL.map(|protocol| (name, protocol)));
    both.map(move |(name, protocol)| {
        let value = of(tuning::latency(name, protocol));
        figure(format!("{what}, {name}, {}", protocol.name()), "us", (value, NCCL))
    })
}

impl OfGpu {
    fn all(&self) -> Vec<Figure> {
        let mut all = vec![
            figure("launch of a kernel", "us", self.launch),
            figure("base latency of NVLS", "us", self.nvls_base),
            figure("a channel's copies of whole messages", "GB/s", self.channel),
            figure("a channel's copies of LL128 in rings", "GB/s", self.ll128),
            figure("NVLS, of (1 + 1/g) S over a GPU's links", "GB/s", self.nvls),
            figure("NVLS with trees between servers", "GB/s", self.nvls_tree),
            figure("copies into and out of NVLS's buffers", "GB/s", self.staging),
        ];
        all.extend(latencies("base latency", |latency| latency.base));
        all.extend(latencies("a step in a server", |latency| latency.inside));
        all.push(figure("all channels' copies of LL in one server", "GB/s", (tuning::most_of_ll(self.gpu), NCCL)));
        for (servers, rate) in ["1 server", "2", "more"].into_iter().zip(tuning::tree_ll128(self.gpu)) {
            all.push(figure(format!("a channel's copies of LL128 in trees, {servers}"), "GB/s", (rate, NCCL)));
        }
        let kib = |bytes: u64, source| (bytes as f64 / 1024.0, source);
        all.push(figure(
            "a piece of a ring, of each rank's part",
            "KiB",
            kib(RING_PIECE, "NCCL's slice: two of its steps"),
        ));
        all.push(figure("a piece of LL or LL128 in trees", "KiB", kib(TREE_PIECE, "NCCL's least piece of LL128")));
        all.push(figure("a piece of NVLS, of a GPU's part", "KiB", kib(NVLS_PIECE, "NCCL's 16 channels of 128 KiB")));
        all
    }
}

impl OfNic {
    fn all(&self) -> Vec<Figure> {
        let mut all = vec![
            figure("a step beyond NCCL's latency; twice for simple", "us", self.step),
            figure("T0 of a message", "us", self.message),
            figure("messages in flight", "messages", self.in_flight),
        ];
        all.extend(latencies("a step between servers", |latency| latency.between));
        all
    }
}

/// The names of all profiles that have figures.
pub fn names() -> impl Iterator<Item = &'static str> {
    GpuProfile::NAMES.iter().chain(NicProfile::NAMES).copied().filter(|name| figures(name).is_some())
}

impl GpuProfile {
    const fn figures(self) -> Option<&'static OfGpu> {
        match self {
            GpuProfile::None => None,
            GpuProfile::H100 => Some(&H100),
            GpuProfile::B200 => Some(&B200),
            GpuProfile::Gb200 => Some(&GB200),
        }
    }
}

impl NicProfile {
    const fn figures(self) -> Option<&'static OfNic> {
        match self {
            NicProfile::None => None,
            NicProfile::Cx7 => Some(&CX7),
            NicProfile::Efa => Some(&EFA),
        }
    }
}

/// So many bytes of a GPU's part NVLS has in its buffers at once: 16 channels of 128 KiB (NCCL_NVLS_CHUNKSIZE).
const NVLS_PIECE: u64 = 16 * (128 << 10);
/// Pieces of LL and LL128 in trees: 32 KiB, as LL's buffers hold, and to which NCCL cuts those of LL128.
const TREE_PIECE: u64 = 32 << 10;
/// Of whole messages in rings: NCCL's slices, two steps.
const RING_PIECE: u64 = 1 << 20;

/// The hardware of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profiles {
    /// Of GPUs.
    pub gpu: GpuProfile,
    /// Of NICs.
    pub nic: NicProfile,
}

impl Profiles {
    /// The GPUs whose figures NCCL's model takes, if a profile says so.
    pub fn gpu(self) -> Option<Gpu> {
        self.gpu.figures().map(|gpu| gpu.gpu)
    }

    /// What the profiles are called, for the summary.
    pub fn names(self) -> Value {
        json!({ "gpu": self.gpu.name(), "nic": self.nic.name() })
    }

    /// The least time between messages of a NIC.
    pub fn nic_interval(self) -> Nanos {
        self.nic.figures().map_or(Nanos(0), |nic| micros(nic.message.0 / nic.in_flight.0))
    }

    /// The pieces of a channel, where a GPU's profile knows them, of so many ranks in all and in each server.
    pub fn piece(
        self,
        pattern: &Pattern,
        protocol: Protocol,
        (ranks, per_server): (u32, u32),
        channels: u16,
    ) -> Option<u64> {
        self.gpu()?;
        match (pattern.name, protocol) {
            _ if pattern.in_servers => {
                let piece = NVLS_PIECE * u64::from(per_server) * u64::from(pattern.ways);
                Some(piece.div_ceil(channels.max(1).into()))
            }
            ("tree", Protocol::Ll | Protocol::Ll128) => Some(TREE_PIECE * u64::from(pattern.ways)),
            ("ring", Protocol::Simple) => {
                let is_divided = matches!(pattern.kind, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter);
                Some(RING_PIECE * u64::from(if is_divided { ranks } else { 1 }))
            }
            _ => None,
        }
    }

    /// What messages cost that are not of collectives: no launch, for nobody says which of them are one kernel.
    pub fn of_messages(self) -> MessageCosts {
        let Some(pattern) = collective::find(Kind::SendReceive, None) else { return MessageCosts::default() };
        self.costs(pattern, Protocol::Simple, (1, 1), (1, &|_| None)).message
    }

    /// What a collective costs on so many servers with so many ranks each. It has so many channels, each of which copies so many GB/s
    /// of data if one of NCCL's copies what the profile says.
    pub(crate) fn costs(
        self,
        pattern: &Pattern,
        protocol: Protocol,
        (servers, per_server): (u32, u32),
        (channels, copied): (u16, &dyn Fn(Channel) -> Option<f64>),
    ) -> Hardware {
        let Latency { base, inside, between } = tuning::latency(pattern.name, protocol);
        let of_net = |nic: &OfNic| between + nic.step.0 * if protocol == Protocol::Simple { 2.0 } else { 1.0 };
        let message =
            MessageCosts { between: micros(self.nic.figures().map_or(0.0, of_net)), ..MessageCosts::default() };
        let Some(gpu) = self.gpu.figures() else { return Hardware { message, ..Hardware::default() } };
        let launch = gpu.launch.0;
        if pattern.in_servers {
            let all = if servers > 1 { gpu.nvls_tree.0 } else { gpu.nvls.0 };
            let rate = Some(gbytes(all / (1.0 + 1.0 / f64::from(per_server.max(1)))));
            return Hardware {
                launch: micros(launch + gpu.nvls_base.0),
                staging: Some(gbytes(gpu.staging.0 / f64::from(channels.max(1)) / f64::from(pattern.ways))),
                message: MessageCosts { rate, ..message },
            };
        }
        let wire = f64::from(protocol.wire().0) / f64::from(protocol.wire().1);
        let channel = copied(Channel { simple: gpu.channel.0, ll128: gpu.ll128.0 }).map(|one| gbytes(one * wire));
        Hardware {
            launch: micros(launch + base),
            staging: None,
            message: MessageCosts { inside: micros(inside), channel, ..message },
        }
    }
}

fn micros(time: f64) -> Nanos {
    Nanos((time * 1e3).round() as u64)
}

fn gbytes(rate: f64) -> BitRate {
    BitRate((rate * 8e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::workload::collective::{self, Kind};

    #[test]
    fn a_nic_has_so_many_messages_in_flight() {
        let nic = Profiles { nic: NicProfile::Cx7, ..Profiles::default() };
        assert_eq!(nic.nic_interval(), Nanos(1_169), "18.7 us / 16");
        let ring = collective::find(Kind::AllReduce, Some("ring")).expect("a ring");
        let between = |protocol| nic.costs(ring, protocol, (2, 8), (8, &|_| None)).message.between;
        assert_eq!(between(Protocol::Simple), Nanos(27_000), "NCCL's 14 us, and twice 6.5");
        assert_eq!(between(Protocol::Ll), Nanos(9_200), "NCCL's 2.7 us, and 6.5");
    }

    /// `explain profile NAME` has a source for each value.
    #[test]
    fn each_figure_has_a_source() {
        for name in names() {
            let figures = figures(name).expect("figures");
            assert!(figures.iter().all(|figure| figure.value > 0.0 && figure.source.len() > 8), "{figures:?}");
        }
        assert_eq!(names().count(), 5);
        assert!(figures("none").is_none() && figures("h1000").is_none());
    }
}
