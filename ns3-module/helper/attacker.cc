/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "attacker.h"

#include "ns3-bridge/src/network.rs.h"

#include "ns3/engine-network.h"

#include <utility>

namespace ns3
{

Attacker::Attacker(Ptr<QbbNode> node, uint32_t attack)
    : m_node(std::move(node)),
      m_attack(attack)
{
}

Attacker::~Attacker()
{
    // The simulation may be over.
    if (m_node->PeekNetwork())
    {
        m_node->GetNetwork().Look().end_attack(m_attack);
    }
}

uint64_t
Attacker::GetSent() const
{
    return m_node->GetNetwork().Look().attack_counters(m_attack).sent;
}

uint64_t
Attacker::GetAltered() const
{
    return m_node->GetNetwork().Look().attack_counters(m_attack).altered;
}

} // namespace ns3
