/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "bottleneck-watch.h"

#include "rdma-host.h"

#include <utility>

namespace ns3
{

namespace
{

/**
 * \param flow a flow of the host
 * \return a key that no other flow in progress has: one to the same destination has another port
 */
uint64_t
Key(const RdmaFlow& flow)
{
    return uint64_t{flow.dst} << 16 | flow.sport;
}

} // namespace

BottleneckWatch::BottleneckWatch(RdmaHost& host)
{
    host.TraceConnectWithoutContext("Control", MakeCallback(&BottleneckWatch::OnControl, this));
    host.TraceConnectWithoutContext("FlowFinish", MakeCallback(&BottleneckWatch::OnFinish, this));
}

void
BottleneckWatch::OnControl(const RdmaFlow& flow, const RdmaControl& control)
{
    int16_t& last = m_last.emplace(Key(flow), -1).first->second;
    const int16_t before = std::exchange(last, control.bottleneck);
    if (before != control.bottleneck)
    {
        change(flow, before, control.bottleneck);
    }
}

void
BottleneckWatch::OnFinish(const RdmaFlow& flow)
{
    m_last.erase(Key(flow));
}

} // namespace ns3
