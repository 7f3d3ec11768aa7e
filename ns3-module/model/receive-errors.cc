/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "receive-errors.h"

#include "controller-call.h"
#include "engine-network.h"
#include "qbb-net-device.h"
#include "qbb-node.h"

namespace hpcc
{

bool
is_corrupt(std::size_t network, uint32_t node, uint16_t port, uint32_t bytes)
{
    ns3::QbbNode* const owner = reinterpret_cast<ns3::EngineNetwork*>(network)->PeekNode(node);
    if (!owner)
    {
        return false;
    }
    // Hosts are in the midst of their work.
    const ns3::ControllerCall call;
    return owner->GetPort(port)->IsCorrupt(bytes);
}

} // namespace hpcc
