/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_SOURCE_PORTS_H
#define HPCC_SOURCE_PORTS_H

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief UDP source ports of the flows from one host to another: those from 10000 on, in turn, and
 * none that is in use.
 *
 * Where all are in use flows share them, in turn: a port is what switches hash, and queue pairs
 * tell flows apart.
 */
class SourcePorts
{
  public:
    /// The first port; those below are other services'.
    static constexpr uint16_t FIRST = 10000;
    /// How many ports there are.
    static constexpr uint32_t COUNT = UINT16_MAX - FIRST + 1;

    /// \return the next port that is free, or the next if none is; one more flow uses it from now
    /// on
    uint16_t Take();

    /**
     * \brief Give a port back.
     * \param port a port that a flow has used, which is free if no other does
     */
    void GiveBack(uint16_t port);

  private:
    uint16_t m_next{FIRST};        //!< where to look for a free one
    std::vector<uint16_t> m_inUse; //!< ports in use, in rising order
    /// How many flows share a port besides the first.
    std::map<uint16_t, uint32_t> m_shared;
};

} // namespace ns3

#endif /* HPCC_SOURCE_PORTS_H */
