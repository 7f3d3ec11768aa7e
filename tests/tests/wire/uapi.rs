// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's own structures of IOAM headers, compiled from `linux/ioam6.h`, and our codecs mean the same bytes.

#[cfg(ioam6_header)]
mod judged {
    use hpcc_core::telemetry::ioam::hpcc::{NAMESPACE, Profile, prepare};
    use hpcc_core::telemetry::ioam::option::{CHANGING, IoamOption, Kind};
    use hpcc_core::telemetry::ioam::trace::{Flags, Header, LEN};
    use hpcc_core::telemetry::ioam::trace_type::TraceType;
    use hpcc_core::telemetry::ipv6_options::Tlv;
    use std::mem::{offset_of, size_of, transmute};

    #[allow(missing_docs, nonstandard_style, dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
    mod kernel {
        include!(concat!(env!("OUT_DIR"), "/ioam6.rs"));
    }

    use kernel::{ioam6_hdr, ioam6_trace_hdr};

    fn bytes_of(header: ioam6_trace_hdr) -> [u8; LEN] {
        // SAFETY: a packed structure of 8 bytes without padding.
        unsafe { transmute(header) }
    }

    fn kernel_header(bytes: [u8; LEN]) -> ioam6_trace_hdr {
        // SAFETY: integers only, for which any bytes will do.
        unsafe { transmute(bytes) }
    }

    #[test]
    fn the_kernels_bit_fields_are_where_we_read_them() {
        for (node_length, remaining, overflow) in [(7, 36, false), (31, 0, true), (0, 127, false), (4, 1, true)] {
            let mut header = ioam6_trace_hdr { namespace_id: NAMESPACE.to_be(), ..Default::default() };
            header.set_nodelen(node_length);
            header.set_remlen(remaining);
            header.set_overflow(overflow.into());
            header.__bindgen_anon_1.type_be32 = (0xf2_2000_u32 << 8).to_be();
            let expected = Header {
                namespace: NAMESPACE,
                node_length,
                flags: Flags { overflow, ..Flags::default() },
                remaining,
                trace_type: TraceType(0xf2_2000),
            };
            assert_eq!(Header::parse(&bytes_of(header)), Ok((expected, &[][..])));
            let ours = kernel_header(expected.emit());
            let read = (u16::from_be(ours.namespace_id), ours.nodelen(), ours.remlen(), ours.overflow() != 0);
            assert_eq!(read, (NAMESPACE, node_length, remaining, overflow));
        }
    }

    #[test]
    fn the_kernels_names_of_trace_type_bits_are_ours() {
        type Set = fn(&mut kernel::ioam6_trace_hdr__bindgen_ty_1__bindgen_ty_1, u32);
        let setters: [Set; 24] = [
            |bits, on| bits.set_bit0(on),
            |bits, on| bits.set_bit1(on),
            |bits, on| bits.set_bit2(on),
            |bits, on| bits.set_bit3(on),
            |bits, on| bits.set_bit4(on),
            |bits, on| bits.set_bit5(on),
            |bits, on| bits.set_bit6(on),
            |bits, on| bits.set_bit7(on),
            |bits, on| bits.set_bit8(on),
            |bits, on| bits.set_bit9(on),
            |bits, on| bits.set_bit10(on),
            |bits, on| bits.set_bit11(on),
            |bits, on| bits.set_bit12(on),
            |bits, on| bits.set_bit13(on),
            |bits, on| bits.set_bit14(on),
            |bits, on| bits.set_bit15(on),
            |bits, on| bits.set_bit16(on),
            |bits, on| bits.set_bit17(on),
            |bits, on| bits.set_bit18(on),
            |bits, on| bits.set_bit19(on),
            |bits, on| bits.set_bit20(on),
            |bits, on| bits.set_bit21(on),
            |bits, on| bits.set_bit22(on),
            |bits, on| bits.set_bit23(on),
        ];
        for (bit, set) in setters.iter().enumerate() {
            let mut header = ioam6_trace_hdr::default();
            // SAFETY: both fields of the union are 32 bits of integers.
            set(unsafe { &mut header.__bindgen_anon_1.type_ }, 1);
            let bytes = bytes_of(header);
            let (ours, _) = Header::parse(&bytes).expect("8 bytes");
            let found: Vec<usize> = (0..24).filter(|&other| ours.trace_type.has(other as u8)).collect();
            assert_eq!(found, [bit], "{bytes:x?}");
        }
    }

    /// What the sender writes, read through the kernel's structures.
    #[test]
    fn the_kernel_reads_the_headers_of_our_profiles() {
        assert_eq!((size_of::<ioam6_hdr>(), size_of::<ioam6_trace_hdr>()), (4, LEN));
        assert_eq!(offset_of!(ioam6_hdr, type_), 3);
        for (profile, trace_type, words) in [(Profile::Full, 0xf2_2000_u32, 7), (Profile::Slim, 0x96_0000, 4)] {
            let mut section = [0xee; 256];
            let len = prepare(profile, 3, &mut section);
            // SAFETY: a structure of bytes.
            let option: ioam6_hdr = unsafe { transmute(*section[4..].first_chunk::<4>().expect("an option")) };
            let IoamOption { kind, .. } = IoamOption::of(&Tlv { kind: CHANGING, offset: 4, data: &section[6..len] })
                .expect("whole")
                .expect("IOAM");
            assert_eq!((option.opt_type, option.type_, kind), (0x31, 0, Kind::PreallocatedTrace));
            assert_eq!(usize::from(option.opt_len), 2 + LEN + 3 * 4 * usize::from(words));
            let header = kernel_header(*section[8..].first_chunk().expect("a trace"));
            // SAFETY: both fields of the union are 32 bits of integers.
            let found = unsafe { u32::from_be(header.__bindgen_anon_1.type_be32) };
            assert_eq!((found >> 8, header.nodelen(), header.remlen()), (trace_type, words, 3 * words));
            assert_eq!((u16::from_be(header.namespace_id), header.overflow()), (0x4850, 0));
        }
    }
}

#[cfg(not(ioam6_header))]
#[test]
fn the_kernels_structures_are_ours() {
    hpcc_tests::skipped("no linux/ioam6.h or no libclang on this machine");
}
