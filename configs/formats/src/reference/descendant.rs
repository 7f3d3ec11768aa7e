// SPDX-License-Identifier: GPL-2.0-only
//! Keys that descendants of the 2019 simulator have besides: those that mean something here become keys of TOML.

use hpcc_core::settings::Value;
use hpcc_core::units::Nanos;
use hpcc_model::error::InputError;
use hpcc_model::words::Token;

/// A section, a key of it, and its value as TOML.
pub(crate) type TomlKey = (&'static str, &'static str, String);

/// How a remark on a file is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A key has become one of ours.
    Taken,
    /// A key makes no difference here.
    Idle,
    /// A key would make a difference, and does not.
    Dropped,
    /// What a file means is not certain.
    Guessed,
}

/// What the keys of a descendant come to.
#[derive(Debug, Default)]
pub(super) struct Descendant {
    /// Keys of TOML, the last one counts.
    pub keys: Vec<TomlKey>,
    pub remarks: Vec<(Remark, String)>,
    /// `FLOWGEN_STOP_TIME`: when the last flow starts at the latest.
    pub last_start: Option<String>,
    /// Times of ConWeave, which count if that balances loads: key, ours, microseconds.
    conweave: Vec<(String, &'static str, u64)>,
    /// `KMIN`, `KMAX` and `PMAX`, for ports of any rate.
    pub marking: [Option<f64>; 3],
}

/// The keys, and what they are to us.
const KEYS: &[(&str, Meaning)] = &[
    ("ENABLE_PFC", Meaning::Takes(Descendant::pfc)),
    ("ENABLE_IRN", Meaning::Takes(Descendant::irn)),
    ("LB_MODE", Meaning::Takes(Descendant::load_balancing)),
    ("RANDOM_SEED", Meaning::Takes(Descendant::seed)),
    ("BASE_RTT", Meaning::Takes(Descendant::base_rtt)),
    ("CNP_INTERVAL", Meaning::Takes(Descendant::cnp_interval)),
    ("KMIN", Meaning::Takes(Descendant::marking)),
    ("KMAX", Meaning::Takes(Descendant::marking)),
    ("PMAX", Meaning::Takes(Descendant::marking)),
    ("FLOWGEN_STOP_TIME", Meaning::Takes(Descendant::last_start)),
    ("FLOWGEN_START_TIME", Meaning::Idle("the flow file has the starts")),
    ("APP_START_TIME", Meaning::Idle("the flow file has the starts")),
    ("APP_STOP_TIME", Meaning::Idle("flows end with their last byte")),
    ("LOAD", Meaning::Idle("the flow file has the flows")),
    ("FLOW_LEVEL_ECMP", Meaning::Only("1", "switches choose a path for each flow")),
    ("PACKET_LEVEL_ECMP", Meaning::Only("0", "switches choose a path for each flow, not for each packet")),
    ("SEND_IN_CHUNKS", Meaning::Only("0", "messages are not cut into chunks")),
    ("L2_WAIT_FOR_ACK", Meaning::Only("0", "senders do not wait for each acknowledgement")),
    ("L2_TEST_READ", Meaning::Only("0", "there are no reads")),
    ("NP_SAMPLING_INTERVAL", Meaning::Only("0", "receivers look at every packet")),
    ("CLAMP_TARGET_RATE_AFTER_TIMER", Meaning::Only("0", "the timer clamps no target rate")),
    ("BYTE_COUNTER", Meaning::Takes(Descendant::byte_counter)),
    ("NIC_TOTAL_PAUSE_TIME", Meaning::Only("0", "NICs are not paused by a key")),
    ("FIXED_WIN", Meaning::Only("0", "a window is line rate times T: transport.base_rtt sets T")),
    ("MAX_RATE", Meaning::Only("0", "a flow may reach the rate of its host's link")),
    ("TCP_FLOW_FILE", Meaning::Only("", "flows of TCP are a scenario of their own: transport.protocol = \"tcp\"")),
];

/// Times of ConWeave, in microseconds.
const OF_CONWEAVE: &[(&str, &str)] = &[
    ("CONWEAVE_TX_EXPIRY_TIME", "conweave_expiry"),
    ("CONWEAVE_REPLY_TIMEOUT_EXTRA", "conweave_reply_extra"),
    ("CONWEAVE_PATH_PAUSE_TIME", "conweave_path_pause"),
    ("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", "conweave_flush_extra"),
    ("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", "conweave_default_wait"),
];

/// What keys begin with that belong to a way of balancing loads: `LB_MODE` says whether they would count.
const OF_LOAD_BALANCING: &[&str] = &["CONWEAVE_", "CONGA_", "LETFLOW_", "DRILL_"];

/// What keys end with that name an output, or say when it is written.
const OF_OUTPUT: &[&str] = &[
    "_OUTPUT_FILE",
    "_MON_FILE",
    "_DETAIL_FILE",
    "_MON_INTERVAL",
    "_MONITORING_INTERVAL",
    "_MON_START",
    "_MON_END",
    "FLOW_INPUT_FILE",
];

#[derive(Clone, Copy)]
enum Meaning {
    Takes(fn(&mut Descendant, &Token<'_>, &Token<'_>) -> Result<(), InputError>),
    Idle(&'static str),
    /// Another value than this would make a difference: here it is always so.
    Only(&'static str, &'static str),
}

fn meaning(key: &str) -> Option<Meaning> {
    let listed = KEYS.iter().find(|(known, _)| *known == key).map(|(_, meaning)| *meaning);
    let is_time = OF_CONWEAVE.iter().any(|(known, _)| *known == key);
    listed
        .or(is_time.then_some(Meaning::Takes(Descendant::conweave_time)))
        .or_else(|| OF_OUTPUT.iter().any(|end| key.ends_with(end)).then_some(Meaning::Idle("an output of its own")))
        .or_else(|| {
            let of_balancing = OF_LOAD_BALANCING.iter().any(|start| key.starts_with(start));
            of_balancing.then_some(Meaning::Idle("LB_MODE chooses how loads are balanced"))
        })
}

impl Descendant {
    pub fn knows(key: &str) -> bool {
        meaning(key).is_some()
    }

    pub fn remark(&mut self, kind: Remark, text: String) {
        self.remarks.push((kind, text));
    }

    /// Takes a key with the words of its line; `false` if nobody knows it.
    pub fn take(&mut self, key: &Token<'_>, words: &[Token<'_>]) -> Result<bool, InputError> {
        let Some(meaning) = meaning(key.text) else { return Ok(false) };
        let Some(word) = words.first() else {
            return Err(key.place.key_error(key.text, format!("{} lacks a value", key.text)));
        };
        match meaning {
            Meaning::Takes(take) => take(self, key, word).map_err(|error| super::settings::keyed(key.text, error))?,
            Meaning::Idle(why) => self.remark(Remark::Idle, format!("{}: {why}", key.text)),
            Meaning::Only(value, why) => {
                let same = word.text.parse().ok() == value.parse::<f64>().ok() && !value.is_empty();
                let kind = if same { Remark::Idle } else { Remark::Dropped };
                self.remark(kind, format!("{} {}: {why}", key.text, word.text));
            }
        }
        Ok(true)
    }

    fn set(&mut self, key: &Token<'_>, word: &Token<'_>, keys: &[(&'static str, &'static str, &str)]) {
        let named = keys.iter().map(|(section, name, value)| format!("{section}.{name} = {value}"));
        self.remark(Remark::Taken, format!("{} {} as {}", key.text, word.text, named.collect::<Vec<_>>().join(", ")));
        self.keys.extend(keys.iter().map(|(section, name, value)| (*section, *name, (*value).to_owned())));
    }

    fn pfc(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        let mode = if word.integer(key.text, 1)? == 1 { "\"lossless\"" } else { "\"lossy\"" };
        self.set(key, word, &[("switch", "mode", mode)]);
        Ok(())
    }

    /// With the timeouts of the paper, which are those of its descendants.
    fn irn(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        match word.integer(key.text, 1)? {
            0 => self.remark(Remark::Idle, format!("{} 0: senders go back by default", key.text)),
            _ => self.set(
                key,
                word,
                &[
                    ("transport", "recovery", "\"selective_repeat\""),
                    ("transport", "bdp_cap", "true"),
                    ("transport", "timeout", "\"320us\""),
                    ("transport", "timeout_low", "\"100us\""),
                    ("transport", "timeout_low_packets", "3"),
                ],
            ),
        }
        Ok(())
    }

    fn load_balancing(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        let mode = word.integer(key.text, u64::from(u32::MAX))?;
        let scheme = |name: &str| format!("\"{name}\"");
        match mode {
            0 => self.remark(Remark::Idle, format!("{} 0: ECMP by flow, as here", key.text)),
            2 => self.set(key, word, &[("load_balancing", "scheme", &scheme("drill"))]),
            6 => {
                self.set(key, word, &[("load_balancing", "scheme", &scheme("flowlet"))]);
                let gap = "(LetFlow): the gap between flowlets is that of load_balancing.flowlet_gap";
                self.remark(Remark::Guessed, format!("{} 6 {gap}", key.text));
            }
            3 => self.keeps_to_ecmp(key, " 3 (CONGA)"),
            9 => self.set(key, word, &[("load_balancing", "scheme", "\"conweave\"")]),
            _ => self.keeps_to_ecmp(key, &format!(" {mode}")),
        }
        Ok(())
    }

    fn conweave_time(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        let micros = word.integer(key.text, u32::MAX.into())?;
        let ours = OF_CONWEAVE.iter().find(|(known, _)| *known == key.text);
        self.conweave.extend(ours.map(|&(_, name)| (key.text.to_owned(), name, micros)));
        Ok(())
    }

    /// All keys are there: what some of them mean depends on others.
    pub fn finish(&mut self) {
        let is_chosen = self.keys.iter().any(|(_, name, value)| *name == "scheme" && value == "\"conweave\"");
        for (key, name, micros) in core::mem::take(&mut self.conweave) {
            if is_chosen {
                self.remark(Remark::Taken, format!("{key} {micros} as load_balancing.{name} = \"{micros}us\""));
                self.keys.push(("load_balancing", name, format!("\"{micros}us\"")));
            } else {
                self.remark(Remark::Idle, format!("{key}: LB_MODE chooses how loads are balanced"));
            }
        }
    }

    fn keeps_to_ecmp(&mut self, key: &Token<'_>, mode: &str) {
        self.remark(Remark::Dropped, format!("{}{mode}: flows keep to the path that ECMP gives them", key.text));
    }

    fn seed(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        word.integer(key.text, u64::MAX)?;
        self.set(key, word, &[("run", "seed", word.text)]);
        Ok(())
    }

    fn base_rtt(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        let time = Nanos(word.whole(key.text, 1, Nanos::LONGEST.0)?);
        self.set(key, word, &[("transport", "base_rtt", &format!("\"{}\"", Value::Time(time).pretty()))]);
        self.remark(Remark::Guessed, format!("{} is in nanoseconds", key.text));
        Ok(())
    }

    fn cnp_interval(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        let micros = word.float(key.text)?;
        let interval = format!("\"{}us\"", micros.max(1.0) as u64);
        self.set(
            key,
            word,
            &[
                ("congestion_control", "notification_interval", &interval),
                ("compatibility", "notify_every_mark", "false"),
            ],
        );
        Ok(())
    }

    fn byte_counter(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        word.integer(key.text, u64::from(u32::MAX))?;
        self.set(key, word, &[("congestion_control", "byte_counter", word.text)]);
        Ok(())
    }

    fn marking(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        let slot = ["KMIN", "KMAX", "PMAX"].iter().position(|known| *known == key.text);
        if let Some(slot) = slot.and_then(|slot| self.marking.get_mut(slot)) {
            *slot = Some(word.float(key.text)?);
        }
        Ok(())
    }

    fn last_start(&mut self, key: &Token<'_>, word: &Token<'_>) -> Result<(), InputError> {
        word.float(key.text)?;
        self.last_start = Some(word.text.into());
        Ok(())
    }
}
