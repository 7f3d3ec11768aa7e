/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-congestion-ops.h"

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

bool
RdmaCongestionOps::ReactsToNotifications() const
{
    return false;
}

bool
RdmaCongestionOps::ReadsTelemetry() const
{
    return false;
}

} // namespace ns3
