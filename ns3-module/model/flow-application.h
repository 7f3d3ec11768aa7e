/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FLOW_APPLICATION_H
#define FLOW_APPLICATION_H

#include "ns3/application.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief An application with one flow. In the canonical order of WheelSimulatorImpl it starts
 * before all that nodes do in the same nanosecond, as flows of scenario files do: a flow concerns
 * two nodes, and as an event of its source its start would come behind frames that arrive there.
 */
class FlowApplication : public Application
{
  protected:
    void DoInitialize() override;

  private:
    /// Start the flow.
    void StartApplication() override = 0;

    /// Start, if that is still to come.
    void StartFirst();
};

} // namespace ns3

#endif /* FLOW_APPLICATION_H */
