/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_PACKET_KIND_H
#define HPCC_PACKET_KIND_H

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-frame.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Translate what a frame is for.
 * \param kind a frame's kind
 * \return the core's form
 */
hpcc::PacketKind MakePacketKind(QbbFrame::Kind kind);

} // namespace ns3

#endif /* HPCC_PACKET_KIND_H */
