/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "frame-serializer.h"

#include "call-rust.h"
#include "ns3-bridge/src/frame.rs.h"
#include "ns3-bridge/src/probed.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-frame.h"

#include <array>
#include <vector>

namespace ns3
{

namespace
{

/**
 * \param address a port's address
 * \return its bytes
 */
std::array<uint8_t, 6>
BytesOf(Mac48Address address)
{
    std::array<uint8_t, 6> bytes;
    address.CopyTo(bytes.data());
    return bytes;
}

/**
 * \param bytes bytes
 * \return a packet of them
 */
Ptr<Packet>
PacketOf(const rust::Vec<uint8_t>& bytes)
{
    return Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

} // namespace

FrameSerializer::FrameSerializer(const hpcc::Settings& settings, uint32_t mtu)
    : m_mtu(mtu)
{
    m_core = FromRust(CallRust([&] { return hpcc::new_frame_writer(settings); }));
}

Ptr<Packet>
FrameSerializer::Serialize(const QbbFrame& frame, Mac48Address src, Mac48Address dst) const
{
    const hpcc::OnLink link{BytesOf(src), BytesOf(dst), m_mtu};
    const rust::Vec<uint8_t> bytes =
        m_core->bytes(frame.ToCore(), link, {frame.GetTelemetry(), frame.telemetryBytes});
    return PacketOf(bytes);
}

Ptr<Packet>
FrameSerializer::SerializePacket(const QbbFrame& frame, Mac48Address src, Mac48Address dst)
{
    std::vector<uint8_t> packet(frame.packet->GetSize());
    frame.packet->CopyData(packet.data(), frame.packet->GetSize());
    return PacketOf(
        hpcc::packet_bytes({BytesOf(src), BytesOf(dst), frame.hopLimit, frame.congestionMarked},
                           {packet.data(), packet.size()},
                           {frame.GetTelemetry(), frame.telemetryBytes}));
}

} // namespace ns3
