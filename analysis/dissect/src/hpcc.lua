-- SPDX-License-Identifier: GPL-2.0-only
-- HPCC's telemetry and Fast CNP for Wireshark. `hpcc dissect --lua` puts the numbers of the core in front, as `core`.
--
-- A field is called as in the JSON of `hpcc dissect`, and what HPCC reads of a hop stands among the hop's other fields.

local hpcc = Proto("hpcc", "HPCC telemetry")
local F, numbers, known = {}, {}, {}

local function field(make, name, ...)
    local title = name:gsub("^.*%.(.*%.)", "%1"):gsub("^hops%.", ""):gsub("[_.]", " ")
    F[name] = make("hpcc." .. name, title, ...)
    known[#known + 1] = F[name]
end

for _, name in ipairs({
    "length_words", "hop_words", "remaining_hops", "version", "name_space", "max_length_words", "hop_limit",
    "current_length_words", "node_length_words", "remaining_words", "available_bps", "delay_ns", "queue_ns", "sent_ns",
    "hops.rate_bps", "hops.ts_ns", "hops.tx_bytes", "hops.qlen_bytes", "hops.node_id", "hops.interfaces", "hops.hop_latency",
    "hops.queue", "hops.queue.id", "hops.queue.occupancy", "hops.ingress_time", "hops.egress_time", "hops.level2_interfaces",
    "hops.tx_utilisation", "hops.buffer.id", "hops.buffer.occupancy", "hops.checksum_complement", "hops.reserved",
    "hops.name_space", "hops.device", "hops.ttl", "hops.speed", "hops.congestion", "hops.rx_seconds", "hops.rx_nanos",
    "hops.residence_ns", "hops.opaque", "hops.hop_limit", "hops.seconds", "hops.fraction", "hops.transit_delay",
    "hops.namespace_data", "hops.queue_depth", "hops.wide_hop_limit", "hops.wide_node_id", "hops.wide_interfaces",
    "hops.wide_namespace_data", "hops.buffer_occupancy", "hops.snapshot.schema", "csig.t", "csig.r", "csig.s", "csig.lm", "csig.uec.lm", "csig.pins.lm",
    "fast_cnp.option",
    "original_dscp", "original_dport", "original_protocol",
}) do
    field(ProtoField.uint64, name)
    numbers[name] = true
end
for _, name in ipairs({ "path", "instructions", "domain_id", "namespace", "trace_type" }) do
    field(ProtoField.uint32, name, base.HEX)
end
for _, name in ipairs({ "hops_exhausted", "mtu_exceeded", "overflow", "loopback", "active", "csig.d", "csig.uec.d" }) do
    field(ProtoField.bool, name)
end
for _, name in ipairs({ "hops.domain", "hops.snapshot.data" }) do
    field(ProtoField.bytes, name)
end
for _, name in ipairs({ "available_share", "utilisation" }) do
    field(ProtoField.double, name)
end
field(ProtoField.string, "format")
field(ProtoField.string, "operation")
field(ProtoField.string, "malformed")
field(ProtoField.string, "fast_cnp.sent_by")
field(ProtoField.ipv6, "fast_cnp.original_destination")
hpcc.fields = known

local short = ProtoExpert.new("hpcc.short", "Fewer bytes than the shim says", expert.group.MALFORMED, expert.severity.ERROR)
hpcc.experts = { short }

hpcc.prefs.layout = Pref.enum("Layout of marked packets", 1,
    "What packets carry whose DSCP ends in 001: these formats do not say",
    { { 1, "paper", 1 }, { 2, "draft", 2 }, { 3, "pint", 3 }, { 4, "timestamp", 4 } })
hpcc.prefs.log_base = Pref.string("Base of PINT", "1.05", "telemetry.log_base: factor between two codes of the utilisation")

local function put(tree, name, range, value)
    if numbers[name] and type(value) == "number" then
        value = UInt64.new(value % 2 ^ 32, math.floor(value / 2 ^ 32))
    end
    return tree:add(F[name], range, value)
end

-- Adds a field whose value is `count` bits of `range` from bit `at` on, or `value`.
local function add(tree, name, range, at, count, value)
    local first = math.floor(at / 8)
    local bytes = range(first, math.floor((at + count - 1) / 8) - first + 1)
    if value == nil then
        value = range:bitfield(at, count)
    end
    return put(tree, name, bytes, value)
end

-- Adds fields, each { name, first bit, bits }.
local function list(tree, range, fields)
    for _, it in ipairs(fields) do
        local value = range:bitfield(it[2], it[3])
        add(tree, it[1], range, it[2], it[3], it.flag and value == 1 or not it.flag and value)
    end
end

local function number(value)
    return type(value) == "number" and value or value:tonumber()
end

-- Whether a bit is set, counted from the upper end.
local function has(bits, width, bit)
    return math.floor(bits / 2 ^ (width - 1 - bit)) % 2 == 1
end

-- Whether a stack has whole hops, and not more than HPCC reads. Where one is missing, none is read.
local function is_whole(bytes, hop_bytes)
    return bytes % hop_bytes == 0 and bytes <= core.most_hops * hop_bytes
end

local function hop(tree, range, n)
    return tree:add(range, "Hop " .. n)
end

-- Adds link rate and sent bytes of HPCC's own 64-bit word.
local function counted(tree, word)
    local code, rate, sent = word:bitfield(0, 4)
    if code == core.explicit_rate then
        rate, sent = word:bitfield(8, 24) * 10 ^ word:bitfield(4, 4), word:bitfield(32, 32) * 128
    else
        rate, sent = core.rates[code + 1], number(word:bitfield(25, 39))
    end
    if rate then
        put(tree, "hops.rate_bps", word, rate)
        put(tree, "hops.tx_bytes", word, sent)
    end
end

-- A layout has `len`, the bytes of the section at the front of a range, or nil if there is none, and `show`.
local layouts = {}

local function compact(header)
    local function hops(range)
        return range:bitfield(0, 4)
    end
    return {
        len = function(range)
            return range:len() >= header and header + 8 * hops(range) or nil
        end,
        show = function(tree, range)
            add(tree, "path", range, 0, 16)
            for n = 1, hops(range) do
                local at = range(header + 8 * (n - 1), 8)
                local to, rate = hop(tree, at, n), core.rates[at:bitfield(0, 4) + 1]
                if rate then
                    add(to, "hops.rate_bps", at, 0, 4, rate)
                end
                add(to, "hops.ts_ns", at, 4, 24)
                add(to, "hops.tx_bytes", at, 28, 20, at:bitfield(28, 20) * 128)
                add(to, "hops.qlen_bytes", at, 48, 16, at:bitfield(48, 16) * 80)
            end
        end,
    }
end

layouts.paper, layouts.draft = compact(2), compact(4)

local function log_base()
    return math.max(tonumber(hpcc.prefs.log_base) or 1.05, 1.001)
end

layouts.pint = {
    len = function()
        return math.log(2 ^ 18) / math.log(log_base()) <= 256 and 1 or 2
    end,
    show = function(tree, range)
        tree:add(F.utilisation, range, log_base() ^ range:le_uint() / 512)
    end,
}

layouts.timestamp = {
    len = function()
        return 8
    end,
    show = function(tree, range)
        tree:add(F.sent_ns, range(0, 8), range(0, 8):le_uint64())
    end,
}

-- What a hop of INT adds for each bit of the instructions: bytes, and fields.
local INT = {
    { 4, { "hops.node_id", 0, 32 } },
    { 4, { "hops.interfaces", 0, 16 }, { "hops.interfaces", 16, 16 } },
    { 4, { "hops.hop_latency", 0, 32 } },
    { 4, { "hops.queue.id", 0, 8 }, { "hops.queue.occupancy", 8, 24 } },
    { 8, { "hops.ingress_time", 0, 64 } },
    { 8, { "hops.egress_time", 0, 64 } },
    { 8, { "hops.level2_interfaces", 0, 32 }, { "hops.level2_interfaces", 32, 32 } },
    { 4, { "hops.tx_utilisation", 0, 32 } },
    { 4, { "hops.buffer.id", 0, 8 }, { "hops.buffer.occupancy", 8, 24 } },
}
for bit = 10, 15 do
    INT[bit] = { 4, { "hops.reserved", 0, 32 } }
end

local function int_hop(tree, at, instructions, ours)
    local from = 0
    for bit, asked in ipairs(INT) do
        if has(instructions, 16, bit - 1) and from + asked[1] <= at:len() then
            list(tree, at(from, asked[1]), { select(2, table.unpack(asked)) })
            from = from + asked[1]
        end
    end
    local complement = instructions % 2 == 1 and 4 or 0
    if at:len() - complement > from then
        tree:add(F["hops.domain"], at(from, at:len() - complement - from))
    end
    if complement > 0 and at:len() >= from + 4 then
        add(tree, "hops.checksum_complement", at, 8 * (at:len() - 4), 32)
    end
    if ours then
        add(tree, "hops.ts_ns", at, 97, 63)
        add(tree, "hops.qlen_bytes", at, 72, 24)
        counted(tree, at(20, 8))
    end
end

-- What the shim keeps of the packet, by its type of the next protocol.
local ORIGINAL = { [0] = { "original_dscp", 24, 6 }, { "original_dport", 16, 16 }, { "original_protocol", 24, 8 } }

layouts.int_md = {
    -- A shim of a known type, a header of its version, and a stack of whole hops.
    len = function(range)
        local is_int = range:len() >= 16 and range:bitfield(0, 4) >= 1 and range:bitfield(0, 4) <= 3
            and range:bitfield(4, 2) < 3 and range:bitfield(8, 8) >= 3 and range:bitfield(32, 4) == core.int_version
            and range:bitfield(51, 5) > 0
        return is_int and 4 + 4 * range:bitfield(8, 8) or nil
    end,
    show = function(tree, range)
        list(tree, range, {
            ORIGINAL[range:bitfield(4, 2)], { "length_words", 8, 8 }, { "hop_words", 51, 5 }, { "remaining_hops", 56, 8 },
            { "hops_exhausted", 37, 1, flag = true }, { "mtu_exceeded", 38, 1, flag = true },
            { "instructions", 64, 16 }, { "domain_id", 80, 16 },
        })
        local instructions, len = range:bitfield(64, 16), 4 * range:bitfield(51, 5)
        local ours = instructions == core.int_instructions and range:bitfield(80, 16) == core.int_domain
            and range:bitfield(96, 16) == core.int_domain_instructions and len == core.int_hop_bytes
            and range:bitfield(0, 6) == 4 and range:bitfield(37, 2) == 0 and is_whole(range:len() - 16, len)
        -- The newest hop stands first.
        for n = 1, math.floor((range:len() - 16) / len) do
            local at = range(range:len() - n * len, len)
            int_hop(hop(tree, at, n), at, instructions, ours)
        end
    end,
}

-- Words that a hop adds for these instructions.
local function words(instructions)
    local sum = 0
    for bit, asked in ipairs(INT) do
        sum = sum + (has(instructions, 16, bit - 1) and asked[1] / 4 or 0)
    end
    return sum + instructions % 2
end

-- Whether bytes are INT-MD whatever announces it: reserved bits are zeros, and the words of a hop are those that it asks for.
local function is_int(range)
    local len = layouts.int_md.len(range)
    if not len or len > range:len() or range:bitfield(6, 2) > 0 or range:bitfield(39, 12) > 0 then
        return false
    end
    local asked, hop = words(range:bitfield(64, 16)), range:bitfield(51, 5)
    local has_its_words = hop == asked or (hop > asked and range:bitfield(80, 16) > 0)
    return has_its_words and (range:bitfield(8, 8) - 3) % hop == 0
end

local IFA = {
    { "hops.name_space", 0, 4 }, { "hops.device", 4, 20 }, { "hops.ttl", 24, 8 }, { "hops.speed", 32, 4 },
    { "hops.congestion", 36, 2 }, { "hops.queue", 38, 6 }, { "hops.interfaces", 80, 16 }, { "hops.interfaces", 64, 16 },
    { "hops.rx_seconds", 44, 20 }, { "hops.rx_nanos", 96, 32 }, { "hops.residence_ns", 128, 32 },
    { "hops.opaque", 160, 32 }, { "hops.opaque", 192, 32 }, { "hops.opaque", 224, 32 },
}

layouts.ifa = {
    len = function(range)
        local is_ifa = range:len() >= 8 and range:bitfield(0, 4) == core.ifa_version and range:bitfield(8, 8) == 17
        return is_ifa and 8 + 4 * range:bitfield(56, 8) or nil
    end,
    show = function(tree, range)
        list(tree, range, {
            { "version", 0, 4 }, { "name_space", 4, 4 }, { "max_length_words", 24, 8 }, { "hop_limit", 48, 8 },
            { "current_length_words", 56, 8 },
        })
        local hops = math.floor((range:len() - 8) / 32)
        local is_ours = range:bitfield(4, 4) == 15 and range:bitfield(19, 2) == 0 and range:bitfield(23, 1) == 0
            and is_whole(range:len() - 8, 32) and range:bitfield(48, 8) + hops == math.floor(range:bitfield(24, 8) / 8) + 1
        for n = 1, hops do
            local at = range(range:len() - n * 32, 32)
            local to, rate = hop(tree, at, n), core.rates[at:bitfield(32, 4) + 1]
            list(to, at, IFA)
            if rate and is_ours and at:bitfield(0, 4) == core.ifa_name_space then
                local time = at:bitfield(44, 20) * 10 ^ 9 + at:bitfield(96, 32) + at:bitfield(128, 32)
                add(to, "hops.rate_bps", at, 32, 4, rate)
                add(to, "hops.ts_ns", at, 44, 116, time)
                add(to, "hops.tx_bytes", at, 193, 63)
                add(to, "hops.qlen_bytes", at, 160, 32)
            end
        end
    end,
}

-- What a node of IOAM adds for each bit of the trace type.
local IOAM = {
    { 4, { "hops.hop_limit", 0, 8 }, { "hops.node_id", 8, 24 } },
    { 4, { "hops.interfaces", 0, 16 }, { "hops.interfaces", 16, 16 } },
    { 4, { "hops.seconds", 0, 32 } },
    { 4, { "hops.fraction", 0, 32 } },
    { 4, { "hops.transit_delay", 0, 32 } },
    { 4, { "hops.namespace_data", 0, 32 } },
    { 4, { "hops.queue_depth", 0, 32 } },
    { 4, { "hops.checksum_complement", 0, 32 } },
    { 8, { "hops.wide_hop_limit", 0, 8 }, { "hops.wide_node_id", 8, 56 } },
    { 8, { "hops.wide_interfaces", 0, 32 }, { "hops.wide_interfaces", 32, 32 } },
    { 8, { "hops.wide_namespace_data", 0, 64 } },
    { 4, { "hops.buffer_occupancy", 0, 32 } },
}
for bit = 13, 22 do
    IOAM[bit] = { 4 }
end

-- Where each part of a node at the front of a range stands, by its bit, and the node's bytes; nil if the range ends before.
local function ioam_node(range, kind)
    local at, from = {}, 0
    for bit, asked in ipairs(IOAM) do
        if has(kind, 24, bit - 1) then
            at[bit], from = from, from + asked[1]
        end
    end
    if has(kind, 24, 22) and from + 4 <= range:len() then
        at.snapshot, from = from, from + 4 + 4 * range:bitfield(8 * from, 8)
    end
    return from > 0 and from <= range:len() and at or nil, from
end

-- A trace: header, free room if it is pre-allocated, nodes.
local function trace(tree, range, is_preallocated)
    tree:add(F.format, range, "ioam " .. (is_preallocated and "pre-allocated" or "incremental") .. " trace"):set_generated()
    list(tree, range, {
        { "namespace", 0, 16 }, { "node_length_words", 16, 5 }, { "overflow", 21, 1, flag = true },
        { "loopback", 22, 1, flag = true }, { "active", 23, 1, flag = true }, { "remaining_words", 25, 7 },
        { "trace_type", 32, 24 },
    })
    local kind, nodes = range:bitfield(32, 24), {}
    local from = 8 + (is_preallocated and 4 * range:bitfield(25, 7) or 0)
    while from < range:len() do
        local at, len = ioam_node(range(from), kind)
        if not at then
            break
        end
        -- The newest node stands first.
        table.insert(nodes, 1, { range(from, len), at })
        from = from + len
    end
    local is_full, is_complete = kind == core.ioam_full, range:bitfield(21, 1) == 0
    local is_ours = is_complete and range:bitfield(0, 16) == core.ioam_namespace and (is_full or kind == core.ioam_slim)
    for n, node in ipairs(nodes) do
        local bytes, at = node[1], node[2]
        local to = hop(tree, bytes, n)
        for bit, asked in ipairs(IOAM) do
            local part = at[bit] and bytes(at[bit], asked[1])
            -- A value that is not known is all ones.
            if part and tostring(part:bytes()) ~= ("FF"):rep(asked[1]) then
                list(to, part, { select(2, table.unpack(asked)) })
            end
        end
        if at.snapshot then
            add(to, "hops.snapshot.schema", bytes, 8 * at.snapshot + 8, 24)
            if bytes:len() > at.snapshot + 4 then
                to:add(F["hops.snapshot.data"], bytes(at.snapshot + 4))
            end
        end
        if is_ours and is_full then
            local time = bytes(at[3], 4):uint() * 10 ^ 9 + bytes(at[4], 4):uint()
            add(to, "hops.ts_ns", bytes, 8 * at[3], 64, time)
            counted(to, bytes(at[11], 8))
        elseif is_ours then
            local word = bytes(at[6], 4)
            local rate, sent = core.rates[word:bitfield(0, 4) + 1], word:bitfield(4, 28) * 128
            add(to, "hops.ts_ns", bytes, 8 * at[4], 32)
            if rate then
                put(to, "hops.rate_bps", word, rate)
                put(to, "hops.tx_bytes", word, sent)
            end
        end
        if is_ours then
            add(to, "hops.qlen_bytes", bytes, 8 * at[7], 32)
        end
    end
end

-- The options of a header without padding, each { type, data }; stops at one that does not end within it.
local function options(range)
    local found, at = {}, 2
    while at < range:len() do
        local kind, len = range(at, 1):uint(), 0
        if kind ~= 0 then
            len = at + 1 < range:len() and 1 + range(at + 1, 1):uint() or range:len()
        end
        if at + len >= range:len() then
            break
        end
        if kind > 1 and len > 1 then
            found[#found + 1] = { kind, range(at + 2, len - 1) }
        end
        at = at + 1 + len
    end
    return found
end

-- The trace among the options of a hop-by-hop header, and whether it is pre-allocated.
local function trace_of(range)
    for _, option in ipairs(options(range)) do
        local kind, data = option[1], option[2]
        if kind == core.ioam_option and data:len() >= 10 and data(1, 1):uint() <= 1 then
            return data(2), data(1, 1):uint() == 0
        end
    end
end

layouts.ioam = {
    len = function(range)
        local len = range:len() >= 8 and range(0, 1):uint() == 17 and 8 * (1 + range(1, 1):uint())
        return len and len <= range:len() and trace_of(range(0, len)) and len or nil
    end,
    show = function(tree, range)
        trace(tree, trace_of(range))
    end,
}

local SIGNALS = { [0] = "available_bps", "available_share", "delay_ns", "queue_ns" }
-- Units of the compact tag and of the wide one, whose EtherTypes are neighbours.
local UNITS = {
    { available_bps = 2 ^ 34, available_share = 1 / 32, delay_ns = 1024, queue_ns = 1024 },
    { available_bps = 2 ^ 20, available_share = 2 ^ -20, delay_ns = 1, queue_ns = 1 },
}

-- The size of CSIG's tag with an EtherType: 1 for compact, 2 for wide.
local function tag_size(range)
    for size, ether_type in ipairs(core.csig_ether_types) do
        if range:len() >= 4 * size and range(0, 2):uint() == ether_type then
            return size
        end
    end
end

layouts.csig = {
    len = function(range)
        local size = tag_size(range)
        return size and 4 * size
    end,
    show = function(tree, range)
        local size = tag_size(range)
        local signal_at, signal_bits, value_at, value_bits = 16, 3, 20, 5
        if size == 2 then
            signal_at, signal_bits, value_at, value_bits = 32, 4, 36, 20
        end
        local signal = SIGNALS[range:bitfield(signal_at, signal_bits)]
        if signal then
            local value = range:bitfield(value_at, value_bits) * UNITS[size][signal]
            add(tree, signal, range, value_at, value_bits, value)
        end
        -- A compact tag does not say whether its last bits are UEC's or those of PINS.
        if size == 1 then
            list(tree, range, { { "csig.t", 16, 3 }, { "csig.r", 19, 1 }, { "csig.s", 20, 5 } })
            list(tree, range, { { "csig.uec.lm", 25, 6 }, { "csig.pins.lm", 25, 7 } })
        else
            list(tree, range, { { "csig.t", 32, 4 }, { "csig.r", 56, 8 }, { "csig.s", 36, 20 }, { "csig.lm", 16, 15 } })
        end
        add(tree, size == 1 and "csig.uec.d" or "csig.d", range, 31, 1, range:bitfield(31, 1) == 1)
    end,
}

local function show(tree, name, range, title)
    local below = tree:add(hpcc, range, (title or "HPCC telemetry") .. " (" .. name .. ")")
    if name ~= "ioam" then
        below:add(F.format, range, name):set_generated()
    end
    layouts[name].show(below, range)
end

local MARKED = { "paper", "draft", "pint", "timestamp" }
local dscps = { Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp") }
local hop_by_hop, destination = Field.new("ipv6.hopopts"), Field.new("ipv6.dstopts")
local source = Field.new("ipv6.src")

-- The last value of a field: the innermost header's.
local function innermost(field)
    local all = { field() }
    return all[#all]
end

local function dscp()
    local four, six = innermost(dscps[1]), innermost(dscps[2])
    local it = six and (not four or six.offset > four.offset) and six or four
    return it and it.value or 0
end

-- Whether a base transport header may begin here: a known operation, and zeros where they must be.
local function is_transport(range)
    return range:len() >= 16 and core.operations[range(0, 1):uint()][2] and range:bitfield(12, 4) == 0
        and range:bitfield(34, 6) == 0 and range:bitfield(65, 7) == 0
end

-- The layout of the section behind UDP, and its length.
local function behind_udp(range)
    local mark, name = dscp() % 8, nil
    if mark == core.int_mark or is_int(range) then
        name = "int_md"
    elseif mark == core.telemetry_mark then
        name = MARKED[hpcc.prefs.layout]
    end
    local len = name and layouts[name].len(range)
    if not len or name == "int_md" then
        return name, len
    end
    -- Plain traffic has such DSCPs, too. Where the ICRC decides for `dissect`, the usual partition key does here.
    local is_marked, is_plain = len < range:len() and is_transport(range(len)), is_transport(range)
    if is_marked and is_plain then
        is_plain = range(2, 2):uint() == 0xffff and range(len + 2, 2):uint() ~= 0xffff
    end
    if not is_plain and len < range:len() then
        return name, len
    end
end

-- What an acknowledgement brings back: bytes that are one whole section.
local function returned(tree, range)
    for _, name in ipairs({ "int_md", "ifa", "ioam", "csig", MARKED[hpcc.prefs.layout] }) do
        if layouts[name].len(range) == range:len() then
            return show(tree, name, range, "Returned telemetry")
        end
    end
end

-- The option of a notification: with the original destination, or with a trace in front of it.
local function fast_cnp(tree, header)
    local all = options(header)
    local data = #all == 1 and all[1][2]
    local front = data and data:len() - 16
    if not data or (front ~= 0 and front < 10) or (front > 0 and data(1, 1):uint() > 1) then
        return
    end
    local below = tree:add(hpcc, header, "Fast CNP")
    local original = data(front, 16)
    local by = innermost(source).range:bytes() == original:bytes() and "the receiver" or "a network element"
    put(below, "fast_cnp.option", data, front > 0 and 2 or 1)
    below:add(F["fast_cnp.original_destination"], original)
    below:add(F["fast_cnp.sent_by"], data, by):set_generated()
    if front > 0 then
        trace(below, data(2, front - 2), data(1, 1):uint() == 0)
    end
end

local udp_ports, ether_types = DissectorTable.get("udp.port"), DissectorTable.get("ethertype")
local roce = udp_ports:get_dissector(core.port)

function hpcc.dissector(tvb, pinfo, tree)
    local bytes = tvb:range()
    local name, len = behind_udp(bytes)
    local options_header = innermost(hop_by_hop)
    if options_header and layouts.ioam.len(options_header.range) then
        show(tree, "ioam", options_header.range)
    end
    if len and len > tvb:len() then
        local below = tree:add(hpcc, bytes)
        below:add(F.format, bytes, name):set_generated()
        below:add(F.malformed, bytes, ("%d bytes by its shim, of %d"):format(len, tvb:len())):add_proto_expert_info(short)
        return tvb:len()
    elseif len then
        show(tree, name, tvb(0, len))
    end
    len = len or 0
    -- Behind a length that lies there is no transport header; Wireshark has then said that the rest is malformed.
    pcall(roce.call, roce, tvb(len):tvb(), pinfo, tree)
    if tvb:len() < len + 16 then
        return tvb:len()
    end
    local opcode, header = tvb(len, 1):uint(), innermost(destination)
    tree:add(F.operation, tvb(len, 1), core.operations[opcode][1])
    if opcode == core.cnp and header then
        fast_cnp(tree, header.range)
    end
    local extended = opcode == core.acknowledge and tvb(len + 12, 1):bitfield(1, 2) == 0 and 4 or opcode == core.feedback and 0
    local payload = extended and tvb:len() - len - 16 - extended - tvb(len + 1, 1):bitfield(2, 2)
    if payload and payload > 0 then
        returned(tree, tvb(len + 12 + extended, payload))
    end
    return tvb:len()
end
udp_ports:add(core.port, hpcc)

-- INT-MD over TCP, and over UDP to other ports.
local function int(tvb, pinfo, tree)
    local range = tvb:range()
    if not is_int(range) then
        return false
    end
    local len = layouts.int_md.len(range)
    show(tree, "int_md", range(0, len))
    if len < tvb:len() then
        Dissector.get("data"):call(tvb(len):tvb(), pinfo, tree)
    end
    return true
end
hpcc:register_heuristic("tcp", int)
hpcc:register_heuristic("udp", int)

-- IFA: its header in front of UDP, the rest behind UDP, whose length and checksum do not count it.
local ifa = Proto("hpcc_ifa", "In-band flow analyzer")
function ifa.dissector(tvb, pinfo, tree)
    if tvb:len() < 16 then
        return 0
    end
    local len = layouts.ifa.len(ByteArray.tvb(tvb(0, 4):bytes() .. tvb(12, 4):bytes(), "IFA headers"):range())
    if not len or 8 + len > tvb:len() then
        return 0
    end
    local section = tvb(0, 4):bytes() .. tvb(12, len - 4):bytes()
    show(tree, "ifa", ByteArray.tvb(section, "IFA"):range())
    local packet = tvb(4, 8):bytes()
    if tvb:len() > 8 + len then
        packet = packet .. tvb(8 + len):bytes()
    end
    Dissector.get("udp"):call(ByteArray.tvb(packet, "Packet without IFA"), pinfo, tree)
    return tvb:len()
end
DissectorTable.get("ip.proto"):add(core.ifa_protocol, ifa)

-- CSIG: a tag between the addresses and the EtherType of what follows; its own EtherType has been taken off.
for size, ether_type in ipairs(core.csig_ether_types) do
    local csig = Proto("hpcc_csig_" .. size, "Congestion signal, tag of " .. 4 * size .. " bytes")
    function csig.dissector(tvb, pinfo, tree)
        local len = 4 * size - 2
        if tvb:len() < len + 2 then
            return 0
        end
        local front = ByteArray.new(("%04x"):format(ether_type))
        show(tree, "csig", ByteArray.tvb(front .. tvb(0, len):bytes(), "CSIG"):range())
        ether_types:try(tvb(len, 2):uint(), tvb(len + 2):tvb(), pinfo, tree)
        return tvb:len()
    end
    ether_types:add(ether_type, csig)
end
