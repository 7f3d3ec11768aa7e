/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_FRAME_RECORD_H
#define HPCC_FRAME_RECORD_H

#include "ns3-bridge/src/frame.rs.h"
#include "qbb-frame.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Describe a frame to the core.
 * \param frame the frame
 * \return what its headers say; Ethernet addresses belong to a link, and are left 0
 */
hpcc::FrameRecord MakeFrameRecord(const QbbFrame& frame);

} // namespace ns3

#endif /* HPCC_FRAME_RECORD_H */
