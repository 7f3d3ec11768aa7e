/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FLOW_TAG_H
#define FLOW_TAG_H

#include <cstdint>

namespace ns3
{

/**
 * \ingroup hpcc
 *
 * \brief The tag of a scenario's flow (RdmaFlow::tag): its group and its index.
 */
struct FlowTag
{
    uint32_t group; //!< number of the flow's group in the scenario
    uint32_t index; //!< number of the flow in the scenario

    /**
     * \param tag the tag of a flow
     * \return what it holds
     */
    static FlowTag From(uint64_t tag)
    {
        return {static_cast<uint32_t>(tag >> 32), static_cast<uint32_t>(tag)};
    }

    /**
     * \return the tag
     */
    uint64_t Get() const
    {
        return static_cast<uint64_t>(group) << 32 | index;
    }
};

} // namespace ns3

#endif // FLOW_TAG_H
