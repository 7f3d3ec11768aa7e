// SPDX-License-Identifier: GPL-2.0-only
//! Attackers of a TOML file: what each does to its victim, and what stands against it.

use crate::refusal;
use hpcc_tests::Bench;
use serde_json::Value;

/// Hosts 0 and 1 send to host 3 over the cable from switch 4 to switch 5. Host 2 sends nothing, unless it attacks.
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
const FORGED: &str = "attack=[{kind='forged_fast_cnp', from=2, victims=[0], pretends=4}]";
/// By the switch next to the receiver.
const BUSY: &str = "attack=[{kind='tampered_feedback', from=5, victims=[0], claim='busy', start='100us'}]";
const IDLE: &str = "attack=[{kind='tampered_feedback', from=5, victims=[0], start='100us'}]";
const SEAL: &str = "telemetry.seal=00112233445566778899aabbccddeeff";
const GUARD: &str = "telemetry.guard=true";
/// Closes the domain towards host 2.
const BORDER: &str = "fast_cnp.borders=[[4, 2]]";

/// What a run left.
struct Run {
    summary: Value,
    /// Bytes that each flow had acknowledged: the victim's, and the other's.
    acked: [u64; 2],
}

fn run(sets: &[&str]) -> Run {
    let bench = Bench::new(&[("attack.toml", PAIR)]);
    let told = bench.run("attack.toml", sets);
    assert_eq!(told.code, Some(3), "{sets:?}, 100 MB take longer: {}", told.err);
    let rows = bench.read("out/unfinished.csv");
    let column = rows.lines().next().expect("a header").split(',').position(|name| name == "acked_bytes");
    let column = column.expect("acked_bytes");
    let acked = |row: &str| row.split(',').nth(column).expect("a cell").parse::<u64>().expect("bytes");
    let acked: Vec<u64> = rows.lines().skip(1).map(acked).collect();
    Run {
        summary: serde_json::from_str(&bench.read("out/summary.json")).expect("JSON"),
        acked: acked.try_into().expect("two flows"),
    }
}

impl Run {
    /// A number of the summary.
    fn count(&self, pointer: &str) -> u64 {
        self.summary.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {}", self.summary))
    }

    /// Whether the two differ by no more than what is on its way when the run ends, and by the notifications at its start.
    fn nearly(&self, caught: &str, done: &str) -> bool {
        self.count(done) > 100 && self.count(caught).abs_diff(self.count(done)) <= 40
    }

    /// Whether the border has dropped what the attacker sent.
    fn dropped_at_border(&self) -> bool {
        self.nearly("/fast_cnp/dropped_inbound", "/attacks/0/frames_sent")
    }

    /// The victim's goodput in Gb/s.
    fn goodput(&self) -> f64 {
        self.acked[0] as f64 * 8.0 / 3e6
    }
}

/// The victim has its share, and none of the defences costs it more than a tenth of that.
#[test]
fn without_attackers_nothing_is_counted_and_defences_cost_little() {
    let calm = run(&[]);
    assert!(calm.summary.get("attacks").is_none(), "{}", calm.summary);
    assert!(calm.goodput() > 35.0, "{}", calm.goodput());
    for defence in [SEAL, GUARD, BORDER, "fast_cnp.accept_interval=1ms"] {
        let defended = run(&[defence]);
        assert!(defended.goodput() > calm.goodput() * 0.9, "{defence}: {} of {}", defended.goodput(), calm.goodput());
        let rejected = defended.count("/rejected_by_guard") + defended.count("/rejected_by_seal");
        let most = defended.count("/fast_cnp/sent");
        assert!(
            rejected <= most,
            "{defence}: honest feedback is believed, but for records of notifications: {rejected}"
        );
    }
}

#[test]
fn forged_notifications_stop_a_flow_unless_a_border_drops_them() {
    let (calm, open, closed) = (run(&[]), run(&[FORGED]), run(&[FORGED, BORDER]));
    assert!(open.goodput() < calm.goodput() / 5.0, "{} of {}", open.goodput(), calm.goodput());
    assert_eq!(open.summary["attacks"][0]["kind"], "forged_fast_cnp");
    assert!(open.count("/attacks/0/frames_sent") > 300, "{}", open.summary["attacks"]);
    assert!(open.count("/fast_cnp/accepted") > 100, "{}", open.summary["fast_cnp"]);
    assert!(closed.goodput() > calm.goodput() * 0.9, "{} of {}", closed.goodput(), calm.goodput());
    assert!(closed.dropped_at_border(), "{}", closed.summary);
}

/// In its own name a host is not believed; at a higher rate the interval of the acceptor bounds what is.
#[test]
fn req_49_the_acceptor_refuses_forged_notifications_by_source_and_by_rate() {
    let own = run(&["attack=[{kind='forged_fast_cnp', from=2, victims=[0]}]"]);
    assert!(own.nearly("/fast_cnp/refused/source", "/attacks/0/frames_sent"), "{}", own.summary);
    assert!(own.goodput() > run(&[]).goodput() * 0.9, "{}", own.goodput());
    let fast = "attack=[{kind='forged_fast_cnp', from=2, victims=[0], pretends=4, rate='1Gbps'}]";
    let (short, long) = (run(&[fast]), run(&[fast, "fast_cnp.accept_interval=1ms"]));
    assert!(short.count("/fast_cnp/refused/too_soon") > 1_000, "{}", short.summary["fast_cnp"]);
    assert!(long.goodput() > 2.0 * short.goodput(), "{} and {}", long.goodput(), short.goodput());
}

/// A switch on the path has records to copy, and makes the queue of each link a long one. HPCC++ forgets them with the next
/// acknowledgement. With a seal they are not used, and the notification counts as one without: it halves the window.
#[test]
fn req_43_forged_records_last_until_the_next_acknowledgement_and_are_not_used_with_a_seal() {
    let records = "attack=[{kind='forged_fast_cnp', from=5, victims=[0], pretends=4, records=true, start='100us'}]";
    let (calm, open, sealed) = (run(&[]), run(&[records]), run(&[records, SEAL]));
    assert!(open.count("/fast_cnp/accepted") > 50, "{}", open.summary["fast_cnp"]);
    assert!(open.goodput() > calm.goodput() * 0.9, "{} of {}", open.goodput(), calm.goodput());
    assert!(sealed.nearly("/rejected_by_seal", "/attacks/0/frames_sent"), "{}", sealed.summary);
    assert!(sealed.goodput() < calm.goodput() / 3.0, "{} of {}", sealed.goodput(), calm.goodput());
}

/// The notification is a genuine one, seen once. With records it is no news; without, its age does not show.
#[test]
fn replayed_notifications_are_bounded_by_the_interval_of_the_acceptor() {
    let replayed = "attack=[{kind='replayed_fast_cnp', from=4, victims=[0], start='100us', rate='1Gbps'}]";
    let traced = run(&[replayed]);
    assert!(traced.count("/fast_cnp/without_effect/incomparable") > 100, "{}", traced.summary["fast_cnp"]);
    let plain = "telemetry={layout='int_md'}";
    let (calm, open) = (run(&[plain]), run(&[plain, replayed]));
    assert!(calm.count("/fast_cnp/sent") > 0, "there is one to replay: {}", calm.summary["fast_cnp"]);
    assert!(open.goodput() < calm.goodput() / 2.0, "{} of {}", open.goodput(), calm.goodput());
    let bounded = run(&[plain, replayed, "fast_cnp.accept_interval=1ms"]);
    assert!(bounded.goodput() > 2.0 * open.goodput(), "{} and {}", bounded.goodput(), open.goodput());
    assert!(bounded.count("/fast_cnp/refused/too_soon") > bounded.count("/attacks/0/frames_sent") * 9 / 10);
}

/// Nobody believes a flood of notifications about no flow; but acknowledgements wait behind it.
#[test]
fn a_flood_takes_the_link_unless_a_border_drops_it() {
    let flood = "attack=[{kind='flooded_fast_cnp', from=2, victims=[0], pretends=4, rate='100Gbps'}]";
    let (calm, open, closed) = (run(&[]), run(&[flood]), run(&[flood, BORDER]));
    assert!(open.goodput() < calm.goodput() / 2.0, "{} of {}", open.goodput(), calm.goodput());
    assert!(open.count("/fast_cnp/refused/unknown_flow") > 100_000, "{}", open.summary["fast_cnp"]);
    assert!(closed.goodput() > calm.goodput() * 0.9, "{} of {}", closed.goodput(), calm.goodput());
}

/// An ICMPv6 in the victim's name is believed only where the switch has just notified that flow; a border stops all of them.
#[test]
fn req_54_a_spoofed_answer_teaches_a_switch_only_about_what_it_sent() {
    let spoofed = "attack=[{kind='spoofed_icmpv6', from=2, victims=[0], rate='1Gbps'}]";
    let quiet = run(&[spoofed, "fast_cnp.kmin=10MB", "fast_cnp.kmax=20MB"]);
    assert_eq!((quiet.count("/fast_cnp/sent"), quiet.count("/fast_cnp/icmpv6_learnt")), (0, 0));
    assert!(quiet.count("/fast_cnp/icmpv6_unasked") > quiet.count("/attacks/0/frames_sent") * 9 / 10);
    let dcqcn = "congestion_control={algorithm='dcqcn'}";
    let (notified, closed) = (run(&[dcqcn, spoofed]), run(&[dcqcn, spoofed, BORDER]));
    assert!(notified.count("/fast_cnp/icmpv6_learnt") > 0, "{}", notified.summary["fast_cnp"]);
    assert!(notified.count("/fast_cnp/withheld/incapable") > 0, "it works: {}", notified.summary["fast_cnp"]);
    assert_eq!((closed.count("/fast_cnp/icmpv6_learnt"), closed.count("/fast_cnp/withheld/incapable")), (0, 0));
    assert!(closed.dropped_at_border(), "{}", closed.summary);
}

/// A host that does not know notifications complains about forged ones to the switch in whose name they came.
#[test]
fn req_54_a_host_answers_a_forged_notification_that_it_does_not_know() {
    let forged = run(&[FORGED, "fast_cnp.incapable=[0]", "fast_cnp.capable=[1]", "fast_cnp.domain=[1]"]);
    assert!(forged.count("/fast_cnp/icmpv6_sent") > 0, "{}", forged.summary["fast_cnp"]);
    assert_eq!(forged.count("/fast_cnp/icmpv6_unasked"), forged.count("/fast_cnp/icmpv6_sent"), "switch 4 never asked");
    assert!(forged.nearly("/fast_cnp/refused/disabled", "/attacks/0/frames_sent"), "{}", forged.summary);
}

/// Feedback that says the links are busy stops its flow; a seal keeps the lie from the controller. A flow that hears nothing else
/// falls to its least rate until it does.
#[test]
fn req_26_tampered_feedback_is_rejected_by_its_seal() {
    let (calm, open, sealed) = (run(&[]), run(&[BUSY]), run(&[BUSY, SEAL]));
    assert!(open.goodput() < calm.goodput() / 5.0, "{} of {}", open.goodput(), calm.goodput());
    assert!(open.count("/attacks/0/frames_altered") > 10, "{}", open.summary["attacks"]);
    assert!(sealed.nearly("/rejected_by_seal", "/attacks/0/frames_altered"), "{}", sealed.summary);
    assert!(sealed.goodput() < calm.goodput() / 5.0, "{} of {}", sealed.goodput(), calm.goodput());
    let brief = "attack=[{kind='tampered_feedback', from=5, victims=[0], claim='busy', start='100us', stop='1ms'}]";
    let recovered = run(&[brief, SEAL]);
    assert!(recovered.goodput() > 5.0 * sealed.goodput(), "{} and {}", recovered.goodput(), sealed.goodput());
}

/// Whenever the attack begins: a flow whose feedback is rejected, or missing where that is counted, does not go on at the rate
/// that it has, and the other flow gets at least what it has without an attack.
#[test]
fn req_66_a_flow_that_hears_nothing_it_can_believe_gives_way() {
    let off = "fast_cnp={enabled=false}";
    let calm = run(&[off]);
    let lie = "kind='tampered_feedback', from=5";
    let strip = "kind='stripped_feedback', from=5";
    let strip_at_receiver = "kind='stripped_feedback', from=3";
    for (attack, defence) in [
        (lie, SEAL),
        (lie, GUARD),
        (strip, SEAL),
        (strip, GUARD),
        (strip_at_receiver, SEAL),
        (strip, "telemetry.decay_after=4"),
    ] {
        for start in ["0us", "100us", "1ms"] {
            let attack = format!("attack=[{{{attack}, victims=[0], start='{start}'}}]");
            let [open, defended] = [&[off, &attack][..], &[off, &attack, defence]].map(run);
            let told =
                format!("{attack}, {defence}: {:?}, open {:?}, calm {:?}", defended.acked, open.acked, calm.acked);
            assert!(start != "0us" || open.acked[1] < calm.acked[1] / 2, "{told}");
            assert!(defended.acked[1] > calm.acked[1] * 95 / 100, "{told}");
            assert!(defended.acked[0] < calm.acked[0] * 11 / 10, "{told}");
        }
    }
}

/// Nobody attacks: seldom feedback, lost packets and delayed acknowledgements are no silence.
#[test]
fn req_66_honest_flows_do_not_fall() {
    for sets in [
        &["telemetry.packets=nth", "telemetry.every=64"][..],
        &["telemetry.packets=rtt"],
        &["telemetry.packets=probes"],
        &["telemetry.feedback=notification"],
        &["transport.ack_every=20000"],
        &["congestion_control={algorithm='rx_hpcc'}"],
        &["topology.loss=0.001", "transport.recovery=selective_repeat"],
    ] {
        let acked = |more: &str| run(&[sets, &["fast_cnp={enabled=false}", more]].concat()).acked;
        assert_eq!(acked("telemetry.decay_after=4"), acked("telemetry.decay_after=0"), "{sets:?}");
    }
}

/// Feedback that says the links are idle makes its flow take the other's share; so do records that the receiver changed, which
/// it then seals. The guard knows how much the flow itself sent; and notifications of a switch bring records that nobody changed.
#[test]
fn req_27_idle_links_are_rejected_by_the_guard() {
    let lie = "attack=[{kind='lying_feedback', from=3, victims=[0], start='100us'}]";
    let off = "fast_cnp={enabled=false}";
    let calm = run(&[off]);
    for attack in [IDLE, lie] {
        let (open, guarded) = (run(&[off, attack]), run(&[off, attack, GUARD]));
        assert!(open.acked[1] < calm.acked[1] / 2, "{attack}: {} of {}", open.acked[1], calm.acked[1]);
        assert!(guarded.nearly("/rejected_by_guard", "/attacks/0/frames_altered"), "{attack}: {}", guarded.summary);
        assert!(guarded.acked[1] > calm.acked[1] * 9 / 10, "{attack}: {} of {}", guarded.acked[1], calm.acked[1]);
        let notified = run(&[attack]);
        assert!(
            notified.acked[1] > calm.acked[1],
            "the switch tells the truth: {} of {}",
            notified.acked[1],
            calm.acked[1]
        );
    }
    let sealed = run(&[off, lie, SEAL]);
    assert_eq!(sealed.count("/rejected_by_seal"), 0, "the receiver has the key");
    assert!(sealed.acked[1] < calm.acked[1] / 2, "{} of {}", sealed.acked[1], calm.acked[1]);
}

/// Without feedback a flow goes on at its first window. A switch that takes it out takes out the seal as well, which is
/// noticed; a receiver seals that there is none.
#[test]
fn req_26_a_missing_seal_is_rejected() {
    let by_switch = "attack=[{kind='stripped_feedback', from=5, victims=[0]}]";
    let by_receiver = "attack=[{kind='stripped_feedback', from=3, victims=[0]}]";
    let off = "fast_cnp={enabled=false}";
    let calm = run(&[off]);
    for attack in [by_switch, by_receiver] {
        let open = run(&[off, attack]);
        assert!(open.acked[1] < calm.acked[1] / 2, "{attack}: {} of {}", open.acked[1], calm.acked[1]);
    }
    let sealed = run(&[off, by_switch, SEAL]);
    assert!(sealed.nearly("/rejected_by_seal", "/attacks/0/frames_altered"), "{}", sealed.summary);
    assert_eq!(run(&[off, by_receiver, SEAL]).count("/rejected_by_seal"), 0);
}

/// Where feedback comes in packets of its own, an empty one lacks its seal as an empty acknowledgement does.
#[test]
fn req_26_a_missing_seal_of_feedback_in_packets_of_its_own_is_rejected() {
    let sets = ["fast_cnp={enabled=false}", "telemetry.feedback=notification"];
    let strip = "attack=[{kind='stripped_feedback', from=5, victims=[0]}]";
    let honest = run(&[sets[0], sets[1], SEAL]);
    assert_eq!(honest.count("/rejected_by_seal"), 0, "acknowledgements have no seal there");
    assert_eq!(run(&[sets[0], sets[1], strip]).count("/rejected_by_seal"), 0);
    for acks in [false, true] {
        let sealed = run(&[sets[0], sets[1], SEAL, strip, &format!("telemetry.notification_acks={acks}")]);
        assert!(sealed.nearly("/rejected_by_seal", "/attacks/0/frames_altered"), "{}", sealed.summary);
    }
}

/// Switches mark, or by CNPs receivers tell, and no Fast CNP is about.
const PLAIN: &str = "fast_cnp={enabled=false}";
/// Of what receivers answer, by the transport's own key.
const ANSWERS_SEALED: &str = "transport.seal=00112233445566778899aabbccddeeff";

/// An attack of host 2 on the flow of host 0 that begins then.
fn forged(kind: &str, start: &str) -> String {
    format!("attack=[{{kind={kind}, from=2, victims=[0], start='{start}'}}]")
}

const STARTS: [&str; 2] = ["0us", "100us"];

/// It would end the flow with what was sent by then. Only `run`'s two unfinished rows come back if it did not.
#[test]
fn forged_acknowledgements_of_what_was_never_sent_finish_nothing() {
    let calm = run(&[PLAIN]);
    for start in STARTS {
        // Forged frames have bytes, too.
        let open = run(&[PLAIN, &forged("'forged_ack'", start), "monitor.capture_nodes=[2]"]);
        assert!(open.nearly("/refused_answers/unsent", "/attacks/0/frames_sent"), "{}", open.summary);
        assert!(open.acked[0].abs_diff(calm.acked[0]) < calm.acked[0] / 20, "{:?} of {:?}", open.acked, calm.acked);
    }
}

/// Whoever sees the flow's packets knows how far it is. Then only the seal helps: the sender takes for delivered what is on its way.
#[test]
fn forged_acknowledgements_of_what_was_sent_need_a_seal() {
    let (calm, sealed_calm) = (run(&[PLAIN]), run(&[PLAIN, ANSWERS_SEALED]));
    assert!(sealed_calm.acked[0].abs_diff(calm.acked[0]) < calm.acked[0] / 20, "{:?}", sealed_calm.acked);
    assert!(sealed_calm.summary.get("refused_answers").is_none(), "honest answers pass: {}", sealed_calm.summary);
    for start in STARTS {
        let attack = forged("'forged_ack', acknowledged='sent'", start);
        let (open, sealed) = (run(&[PLAIN, &attack]), run(&[PLAIN, &attack, ANSWERS_SEALED]));
        assert!(open.summary.get("refused_answers").is_none(), "believed: {}", open.summary);
        assert!(sealed.nearly("/refused_answers/unsealed", "/attacks/0/frames_sent"), "{}", sealed.summary);
        let told = format!("{:?}, sealed {:?}, calm {:?}", open.acked, sealed.acked, sealed_calm.acked);
        assert!(sealed.acked[0].abs_diff(sealed_calm.acked[0]) < sealed_calm.acked[0] / 20, "{told}");
    }
}

/// Telemetry is no part of the transport's seal: an acknowledgement counts whatever becomes of that, and has its own seal besides.
#[test]
fn acknowledgements_with_spoilt_telemetry_keep_their_seal() {
    let strip = "attack=[{kind='stripped_feedback', from=5, victims=[0]}]";
    for attack in [strip, BUSY] {
        let spoilt = run(&[PLAIN, attack, SEAL, ANSWERS_SEALED]);
        assert!(spoilt.summary.get("refused_answers").is_none(), "{}", spoilt.summary);
        assert!(spoilt.nearly("/rejected_by_seal", "/attacks/0/frames_altered"), "{}", spoilt.summary);
    }
}

/// Each makes the sender go back to the first byte that is not acknowledged.
#[test]
fn forged_negative_acknowledgements_need_a_seal() {
    let calm = run(&[PLAIN]);
    for start in STARTS {
        let attack = forged("'forged_nack'", start);
        let (open, sealed) = (run(&[PLAIN, &attack]), run(&[PLAIN, &attack, ANSWERS_SEALED]));
        assert!(open.count("/resent_packets") > 1_000, "{}", open.summary);
        assert!(open.acked[0] < calm.acked[0] * 9 / 10, "{:?} of {:?}", open.acked, calm.acked);
        assert_eq!(sealed.count("/resent_packets"), 0);
        assert!(sealed.nearly("/refused_answers/unsealed", "/attacks/0/frames_sent"), "{}", sealed.summary);
        assert!(sealed.acked[0] > calm.acked[0] * 95 / 100, "{:?} of {:?}", sealed.acked, calm.acked);
    }
}

/// Where acknowledgements echo marks nobody sends CNPs, and they are ignored; where receivers send them the seal tells which are theirs.
#[test]
fn forged_cnps_count_only_where_they_are_configured_and_sealed() {
    let cnps = "transport.congestion_notification=cnp";
    let (calm, asked_calm) = (run(&[PLAIN]), run(&[PLAIN, cnps]));
    for start in STARTS {
        let attack = forged("'forged_cnp'", start);
        let unasked = run(&[PLAIN, &attack]);
        assert!(unasked.nearly("/refused_answers/unasked", "/attacks/0/frames_sent"), "{}", unasked.summary);
        assert!(unasked.acked[0] > calm.acked[0] * 95 / 100, "{:?} of {:?}", unasked.acked, calm.acked);
        let (open, sealed) = (run(&[PLAIN, cnps, &attack]), run(&[PLAIN, cnps, &attack, ANSWERS_SEALED]));
        assert!(open.acked[0] < asked_calm.acked[0] / 5, "{:?} of {:?}", open.acked, asked_calm.acked);
        assert!(sealed.nearly("/refused_answers/unsealed", "/attacks/0/frames_sent"), "{}", sealed.summary);
        assert!(sealed.acked[0] > asked_calm.acked[0] * 95 / 100, "{:?} of {:?}", sealed.acked, asked_calm.acked);
    }
}

/// The receiver's pauses stop both flows; what it resumes at the end of the attack goes on. No seal keeps that off.
#[test]
fn forged_pauses_stop_what_passes_until_the_attack_ends() {
    let calm = run(&[PLAIN]);
    let sum = |run: &Run| run.acked.iter().sum::<u64>();
    let attack = "attack=[{kind='forged_pfc', from=3, start='100us'}]";
    for (sets, least, most) in [
        (&[PLAIN, attack][..], 0, 10),
        (&[PLAIN, attack, SEAL, ANSWERS_SEALED], 0, 10),
        (&[PLAIN, "attack=[{kind='forged_pfc', from=5, stop='1500us'}]"], 40, 60),
    ] {
        let paused = run(sets);
        let share = 100 * sum(&paused) / sum(&calm);
        assert!((least..=most).contains(&share), "{sets:?}: {share} % of {:?}", calm.acked);
        assert!(paused.count("/pfc_pauses") > 100, "{}", paused.summary);
    }
}

/// Two flows of one host: one kind of traffic is attacked, the other profits.
#[test]
fn attacks_on_some_traffic_leave_the_rest_alone() {
    let traffic = "traffic=[{kind='flow',name='victim',src=0,dst=3,size='100MB'},{kind='flow',name='spared',src=0,dst=3,size='100MB'}]";
    let calm = run(&[traffic]);
    assert!(calm.acked[0].abs_diff(calm.acked[1]) < calm.acked[0] / 5, "{:?}", calm.acked);
    for attack in
        ["kind='forged_fast_cnp', from=2, pretends=4", "kind='tampered_feedback', from=5, claim='busy', start='100us'"]
    {
        let on = |names: &str| run(&[traffic, &format!("attack=[{{{attack}, victims=[0]{names}}}]")]);
        let (both, first, second) = (on(""), on(", traffic='victim'"), on(", traffic='spared'"));
        assert!(first.acked[0] < calm.acked[0] / 3 && first.acked[1] > calm.acked[1], "{attack}: {:?}", first.acked);
        assert!(second.acked[1] < calm.acked[1] / 3 && second.acked[0] > calm.acked[0], "{attack}: {:?}", second.acked);
        assert!(both.acked.iter().all(|&acked| acked < calm.acked[0] / 2), "{attack}: {:?}", both.acked);
        assert_eq!(on(", traffic='victim, spared'").acked, both.acked);
    }
}

/// Each way of answering can be changed.
#[test]
fn other_answers_are_tampered_with_as_well() {
    for answer in
        ["telemetry.answer=busiest_link", "telemetry.answer=loads", "congestion_control={algorithm='rx_hpcc'}"]
    {
        let sets = [answer, "telemetry.layout=ioam"];
        let (calm, open) = (run(&sets), run(&[sets[0], sets[1], BUSY]));
        assert!(open.goodput() < calm.goodput() / 5.0, "{answer}: {} of {}", open.goodput(), calm.goodput());
    }
}

/// What an attacker does is repeated to the byte.
#[test]
fn an_attack_is_the_same_each_time() {
    let attacks =
        "attack=[{kind='forged_fast_cnp', from=2, pretends=4}, {kind='tampered_feedback', from=5, claim='busy'}]";
    let (first, second) = (run(&[attacks]), run(&[attacks]));
    assert_eq!(first.acked, second.acked);
    assert_eq!(first.summary["attacks"], second.summary["attacks"]);
    assert!(first.count("/attacks/0/frames_sent") > 0 && first.count("/attacks/1/frames_altered") > 0);
}

#[test]
fn attacks_that_cannot_be_are_refused_with_line_and_key() {
    let bench = Bench::new(&[("attack.toml", &format!("{PAIR}[[attack]]\nkind = \"forged_fast_cnp\"\nfrom = 9\n"))]);
    refusal::refused(&bench, "attack.toml", &[], "attack.toml:34:", &["attack.from", "there is no node 9", "0 to 5"]);
    let bench = Bench::new(&[("attack.toml", PAIR)]);
    for (attack, set, key, words) in [
        ("kind='forged_fast_cnp'", "", "attack.from", "from is missing"),
        ("from=2", "", "attack.kind", "kind is missing"),
        ("kind='forged_acks', from=2", "", "attack.kind", "forged_ack"),
        ("kind='forged_ack', from=2, priority=3", "", "attack.priority", "priority belongs to kind"),
        ("kind='forged_nack', from=2, acknowledged='sent'", "", "attack.acknowledged", "acknowledged belongs to kind"),
        ("kind='forged_pfc', from=3, victims=[0]", "", "attack.victims", "victims belongs to kind"),
        (
            "kind='forged_pfc', from=3, priority=5",
            "",
            "attack.priority",
            "priority 5 is never paused here; expected one of 3",
        ),
        ("kind='forged_pfc', from=3", "switch.mode=lossy", "attack.kind", "nobody pauses here"),
        ("kind='forged_pfc', from=2", "", "attack.from", "to host 2, which attacks"),
        ("kind='forged_nack', from=2", "transport.recovery=selective_repeat", "attack.kind", "senders do not go back"),
        ("kind='forged_ack', from=0, victims=[0]", "", "attack.victims", "would attack itself"),
        ("kind='forged_fast_cnp', from=2, speed='1Gbps'", "", "attack.speed", "unknown key speed"),
        ("kind='forged_fast_cnp', from=2, claim='busy'", "", "attack.claim", "claim belongs to kind"),
        ("kind='forged_fast_cnp', from=2, pretends=8", "", "attack.pretends", "no node 8"),
        ("kind='forged_fast_cnp', from=2, victims=[4]", "", "attack.victims", "node 4 is a switch"),
        ("kind='forged_fast_cnp', from=2, victims='none'", "", "attack.victims", "no victims"),
        ("kind='forged_fast_cnp', from=2, traffic='victims'", "", "attack.traffic", "did you mean victim?"),
        ("kind='flooded_fast_cnp', from=2, traffic='victim'", "", "attack.traffic", "belongs to kind"),
        ("kind='forged_fast_cnp', from=2, records=true", "", "attack.from", "expected a switch"),
        (
            "kind='forged_fast_cnp', from=5, records=true",
            "telemetry.layout=int_md",
            "attack.records",
            "no IOAM records",
        ),
        ("kind='forged_fast_cnp', from=2, rate='200Gbps'", "", "attack.rate", "expected at most that"),
        ("kind='forged_fast_cnp', from=2, start='2ms', stop='1ms'", "", "attack.stop", "expected later"),
        ("kind='forged_fast_cnp', from=2", "fast_cnp={enabled=false}", "attack.kind", "no Fast CNP"),
        ("kind='spoofed_icmpv6', from=2", "fast_cnp={enabled=false}", "attack.kind", "no Fast CNP"),
        ("kind='replayed_fast_cnp', from=2", "", "attack.from", "expected a switch"),
        ("kind='tampered_feedback', from=3", "", "attack.from", "expected a switch"),
        ("kind='lying_feedback', from=5", "", "attack.from", "expected a host"),
        ("kind='tampered_feedback', from=5", "congestion_control={algorithm='dcqcn'}", "attack.kind", "no telemetry"),
        ("kind='stripped_feedback', from=5", "telemetry={answer='none'}", "attack.kind", "no telemetry"),
    ] {
        let attack = format!("attack=[{{{attack}}}]");
        let mut sets = vec![attack.as_str()];
        sets.extend(Some(set).filter(|set| !set.is_empty()));
        let told = bench.run("attack.toml", &sets);
        assert_eq!(told.code, Some(2), "{sets:?}: {}", told.err);
        assert!(told.err.contains(key) && told.err.contains(words), "{sets:?}: {}", told.err);
        assert!(!bench.path("out").exists(), "{sets:?} left results");
    }
    let timely = ["congestion_control={algorithm='timely'}", "fast_cnp={enabled=false}", "telemetry={}"];
    let told = bench.run("attack.toml", &[&timely[..], &["attack=[{kind='tampered_feedback', from=5}]"]].concat());
    assert!(told.code == Some(2) && told.err.contains("has no records of links to change"), "{}", told.err);
}
