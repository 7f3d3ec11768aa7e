/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef ATTACKER_H
#define ATTACKER_H

#include "ns3/ptr.h"
#include "ns3/qbb-node.h"

#include <cstdint>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A node that attacks what steers senders, as AttackHelper installs it. It goes when this
 * object does.
 */
class Attacker
{
  public:
    /**
     * \param node the node
     * \param attack number of the attack in the engine
     */
    Attacker(Ptr<QbbNode> node, uint32_t attack);
    ~Attacker();
    Attacker(const Attacker&) = delete;
    Attacker& operator=(const Attacker&) = delete;

    /// \return frames of its own that it has sent so far
    uint64_t GetSent() const;

    /// \return frames that it has changed so far
    uint64_t GetAltered() const;

  private:
    Ptr<QbbNode> m_node; //!< the node
    uint32_t m_attack;   //!< number of the attack in the engine
};

} // namespace ns3

#endif /* ATTACKER_H */
