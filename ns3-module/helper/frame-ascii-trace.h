/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_FRAME_ASCII_TRACE_H
#define HPCC_FRAME_ASCII_TRACE_H

#include "ns3/output-stream-wrapper.h"
#include "ns3/ptr.h"

namespace ns3
{

class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief Write a line for each frame that is queued at a device (+), leaves its queue (-), arrives
 * (r) or is lost (d): the time in seconds, node and device, kind, source and destination, ports,
 * priority, first byte and payload, and size.
 * \param device the device
 * \param stream where to
 */
void TraceFramesAsText(QbbNetDevice& device, Ptr<OutputStreamWrapper> stream);

} // namespace ns3

#endif /* HPCC_FRAME_ASCII_TRACE_H */
