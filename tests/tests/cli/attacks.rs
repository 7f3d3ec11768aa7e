// SPDX-License-Identifier: GPL-2.0-only
//! Attackers of a TOML file: what each does to its victim, and what stands against it.

use hpcc_tests::{Run, refused};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// Hosts 0 and 1 send to host 3 over the cable from switch 4 to switch 5. Host 2 sends nothing, unless it attacks. Flows are longer
/// than the run.
const PAIR: &str = r#"
[run]
stop = "3ms"
[topology]
kind = "dumbbell"
left = 3
right = 1
rate = "100Gbps"
delay = "1us"
[wire]
profile = "rocev2_ipv6"
[congestion_control]
algorithm = "hpcc_plus"
[telemetry]
layout = "ioam"
[fast_cnp]
enabled = true
kmin = "20KB"
kmax = "80KB"
[[traffic]]
kind = "flow"
name = "victim"
src = 0
dst = 3
size = "100MB"
[[traffic]]
kind = "flow"
name = "other"
src = 1
dst = 3
size = "100MB"
"#;

/// From outside, in the name of switch 4, about the flow of host 0.
const FORGED: &str = "attack=[{kind='forged_fast_cnp', from=2, victims=[0], spoofed_source=4}]";
const FORGED_OFTEN: &str = "attack=[{kind='forged_fast_cnp', from=2, victims=[0], spoofed_source=4, rate='1Gbps'}]";
const FORGED_RECORDS: &str =
    "attack=[{kind='forged_fast_cnp', from=5, victims=[0], spoofed_source=4, records=true, start='100us'}]";
const REPLAYED: &str = "attack=[{kind='replayed_fast_cnp', from=4, victims=[0], start='100us', rate='1Gbps'}]";
const FLOOD: &str = "attack=[{kind='flooded_fast_cnp', from=2, victims=[0], spoofed_source=4, rate='100Gbps'}]";
const SPOOFED: &str = "attack=[{kind='spoofed_icmpv6', from=2, victims=[0], rate='1Gbps'}]";
/// By the switch next to the receiver, and by the receiver.
const BUSY: &str = "attack=[{kind='tampered_feedback', from=5, victims=[0], claim='busy', start='100us'}]";
const BRIEF: &str = "attack=[{kind='tampered_feedback', from=5, victims=[0], claim='busy', start='100us', stop='1ms'}]";
const IDLE: &str = "attack=[{kind='tampered_feedback', from=5, victims=[0], start='100us'}]";
const LIE: &str = "attack=[{kind='lying_feedback', from=3, victims=[0], start='100us'}]";
const STRIP: &str = "attack=[{kind='stripped_feedback', from=5, victims=[0]}]";
const STRIP_AT_RECEIVER: &str = "attack=[{kind='stripped_feedback', from=3, victims=[0]}]";
const ACKS: &str = "attack=[{kind='forged_ack', from=2, victims=[0]}]";
const LIKELY_ACKS: &str = "attack=[{kind='forged_ack', from=2, victims=[0], acknowledged='sent', start='100us'}]";
const NACKS: &str = "attack=[{kind='forged_nack', from=2, victims=[0], start='100us'}]";
const FORGED_CNPS: &str = "attack=[{kind='forged_cnp', from=2, victims=[0], start='100us'}]";
const HALF_DROPPED: &str = "attack=[{kind='dropped_feedback', from=5, victims=[0], share=0.5, start='100us'}]";
const ALL_DROPPED: &str = "attack=[{kind='dropped_feedback', from=5, victims=[0], start='100us'}]";
const DELAYED: &str = "attack=[{kind='delayed_feedback', from=5, victims=[0], start='100us', delay='32us'}]";
const BLEACHED: &str = "attack=[{kind='bleached_ecn', from=5, victims=[0]}]";
const CONCEALED: &str = "attack=[{kind='bleached_ecn', from=3, victims=[0]}]";
const PAUSES: &str = "attack=[{kind='forged_pfc', from=3, start='100us'}]";
const HALF_PAUSED: &str = "attack=[{kind='forged_pfc', from=5, stop='1500us'}]";

const SEAL: &str = "telemetry.seal=00112233445566778899aabbccddeeff";
/// Of what receivers answer, by the transport's own key.
const ANSWERS_SEALED: &str = "transport.seal=00112233445566778899aabbccddeeff";
const GUARD: &str = "telemetry.guard=true";
/// Closes the domain towards host 2.
const BORDER: &str = "fast_cnp.borders=[[4, 2]]";
const SELDOM: &str = "fast_cnp.accept_interval=1ms";
/// Switches mark, or by CNPs receivers tell, and no Fast CNP is about.
const PLAIN: &str = "fast_cnp={enabled=false}";
const INT_MD: &str = "telemetry={layout='int_md'}";
const DCQCN: &str = "congestion_control={algorithm='dcqcn'}";
const CNPS: &str = "transport.congestion_notification=cnp";
const PINT: &str = "telemetry={layout='pint'}";
const BY_PINT: &str = "congestion_control={algorithm='hpcc_pint'}";
const CSIG: &str = "telemetry={layout='csig', csig_size='wide'}";
const ANSWERS: &str = "telemetry.return_path=notification";

/// The counter of an attacker's frames.
const SENT: &str = "/attacks/0/frames_sent";
const ALTERED: &str = "/attacks/0/frames_altered";
const UNSEALED: &str = "/refused_answers/unsealed";

/// A run with these settings, compared with one without the attack and its defences.
struct Case {
    /// Settings of both runs.
    both: &'static [&'static str],
    more: &'static [&'static str],
    /// Bytes that the victim had acknowledged, and the other one, in per cent of what they have without.
    victim: RangeInclusive<u64>,
    other: RangeInclusive<u64>,
    /// Two counts that differ by no more than what is on its way when the run ends, and by what there was at its start.
    same: Option<(&'static str, &'static str)>,
    /// Counts, and the least and the most of each.
    counts: &'static [(&'static str, RangeInclusive<u64>)],
}

const ANY: RangeInclusive<u64> = 0..=u64::MAX;
const SOME: RangeInclusive<u64> = 1..=u64::MAX;
const MANY: RangeInclusive<u64> = 100..=u64::MAX;
const NONE: RangeInclusive<u64> = 0..=0;

const fn case(
    both: &'static [&'static str],
    more: &'static [&'static str],
    victim: RangeInclusive<u64>,
    other: RangeInclusive<u64>,
) -> Case {
    Case { both, more, victim, other, same: None, counts: &[] }
}

impl Case {
    const fn same(self, caught: &'static str, done: &'static str) -> Case {
        let Case { both, more, victim, other, counts, .. } = self;
        Case { both, more, victim, other, same: Some((caught, done)), counts }
    }

    const fn counts(self, counts: &'static [(&'static str, RangeInclusive<u64>)]) -> Case {
        let Case { both, more, victim, other, same, .. } = self;
        Case { both, more, victim, other, same, counts }
    }

    /// Deviations from the case.
    fn wrong(&self) -> Vec<String> {
        let (calm, run) = (run(self.both), run(&[self.both, self.more].concat()));
        let (all, acked) = (calm.acked(), run.acked());
        let share = |flow: usize| 100 * acked[flow] / all[flow];
        let mut wrong = Vec::new();
        for (name, flow, range) in [("victim", 0, &self.victim), ("other", 1, &self.other)] {
            if !range.contains(&share(flow)) {
                wrong.push(format!("the {name} has {} %, not {range:?}", share(flow)));
            }
        }
        let count = |pointer: &str| run.summary.pointer(pointer).map_or(0, |value| value.as_u64().expect("a count"));
        if let Some((caught, done)) = self.same
            && (count(done) <= 10 || count(caught).abs_diff(count(done)) > 40)
        {
            wrong.push(format!("{caught} is {}, {done} {}", count(caught), count(done)));
        }
        let others = self.counts.iter().filter(|(pointer, range)| !range.contains(&count(pointer)));
        wrong.extend(others.map(|(pointer, range)| format!("{pointer} is {}, not {range:?}", count(pointer))));
        wrong.into_iter().map(|what| format!("{:?} and {:?}: {what}", self.both, self.more)).collect()
    }
}

fn run(sets: &[&str]) -> Run {
    Run::ending(PAIR, sets, 3)
}

const CASES: &[Case] = &[
    // None of the defences costs the victim more than a tenth of what it has.
    case(&[], &[SEAL], 90..=110, ANY),
    case(&[], &[GUARD], 90..=110, ANY),
    case(&[], &[BORDER], 90..=110, ANY),
    case(&[], &[SELDOM], 90..=110, ANY),
    case(&[PLAIN], &[ANSWERS_SEALED], 95..=105, ANY).counts(&[("/refused_answers/unsealed", NONE)]),
    // Forged notifications stop a flow unless a border drops them, or they come in a name that is not believed (REQ-49).
    case(&[], &[FORGED], 0..=20, ANY).counts(&[("/fast_cnp/accepted", MANY), (SENT, 300..=u64::MAX)]),
    case(&[], &[FORGED, BORDER], 90..=110, ANY).same("/fast_cnp/dropped_inbound", SENT),
    case(&[], &["attack=[{kind='forged_fast_cnp', from=2, victims=[0]}]"], 90..=110, ANY)
        .same("/fast_cnp/refused/source", SENT),
    case(&[], &[FORGED_OFTEN], 0..=20, ANY).counts(&[("/fast_cnp/refused/too_soon", 1_000..=u64::MAX)]),
    case(&[], &[FORGED_OFTEN, SELDOM], 20..=90, ANY),
    // HPCC++ forgets forged records with the next acknowledgement. With a seal they are not used, and the notification counts as one
    // without: it halves the window (REQ-43).
    case(&[], &[FORGED_RECORDS], 90..=110, ANY).counts(&[("/fast_cnp/accepted", 50..=u64::MAX)]),
    case(&[], &[FORGED_RECORDS, SEAL], 0..=33, ANY).same("/rejected_by_seal", SENT),
    // A genuine one, seen once. With records it is no news; without, its age does not show.
    case(&[], &[REPLAYED], 90..=110, ANY).counts(&[("/fast_cnp/without_effect/incomparable", MANY)]),
    case(&[INT_MD], &[REPLAYED], 0..=50, ANY),
    case(&[INT_MD], &[REPLAYED, SELDOM], 50..=110, ANY).same("/fast_cnp/refused/too_soon", SENT),
    // A flood of notifications about no flow is refused, but acknowledgements wait behind it.
    case(&[], &[FLOOD], 0..=50, ANY).counts(&[("/fast_cnp/refused/unknown_flow", 100_000..=u64::MAX)]),
    case(&[], &[FLOOD, BORDER], 90..=110, ANY),
    // An ICMPv6 in the victim's name is believed only where the switch has just notified that flow (REQ-54).
    case(&["fast_cnp.kmin=10MB", "fast_cnp.kmax=20MB"], &[SPOOFED], 90..=110, ANY)
        .same("/fast_cnp/icmpv6_unasked", SENT)
        .counts(&[("/fast_cnp/sent", NONE), ("/fast_cnp/icmpv6_learnt", NONE)]),
    case(&[DCQCN], &[SPOOFED], ANY, ANY)
        .counts(&[("/fast_cnp/icmpv6_learnt", SOME), ("/fast_cnp/withheld/incapable", SOME)]),
    case(&[DCQCN], &[SPOOFED, BORDER], ANY, ANY)
        .same("/fast_cnp/dropped_inbound", SENT)
        .counts(&[("/fast_cnp/icmpv6_learnt", NONE), ("/fast_cnp/withheld/incapable", NONE)]),
    // A host that does not know notifications complains to the switch in whose name they came.
    case(&["fast_cnp.incapable=[0]", "fast_cnp.capable=[1]", "fast_cnp.domain=[1]"], &[FORGED], 90..=110, ANY)
        .same("/fast_cnp/refused/disabled", SENT)
        .counts(&[("/fast_cnp/icmpv6_sent", SOME), ("/fast_cnp/icmpv6_unasked", SOME)]),
    // A seal keeps lies from the controller, and a flow that hears nothing else falls until it does (REQ-26, REQ-66).
    case(&[], &[BUSY], 0..=20, ANY),
    case(&[], &[BUSY, SEAL], 0..=20, ANY).same("/rejected_by_seal", ALTERED),
    case(&[], &[BRIEF, SEAL], 40..=100, ANY),
    case(&["telemetry.content=busiest_link"], &[BUSY], 0..=20, ANY),
    case(&["telemetry.content=loads"], &[BUSY], 0..=20, ANY),
    case(&["congestion_control={algorithm='rx_hpcc'}", "telemetry.layout=ioam"], &[BUSY], 0..=20, ANY),
    // Feedback that says the links are idle makes its flow take the other's share; so do records that the receiver changed, which
    // it then seals. The guard knows what the flow itself sent (REQ-27); and a switch's notifications bring true records.
    case(&[PLAIN], &[IDLE], 100..=300, 0..=50),
    case(&[PLAIN], &[IDLE, GUARD], 0..=110, 90..=300).same("/rejected_by_guard", ALTERED),
    case(&[PLAIN], &[LIE], 100..=300, 0..=50),
    case(&[PLAIN], &[LIE, GUARD], 0..=110, 90..=300).same("/rejected_by_guard", ALTERED),
    case(&[PLAIN], &[LIE, SEAL], 100..=300, 0..=50).counts(&[("/rejected_by_seal", NONE)]),
    case(&[], &[IDLE], ANY, 90..=300),
    case(&[], &[LIE], ANY, 90..=300),
    // Without feedback a flow goes on at its first window. A switch that takes it out takes out the seal as well, which is
    // noticed (REQ-26); a receiver seals that there is none.
    case(&[PLAIN], &[STRIP], 100..=300, 0..=50),
    case(&[PLAIN], &[STRIP, SEAL], 0..=110, 90..=300).same("/rejected_by_seal", ALTERED),
    case(&[PLAIN], &[STRIP_AT_RECEIVER], 100..=300, 0..=50),
    case(&[PLAIN], &[STRIP_AT_RECEIVER, SEAL], ANY, ANY).counts(&[("/rejected_by_seal", NONE)]),
    // Where feedback comes in packets of its own, an empty one lacks its seal as an empty acknowledgement does.
    case(&[PLAIN, ANSWERS], &[SEAL], 90..=110, ANY).counts(&[("/rejected_by_seal", NONE)]),
    case(&[PLAIN, ANSWERS], &[STRIP], ANY, ANY).counts(&[("/rejected_by_seal", NONE)]),
    case(&[PLAIN, ANSWERS], &[STRIP, SEAL], ANY, ANY).same("/rejected_by_seal", ALTERED),
    case(&[PLAIN, ANSWERS], &[STRIP, SEAL, "telemetry.notification_acks=true"], ANY, ANY)
        .same("/rejected_by_seal", ALTERED),
    // Acknowledgements of what was never sent finish nothing. Who sees the packets knows better, and only a seal helps.
    case(&[PLAIN], &[ACKS, "monitor.capture_nodes=[2]"], 95..=105, ANY).same("/refused_answers/unsent", SENT),
    case(&[PLAIN], &[LIKELY_ACKS], ANY, ANY).counts(&[("/refused_answers/unsent", NONE), (UNSEALED, NONE)]),
    case(&[PLAIN, ANSWERS_SEALED], &[LIKELY_ACKS], 95..=105, ANY).same(UNSEALED, SENT),
    // Telemetry is no part of the transport's seal: an acknowledgement counts whatever becomes of that.
    case(&[PLAIN, ANSWERS_SEALED], &[STRIP, SEAL], ANY, ANY)
        .same("/rejected_by_seal", ALTERED)
        .counts(&[(UNSEALED, NONE)]),
    case(&[PLAIN, ANSWERS_SEALED], &[BUSY, SEAL], ANY, ANY)
        .same("/rejected_by_seal", ALTERED)
        .counts(&[(UNSEALED, NONE)]),
    // Each makes the sender go back to the first byte that is not acknowledged.
    case(&[PLAIN], &[NACKS], 0..=90, ANY).counts(&[("/resent_packets", 1_000..=u64::MAX)]),
    case(&[PLAIN], &[NACKS, ANSWERS_SEALED], 95..=105, ANY).same(UNSEALED, SENT).counts(&[("/resent_packets", NONE)]),
    // CNPs are ignored where receivers send none; where they do, the seal tells which are theirs.
    case(&[PLAIN], &[FORGED_CNPS], 95..=105, ANY).same("/refused_answers/unasked", SENT),
    case(&[PLAIN, CNPS], &[FORGED_CNPS], 0..=20, ANY),
    case(&[PLAIN, CNPS], &[FORGED_CNPS, ANSWERS_SEALED], 95..=105, ANY).same(UNSEALED, SENT),
    // Each acknowledgement stands for all before it: half of them will do. Without any the flow falls by its timeouts.
    case(&[PLAIN], &[HALF_DROPPED], 95..=105, 95..=105).counts(&[(ALTERED, MANY)]),
    case(&[PLAIN], &[ALL_DROPPED], 0..=10, 150..=250).counts(&[("/timeouts", SOME)]),
    // A window for each round trip, which is five times as long.
    case(&[PLAIN], &[DELAYED], 10..=30, 130..=250).counts(&[(ALTERED, MANY)]),
    // Who hears of no mark takes all. A switch's own notifications need no receiver, and no switch behind it.
    case(&[PLAIN, DCQCN], &[BLEACHED], 150..=300, 0..=33).counts(&[(ALTERED, MANY)]),
    case(&[PLAIN, DCQCN], &[CONCEALED], 150..=300, 0..=33).counts(&[(ALTERED, MANY)]),
    case(&[DCQCN], &[BLEACHED], 95..=105, 95..=105),
    // Telemetry with one value for the path.
    case(&[PLAIN, BY_PINT, PINT], &[BUSY], 0..=20, ANY),
    case(&[PLAIN, BY_PINT, PINT], &[IDLE], 100..=300, 0..=50),
    case(&[PLAIN, CSIG], &[BUSY], 0..=20, ANY),
    case(&[PLAIN, CSIG], &[IDLE], 100..=300, 0..=50),
    // Pauses stop both flows until the attack ends. No seal keeps them off.
    case(&[PLAIN], &[PAUSES], 0..=10, 0..=10).counts(&[("/pfc_pauses", MANY)]),
    case(&[PLAIN], &[PAUSES, SEAL, ANSWERS_SEALED], 0..=10, 0..=10).counts(&[("/pfc_pauses", MANY)]),
    case(&[PLAIN], &[HALF_PAUSED], 40..=60, 40..=60).counts(&[("/pfc_pauses", MANY)]),
];

/// REQ-26, REQ-27, REQ-43, REQ-49, REQ-54.
#[test]
fn attacks_do_what_they_do_and_defences_stop_them() {
    let calm = run(&[]);
    assert!(calm.summary.get("attacks").is_none() && calm.acked()[0] * 8 > 35 * 3_000_000, "{:?}", calm.acked());
    let wrong: Vec<String> = CASES.par_iter().flat_map(Case::wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whenever the attack begins: a flow whose feedback is rejected, or missing where that is counted, does not go on at the rate
/// that it has, and the other flow gets at least what it has without an attack.
#[test]
fn req_66_a_flow_that_hears_nothing_it_can_believe_gives_way() {
    let calm = run(&[PLAIN]).acked();
    for (attack, defence) in [
        ("kind='tampered_feedback', from=5", SEAL),
        ("kind='tampered_feedback', from=5", GUARD),
        ("kind='stripped_feedback', from=5", SEAL),
        ("kind='stripped_feedback', from=5", GUARD),
        ("kind='stripped_feedback', from=3", SEAL),
        ("kind='stripped_feedback', from=5", "telemetry.decay_after=4"),
    ] {
        for start in ["0us", "100us", "1ms"] {
            let attack = format!("attack=[{{{attack}, victims=[0], start='{start}'}}]");
            let defended = run(&[PLAIN, &attack, defence]).acked();
            let told = format!("{attack}, {defence}: {defended:?}, calm {calm:?}");
            assert!(defended[1] > calm[1] * 95 / 100 && defended[0] < calm[0] * 11 / 10, "{told}");
        }
    }
}

/// Without an attack, rare feedback, lost packets and delayed acknowledgements are no silence.
#[test]
fn req_66_honest_flows_do_not_fall() {
    for sets in [
        &["telemetry.sampling=nth", "telemetry.every=64"][..],
        &["telemetry.sampling=rtt"],
        &["telemetry.sampling=probes"],
        &["telemetry.return_path=notification"],
        &["transport.ack_every=20000"],
        &["congestion_control={algorithm='rx_hpcc'}"],
        &["topology.loss=0.001", "transport.recovery=selective_repeat"],
    ] {
        let acked = |more: &str| run(&[sets, &[PLAIN, more]].concat()).acked();
        assert_eq!(acked("telemetry.decay_after=4"), acked("telemetry.decay_after=0"), "{sets:?}");
    }
}

/// Two flows of one host: one kind of traffic is attacked, the other profits.
#[test]
fn attacks_on_some_traffic_leave_the_rest_alone() {
    let traffic = "traffic=[{kind='flow',name='victim',src=0,dst=3,size='100MB'},{kind='flow',name='spared',src=0,dst=3,size='100MB'}]";
    let calm = run(&[traffic]).acked();
    for attack in [
        "kind='forged_fast_cnp', from=2, spoofed_source=4",
        "kind='tampered_feedback', from=5, claim='busy', start='100us'",
    ] {
        let on = |names: &str| run(&[traffic, &format!("attack=[{{{attack}, victims=[0]{names}}}]")]).acked();
        let (both, second) = (on(""), on(", traffic='spared'"));
        assert!(second[1] < calm[1] / 3 && second[0] > calm[0], "{attack}: {second:?}");
        assert!(both.iter().all(|&acked| acked < calm[0] / 2), "{attack}: {both:?}");
        assert_eq!(on(", traffic='victim, spared'"), both);
    }
}

/// A sender that was told that all has arrived stops: its flow finishes when the rest arrives, and not where a packet is lost.
#[test]
fn forged_acknowledgements_stop_senders_and_finish_no_flow() {
    let sets = [
        "traffic=[{kind='incast',receiver=3,sender_count=2,size='300KB'}]",
        "attack=[{kind='forged_ack', from=2, victims='hosts', rate='10Gbps'}]",
        PLAIN,
    ];
    let (deceived, honest) =
        (Run::ending(PAIR, &sets, 0), Run::ending(PAIR, &[&sets[..], &[ANSWERS_SEALED]].concat(), 0));
    // All bytes of both take the shared link's time; nobody waits for the last acknowledgement.
    let last = |run: &Run| run.summary["busy_until_ns"].as_u64().expect("a time");
    assert!((48_000..last(&honest)).contains(&last(&deceived)), "{} ns, honest: {}", last(&deceived), last(&honest));

    let lossy = Run::ending(PAIR, &[&sets[..], &["topology.loss=0.02"]].concat(), 3);
    let acked = lossy.acked();
    assert!(acked.iter().all(|&acked| 0 < acked && acked < 300_000), "{acked:?}");
}

#[test]
fn attacks_that_cannot_be_are_refused() {
    for (attack, set, words) in [
        ("kind='forged_fast_cnp'", "", "attack.from: from is missing"),
        ("from=2", "", "attack.kind: kind is missing"),
        ("kind='forged_acks', from=2", "", "forged_ack"),
        ("kind='forged_ack', from=2, priority=3", "", "priority belongs to kind"),
        ("kind='forged_pfc', from=3, priority=5", "", "priority 5 is never paused here; expected one of 3"),
        ("kind='forged_pfc', from=3", "switch.mode=lossy", "nobody pauses here"),
        ("kind='forged_nack', from=2", "transport.recovery=selective_repeat", "senders do not go back"),
        ("kind='forged_ack', from=0, victims=[0]", "", "would attack itself"),
        ("kind='forged_fast_cnp', from=2, speed='1Gbps'", "", "unknown key speed"),
        ("kind='forged_fast_cnp', from=2, spoofed_source=8", "", "no node 8"),
        ("kind='forged_fast_cnp', from=2, victims=[4]", "", "node 4 is a switch"),
        ("kind='forged_fast_cnp', from=2, victims='none'", "", "no victims"),
        ("kind='forged_fast_cnp', from=2, traffic='victims'", "", "did you mean victim?"),
        ("kind='forged_fast_cnp', from=2, records=true", "", "attack.from: "),
        ("kind='forged_fast_cnp', from=5, records=true", "telemetry.layout=int_md", "no IOAM records"),
        ("kind='forged_fast_cnp', from=2, rate='200Gbps'", "", "expected at most that"),
        ("kind='forged_fast_cnp', from=2, start='2ms', stop='1ms'", "", "expected later"),
        ("kind='spoofed_icmpv6', from=2", PLAIN, "no Fast CNP"),
        ("kind='replayed_fast_cnp', from=2", "", "expected a switch"),
        ("kind='lying_feedback', from=5", "", "expected a host"),
        ("kind='dropped_feedback', from=2", "", "expected a switch"),
        ("kind='dropped_feedback', from=5, delay='1us'", "", "delay belongs to kind"),
        ("kind='bleached_ecn', from=5", PLAIN, "nobody goes by marks"),
        ("kind='tampered_feedback', from=5", DCQCN, "no telemetry"),
        ("kind='stripped_feedback', from=5", "telemetry={content='none'}", "no telemetry"),
    ] {
        let attack = format!("attack=[{{{attack}}}]");
        let sets: Vec<&str> = [attack.as_str(), set].into_iter().filter(|set| !set.is_empty()).collect();
        refused(PAIR, &[(&sets, words)]);
    }
}
