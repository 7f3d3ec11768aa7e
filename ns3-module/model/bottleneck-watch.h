/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_BOTTLENECK_WATCH_H
#define HPCC_BOTTLENECK_WATCH_H

#include "ns3/traced-callback.h"

#include <cstdint>
#include <unordered_map>

namespace ns3
{

class RdmaHost;
struct RdmaControl;
struct RdmaFlow;

/**
 * \ingroup hpcc
 * \brief Follows the bottlenecks of a host's flows for its trace source Bottleneck.
 */
class BottleneckWatch
{
  public:
    /**
     * \param host the host, which owns this
     */
    explicit BottleneckWatch(RdmaHost& host);

    /// A flow, its bottleneck before, and its bottleneck now; -1 where it is not known.
    TracedCallback<const RdmaFlow&, int16_t, int16_t> change;

  private:
    /**
     * \brief Congestion control has been told something.
     * \param flow the flow
     * \param control its present state
     */
    void OnControl(const RdmaFlow& flow, const RdmaControl& control);

    /**
     * \brief A flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow);

    std::unordered_map<uint64_t, int16_t> m_last; //!< bottleneck of each flow
};

} // namespace ns3

#endif /* HPCC_BOTTLENECK_WATCH_H */
