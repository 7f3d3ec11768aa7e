/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-load-balancer.h"

#include "ns3-bridge/src/load_balancer.rs.h"

#include "ns3/abort.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(QbbLoadBalancer);

TypeId
QbbLoadBalancer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::QbbLoadBalancer").SetParent<Object>().SetGroupName("Hpcc");
    return tid;
}

uint32_t
QbbLoadBalancer::Choice::Hash(uint32_t seed) const
{
    return hpcc::hash_flow(srcAddress, dstAddress, sport, dport, seed);
}

uint32_t
QbbLoadBalancer::GetSwitch() const
{
    return m_switch;
}

uint32_t
QbbLoadBalancer::Draw()
{
    NS_ABORT_MSG_UNLESS(m_draws, "random numbers of a port are there in Choose() alone");
    return m_draws->draw();
}

} // namespace ns3
