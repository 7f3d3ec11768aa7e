/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "flow-application.h"

#include "wheel-simulator-impl.h"

#include "ns3/simulator.h"

namespace ns3
{

void
FlowApplication::DoInitialize()
{
    Application::DoInitialize();
    const WheelSimulatorImpl* simulator = WheelSimulatorImpl::Find();
    if (simulator && simulator->IsCanonical())
    {
        // Events of no node come first.
        Simulator::ScheduleWithContext(Simulator::NO_CONTEXT,
                                       m_startTime,
                                       &FlowApplication::StartFirst,
                                       Ptr<FlowApplication>(this));
    }
}

void
FlowApplication::StartFirst()
{
    if (!m_startEvent.IsExpired())
    {
        m_startEvent.Cancel();
        StartApplication();
    }
}

} // namespace ns3
