/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PROBE_CLIENT_H
#define PROBE_CLIENT_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Facts of a path for a flow under HPCC++.
 */
struct ProbedPath
{
    DataRate lineRate; //!< of the host's port
    Time baseRtt;      //!< T
};

/// Sends a probe with a sequence number.
using ProbeSender = std::function<void(uint32_t)>;

/**
 * \ingroup hpcc
 * \brief The sender of a flow for which a PacketHost sends probes.
 */
class ProbeClient
{
  public:
    virtual ~ProbeClient() = default;

    /**
     * \brief Prepare the telemetry of a probe.
     * \param section where it goes
     * \param room bytes there
     * \return bytes of it
     */
    virtual uint16_t PrepareProbe(uint8_t* section, std::size_t room) const = 0;

    /**
     * \brief The answer to a probe has arrived.
     * \param seq the probe's sequence number
     * \param section the telemetry that it collected
     * \param size bytes of it
     */
    virtual void OnResponse(uint32_t seq, const uint8_t* section, std::size_t size) = 0;

    /// \return answers so far that could not be compared with the last ones
    virtual uint64_t GetBaselineResets() const
    {
        return 0;
    }
};

} // namespace ns3

#endif /* PROBE_CLIENT_H */
