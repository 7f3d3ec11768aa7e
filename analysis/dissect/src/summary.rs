// SPDX-License-Identifier: GPL-2.0-only
//! A frame in one line for a reader.

use crate::layers::Object;
use serde_json::Value;

/// `frame time src > dst what, telemetry, verdict`.
pub fn line(frame: &Object) -> String {
    let mut parts = vec![format!("{:>6}", text(&frame["frame"]))];
    if let Some(time) = frame.get("time_ns").and_then(Value::as_u64) {
        parts.push(format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000));
    }
    let ends = ["ipv4", "ipv6", "grh", "ethernet"].iter().find_map(|layer| frame.get(*layer));
    if let Some(ends) = ends {
        parts.push(format!("{} > {}", text(&ends["src"]), text(&ends["dst"])));
    }
    parts.push(what(frame));
    let copied = frame.get("fast_cnp").map(|notification| &notification["telemetry"]).filter(|copy| !copy.is_null());
    if let Some(telemetry) = frame.get("telemetry").or(copied) {
        parts.push(format!("{}: {}", text(&telemetry["format"]), hops(telemetry)));
    }
    match frame.get("icrc").map(|icrc| text(&icrc["verdict"])) {
        Some(verdict) if verdict != "right" => parts.push(format!("ICRC {verdict}")),
        _ => {}
    }
    for fault in ["malformed", "not_dissected"] {
        if let Some(where_) = frame.get(fault) {
            let name = fault.replace('_', " ");
            parts.push(format!(
                "{name}: {} at byte {}: {}",
                text(&where_["layer"]),
                where_["offset"],
                text(&where_["fault"])
            ));
        }
    }
    parts.join("  ")
}

fn what(frame: &Object) -> String {
    if let Some(pfc) = frame.get("pfc") {
        return format!("PFC {}", pfc["quanta"]);
    }
    if let Some(pause) = frame.get("pause") {
        return format!("PAUSE {} quanta", pause["quanta"]);
    }
    if let (Some(notification), Some(bth)) = (frame.get("fast_cnp"), frame.get("bth")) {
        let destination = text(&notification["original_destination"]);
        return format!("Fast CNP by {} about {destination} qp {}", text(&notification["sent_by"]), bth["dest_qp"]);
    }
    if let Some(bth) = frame.get("bth") {
        let operation = text(&bth["operation"]);
        let says = match frame.get("aeth") {
            Some(aeth) if operation == "acknowledge" => text(&aeth["says"]),
            Some(aeth) if aeth["says"] != "acknowledge" => format!("{operation}, {}", text(&aeth["says"])),
            _ => operation,
        };
        return format!(
            "{} {says} qp {} psn {}, {} B",
            text(&bth["service"]),
            bth["dest_qp"],
            bth["psn"],
            frame["payload_bytes"]
        );
    }
    let other =
        ["uet", "tcp", "udp", "icmpv6", "icmpv4", "arp", "macsec"].iter().find(|layer| frame.contains_key(**layer));
    other.map_or_else(|| "other".into(), ToString::to_string)
}

/// The queues that HPCC would read, in path order.
fn hops(telemetry: &Value) -> String {
    let hpcc = &telemetry["hpcc"];
    if let Some(hops) = hpcc["hops"].as_array() {
        let queue = |hop: &Value| format!("{} B", hop["qlen_bytes"]);
        let queues = hops.iter().map(queue).collect::<Vec<_>>().join(", ");
        return if hops.is_empty() { "no hop yet".into() } else { format!("{} hops, queues {queues}", hops.len()) };
    }
    match telemetry["hops"].as_array() {
        Some(hops) => format!("{} hops", hops.len()),
        None => hpcc.to_string(),
    }
}

/// A value without quotation marks.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
