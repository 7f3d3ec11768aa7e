// SPDX-License-Identifier: GPL-2.0-only
//! What shares no port changes nothing: hosts of one island finish their flows at the same times whatever happens on another.
//! Scenarios are drawn; their number is `HPCC_RANDOM_SCENARIOS`, the first seed `HPCC_RANDOM_SEED`.

use hpcc_tests::{Bench, Run, ScenarioRng, seeds};

const ALGORITHMS: &[&str] =
    &["hpcc", "hpcc_plus", "rx_hpcc", "hpcc_pint", "dcqcn", "timely", "dctcp", "power_tcp", "swift", "bolt", "none"];
const SCHEMES: &[&str] = &["ecmp", "random", "drill", "adaptive", "oblivious", "flowlet", "conga"];
const RECOVERIES: &[&str] = &["go_back_n", "selective_repeat", "sack"];

/// Two islands of six hosts, two leaves and two spines: hosts 0 to 5 with switches 12 to 15, and 6 to 11 with 16 to 19. Spines 14 and
/// 18 are linked, which nobody uses.
fn network(rng: &mut ScenarioRng) -> String {
    let leaf = |host: u32| 12 + host / 6 * 4 + host % 6 / 3;
    let of_hosts = (0..12).map(|host| (host, leaf(host)));
    let of_leaves =
        [12, 16].into_iter().flat_map(|leaf| [(0, 2), (0, 3), (1, 2), (1, 3)].map(|(a, b)| (leaf + a, leaf + b)));
    let second = rng.chance(30).then_some((0, 13));
    let links = of_hosts.chain(of_leaves).chain([(14, 18)]).chain(second);
    let links: Vec<String> = links.map(|(a, b)| format!("{{ a = {a}, b = {b} }}")).collect();
    let rate = rng.one_of(&["25Gbps", "40Gbps", "100Gbps"]);
    format!(
        "[topology]\nkind = 'links'\nhosts = 12\nswitches = 8\nrate = '{rate}'\ndelay = '1us'\nlinks = [{}]\n",
        links.join(", ")
    )
}

/// Traffic among the six hosts from `first` on.
fn traffic(rng: &mut ScenarioRng, first: u64) -> String {
    let hosts = format!("{first}-{}", first + 5);
    let mut text = String::new();
    for _ in 0..1 + rng.below(3) {
        let section = match rng.below(8) {
            0 => format!(
                "kind = 'incast'\nreceiver = {}\nsenders = [{first}, {}, {first}]\nsize = '60KB'",
                first + 4,
                first + 1
            ),
            1 => format!("kind = 'permutation'\nhosts = '{hosts}'\nsize = '{}KB'", 5 + 60 * rng.below(4)),
            2 => format!("kind = 'flow'\nsrc = {first}\ndst = {}\nsize = '300KB'\nrate = '10Gbps'", first + 4),
            3 => format!(
                "kind = 'poisson'\nhosts = '{hosts}'\nload = 0.{}\nsizes = 'websearch'\nduration = '100us'",
                2 + rng.below(5)
            ),
            4 => format!(
                "kind = 'random_incast'\nhosts = '{hosts}'\nfan_in = 3\nload = 0.1\nsize = '20KB'\nduration = '200us'"
            ),
            5 => format!("kind = 'all_to_all'\nhosts = '{hosts}'\npeers = 3\nsize = '20KB'"),
            6 => format!("kind = 'flow'\nsrc = {first}\ndst = {}\nsize = 'endless'\nstop = '120us'", first + 3),
            _ => format!(
                "kind = 'collective'\noperation = 'all_to_all'\nsize = '100KB'\nranks = '{hosts}'\nplacement = 'random'"
            ),
        };
        text += &format!("[[traffic]]\n{section}\nstart = '{}us'\n", rng.below(40));
        if rng.chance(50) {
            text += &format!("name = 's{}'\n", rng.below(1_000_000));
        }
    }
    text
}

/// What happens on the second island: sections before and behind the traffic of the first, and a setting of the network.
fn elsewhere(rng: &mut ScenarioRng, kind: u64) -> (String, String, &'static str) {
    let (front, back) = (traffic(rng, 6), traffic(rng, 6));
    let (front, back) = match kind % 3 {
        0 => (front, String::new()),
        1 => (String::new(), back),
        _ => (front, back),
    };
    let more = match kind {
        0 => {
            "[failures]\nlinks = [{ time = '25us', a = 16, b = 18, until = '60us' }, { time = '40us', a = 9, b = 17, until = '90us' }]\n"
        }
        1 => "[failures]\ndegraded = [{ time = '20us', a = 16, b = 18, bit_errors = 1e-6, until = '200us' }]\n",
        2 => "[failures]\nstorms = [{ host = 8, time = '10us', until = '100us' }]\n",
        3 => "[monitor]\nqueue_interval = '3us'\ngoodput_interval = '5us'\ntrace_nodes = [6, 16]\npauses = true\n",
        4 => "[[attack]]\nkind = 'forged_pfc'\nfrom = 7\nrate = '10Mbps'\n",
        _ => "",
    };
    (front, format!("{back}{more}"), if kind == 5 { "a = 6, b = 16 }, {" } else { "" })
}

/// The rows of flows that hosts of the first island send.
fn rows(bench: &Bench, toml: &str) -> Result<Vec<String>, String> {
    bench.write("run.toml", toml);
    let output = bench.run("run.toml", &[]);
    if !matches!(output.code, Some(0 | 3)) {
        return Err(output.err);
    }
    let is_first = |row: &&str| {
        let source = row.split(' ').next().and_then(|address| u32::from_str_radix(address, 16).ok());
        source.is_some_and(|address| (address >> 8 & 0xffff) < 6)
    };
    let fct = bench.read("out/fct.txt");
    let mut rows: Vec<String> = fct.lines().filter(is_first).map(str::to_owned).collect();
    rows.sort();
    Ok(rows)
}

fn compare(seed: u64) -> Result<usize, String> {
    let mut rng = ScenarioRng::new(seed, 7);
    let network = network(&mut rng);
    let sections = traffic(&mut rng, 0);
    let (algorithm, scheme, recovery) = (rng.one_of(ALGORITHMS), rng.one_of(SCHEMES), rng.one_of(RECOVERIES));
    let entropy = rng.one_of(&["flow", "flow", "oblivious", "reps"]);
    let mode = rng.one_of(&["lossless", "lossy"]);
    // Who forges pauses needs neighbours that heed them.
    let mode = if seed % 6 == 4 { "lossless" } else { mode };
    let common = format!(
        "[run]\nstop = '20ms'\nseed = {seed}\n[congestion_control]\nalgorithm = '{algorithm}'\n[load_balancing]\n\
         scheme = '{scheme}'\n[transport]\nrecovery = '{recovery}'\nentropy = '{entropy}'\n[switch]\nmode = '{mode}'\nbuffer = '2MB'\n"
    );
    let (front, back, lossy) = elsewhere(&mut rng, seed % 6);
    let changed = match lossy {
        "" => network.clone(),
        // A link of the second island loses frames.
        _ => network.replace("{ a = 6, b = 16 }", "{ a = 6, b = 16, loss = 0.02 }"),
    };
    let bench = Bench::new(&[]);
    let alone = rows(&bench, &format!("{common}{network}{sections}"));
    let beside = rows(&bench, &format!("{common}{changed}{front}{sections}{back}"));
    match (alone, beside) {
        (Ok(alone), Ok(beside)) if alone == beside => Ok(alone.len()),
        (Ok(alone), Ok(beside)) => {
            let first = alone.iter().zip(&beside).find(|(a, b)| a != b);
            Err(format!("seed {seed}: {first:?}\n{common}{changed}{front}# mine\n{sections}# theirs\n{back}"))
        }
        (Err(why), _) | (_, Err(why)) => Err(format!("seed {seed}: {why}")),
    }
}

#[test]
fn what_shares_no_port_changes_nothing() {
    let (same, wrong): (Vec<_>, Vec<_>) = seeds(24).map(compare).partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let flows: usize = same.into_iter().filter_map(Result::ok).sum();
    assert!(flows > 0, "none");
}

/// Two leaves of three hosts; flows from 0 and 1 to 2, two of each.
const LEAVES: &str = "[run]\nstop = '3ms'\n[topology]\nkind = 'leaf_spine'\nleaves = 2\nhosts_per_leaf = 3\nspines = 1\nrate = '40Gbps'\n\
    delay = '3us'\n[[traffic]]\nkind = 'incast'\nreceiver = 2\nsenders = [0, 1]\nsize = '300KB'\n\
    [[traffic]]\nkind = 'incast'\nreceiver = 2\nsenders = [0, 1]\nsize = '300KB'\n";
const JOB: &str =
    "[[traffic]]\nkind = 'collective'\noperation = 'all_reduce'\nsize = '100KB'\nranks = [3, 4, 5]\nname = 'job'\n";

/// Messages of the job share a queue pair from one host to the next; the flows do not, unless the key says so.
#[test]
fn a_job_leaves_the_queue_pairs_of_other_flows_alone() {
    let times = |toml: &str, set: &[&str]| Run::of(toml, set).durations()[..4].to_vec();
    let both = format!("{LEAVES}{JOB}");
    let alone = times(LEAVES, &[]);
    assert_eq!(times(&both, &[]), alone);
    assert_eq!(times(&both, &["transport.queue_pairs=per_flow"]), alone);
    let shared = times(&both, &["transport.queue_pairs=per_pair"]);
    assert_ne!(shared, alone);
    assert_eq!(shared, times(LEAVES, &["transport.queue_pairs=per_pair"]));
    let of_job = |set: &[&str]| Run::of(&both, set).durations()[4..].to_vec();
    assert_eq!(of_job(&[]), of_job(&["transport.queue_pairs=per_pair"]));
}

/// A link that no flow uses fails, and comes up: each host's round robin goes on where it was.
#[test]
fn a_failure_elsewhere_leaves_turns_alone() {
    let toml = "[run]\nstop = '3ms'\n[topology]\nkind = 'leaf_spine'\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\nrate = '10Gbps'\n\
                delay = '3us'\n[[traffic]]\nkind = 'all_to_all'\nhosts = '0-3'\nsize = '30KB'\n";
    let failure = "failures.links=[{time='20us',a=4,b=9,until='300us'}]";
    assert_eq!(Run::of(toml, &[failure]).durations(), Run::of(toml, &[]).durations());
}

/// A name is a chance: other sections may come before, keys may change. Without a name, all that a section says is.
#[test]
fn a_random_section_keeps_its_chance_by_its_name() {
    let network = "[run]\nstop = '3ms'\n[topology]\nkind = 'star'\nhosts = 8\nrate = '100Gbps'\ndelay = '1us'\n";
    let section = |name: &str, load: &str| {
        format!(
            "[[traffic]]\nkind = 'random_incast'\nhosts = '0-7'\nfan_in = 2\nload = {load}\nsize = '10KB'\nduration = '1ms'\n{name}\n"
        )
    };
    let pairs = |sections: &[&str], skip: bool| {
        let bench = Bench::new(&[("run.toml", &format!("{network}{}", sections.concat()))]);
        let scenario = hpcc_formats::load(&bench.path("run.toml"), &[]).expect("valid");
        let last = scenario.flows.groups.len() as u32 - 1;
        let flows = scenario.flows.walk_groups().map(|flow| flow.expect("a flow"));
        let own = flows.filter(|(group, _)| !skip || *group == last);
        own.map(|(_, flow)| (flow.src, flow.dst)).collect::<Vec<_>>()
    };
    let (named, unnamed) = (section("name = 'mine'", "0.1"), section("", "0.1"));
    let other = section("name = 'other'", "0.2");
    for mine in [&named, &unnamed] {
        assert_eq!(pairs(&[&other, mine], true), pairs(&[mine], false));
        assert_ne!(pairs(&[mine], false)[..10], pairs(&[&other], false)[..10]);
    }
    let common = |more: &[(u32, u32)]| more[..20].to_vec();
    let busier = section("name = 'mine'", "0.3");
    assert_eq!(common(&pairs(&[&busier], false)), common(&pairs(&[&named], false)));
    assert_ne!(common(&pairs(&[&section("", "0.3")], false)), common(&pairs(&[&unnamed], false)));
}
