// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory in cells against the counts that operators test their switches by, and against what must hold of any.

use super::buffer_plan::{BufferPlan, BufferPool, BufferProfile, ProfileUse, Side, Threshold};
use super::{Admission, CellBuffer, NoRoom, Priorities};
use crate::units::BitRate;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const CELL: u64 = 254;

fn pool(side: Side, cells: u64, xoff: Option<u64>) -> BufferPool {
    BufferPool { name: String::new(), side, size: cells * CELL, xoff: xoff.map(|cells| cells * CELL) }
}

fn profile(pool: usize, reserve: u64, n: i8, xoff: Option<u64>) -> BufferProfile {
    BufferProfile {
        name: String::new(),
        pool,
        reserve: reserve * CELL,
        threshold: Threshold::Dynamic(n),
        xoff: xoff.map(|cells| cells * CELL),
        xon: 0,
        xon_offset: 0,
    }
}

fn for_priorities(profile: usize, list: &[u8]) -> ProfileUse {
    let priorities = list.iter().fold(Priorities::NONE, |all, &priority| all.with(priority));
    ProfileUse { priorities, profile, rate: None, switches: None, ports: None }
}

/// Priorities 3 and 4 are lossless groups of one pool, 1 is a lossy queue of another.
#[derive(Clone, Copy)]
struct Asic {
    cells: u64,
    reserve: u64,
    n: i8,
    headroom: u64,
    headroom_pool: Option<u64>,
    lossy: (u64, i8),
}

impl Asic {
    fn plan(&self) -> BufferPlan {
        BufferPlan {
            cell: CELL as u32,
            pools: [
                pool(Side::Ingress, self.cells, self.headroom_pool),
                pool(Side::Egress, self.cells, None),
                pool(Side::Ingress, 1 << 24, None),
            ]
            .into(),
            profiles: [
                profile(0, self.reserve, self.n, Some(self.headroom)),
                profile(1, self.lossy.0, self.lossy.1, None),
                profile(2, 0, 4, None),
            ]
            .into(),
            groups: [for_priorities(0, &[3, 4]), for_priorities(2, &[1])].into(),
            queues: [for_priorities(1, &[1])].into(),
        }
    }

    fn buffer(&self, ports: usize) -> CellBuffer {
        CellBuffer::new(&self.plan(), 0, core::iter::repeat_n(BitRate::gbps(100), ports))
    }
}

/// Tomahawk 5 with alpha 1 for all.
const fn tomahawk_5(cells: u64, reserve: u64, headroom: u64) -> Asic {
    Asic { cells, reserve, n: 0, headroom, headroom_pool: None, lossy: (7, 0) }
}

/// 100 kB of lossless groups beside lossy ones, most of whose queues are limited.
pub(super) fn small_plan() -> BufferPlan {
    let mut plan = Asic { headroom_pool: Some(150), ..tomahawk_5(400, 20, 100) }.plan();
    plan.groups.push(for_priorities(2, &[2, 5, 6, 7]));
    plan.queues.push(for_priorities(1, &[2, 5, 6]));
    plan
}

/// Packets of 64 bytes until one is admitted so, or dropped.
fn until(buffer: &mut CellBuffer, (port, priority): (usize, usize), end: Admission) -> usize {
    (1..).find(|_| buffer.admit(port, Some(0), priority, 64) == end).expect("an end")
}

const PAUSE: Admission = Admission::Admit { pause: true };

/// What the packets of each group are that pause it, one group after another, and the first of a group that is dropped.
fn check(asic: Asic, pauses: &[usize], dropped: usize) {
    let mut buffer = asic.buffer(pauses.len());
    let found: Vec<_> = (0..pauses.len()).map(|n| until(&mut buffer, (n / 2, 3 + n % 2), PAUSE)).collect();
    assert_eq!(found, pauses);
    let mut buffer = asic.buffer(1);
    assert_eq!(until(&mut buffer, (0, 3), Admission::Drop), dropped);
    assert_eq!(buffer.refused(), NoRoom::Headroom);
}

fn lossy_drop(asic: Asic) -> usize {
    until(&mut asic.buffer(1), (0, 1), Admission::Drop)
}

/// `pkts_num_trig_pfc_multi`, `pkts_num_trig_ingr_drp` of sonic-mgmt's tests of Tomahawk 5: groups share a pool with
/// alpha 1. Of
/// 200 Gb/s one cell of headroom fewer than `pkts_num_hdrm_full` is what fits the drop.
#[test]
fn groups_of_tomahawk_5_pause_with_the_packet_that_operators_test() {
    let of_200g =
        [120_117, 60_096, 30_085, 15_079, 7_577, 3_825, 1_950, 1_012, 543, 308, 191, 133, 103, 89, 81, 78, 76, 75, 74];
    let of_200g: Vec<_> = of_200g.into_iter().chain([74; 31]).collect();
    check(tomahawk_5(240_086, 74, 1_184), &of_200g, 121_302);
    let of_400g = [
        134_725, 67_400, 33_737, 16_905, 8_490, 4_282, 2_178, 1_126, 600, 337, 205, 140, 107, 90, 82, 78, 76, 75, 75,
        74, 74, 74, 74, 74, 74, 74,
    ];
    check(tomahawk_5(269_302, 74, 1_548), &of_400g, 136_274);
    check(tomahawk_5(269_302, 74, 1_755), &of_400g[..23], 136_481);
    let of_128_ports = [
        132_925, 66_500, 33_287, 16_680, 8_377, 4_226, 2_150, 1_112, 593, 333, 204, 139, 106, 90, 82, 78, 76, 75, 75,
        74, 74, 74, 74, 74, 74,
    ];
    check(tomahawk_5(265_702, 74, 1_755), &of_128_ports, 134_681);
    let of_800g = [142_285, 71_159, 35_597, 17_815, 8_925, 4_479, 2_257, 1_145, 590, 312, 173, 103, 69];
    check(tomahawk_5(284_501, 34, 2_853), &of_800g, 142_285 + 2_853 + 1);
}

/// One group alone: its packets until the pause, its first drop, the first drop of a lossy queue.
#[test]
fn one_group_and_one_lossy_queue_of_tomahawk_5() {
    for (pause, reserve, headroom, drop, lossy) in [
        (120_117, 74, 1_184, 121_302, 120_051),
        (141_861, 34, 2_853, 144_715, 141_835),
        (108_469, 34, 2_853, 111_323, 108_443),
        (108_469, 34, 4_474, 112_944, 108_443),
        (134_949, 34, 884, 135_834, 134_923),
        (115_917, 34, 1_781, 117_699, 115_891),
        (134_949, 34, 3_270, 138_220, 134_923),
        (103_397, 34, 3_304, 106_702, 103_371),
        (103_397, 34, 6_384, 109_782, 103_371),
        (134_725, 74, 1_548, 136_274, 134_659),
        (132_925, 74, 1_755, 134_681, 132_859),
    ] {
        let asic = tomahawk_5(2 * (pause as u64 - reserve), reserve, headroom);
        check(asic, &[pause], drop);
        assert_eq!(lossy_drop(asic), lossy);
    }
}

/// Alpha is 1/4 for lossless groups, and 2 for lossy queues.
#[test]
fn one_group_and_one_lossy_queue_of_tomahawk_3() {
    let asic = |cells, headroom| Asic { cells, reserve: 10, n: -2, headroom, headroom_pool: None, lossy: (7, 1) };
    check(asic(110_079, 461), &[22_026], 22_488);
    assert_eq!(lossy_drop(asic(110_079, 461)), 73_394);
    check(asic(75_710, 1_471), &[15_152], 16_624);
    assert_eq!(lossy_drop(asic(75_710, 1_471)), 50_482);
}

/// `pgs_num`, `pkts_num_hdrm_full`, `pkts_num_hdrm_partial`: all groups but the last fill their headroom, the last has
/// what is left.
#[test]
fn groups_share_a_pool_of_headroom() {
    for (groups, full, partial) in [(50, 1_185, 47), (13, 2_853, 1_124), (26, 1_548, 1_028), (37, 462, 384)] {
        let headroom_pool = Some((groups as u64 - 1) * full + partial);
        let asic = Asic { headroom_pool, ..tomahawk_5(1_000, 74, full) };
        let mut buffer = asic.buffer(groups);
        for n in 0..groups {
            until(&mut buffer, (n / 2, 3 + n % 2), PAUSE);
        }
        for n in 0..groups - 1 {
            assert_eq!(until(&mut buffer, (n / 2, 3 + n % 2), Admission::Drop), full as usize + 1);
            assert_eq!(buffer.refused(), NoRoom::Headroom);
        }
        let last = ((groups - 1) / 2, 3 + (groups - 1) % 2);
        assert_eq!(until(&mut buffer, last, Admission::Drop), partial as usize + 1);
        assert_eq!(buffer.refused(), NoRoom::HeadroomPool);
    }
}

/// A static threshold of 10 cells over a reserve of 2, of which `offset` must be free again; or `xon` alone be used.
#[test]
fn a_group_resumes_at_the_larger_of_xon_and_its_limit_without_the_offset() {
    let left = |xon, xon_offset, in_headroom| {
        let mut plan = tomahawk_5(1_000, 2, 50).plan();
        plan.profiles[0].threshold = Threshold::Static(10 * CELL);
        (plan.profiles[0].xon, plan.profiles[0].xon_offset) = (xon * CELL, xon_offset * CELL);
        let mut buffer = CellBuffer::new(&plan, 0, [BitRate::gbps(100)].into_iter());
        assert_eq!(until(&mut buffer, (0, 3), PAUSE), 12);
        for _ in 0..in_headroom {
            assert_eq!(buffer.admit(0, None, 3, 64), Admission::Admit { pause: false });
        }
        assert_eq!(buffer.paused(0), 1 << 3);
        let gone = (1..).find(|_| buffer.release(0, None, 3, 64)).expect("it resumes");
        assert_eq!(buffer.paused(0), 0);
        12 + in_headroom - gone
    };
    assert_eq!([left(0, 4, 0), left(5, 4, 0), left(9, 4, 0)], [8, 8, 9]);
    assert_eq!([left(0, 4, 20), left(3, 12, 1), left(0, 100, 0)], [8, 3, 0]);
    assert_eq!(left(0, 0, 7), 11, "what was in headroom must have left, and then one more");
}

/// With Tomahawk's offset of 14 cells, 14 packets fewer end the pause (`pkts_num_dismiss_pfc`).
#[test]
fn fourteen_packets_dismiss_a_pause() {
    let mut plan = tomahawk_5(240_086, 74, 1_184).plan();
    plan.profiles[0].xon_offset = 14 * CELL;
    let mut buffer = CellBuffer::new(&plan, 0, [BitRate::gbps(100)].into_iter());
    until(&mut buffer, (0, 3), PAUSE);
    assert!((1..=14).any(|_| buffer.release(0, Some(0), 3, 64)));
}

/// A limited queue drops frames of a lossless group, too, and says so.
#[test]
fn a_queue_has_a_limit_of_its_own() {
    let mut plan = tomahawk_5(1_000, 4, 50).plan();
    plan.profiles[1].threshold = Threshold::Static(20 * CELL);
    plan.queues.push(for_priorities(1, &[3]));
    assert_eq!(plan.limited_queues(), Priorities::NONE.with(3));
    let mut buffer = CellBuffer::new(&plan, 0, core::iter::repeat_n(BitRate::gbps(100), 2));
    let sent = (1..).find(|n| buffer.admit(n % 2, Some(1), 3, 255) == Admission::Drop).expect("a drop");
    assert_eq!((sent, buffer.refused()), (14, NoRoom::Queue), "13 packets of 2 cells fit in 7 + 20");
    assert!(buffer.has_room(0, Some(0), 3, 255) && buffer.has_room(0, None, 3, 255));
}

/// Frames of all sizes come and go at random: no pool has more than it has, all comes back, and what may cut through changes
/// nothing.
#[test]
fn cells_are_conserved_and_never_above_their_pools() {
    let mut asic = Asic { headroom_pool: Some(60), ..tomahawk_5(300, 5, 40) };
    asic.lossy = (3, -1);
    let mut buffer = asic.buffer(4);
    let empty = buffer.accounts();
    let (mut chance, mut held, mut seen) = (1_u32, Vec::new(), [0; 4]);
    for _ in 0..50_000 {
        chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let priority = [1, 3, 4][(chance >> 20) as usize % 3];
        let (ingress, egress) = ((chance >> 8) as usize % 4, (chance >> 12) as usize % 4);
        let size = 64 + (chance >> 16) % 4_000;
        if chance >> 30 < 2 || held.is_empty() {
            let before = buffer.clone();
            let passes = buffer.can_cut_through(ingress, egress, priority, size);
            let admission = buffer.admit(ingress, Some(egress), priority, size);
            match admission {
                Admission::Drop => seen[buffer.refused() as usize] += 1,
                Admission::Admit { .. } => held.push((ingress, egress, priority, size)),
            }
            if passes {
                assert_eq!(admission, Admission::Admit { pause: false });
                let mut after = buffer.clone();
                assert!(!after.release(ingress, Some(egress), priority, size));
                assert_eq!(after.accounts(), before.accounts());
            }
        } else {
            let place = (chance >> 4) as usize % held.len();
            let (ingress, egress, priority, size) = held.swap_remove(place);
            buffer.release(ingress, Some(egress), priority, size);
        }
        assert!(buffer.is_sound());
    }
    assert!(seen[NoRoom::Queue as usize] > 100 && seen[NoRoom::HeadroomPool as usize] > 100, "{seen:?}");
    for (ingress, egress, priority, size) in held {
        buffer.release(ingress, Some(egress), priority, size);
    }
    assert_eq!(buffer.accounts(), empty);
    assert!((0..4).all(|port| buffer.paused(port) == 0));
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let wrong = |change: fn(&mut BufferPlan)| {
        let mut plan = tomahawk_5(1_000, 4, 50).plan();
        plan.pools[0].name = "ingress".to_string();
        change(&mut plan);
        plan.check(1_200).map_err(|conflict| conflict.key)
    };
    assert_eq!(wrong(|_| {}), Ok(()));
    assert_eq!(wrong(|plan| plan.pools[0].size = 253), Err("buffer_pools"));
    assert_eq!(wrong(|plan| plan.pools[1].xoff = Some(1_000)), Err("buffer_pools"));
    assert_eq!(wrong(|plan| plan.profiles[1].xoff = Some(10_000)), Err("buffer_profiles"));
    assert_eq!(wrong(|plan| plan.profiles[0].xoff = Some(1_199)), Err("buffer_profiles"));
    assert_eq!(wrong(|plan| plan.profiles[2].xon = 1), Err("buffer_profiles"));
    assert_eq!(wrong(|plan| plan.groups[0].profile = 1), Err("buffer_groups"));
    assert_eq!(wrong(|plan| plan.queues[0].profile = 0), Err("buffer_queues"));
    assert_eq!(wrong(|plan| plan.groups.push(for_priorities(2, &[3]))), Err("buffer_groups"));
}

/// The last profile that fits holds: here at port 1 of switch 7, and at ports of 400 Gb/s.
#[test]
fn the_last_profile_that_fits_a_port_holds() {
    let mut plan = tomahawk_5(1_000, 4, 50).plan();
    plan.profiles.push(profile(0, 9, 0, Some(50)));
    plan.profiles.push(profile(0, 8, 0, Some(60)));
    plan.groups.push(ProfileUse { switches: Some([7].into()), ports: Some([1].into()), ..for_priorities(3, &[3]) });
    plan.groups.push(ProfileUse { rate: Some(BitRate::gbps(400)), ..for_priorities(4, &[3]) });
    let reserve = |switch, port, gbps| {
        let place = super::PortPlace { switch, port, rate: BitRate::gbps(gbps) };
        plan.group(&place, 3).expect("a profile").reserve / CELL
    };
    assert_eq!([reserve(7, 0, 100), reserve(7, 1, 100), reserve(8, 1, 100), reserve(7, 1, 400)], [4, 9, 4, 8]);
    let places = [(7, 0), (7, 1)].map(|(switch, port)| super::PortPlace { switch, port, rate: BitRate::gbps(100) });
    // Ingress pools, the reserves of priorities 3 and 4 at both ports, and their headroom.
    let needed = 1_000 + (1 << 24) + (4 + 4 + 9 + 4) + 4 * 50;
    assert_eq!(plan.needed(&places), needed * CELL);
    let check = |memory| plan.check_switch(memory, &places).map_err(|wrong| wrong.key);
    assert_eq!((check(needed * CELL), check(needed * CELL - 1)), (Ok(()), Err("buffer")));
}
