/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scoped-defaults.h"

#include "ns3/config.h"
#include "ns3/global-value.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/wheel-simulator-impl.h"

namespace ns3
{

ScopedDefaults::ScopedDefaults()
    : m_run(RngSeedManager::GetRun())
{
    StringValue simulator;
    GlobalValue::GetValueByName("SimulatorImplementationType", simulator);
    m_simulator = simulator.Get();
    TypeId::AttributeInformation order;
    WheelSimulatorImpl::GetTypeId().LookupAttributeByName("CanonicalOrder", &order);
    m_isCanonical = order.initialValue;
}

ScopedDefaults::~ScopedDefaults()
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue(m_simulator));
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", *m_isCanonical);
    RngSeedManager::SetRun(m_run);
}

} // namespace ns3
