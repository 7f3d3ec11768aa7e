/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "core-pointer.h"

#include "ns3-bridge/src/attack.rs.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/flows.rs.h"
#include "ns3-bridge/src/frame.rs.h"
#include "ns3-bridge/src/host.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/probed.rs.h"
#include "ns3-bridge/src/progress.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "ns3-bridge/src/switch.rs.h"

namespace ns3
{

template <class T>
void
CoreDelete<T>::operator()(T* object) const
{
    rust::Box<T>::from_raw(object);
}

template struct CoreDelete<hpcc::Attack>;
template struct CoreDelete<hpcc::Rng>;
template struct CoreDelete<hpcc::FastCnpHost>;
template struct CoreDelete<hpcc::FastCnpSwitch>;
template struct CoreDelete<hpcc::Flows>;
template struct CoreDelete<hpcc::FrameWriter>;
template struct CoreDelete<hpcc::Host>;
template struct CoreDelete<hpcc::HostRoutes>;
template struct CoreDelete<hpcc::Loss>;
template struct CoreDelete<hpcc::Network>;
template struct CoreDelete<hpcc::ProbedFlow>;
template struct CoreDelete<hpcc::Progress>;
template struct CoreDelete<hpcc::ReceiverKeys>;
template struct CoreDelete<hpcc::Results>;
template struct CoreDelete<hpcc::Scenario>;
template struct CoreDelete<hpcc::Scheduler>;
template struct CoreDelete<hpcc::Settings>;
template struct CoreDelete<hpcc::Switch>;
template struct CoreDelete<hpcc::TelemetryBorder>;

} // namespace ns3
