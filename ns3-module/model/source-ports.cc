/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "source-ports.h"

#include <algorithm>

namespace ns3
{

uint16_t
SourcePorts::Take()
{
    if (m_inUse.size() == COUNT)
    {
        const uint16_t port = m_next;
        ++m_shared[port];
        m_next = port == UINT16_MAX ? FIRST : port + 1;
        return port;
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
    const auto shared = m_shared.find(port);
    if (shared != m_shared.end())
    {
        if (--shared->second == 0)
        {
            m_shared.erase(shared);
        }
        return;
    }
    const auto place = std::lower_bound(m_inUse.begin(), m_inUse.end(), port);
    if (place != m_inUse.end() && *place == port)
    {
        m_inUse.erase(place);
    }
}

} // namespace ns3
