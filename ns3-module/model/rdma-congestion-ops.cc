/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-congestion-ops.h"

#include "ns3/abort.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RdmaCongestionOps);

TypeId
RdmaCongestionOps::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RdmaCongestionOps").SetParent<Object>().SetGroupName("Hpcc");
    return tid;
}

void
RdmaCongestionOps::Start(const Limits&)
{
}

void
RdmaCongestionOps::OnSent(const Sent&)
{
}

RdmaCongestionOps::Decision
RdmaCongestionOps::OnLoss(const Loss&)
{
    return {};
}

RdmaCongestionOps::Decision
RdmaCongestionOps::OnNotification(uint64_t)
{
    return {};
}

RdmaCongestionOps::Decision
RdmaCongestionOps::OnTimer(uint8_t, uint64_t)
{
    return {};
}

void
RdmaCongestionOps::OnPort(DataRate)
{
}

void
RdmaCongestionOps::Arm(uint8_t timer, uint64_t at)
{
    NS_ABORT_MSG_IF(timer >= TIMERS,
                    "there is no timer " << +timer << "; expected 0 to " << TIMERS - 1);
    m_due[timer] = at;
    m_armed |= 1U << timer;
}

bool
RdmaCongestionOps::ReactsToNotifications() const
{
    return false;
}

RdmaCongestionOps::Reads
RdmaCongestionOps::GetReads() const
{
    return Reads::NOTHING;
}

bool
RdmaCongestionOps::TakesDigests() const
{
    return false;
}

} // namespace ns3
