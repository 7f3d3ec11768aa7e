// SPDX-License-Identifier: GPL-2.0-only
//! What `packets.tr` says of PFC frames, of a link that fails, and of a buffer that overflows.

use hpcc_model::results::packet_trace::{PacketKind, TraceEvent, TraceReader, TraceRecord};
use hpcc_tests::{Bench, REFERENCE};

/// Port of the switch at which host 2 is, counted from 1.
const TO_RECEIVER: u8 = 3;

/// Two hosts each send to host 2 and host 0 through switch 3 at line rate, and overrun a buffer of 1 MiB. Everything is
/// traced.
fn trace(settings: &[&str]) -> Vec<TraceRecord> {
    trace_of_priority(3, settings)
}

fn trace_of_priority(priority: u8, settings: &[&str]) -> Vec<TraceRecord> {
    let bench = Bench::new(REFERENCE);
    bench.edit("config.txt", "ENABLE_TRACE 0", "ENABLE_TRACE 1 TRACE_FILE trace.txt PAUSE_TIME 7.9");
    bench.edit("config.txt", "BUFFER_SIZE 32", "BUFFER_SIZE 1");
    bench.edit("config.txt", "CC_MODE 3", "CC_MODE 5 HAS_WIN 0");
    bench.write("trace.txt", "4 0 1 2 3");
    let pairs = ["0 2", "1 2", "1 0", "2 0"].map(|pair| format!("{pair} {priority} 100 1000000 2.0"));
    bench.write("flow.txt", &format!("{}\n{}\n", pairs.len(), pairs.join("\n")));
    let told = bench.run("config.txt", settings);
    assert!(matches!(told.code, Some(0 | 3)), "{}", told.err);
    let reader = TraceReader::open(&bench.path("out/packets.tr")).expect("trace");
    reader.collect::<Result<_, _>>().expect("records")
}

fn of(records: &[TraceRecord], kind: PacketKind, event: TraceEvent) -> Vec<TraceRecord> {
    records.iter().filter(|record| (record.kind, record.event) == (kind, event)).copied().collect()
}

/// PFC frames come from an address of the link, which the 2019 simulator numbers by the topology file, and say how much
/// waits at their port. What arrives while one waits for its port finds it in queue 0.
#[test]
fn pfc_frames_have_the_addresses_of_their_link_and_say_how_much_waits() {
    let records = trace(&[]);
    let (mut waiting, mut told, mut resumes) = ([0; 4], 0, 0);
    for record in &records {
        if record.kind == PacketKind::Pfc {
            let host = if record.is_switch { u32::from(record.port) - 1 } else { u32::from(record.node) };
            assert_eq!(record.is_switch, record.event != TraceEvent::Receive);
            assert_eq!((record.src_address, record.dst_address), (0x0a01_0102 + (host << 8), u32::MAX), "{record}");
            assert_eq!((record.queue, record.priority, record.size_bytes), (0, 3, 43));
            assert!([0, 7].contains(&record.pause), "{record}");
            resumes += u32::from(record.pause == 0);
        }
        if !record.is_switch {
            continue;
        }
        let bytes = &mut waiting[usize::from(record.port)];
        match (record.kind, record.event) {
            (PacketKind::Pfc, TraceEvent::Enqueue) => {
                assert_eq!(record.seq, *bytes, "{record}");
                told += u32::from(record.seq > 0);
            }
            (PacketKind::Data | PacketKind::Ack, TraceEvent::Enqueue) => *bytes += u32::from(record.size_bytes),
            (PacketKind::Data | PacketKind::Ack, TraceEvent::Dequeue) => *bytes -= u32::from(record.size_bytes),
            (_, TraceEvent::Receive) => {
                assert!(record.queue == 0 && [0, 43].contains(&record.qlen_bytes), "{record}");
            }
            _ => {}
        }
    }
    assert!(told > 0 && resumes > 0);
}

#[test]
fn a_failed_link_drops_what_waits_and_what_arrives() {
    let records = trace(&["LINK_DOWN=40 2 3"]);
    let drops: Vec<&TraceRecord> = records.iter().filter(|record| record.event == TraceEvent::Drop).collect();
    assert!(drops.iter().all(|record| record.time_ns >= 2_000_040_000));
    let waiting: Vec<_> = drops.iter().filter(|record| record.is_switch && record.queue == 3).collect();
    assert!(waiting.len() > 10 && waiting.iter().all(|record| record.port == TO_RECEIVER));
    assert_eq!(waiting.last().map(|record| record.qlen_bytes), Some(0), "the last one leaves nothing");
    let failed_at = |record: &&&TraceRecord| record.time_ns == 2_000_040_000;
    assert_eq!(waiting.iter().filter(|record| failed_at(record)).count(), waiting.len());
    let arriving = drops.iter().filter(|record| !record.is_switch && record.kind == PacketKind::Data);
    assert!(arriving.clone().count() > 5, "1 us of packets was under way");
    assert!(arriving.clone().all(|record| record.node == 2 && record.queue == 0));
}

/// The 2019 simulator knows one link between two nodes, the last one, and its trace lists the ports of that.
#[test]
fn the_header_lists_the_ports_that_are_used() {
    let ports = |settings: &[&str]| {
        let bench = Bench::new(REFERENCE);
        bench.edit("config.txt", "ENABLE_TRACE 0", "ENABLE_TRACE 1 TRACE_FILE trace.txt");
        bench.write(
            "topology.txt",
            "4 1 4\n3\n0 3 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n",
        );
        bench.write("trace.txt", "1 3");
        let told = bench.run("config.txt", settings);
        assert_eq!(told.code, Some(0), "{}", told.err);
        let reader = TraceReader::open(&bench.path("out/packets.tr")).expect("trace");
        reader.ports.iter().filter(|port| port.node == 3).map(|port| port.port).collect::<Vec<_>>()
    };
    assert_eq!(ports(&[]), [2, 3, 4]);
    assert_eq!(ports(&["compatibility.last_parallel_link=false"]), [1, 2, 3, 4]);
}

/// Pauses that are resumes make the buffer overflow. The 2019 simulator does not tell.
#[test]
fn an_overflow_is_traced_but_not_in_the_reference() {
    let overflow = ["PAUSE_TIME=0.5"];
    assert!(trace(&overflow).iter().all(|record| record.event != TraceEvent::Drop));
    let told = trace(&[&overflow[..], &["compatibility.untraced_overflow=false"]].concat());
    let drops = of(&told, PacketKind::Data, TraceEvent::Drop);
    assert!(!drops.is_empty() && drops.iter().all(|record| record.node == 3));
    assert!(of(&told, PacketKind::Pfc, TraceEvent::Receive).iter().all(|pfc| pfc.pause == 0));
}

/// Data of priority 0 shares the queue of PFC frames, and neither it nor its sender is ever held up.
#[test]
fn data_of_priority_0_is_never_paused() {
    let records = trace_of_priority(0, &[]);
    assert!(records.iter().all(|record| record.kind != PacketKind::Pfc && record.event != TraceEvent::Drop));
    let at_switch = |record: &&TraceRecord| record.is_switch;
    assert!(records.iter().filter(at_switch).all(|record| (record.queue, record.priority, record.ecn) == (0, 0, 0)));
    let sent = of(&records, PacketKind::Data, TraceEvent::Dequeue);
    assert_eq!(sent.iter().filter(at_switch).count(), 4_000, "each packet once");
    assert!(sent.iter().any(|record| record.qlen_bytes > 400_000), "more than pauses would allow");
}
