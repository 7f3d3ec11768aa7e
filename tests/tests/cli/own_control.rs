// SPDX-License-Identifier: GPL-2.0-only
//! A congestion control of one's own in a file of C++ or Rust: `--control`.

use hpcc_tests::{Bench, TOML};

/// A program with a controller in C++, from which users start.
const QUEUE_TARGET: &str = include_str!("../../../scratch/hpcc-own-control.cc");

/// The controller in Rust of the guide, without the test.
fn of_guide() -> &'static str {
    let guide = include_str!("../../../ns3-module/doc/adding-a-controller.md");
    guide.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("// Its test")).expect("a controller").0
}

/// The guide's law in C++.
const AIMD: &str = r#"// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"

#include <algorithm>

namespace ns3
{

/// Additive increase, multiplicative decrease on ECN marks.
class Aimd : public RdmaCongestionOps
{
  public:
    /// \return this type
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::Aimd").SetParent<RdmaCongestionOps>().AddConstructor<Aimd>();
        return tid;
    }

    void Start(const Limits& limits) override
    {
        m_line = limits.lineRate.GetBitRate();
        m_rate = m_line;
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        m_congested = m_congested || feedback.congestionMarked;
        if (feedback.ackSeq <= m_roundEnd)
        {
            return {};
        }
        m_rate = m_congested ? m_rate / 2 : m_rate + 100'000'000;
        m_rate = std::min<uint64_t>(std::max<uint64_t>(m_rate, 100'000'000), m_line);
        m_roundEnd = feedback.sndNxt;
        m_congested = false;
        Decision decision{false, DataRate(m_rate)};
        decision.repace = true;
        return decision;
    }

    Decision OnLoss(const Loss&) override
    {
        m_congested = true;
        return {};
    }

  private:
    uint64_t m_line{0};      //!< bit/s of the port
    uint64_t m_rate{0};      //!< bit/s
    uint64_t m_roundEnd{0};  //!< the round trip ends with this byte
    bool m_congested{false}; //!< whether a mark or a loss came in it
};

NS_OBJECT_ENSURE_REGISTERED(Aimd);

} // namespace ns3
"#;

/// Networks and flows where the law has marks, losses, pauses and idle links to go by.
const CROWDED: [(&str, &[&str]); 5] = [
    ("kind='star', hosts=5, rate='25Gbps', delay='1us'", &[]),
    ("kind='star', hosts=5, rate='100Gbps', delay='5us'", &["topology.loss=0.001", "transport.timeout='500us'"]),
    ("kind='dumbbell', left=4, right=1, rate='100Gbps', delay='1us'", &["transport.recovery=selective_repeat"]),
    (
        "kind='parking_lot', switches=3, hosts_per_switch=2, rate='40Gbps', delay='700ns'",
        &["switch.mode=lossy", "transport.timeout='1ms'"],
    ),
    ("kind='leaf_spine', leaves=2, spines=2, hosts_per_leaf=3, rate='50Gbps', delay='1us'", &["transport.mtu=4000"]),
];

#[test]
fn one_file_is_a_controller_of_runs_and_sweeps() {
    let bench = Bench::new(TOML);
    bench.write("my_cc.cc", QUEUE_TARGET);
    let choice = "congestion_control.algorithm=ns3::QueueTarget";
    let run = ["run", "scenario.toml", "--control", "my_cc.cc", "--set", choice];
    let ran = bench.hpcc(&[&run[..], &["--set", "congestion_control.Target=20000", "--out", "own"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(bench.read("own/summary.json").contains("\"Target\": \"20000\""), "{}", bench.read("own/summary.json"));

    let sweep = format!(
        "title = \"Own\"\nbase = \"scenario.toml\"\n[[variant]]\nname = \"hpcc\"\n\
         [[variant]]\nname = \"own\"\nset = [\"{choice}\", \"congestion_control.Target=20000\"]\n\
         [[claim]]\ntext = \"It ends\"\nexpected = \"-\"\nmeasure = \"unfinished\"\nof = \"own\"\nholds = {{ at_most = 0 }}\n"
    );
    bench.write("sweep.toml", &sweep);
    let swept = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_cc.cc", "--out", "swept"]);
    assert!(swept.code == Some(0) && swept.out.contains("holds"), "{}{}", swept.out, swept.err);
    assert_eq!(bench.read("swept/own/fct.csv"), bench.read("own/fct.csv"), "the same run");
    assert_ne!(bench.read("swept/hpcc/fct.csv"), bench.read("own/fct.csv"), "another controller");

    assert!(ran.err.contains("compiling") && !swept.err.contains("compiling"), "it is compiled once: {}", swept.err);

    // Another file is another program: nothing of it is kept, and all of the engine alone. What it is called in is known to the line.
    bench.edit("my_cc.cc", "1.0 - excess / 2", "1.0 - excess / 4");
    let again = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_cc.cc", "--out", "swept"]);
    assert!(again.code == Some(0) && again.err.contains("1 of 2 runs are kept"), "{}", again.err);
    assert!(again.err.contains("compiling"), "{}", again.err);
    assert_ne!(bench.read("swept/own/fct.csv"), bench.read("own/fct.csv"), "it is slower to give way");
    bench.edit("sweep.toml", "Target=20000", "Targets=20000");
    let wrong = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_cc.cc", "--list"]);
    let words =
        "sweep.toml:7: congestion_control.Targets: unknown key Targets in [congestion_control]; did you mean Target?";
    assert!(wrong.code == Some(2) && wrong.err.contains(words), "{}", wrong.err);
}

#[test]
fn what_is_no_controller_is_told_before_anything_runs() {
    let bench = Bench::new(TOML);
    bench.write("my_cc.cc", QUEUE_TARGET);
    bench.write("broken.cc", &QUEUE_TARGET.replace("m_limits = limits;", "m_limits = limit;"));
    bench.write("none.cc", &QUEUE_TARGET.replace("NS_OBJECT_ENSURE_REGISTERED(QueueTarget);", ""));
    bench.write("text.so", "no library");
    for (file, words) in [
        ("broken.cc", "error: "),
        ("none.cc", "none.cc: it has no controller"),
        ("absent.cc", "absent.cc: no such file"),
        ("scenario.toml", "scenario.toml: expected a file in C++, *.cc"),
        ("text.so", "text.so: it has no controller"),
    ] {
        let output = bench.hpcc(&["run", "scenario.toml", "--control", file, "--out", "out"]);
        assert!(output.code == Some(2) && output.err.contains(words), "{file}: {:?} {}", output.code, output.err);
        assert!(!bench.path("out").exists(), "{file}: something ran");
    }
    let report = bench.hpcc(&["report", "out", "--control", "my_cc.cc"]);
    assert!(report.err.contains("--control belongs to run, sweep and reproduce"), "{}", report.err);
}

#[test]
fn a_file_in_rust_is_a_controller_without_ns3() {
    let bench = Bench::new(TOML);
    bench.write("my_rs.rs", of_guide());
    let choice = "congestion_control.algorithm=aimd";
    let run = |out: &str, decrease: &str| {
        let share = format!("congestion_control.decrease={decrease}");
        bench.hpcc(&["run", "scenario.toml", "--control", "my_rs.rs", "--set", choice, "--set", &share, "--out", out])
    };
    let ran = run("own", "0.25");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(bench.read("own/summary.json").contains("\"decrease\": 0.25"), "{}", bench.read("own/summary.json"));
    assert_eq!(run("own", "0.25").code, Some(0), "the same configuration");
    let other = run("own", "0.5");
    assert!(
        other.code == Some(2) && other.err.contains("congestion_control.decrease is 0.25, not 0.5"),
        "{}",
        other.err
    );
    let refused = run("wrong", "2");
    assert!(refused.code == Some(2) && refused.err.contains("congestion_control.decrease"), "{}", refused.err);
    let sweep = format!(
        "title = \"Own\"\nbase = \"scenario.toml\"\n[[variant]]\nname = \"hpcc\"\n\
         [[variant]]\nname = \"own\"\nset = [\"{choice}\", \"congestion_control.decrease=0.25\"]\n"
    );
    bench.write("sweep.toml", &sweep);
    let swept = bench.hpcc(&["sweep", "sweep.toml", "--control", "my_rs.rs", "--out", "swept"]);
    assert_eq!(swept.code, Some(0), "{}", swept.err);
    assert_eq!(bench.read("swept/own/fct.csv"), bench.read("own/fct.csv"), "the same run");
    bench.edit("my_rs.rs", "self.congested |=", "self.congestd |=");
    let broken = run("broken", "0.25");
    assert!(broken.code == Some(2) && broken.err.contains("no field `congestd`"), "{}", broken.err);
}

/// Whether the rate applies at once or to the packets after the next one: either way both languages give the same bytes.
#[test]
fn one_law_is_the_same_in_cpp_and_in_rust() {
    let bench = Bench::new(&[]);
    bench.write("aimd.rs", of_guide());
    bench.write("aimd.cc", AIMD);
    let (at_once, mut apart) = (["Repace(self.rate)", "repace = true"], 0);
    let later = ["Set(self.rate)", "repace = false"];
    for (n, words) in [at_once, later].into_iter().enumerate() {
        for ((file, from), to) in ["aimd.rs", "aimd.cc"].into_iter().zip(at_once).zip(words) {
            bench.edit(file, from, to);
        }
        for (case, (topology, set)) in CROWDED.iter().enumerate() {
            let scenario = format!(
                "run = {{ stop = '20ms' }}\ntopology = {{ {topology} }}\ntransport = {{ ack_priority = 0 }}\n\
                 [[traffic]]\nkind = 'incast'\nreceiver = 0\nsender_count = 3\nsize = '1MB'\n\
                 [[traffic]]\nkind = 'permutation'\nsize = '300KB'\nstart = '50us'\n"
            );
            bench.write("crowded.toml", &scenario);
            let flows = ["cc", "rs"].map(|end| {
                let algorithm = if end == "cc" { "ns3::Aimd" } else { "aimd" };
                let (file, out) = (format!("aimd.{end}"), format!("{n}-{case}-{end}"));
                let choice = format!("congestion_control.algorithm={algorithm}");
                let mut words = vec!["run", "crowded.toml", "--control", &file, "--out", &out, "--set", &choice];
                set.iter().for_each(|set| words.extend(["--set", set]));
                let ran = bench.hpcc(&words);
                assert!(matches!(ran.code, Some(0 | 3)), "{topology} {set:?}: {}", ran.err);
                bench.read(&format!("{out}/fct.csv")) + &bench.read(&format!("{out}/unfinished.csv"))
            });
            assert_eq!(flows[0], flows[1], "{topology} {set:?}, {words:?}");
            apart += u64::from(
                n == 1
                    && flows[0]
                        != bench.read(&format!("0-{case}-rs/fct.csv"))
                            + &bench.read(&format!("0-{case}-rs/unfinished.csv")),
            );
        }
    }
    assert!(apart >= 2, "the two decisions differ in {apart} of {} cases", CROWDED.len());

    // Both are variants of one sweep, and a third from another file in Rust.
    bench.write(
        "fixed.rs",
        &bench
            .read("aimd.rs")
            .replace("\"aimd\"", "\"fixed\"")
            .replace("Set(self.rate)", "Set(BitRate(self.rate.0 / 2))"),
    );
    let variants = ["hpcc", "ns3::Aimd", "aimd", "fixed"];
    let variant = |(n, name): (usize, &&str)| {
        format!("[[variant]]\nname = \"v{n}\"\nset = [\"congestion_control.algorithm={name}\"]\n")
    };
    let listed: String = variants.iter().enumerate().map(variant).collect();
    bench.write("sweep.toml", &format!("title = \"Own\"\nbase = \"crowded.toml\"\n{listed}"));
    let files = ["aimd.rs", "aimd.cc", "fixed.rs"].iter().flat_map(|file| ["--control", file]);
    let words: Vec<&str> = ["sweep", "sweep.toml", "--out", "swept"].into_iter().chain(files).collect();
    let swept = bench.hpcc(&words);
    assert!(matches!(swept.code, Some(0 | 3)), "{}", swept.err);
    assert!(swept.err.contains("ns-3 simulates 1 of 4 runs: ns3::Aimd is written in C++"), "{}", swept.err);
    let flows = [0, 1, 2, 3].map(|n| bench.read(&format!("swept/v{n}/fct.csv")));
    assert_eq!(flows[1], flows[2]);
    assert_ne!(flows[0], flows[1]);
    assert_ne!(flows[2], flows[3]);
    let twice =
        bench.hpcc(&["run", "crowded.toml", "--control", "aimd.rs", "--control", "./aimd.rs", "--out", "twice"]);
    assert!(twice.code == Some(2) && twice.err.contains("two files have a controller aimd"), "{}", twice.err);
}

/// A timer that goes on while nothing is to be sent, in a job whose messages wait for each other.
const TICK: &str = r#"#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"

namespace ns3
{

/// It looks at its clock each 7 us from its first acknowledgement on.
class Tick : public RdmaCongestionOps
{
  public:
    /// \return this type
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::Tick").SetParent<RdmaCongestionOps>().AddConstructor<Tick>();
        return tid;
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        if (!m_isArmed)
        {
            m_isArmed = true;
            Arm(0, feedback.now + 7'000);
        }
        return {};
    }

    Decision OnTimer(uint8_t, uint64_t now) override
    {
        NS_ABORT_MSG_UNLESS(uint64_t(Simulator::Now().GetNanoSeconds()) == now, "another time");
        Arm(0, now + 7'000);
        return {};
    }

  private:
    bool m_isArmed{false}; //!< whether it has begun
};

NS_OBJECT_ENSURE_REGISTERED(Tick);

} // namespace ns3
"#;

#[test]
fn a_timer_in_cpp_goes_on_while_a_queue_pair_is_idle() {
    let bench = Bench::new(&[]);
    bench.write("tick.cc", TICK);
    bench.write(
        "ring.toml",
        "run = { stop = '2ms' }\ntopology = { kind = 'star', hosts = 4, rate = '100Gbps', delay = '1us' }\n\
         congestion_control = { algorithm = 'ns3::Tick' }\n\
         traffic = [{ kind = 'collective', operation = 'all_reduce', size = '1MB', iterations = 3 }]\n",
    );
    let run = ["run", "ring.toml", "--control", "tick.cc", "--out", "out"];
    for _ in 0..2 {
        let ran = bench.hpcc(&run);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}
