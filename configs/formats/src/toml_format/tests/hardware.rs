// SPDX-License-Identifier: GPL-2.0-only
//! Times of all-reduces with profiles beside published ones, where nothing is congested.

use super::{MINIMAL, load_with};
use hpcc_core::units::Nanos;
use hpcc_core::workload::Message;
use hpcc_core::workload::collective::Plan;
use hpcc_model::jobs::hardware::{GpuProfile, NicProfile, Profiles};
use hpcc_model::jobs::ideal::{self, Times};
use hpcc_model::scenario::Scenario;
use std::collections::BTreeMap;

/// All-reduces on so many servers of so many GPUs.
#[derive(Clone, Copy)]
struct Cluster {
    servers: u32,
    gpus: u32,
    /// Of NVLink, in Gb/s.
    link: u32,
    gpu: &'static str,
    nic: &'static str,
}

const H100_ALONE: Cluster = Cluster { servers: 1, gpus: 8, link: 3_600, gpu: "h100", nic: "none" };
const H200_PAIR: Cluster = Cluster { servers: 2, nic: "cx7-400", ..H100_ALONE };
const B200_ALONE: Cluster = Cluster { servers: 1, gpus: 8, link: 7_200, gpu: "b200", nic: "none" };
const GB200_RACK: Cluster = Cluster { gpus: 72, gpu: "gb200", ..B200_ALONE };

impl Cluster {
    /// A scenario with this traffic.
    fn scenario(&self, traffic: &str) -> Scenario {
        let &Cluster { servers, gpus, link, gpu, nic } = self;
        let scenario = format!(
            "run.stop='10s'\nservers={{ gpus={gpus}, rate='{link}Gbps', latency='1us' }}\ngpu.profile='{gpu}'\n\
             nic.profile='{nic}'\n[topology]\nkind='rails'\nservers={servers}\nrails={gpus}\nspines=8\nrate='400Gbps'\n\
             delay='1us'\n[[traffic]]\n{traffic}\n"
        );
        load_with(scenario, &[]).expect("a scenario")
    }

    /// The time of an all-reduce in us by the algorithm that NCCL's model chooses.
    fn time(&self, size: u64) -> f64 {
        self.time_of(&format!("operation='all_reduce'\nalgorithm='auto'\nsize={size}"))
    }

    /// The time of a collective in us: NICs send one message behind the other at 400 Gb/s, and a network takes 2 us.
    fn time_of(&self, collective: &str) -> f64 {
        let scenario = self.scenario(&format!("kind='collective'\n{collective}"));
        let mut free_at = BTreeMap::<u32, u64>::new();
        let message = |message: &Message, now: Nanos| {
            let free_at = free_at.entry(message.src).or_default();
            *free_at = now.0.max(*free_at) + message.size / 50;
            let arrival = Nanos(*free_at - now.0 + 2_000);
            Times { arrival, acknowledged: arrival + Nanos(2_000) }
        };
        let course = ideal::run_with(scenario.flows.jobs[0].job(), scenario.servers, message, |time| time);
        assert!(course.unfinished.is_empty(), "{:?}", course.unfinished);
        course.time.0 as f64 / 1e3
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Rows that no value of a profile follows from, and their sources: `configs/beside-measurements.md`.
#[test]
fn times_are_within_15_percent_of_published_ones_that_were_not_fitted() {
    let bus = |size: u64, rate: f64| size as f64 * 1.75 / rate / 1e3;
    for (cluster, size, published) in [
        (H100_ALONE, 128 * KIB, 19.89),
        (H100_ALONE, MIB, 27.37),
        (H100_ALONE, 64 * MIB, 324.7),
        (H100_ALONE, 256 * MIB, 1_112.5),
        (H100_ALONE, 1_024 * MIB, 4_029.4),
        (H200_PAIR, 128 * KIB, 81.24),
        (H200_PAIR, MIB, 76.86),
        (H200_PAIR, 16 * MIB, 207.61),
        (H200_PAIR, 64 * MIB, 461.01),
        (B200_ALONE, 1_024 * MIB, bus(1_024 * MIB, 723.34)),
        (B200_ALONE, 4_096 * MIB, bus(4_096 * MIB, 740.64)),
        (GB200_RACK, 2_048 * MIB, 5_589.1),
    ] {
        let time = cluster.time(size);
        let name = format!("{} x {} {}", cluster.servers, cluster.gpus, cluster.gpu);
        assert!((time / published - 1.0).abs() < 0.15, "{name}, {size} bytes: {time} us, published {published}");
    }
}

/// A ring of two in one server: 2 steps, each of NCCL's 3.4 us and half of the data in 12 channels of 34 GB/s, after the launch and
/// NCCL's base latency.
#[test]
fn a_ring_takes_launch_steps_and_copies() {
    let pair = Cluster { gpus: 2, ..H100_ALONE };
    let scenario = |set: &[&str]| {
        let text = "run.stop='1s'\nservers={ gpus=2, rate='3600Gbps', latency='1us' }\ngpu.profile='h100'\n[topology]\nkind='star'\n\
                    hosts=2\nrate='400Gbps'\ndelay='1us'\n[[traffic]]\nkind='collective'\noperation='all_reduce'\nsize=960_000\n";
        load_with(text, set).expect("a scenario")
    };
    let time = |set: &[&str]| {
        let scenario = scenario(set);
        let run = ideal::run(scenario.flows.jobs[0].job(), scenario.servers, |_| Nanos(0), |time| time);
        run.time.0 as f64 / 1e3
    };
    let expected = 2.0 + 8.4 + 2.0 * (3.4 + 480.0 / (12.0 * 34.0));
    assert!((time(&[]) - expected).abs() < 0.02, "{} {expected}", time(&[]));
    // The network alone: 2 steps of half of the data at 450 GB/s, and the link's latency.
    let raw = 2.0 * (480.0 / 450.0 + 1.0);
    assert!((time(&["gpu.profile=none"]) - raw).abs() < 0.02, "{} {raw}", time(&["gpu.profile=none"]));
    assert!(pair.time(KIB) > 2.0 + 6.6, "NCCL's base latency of LL, and the launch");
    let told = scenario(&[]);
    assert!(
        told.notes.iter().any(|note| note.contains("gpu.profile = h100 and nic.profile = none")),
        "{:?}",
        told.notes
    );
    assert!(
        told.assumed.iter().any(|one| one.key == "nic.profile")
            && told.assumed.iter().all(|one| one.key != "gpu.profile")
    );
}

/// Once, beside the time on a network alone: 26 us of B200 or 2 of H100, and NCCL's 8.4.
#[test]
fn any_algorithm_takes_a_launch() {
    let alone = |gpu, launch| (Cluster { servers: 4, gpus: 1, gpu, ..H100_ALONE }, launch);
    for (collective, (cluster, launch)) in [
        ("operation='all_reduce'\nalgorithm='tree'\nsize=8", alone("b200", 34.4)),
        ("operation='broadcast'\nsize=8", alone("b200", 34.4)),
        ("operation='reduce'\nsize=8", alone("h100", 10.4)),
        ("operation='all_to_all'\nsize=400_000", alone("h100", 10.4)),
        ("operation='all_gather'\nalgorithm='direct'\nsize=400_000", alone("h100", 10.4)),
    ] {
        let more = cluster.time_of(collective) - Cluster { gpu: "none", ..cluster }.time_of(collective);
        assert!((more - launch).abs() < 1e-6, "{collective}: {more} us, expected {launch}");
    }
}

/// In a ring of 8 the data of a channel passes a GPU 14 times in eighths, 34 GB/s at the most, however many channels there are and
/// whatever the links are. Links are not the limit.
#[test]
fn a_channel_copies_what_the_profile_says() {
    for (link, channels) in [(3_600, 1), (3_600, 4), (7_200, 1), (7_200, 12), (36_000, 1)] {
        let ring = format!("operation='all_reduce'\nalgorithm='ring'\nsize={}\nchannels={channels}", 256 * MIB);
        let time = Cluster { link, ..H100_ALONE }.time_of(&ring);
        let copies = 14.0 * (32 * MIB) as f64 / f64::from(channels) / 34e3;
        assert!((copies..1.25 * copies).contains(&time), "{link} Gb/s, {channels} channels: {time} us, {copies}");
    }
    // Between servers the channel of a NIC stands for those of NCCL there, whether somebody says how many there are or not.
    let ring = format!("operation='all_reduce'\nalgorithm='ring'\nsize={}", 16 * MIB);
    assert_eq!(H200_PAIR.time_of(&ring), H200_PAIR.time_of(&format!("{ring}\nchannels=8")));
}

/// NCCL has 64 channels at most; communicators of a job keep apart with them, too.
#[test]
fn channels_of_a_profile_are_no_more_than_those_of_nccl() {
    let transformer = "kind='transformer'\nlayers=1\nhidden=1024\nsequence=1024\ntensor=4\nteraflops=400";
    for (link, channels) in [(3_600, 12), (36_000, 64), (1_000_000, 64)] {
        let scenario = Cluster { link, ..H100_ALONE }.scenario(transformer);
        let plans = scenario.flows.jobs[0].collectives();
        let mut extents: Vec<_> = plans.iter().map(|plan| (plan.first_channel, plan.channels)).collect();
        extents.sort_unstable();
        extents.dedup();
        assert_eq!(extents.iter().map(|&(_, count)| count).max(), Some(channels), "{link} Gb/s");
        assert!(extents.len() > 1 && extents.is_sorted_by(|one, next| one.0 + one.1 <= next.0), "{extents:?}");
    }
}

/// What is tried costs what it costs in the run.
#[test]
fn algorithms_are_tried_with_the_hardware() {
    let transformer = "kind='transformer'\nlayers=1\nhidden=1024\nsequence=1024\ntensor=4\nteraflops=400\nall_reduce=";
    let cluster = Cluster { gpus: 4, nic: "cx7-400", ..B200_ALONE };
    let tried = cluster.scenario(&format!("{transformer}'fastest'"));
    let trials = &tried.flows.jobs[0].trials;
    assert!(!trials.is_empty());
    for plan in trials.iter().flat_map(|trial| &trial.0) {
        let scenario = cluster.scenario(&format!("{transformer}'{}'", plan.pattern.name));
        let asked = scenario.flows.jobs[0].collective(plan.number).expect("the same collective");
        let of = |plan: &Plan| (plan.hardware, plan.channels, plan.first_channel, plan.chunk);
        assert_eq!(of(plan), of(asked), "{}", plan.pattern.name);
        assert!(plan.hardware.launch > Nanos(0), "{}", plan.pattern.name);
    }
}

/// Nobody says which messages of a graph are one kernel.
#[test]
fn plain_messages_take_steps_and_no_launch() {
    let costs = Profiles { gpu: GpuProfile::B200, nic: NicProfile::Cx7 }.of_messages();
    assert_eq!((costs.before, costs.inside), (Nanos(0), Nanos(3_400)), "NCCL's step in a server");
}

/// Messages of 8 KB leave a NIC no sooner than T0 / Q after each other.
#[test]
fn profiles_without_jobs_are_refused() {
    let wrong = load_with(MINIMAL, &["gpu.profile=h100"]).expect_err("no job");
    assert!(wrong.contains("profiles are for jobs") && wrong.contains("gpu.profile"), "{wrong}");
    assert!(load_with(MINIMAL, &["gpu.profile=none"]).is_err() && load_with(MINIMAL, &[]).is_ok());
    let wrong = load_with(MINIMAL, &["nic.profile=cx8"]).expect_err("unknown");
    assert!(wrong.contains("cx7-400"), "{wrong}");
}
