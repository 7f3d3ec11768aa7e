/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_SOURCE_PORTS_H
#define HPCC_SOURCE_PORTS_H

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief UDP source ports of the flows from one host to another: those from 10000 on, in turn, and
 * none that is in use.
 */
class SourcePorts
{
  public:
    /// The first port; those below are other services'.
    static constexpr uint16_t FIRST = 10000;
    /// How many ports there are.
    static constexpr uint32_t COUNT = UINT16_MAX - FIRST + 1;

    /// \return the next port that is free, which is in use from now on; nothing if none is free
    std::optional<uint16_t> Take();

    /**
     * \brief Give a port back.
     * \param port a port that is in use
     */
    void GiveBack(uint16_t port);

  private:
    uint16_t m_next{FIRST};        //!< where to look for a free one
    std::vector<uint16_t> m_inUse; //!< ports in use, in rising order
};

} // namespace ns3

#endif /* HPCC_SOURCE_PORTS_H */
