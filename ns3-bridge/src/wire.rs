// SPDX-License-Identifier: GPL-2.0-only
//! What frames look like.

use crate::ffi::{ControlParameters, WireParameters};
use hpcc_core::cc::Algorithm;
use hpcc_core::frame::Carriage;
use hpcc_core::telemetry::{Layout, LayoutOptions};
use hpcc_core::transport::feedback;
use hpcc_core::wire::WireProfile;

impl WireParameters {
    pub fn new(profile: WireProfile, layout: Layout) -> WireParameters {
        let LayoutOptions { multiplier, log_base, wide_pint, hops } = layout.options();
        let (profile, layout) = (profile.name().into(), layout.name().into());
        WireParameters { profile, layout, multiplier, log_base, wide_pint, hops }
    }

    /// The profile; C++ asks for [`wire_error`] first, so that there is one.
    pub fn profile(&self) -> WireProfile {
        WireProfile::from_name(&self.profile).unwrap_or_default()
    }

    /// The layout, likewise.
    pub fn layout(&self) -> Layout {
        let &WireParameters { multiplier, log_base, wide_pint, hops, .. } = self;
        let options = LayoutOptions { multiplier, log_base, wide_pint, hops };
        Layout::from_name(&self.layout, &options).unwrap_or(Layout::None)
    }
}

pub fn wire_error(wire: &WireParameters) -> String {
    if WireProfile::from_name(&wire.profile).is_none() {
        let known = WireProfile::NAMES.map(|(name, _)| name).join(", ");
        return format!("unknown wire profile \"{}\"; there are: {known}", wire.profile);
    }
    if !Layout::NAMES.contains(&wire.layout.as_str()) {
        return format!("unknown telemetry layout \"{}\"; there are: {}", wire.layout, Layout::NAMES.join(", "));
    }
    if wire.layout().carriage() == Some(Carriage::HopByHop) && wire.profile() == WireProfile::RoceV4 {
        return format!("telemetry layout \"{}\" is an IPv6 option; it needs wire profile rocev2_ipv6", wire.layout);
    }
    String::new()
}

pub fn is_heard(control: &ControlParameters, wire: &WireParameters) -> bool {
    Algorithm::from(control).hears(&wire.layout())
}

pub fn telemetry_room(wire: &WireParameters) -> u32 {
    feedback::room(&wire.layout()) as u32
}

pub fn tells_arrival(wire: &WireParameters) -> bool {
    wire.layout().tells_arrival()
}

pub fn data_overhead(wire: &WireParameters) -> u32 {
    wire.profile().sizes().data_overhead
}

pub fn pfc_bytes(wire: &WireParameters) -> u32 {
    wire.profile().sizes().pfc
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_core::cc::{DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, TimelyConfig};

    #[test]
    fn every_layout_and_profile_comes_back_as_it_went() {
        for (_, profile) in WireProfile::NAMES {
            for name in Layout::NAMES {
                let options = LayoutOptions { multiplier: 4, log_base: 1.01, wide_pint: true, hops: 7 };
                let layout = Layout::from_name(name, &options).expect("named");
                let wire = WireParameters::new(profile, layout);
                assert_eq!((wire.profile(), wire.layout()), (profile, layout));
                assert_eq!(wire_error(&wire).is_empty(), !(name.starts_with("ioam") && profile == WireProfile::RoceV4));
            }
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        let good = WireParameters::new(WireProfile::Reference, Layout::Paper);
        let bad = WireParameters { profile: "roce".into(), ..good.clone() };
        assert!(wire_error(&bad).starts_with("unknown wire profile \"roce\"; there are: reference, rocev2_ipv4"));
        let bad = WireParameters { layout: "int".into(), ..good };
        assert!(wire_error(&bad).starts_with("unknown telemetry layout \"int\"; there are: none, reference"));
    }

    #[test]
    fn algorithms_hear_their_own_telemetry_only() {
        let layouts = [
            Layout::None,
            Layout::Reference { multiplier: 1 },
            Layout::Paper,
            Layout::Timestamp,
            Layout::pint(1.05, false),
        ];
        for (algorithm, expected) in [
            (Algorithm::LineRate, [true; 5]),
            (Algorithm::Hpcc(HpccConfig::default()), [false, true, true, false, false]),
            (Algorithm::HpccPint(HpccPintConfig::default()), [false, false, false, false, true]),
            (Algorithm::Dcqcn(DcqcnConfig::default()), [true; 5]),
            (Algorithm::Timely(TimelyConfig::default()), [false, false, false, true, false]),
            (Algorithm::Dctcp(DctcpConfig::default()), [true; 5]),
        ] {
            let hears = |layout| is_heard(&(&algorithm).into(), &WireParameters::new(WireProfile::Reference, layout));
            assert_eq!(layouts.map(hears), expected, "{algorithm:?}");
        }
    }
}
