/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-hosts.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioHosts);

TypeId
ScenarioHosts::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ScenarioHosts").SetParent<Object>().SetGroupName("Hpcc");
    return tid;
}

} // namespace ns3
