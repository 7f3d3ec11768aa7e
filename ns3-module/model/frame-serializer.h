/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FRAME_SERIALIZER_H
#define FRAME_SERIALIZER_H

#include "core-pointer.h"

#include "ns3/mac48-address.h"
#include "ns3/packet.h"

namespace ns3
{

class QbbFrame;

/**
 * \ingroup hpcc
 * \brief Makes the bytes that a frame has on the wire. A frame is a typed record until its bytes
 * are asked for.
 */
class FrameSerializer
{
  public:
    /**
     * \param settings say what frames look like; ends the program if its frames have no bytes, as
     * the 2019 simulator's
     * \param mtu most payload bytes of a packet
     */
    FrameSerializer(const hpcc::Settings& settings, uint32_t mtu);

    /**
     * \brief Make the bytes of a frame, from the Ethernet header to the ICRC.
     * \param frame the frame
     * \param src port that sends it
     * \param dst port at the other end of the link
     * \return a packet without metadata
     */
    Ptr<Packet> Serialize(const QbbFrame& frame, Mac48Address src, Mac48Address dst) const;

    /**
     * \brief Make the bytes of a frame that carries a packet, from the Ethernet header on. They are
     * real whatever the wire profile.
     * \param frame the frame
     * \param src port that sends it
     * \param dst port at the other end of the link
     * \return a packet without metadata
     */
    static Ptr<Packet> SerializePacket(const QbbFrame& frame, Mac48Address src, Mac48Address dst);

  private:
    CorePointer<hpcc::FrameWriter> m_core; //!< builds the bytes
    uint32_t m_mtu;                        //!< most payload bytes of a packet
};

} // namespace ns3

#endif /* FRAME_SERIALIZER_H */
