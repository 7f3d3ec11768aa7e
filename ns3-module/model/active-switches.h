/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef ACTIVE_SWITCHES_H
#define ACTIVE_SWITCHES_H

#include "qbb-switch.h"

#include <algorithm>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief The switches that samples of queues have to visit: the queues of all others are empty, and
 * were empty at the last sample.
 *
 * Not to be moved: switches keep its address.
 */
class ActiveSwitches
{
  public:
    ActiveSwitches() = default;
    ActiveSwitches(const ActiveSwitches&) = delete;
    ActiveSwitches& operator=(const ActiveSwitches&) = delete;

    /**
     * \brief Put a switch on the list; it must not be there.
     * \param node the switch
     */
    void Add(QbbSwitch& node)
    {
        m_nodes.push_back(&node);
        m_isSorted = false;
    }

    /**
     * \brief Visit the switches by their index. One whose queues are empty leaves the list, until
     * it receives a frame.
     * \tparam Visitor a function of a switch that returns whether its queues hold anything
     * \param visit the function
     */
    template <typename Visitor>
    void Visit(Visitor visit)
    {
        if (!m_isSorted)
        {
            std::sort(m_nodes.begin(), m_nodes.end(), [](const QbbSwitch* a, const QbbSwitch* b) {
                return a->GetIndex() < b->GetIndex();
            });
            m_isSorted = true;
        }
        const auto isIdle = [this, &visit](QbbSwitch* node) {
            const bool isBusy = visit(*node);
            if (!isBusy)
            {
                node->Register(*this);
            }
            return !isBusy;
        };
        m_nodes.erase(std::remove_if(m_nodes.begin(), m_nodes.end(), isIdle), m_nodes.end());
    }

  private:
    std::vector<QbbSwitch*> m_nodes; //!< the switches
    bool m_isSorted{true};           //!< whether they are in order
};

} // namespace ns3

#endif /* ACTIVE_SWITCHES_H */
