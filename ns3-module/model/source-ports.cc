/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "source-ports.h"

#include <algorithm>

namespace ns3
{

std::optional<uint16_t>
SourcePorts::Take()
{
    if (m_inUse.size() == COUNT)
    {
        return std::nullopt;
    }
    auto place = std::lower_bound(m_inUse.begin(), m_inUse.end(), m_next);
    while (place != m_inUse.end() && *place == m_next)
    {
        ++place;
        if (m_next++ == UINT16_MAX)
        {
            m_next = FIRST;
            place = m_inUse.begin();
        }
    }
    const uint16_t port = m_next;
    m_inUse.insert(place, port);
    m_next = port == UINT16_MAX ? FIRST : port + 1;
    return port;
}

void
SourcePorts::GiveBack(uint16_t port)
{
    const auto place = std::lower_bound(m_inUse.begin(), m_inUse.end(), port);
    if (place != m_inUse.end() && *place == port)
    {
        m_inUse.erase(place);
    }
}

} // namespace ns3
