// SPDX-License-Identifier: GPL-2.0-only
//! The keys of `config.txt`, and how many values follow each.

/// The values behind a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// This many words.
    Words(usize),
    /// A count, then as many pairs of link rate and value.
    Map,
}

/// Keys whose value shapes the simulation, or names an input or output.
const USED: &[&str] = &[
    "ENABLE_QCN",
    "PAUSE_TIME",
    "PACKET_PAYLOAD_SIZE",
    "L2_CHUNK_SIZE",
    "L2_ACK_INTERVAL",
    "L2_BACK_TO_ZERO",
    "TOPOLOGY_FILE",
    "FLOW_FILE",
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "QLEN_MON_END",
    "SIMULATOR_STOP_TIME",
    "CC_MODE",
    "RATE_AI",
    "MIN_RATE",
    "ERROR_RATE_PER_LINK",
    "HAS_WIN",
    "GLOBAL_T",
    "VAR_WIN",
    "FAST_REACT",
    "U_TARGET",
    "MI_THRESH",
    "INT_MULTI",
    "MULTI_RATE",
    "SAMPLE_FEEDBACK",
    "RATE_BOUND",
    "ACK_HIGH_PRIO",
    "ENABLE_TRACE",
    "BUFFER_SIZE",
    "DATA_RATE",
    "LINK_DELAY",
];

/// Keys that hold a rate and concern single controllers.
pub(super) const CONTROLLER_RATES: &[&str] = &["RATE_HAI", "DCTCP_RATE_AI"];

/// Keys that hold a number of at least 0 and concern single controllers, or nothing at all.
pub(super) const CONTROLLER_NUMBERS: &[&str] = &[
    "USE_DYNAMIC_PFC_THRESHOLD",
    "ALPHA_RESUME_INTERVAL",
    "RATE_DECREASE_INTERVAL",
    "RP_TIMER",
    "EWMA_GAIN",
    "FAST_RECOVERY_TIMES",
    "CLAMP_TARGET_RATE",
    "PINT_LOG_BASE",
    "PINT_PROB",
];

const MAPS: &[&str] = &["KMAX_MAP", "KMIN_MAP", "PMAX_MAP"];

/// The one key with three values: time, node, node.
pub(super) const LINK_DOWN: &str = "LINK_DOWN";

/// Names that descendants have for keys.
const ALIASES: &[(&str, &str)] =
    &[("DCTCP_GAIN", "EWMA_GAIN"), ("MON_START", "QLEN_MON_START"), ("MON_END", "QLEN_MON_END")];

/// Attributes of classes that SimAI's simulator (ns-3-alibabacloud) has in place of keys.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("ns3::QbbNetDevice::QcnEnabled", "ENABLE_QCN"),
    ("ns3::QbbNetDevice::DynamicThreshold", "USE_DYNAMIC_PFC_THRESHOLD"),
    ("ns3::QbbNetDevice::PauseTime", "PAUSE_TIME"),
    ("ns3::SwitchNode::PfcEnabled", "ENABLE_PFC"),
    ("ns3::RdmaHw::Mtu", "PACKET_PAYLOAD_SIZE"),
    ("ns3::RdmaHw::CcMode", "CC_MODE"),
    ("ns3::RdmaHw::RateAI", "RATE_AI"),
    ("ns3::RdmaHw::RateHAI", "RATE_HAI"),
    ("ns3::RdmaHw::DctcpRateAI", "DCTCP_RATE_AI"),
    ("ns3::RdmaHw::MinRate", "MIN_RATE"),
    ("ns3::RdmaHw::L2ChunkSize", "L2_CHUNK_SIZE"),
    ("ns3::RdmaHw::L2AckInterval", "L2_ACK_INTERVAL"),
    ("ns3::RdmaHw::L2BackToZero", "L2_BACK_TO_ZERO"),
    ("ns3::RdmaHw::VarWin", "VAR_WIN"),
    ("ns3::RdmaHw::FastReact", "FAST_REACT"),
    ("ns3::RdmaHw::MiThresh", "MI_THRESH"),
    ("ns3::RdmaHw::TargetUtil", "U_TARGET"),
    ("ns3::RdmaHw::MultiRate", "MULTI_RATE"),
    ("ns3::RdmaHw::SampleFeedback", "SAMPLE_FEEDBACK"),
    ("ns3::RdmaHw::RateBound", "RATE_BOUND"),
    ("ns3::MellanoxDcqcn::AlphaResumInterval", "ALPHA_RESUME_INTERVAL"),
    ("ns3::MellanoxDcqcn::RateDecreaseInterval", "RATE_DECREASE_INTERVAL"),
    ("ns3::MellanoxDcqcn::ClampTargetRate", "CLAMP_TARGET_RATE"),
    ("ns3::MellanoxDcqcn::RPTimer", "RP_TIMER"),
    ("ns3::MellanoxDcqcn::EwmaGain", "EWMA_GAIN"),
    ("ns3::MellanoxDcqcn::FastRecoveryTimes", "FAST_RECOVERY_TIMES"),
];

/// The key that an attribute stands for.
pub(super) fn of_attribute(name: &str) -> Option<&'static str> {
    ATTRIBUTES.iter().find(|(known, _)| *known == name).map(|(_, key)| *key)
}

/// The 2019 simulator's name of a key.
pub(super) fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// The values behind the key; `None` if there is no such key.
pub(super) fn values(key: &str) -> Option<Values> {
    let key = canonical(key);
    if MAPS.contains(&key) {
        return Some(Values::Map);
    }
    if key == LINK_DOWN {
        return Some(Values::Words(3));
    }
    [USED, CONTROLLER_RATES, CONTROLLER_NUMBERS].iter().any(|keys| keys.contains(&key)).then_some(Values::Words(1))
}

/// Whether any word is a value of a key: a name or a rate, which is looked at later.
pub(super) fn takes_text(key: &str) -> bool {
    let is_rate = ["RATE_AI", "MIN_RATE", "DATA_RATE", "LINK_DELAY"].contains(&key) || CONTROLLER_RATES.contains(&key);
    is_rate || key.ends_with("_FILE")
}

/// All keys.
pub(super) fn all() -> Vec<&'static str> {
    [USED, CONTROLLER_RATES, CONTROLLER_NUMBERS, MAPS, &[LINK_DOWN]].concat()
}
