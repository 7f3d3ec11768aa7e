/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "controller-call.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"

namespace ns3
{

namespace
{

uint32_t g_calls = 0; //!< calls under way

} // namespace

ControllerCall::ControllerCall()
{
    ++g_calls;
}

ControllerCall::ControllerCall(uint64_t now)
    : ControllerCall()
{
    NS_ABORT_MSG_UNLESS(static_cast<uint64_t>(Simulator::Now().GetTimeStep()) == now,
                        "a class of the program is told of " << now << " ns at "
                                                             << Simulator::Now().GetTimeStep()
                                                             << " ns: please report this");
}

ControllerCall::~ControllerCall()
{
    --g_calls;
}

bool
ControllerCall::IsUnderWay()
{
    return g_calls > 0;
}

} // namespace ns3
