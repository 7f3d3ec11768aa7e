// SPDX-License-Identifier: GPL-2.0-only
//! The congestion-control algorithm and the layout of its telemetry, there and back.

use crate::ffi::{
    AlgorithmKind, ControlParameters, DcqcnParameters, DctcpParameters, HpccParameters, HpccPintParameters,
    HpccPlusParameters, TimelyParameters,
};
use hpcc_core::cc::hpcc_plus::{AdditiveIncrease, WindowLaw};
use hpcc_core::cc::{
    Algorithm, ControlLaw, DcqcnConfig, DctcpConfig, HpccConfig, HpccPintConfig, HpccPlusConfig, RxHpccConfig,
    TimelyConfig,
};
use hpcc_core::units::{BitRate, Nanos};

impl From<&HpccParameters> for HpccConfig {
    fn from(p: &HpccParameters) -> Self {
        HpccConfig {
            eta: p.eta,
            max_stage: p.max_stage,
            additive_increase: BitRate(p.additive_increase_bps),
            min_rate: BitRate(p.min_rate_bps),
            fast_react: p.fast_react,
            multi_rate: p.multi_rate,
            sampled_feedback: p.sampled_feedback,
        }
    }
}

impl From<HpccConfig> for HpccParameters {
    fn from(c: HpccConfig) -> Self {
        HpccParameters {
            eta: c.eta,
            max_stage: c.max_stage,
            additive_increase_bps: c.additive_increase.0,
            min_rate_bps: c.min_rate.0,
            fast_react: c.fast_react,
            multi_rate: c.multi_rate,
            sampled_feedback: c.sampled_feedback,
        }
    }
}

impl From<&HpccPlusParameters> for HpccPlusConfig {
    fn from(p: &HpccPlusParameters) -> Self {
        let additive_increase = match p.expected_flows {
            0 => AdditiveIncrease::Bytes(p.additive_increase_bytes),
            flows => AdditiveIncrease::Flows(flows),
        };
        let (eta, max_stage, min_rate) = (p.eta, p.max_stage, BitRate(p.min_rate_bps));
        HpccPlusConfig { law: WindowLaw { eta, max_stage, additive_increase, min_rate } }
    }
}

impl From<&HpccPlusParameters> for RxHpccConfig {
    fn from(p: &HpccPlusParameters) -> Self {
        RxHpccConfig { hpcc: p.into(), count_flows: p.count_flows }
    }
}

impl From<RxHpccConfig> for HpccPlusParameters {
    fn from(c: RxHpccConfig) -> Self {
        HpccPlusParameters { count_flows: c.count_flows, ..c.hpcc.into() }
    }
}

impl From<HpccPlusConfig> for HpccPlusParameters {
    fn from(c: HpccPlusConfig) -> Self {
        let (expected_flows, additive_increase_bytes) = match c.law.additive_increase {
            AdditiveIncrease::Flows(flows) => (flows, 0),
            AdditiveIncrease::Bytes(bytes) => (0, bytes),
        };
        HpccPlusParameters {
            eta: c.law.eta,
            max_stage: c.law.max_stage,
            expected_flows,
            additive_increase_bytes,
            min_rate_bps: c.law.min_rate.0,
            count_flows: false,
        }
    }
}

impl From<&HpccPintParameters> for HpccPintConfig {
    fn from(p: &HpccPintParameters) -> Self {
        let law = ControlLaw {
            eta: p.eta,
            max_stage: p.max_stage,
            additive_increase: BitRate(p.additive_increase_bps),
            min_rate: BitRate(p.min_rate_bps),
        };
        HpccPintConfig { law, sample_probability: p.sample_probability }
    }
}

impl From<HpccPintConfig> for HpccPintParameters {
    fn from(c: HpccPintConfig) -> Self {
        HpccPintParameters {
            eta: c.law.eta,
            max_stage: c.law.max_stage,
            additive_increase_bps: c.law.additive_increase.0,
            min_rate_bps: c.law.min_rate.0,
            sample_probability: c.sample_probability,
        }
    }
}

impl From<&DcqcnParameters> for DcqcnConfig {
    fn from(p: &DcqcnParameters) -> Self {
        DcqcnConfig {
            gain: p.gain,
            alpha_interval: Nanos(p.alpha_interval_ns),
            decrease_interval: Nanos(p.decrease_interval_ns),
            increase_interval: Nanos(p.increase_interval_ns),
            fast_recovery: p.fast_recovery,
            additive_increase: BitRate(p.additive_increase_bps),
            hyper_increase: BitRate(p.hyper_increase_bps),
            clamp_target: p.clamp_target,
            notification_interval: Nanos(p.notification_interval_ns),
            min_rate: BitRate(p.min_rate_bps),
        }
    }
}

impl From<DcqcnConfig> for DcqcnParameters {
    fn from(c: DcqcnConfig) -> Self {
        DcqcnParameters {
            gain: c.gain,
            alpha_interval_ns: c.alpha_interval.0,
            decrease_interval_ns: c.decrease_interval.0,
            increase_interval_ns: c.increase_interval.0,
            fast_recovery: c.fast_recovery,
            additive_increase_bps: c.additive_increase.0,
            hyper_increase_bps: c.hyper_increase.0,
            clamp_target: c.clamp_target,
            notification_interval_ns: c.notification_interval.0,
            min_rate_bps: c.min_rate.0,
        }
    }
}

impl From<&TimelyParameters> for TimelyConfig {
    fn from(p: &TimelyParameters) -> Self {
        TimelyConfig {
            additive_increase: BitRate(p.additive_increase_bps),
            hyper_increase: BitRate(p.hyper_increase_bps),
            hyper_after: p.hyper_after,
            min_rate: BitRate(p.min_rate_bps),
            weight: p.weight,
            decrease: p.decrease,
            low: Nanos(p.low_ns),
            high: Nanos(p.high_ns),
            min_rtt: Nanos(p.min_rtt_ns),
        }
    }
}

impl From<TimelyConfig> for TimelyParameters {
    fn from(c: TimelyConfig) -> Self {
        TimelyParameters {
            additive_increase_bps: c.additive_increase.0,
            hyper_increase_bps: c.hyper_increase.0,
            hyper_after: c.hyper_after,
            min_rate_bps: c.min_rate.0,
            weight: c.weight,
            decrease: c.decrease,
            low_ns: c.low.0,
            high_ns: c.high.0,
            min_rtt_ns: c.min_rtt.0,
        }
    }
}

impl From<&DctcpParameters> for DctcpConfig {
    fn from(p: &DctcpParameters) -> Self {
        DctcpConfig {
            gain: p.gain,
            additive_increase: BitRate(p.additive_increase_bps),
            min_rate: BitRate(p.min_rate_bps),
        }
    }
}

impl From<DctcpConfig> for DctcpParameters {
    fn from(c: DctcpConfig) -> Self {
        DctcpParameters { gain: c.gain, additive_increase_bps: c.additive_increase.0, min_rate_bps: c.min_rate.0 }
    }
}

impl From<&ControlParameters> for Algorithm {
    fn from(p: &ControlParameters) -> Self {
        match p.algorithm {
            AlgorithmKind::Hpcc => Algorithm::Hpcc((&p.hpcc).into()),
            AlgorithmKind::HpccPlus => Algorithm::HpccPlus((&p.hpcc_plus).into()),
            AlgorithmKind::RxHpcc => Algorithm::RxHpcc((&p.hpcc_plus).into()),
            AlgorithmKind::HpccPint => Algorithm::HpccPint((&p.hpcc_pint).into()),
            AlgorithmKind::Dcqcn => Algorithm::Dcqcn((&p.dcqcn).into()),
            AlgorithmKind::Timely => Algorithm::Timely((&p.timely).into()),
            AlgorithmKind::Dctcp => Algorithm::Dctcp((&p.dctcp).into()),
            _ => Algorithm::LineRate,
        }
    }
}

impl From<&Algorithm> for ControlParameters {
    fn from(algorithm: &Algorithm) -> Self {
        let mut p = ControlParameters {
            algorithm: AlgorithmKind::LineRate,
            hpcc: HpccConfig::default().into(),
            hpcc_plus: HpccPlusConfig::default().into(),
            hpcc_pint: HpccPintConfig::default().into(),
            dcqcn: DcqcnConfig::default().into(),
            timely: TimelyConfig::default().into(),
            dctcp: DctcpConfig::default().into(),
        };
        match *algorithm {
            Algorithm::LineRate => {}
            Algorithm::Hpcc(config) => (p.algorithm, p.hpcc) = (AlgorithmKind::Hpcc, config.into()),
            Algorithm::HpccPlus(config) => (p.algorithm, p.hpcc_plus) = (AlgorithmKind::HpccPlus, config.into()),
            Algorithm::RxHpcc(config) => (p.algorithm, p.hpcc_plus) = (AlgorithmKind::RxHpcc, config.into()),
            Algorithm::HpccPint(config) => (p.algorithm, p.hpcc_pint) = (AlgorithmKind::HpccPint, config.into()),
            Algorithm::Dcqcn(config) => (p.algorithm, p.dcqcn) = (AlgorithmKind::Dcqcn, config.into()),
            Algorithm::Timely(config) => (p.algorithm, p.timely) = (AlgorithmKind::Timely, config.into()),
            Algorithm::Dctcp(config) => (p.algorithm, p.dctcp) = (AlgorithmKind::Dctcp, config.into()),
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_comes_back_as_it_went() {
        for algorithm in [
            Algorithm::LineRate,
            Algorithm::Hpcc(HpccConfig { eta: 0.9, multi_rate: true, ..HpccConfig::default() }),
            Algorithm::HpccPlus(HpccPlusConfig::default()),
            Algorithm::HpccPlus(HpccPlusConfig {
                law: WindowLaw { additive_increase: AdditiveIncrease::Bytes(80), ..WindowLaw::default() },
            }),
            Algorithm::RxHpcc(RxHpccConfig { count_flows: true, ..RxHpccConfig::default() }),
            Algorithm::HpccPint(HpccPintConfig { sample_probability: 0.5, ..HpccPintConfig::default() }),
            Algorithm::Dcqcn(DcqcnConfig { clamp_target: true, fast_recovery: 7, ..DcqcnConfig::default() }),
            Algorithm::Timely(TimelyConfig { high: Nanos(1), hyper_after: 9, ..TimelyConfig::default() }),
            Algorithm::Dctcp(DctcpConfig { gain: 0.5, ..DctcpConfig::default() }),
        ] {
            assert_eq!(Algorithm::from(&ControlParameters::from(&algorithm)), algorithm);
        }
    }
}
