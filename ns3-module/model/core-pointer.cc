/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "core-pointer.h"

#include "ns3-bridge/src/frame.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/probed.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

namespace ns3
{

template <class T>
void
CoreDelete<T>::operator()(T* object) const
{
    rust::Box<T>::from_raw(object);
}

template struct CoreDelete<hpcc::FrameWriter>;
template struct CoreDelete<hpcc::Network>;
template struct CoreDelete<hpcc::ProbedFlow>;
template struct CoreDelete<hpcc::Scenario>;
template struct CoreDelete<hpcc::Settings>;
template struct CoreDelete<hpcc::StackRun>;

} // namespace ns3
