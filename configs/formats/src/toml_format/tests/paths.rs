// SPDX-License-Identifier: GPL-2.0-only
//! Notes on the paths of flows: that there is but one, and that records are too few for them or do not tell them apart.

use super::*;

#[test]
fn a_choice_of_paths_where_there_is_one_is_noted() {
    let text = |kind: &str| {
        with_topology(&format!("{kind}\nrate='25Gbps'\ndelay='1us'"))
            + "[[traffic]]\nkind='flow'\nsrc=0\ndst=1\nsize=1\n[wire]\nprofile='rocev2_ipv6'\n"
    };
    let notes = |kind: &str, set: &[&str]| {
        let set = [&["congestion_control.algorithm=hpcc_plus", "telemetry.layout=paper"], set].concat();
        let notes = load_with(text(kind), &set).expect("valid").notes;
        notes.into_iter().filter(|note| note.contains("nothing to choose from")).collect::<Vec<_>>()
    };
    let (star, spines) = ("kind='star'\nhosts=2", "kind='leaf_spine'\nleaves=2\nspines=2\nhosts_per_leaf=1");
    let migrate = ["fast_cnp.enabled=true", "fast_cnp.migrate=true"];
    for (set, key) in [(&["telemetry.paths=2"][..], "telemetry.paths"), (&migrate, "fast_cnp.migrate")] {
        assert!(notes(star, set)[0].contains(key), "{key}");
        assert!(notes(spines, set).is_empty(), "{key}");
    }
    assert!(notes(star, &[]).is_empty());
}

/// Two hosts beside each other in a ring of seven switches, until the link between their switches fails.
#[test]
fn paths_that_a_failure_makes_too_long_are_noted() {
    let chain: String = (2..8).map(|node| format!("{{a={node},b={}}},", node + 1)).collect();
    let ring = format!(
        "kind='links'\nhosts=2\nswitches=7\nrate='25Gbps'\ndelay='1us'\nlinks=[{{a=0,b=2}},{{a=1,b=3}},{chain}{{a=8,b=2}}]"
    );
    let notes = |failed: &str, layout: &str| {
        let text = with_topology(&ring)
            + &format!("[[traffic]]\nkind='flow'\nsrc=0\ndst=1\nsize=1\n[failures]\nlinks=[{failed}]\n");
        let set = ["congestion_control.algorithm=hpcc_plus", "wire.profile=rocev2_ipv6", layout];
        load_with(&text, &set)
            .expect("valid")
            .notes
            .into_iter()
            .filter(|note| note.contains("switches"))
            .collect::<Vec<_>>()
    };
    let detour = "{time='1us',a=2,b=3,until='9us'}";
    let told = notes(detour, "telemetry.layout=ioam");
    assert!(told[0].starts_with("1 of 1 flows pass more than 5 switches while links are down"), "{told:?}");
    assert!(notes(detour, "telemetry.layout=int_md").is_empty());
    assert!(notes("{time='1us',a=4,b=5}", "telemetry.layout=ioam").is_empty());
    // Not while both are down: then there is no path.
    let until = "{time='1us',a=4,b=5,until='9us'},{time='5us',a=2,b=3}";
    assert_eq!(notes(until, "telemetry.layout=ioam").len(), 1);
    let apart = "{time='1us',a=2,b=3,until='9us'},{time='9us',a=4,b=5}";
    assert_eq!(notes(apart, "telemetry.layout=ioam").len(), 1);
    assert!(notes("{time='1us',a=2,b=3},{time='1us',a=4,b=5}", "telemetry.layout=ioam").is_empty());
}

/// With the reference's layout a link's failure takes a flow to its lowest rate, for the records of two links are compared.
#[test]
fn paths_that_change_unseen_are_noted() {
    let links = "kind='links'\nhosts=2\nswitches=4\nrate='25Gbps'\ndelay='1us'\n\
        links=[{a=0,b=2},{a=2,b=3},{a=2,b=4},{a=3,b=5},{a=4,b=5},{a=5,b=1}]";
    let flow = "[[traffic]]\nkind='flow'\nsrc=0\ndst=1\nsize=1\n";
    let fail = "[failures]\nlinks=[{time='1us',a=2,b=3}]\n";
    let notes = |more: &str, set: &[&str]| {
        let text = with_topology(links) + flow + more + "[congestion_control]\nalgorithm='hpcc_plus'\n";
        load_with(&text, set).expect("valid").notes
    };
    let reference = "telemetry.layout=reference";
    let told = notes(fail, &[reference]);
    assert!(told[0].starts_with("links fail, and records of layout = \"reference\" do not say"), "{told:?}");
    let is_noted = |more, set: &[&str]| notes(more, set).iter().any(|note| note.contains("do not say"));
    assert!(!is_noted(fail, &[]));
    assert!(!is_noted("", &[reference]));
    assert!(!is_noted(fail, &["congestion_control.algorithm=dcqcn"]));
    let moving = "[wire]\nprofile='rocev2_ipv6'\n[fast_cnp]\nenabled=true\nmigrate=true\n";
    assert!(notes(moving, &[reference])[0].starts_with("flows move to other paths (fast_cnp.migrate), and records"));
}
