/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "stop-run.h"

#include "ns3/fatal-error.h"

namespace ns3
{

namespace
{

bool g_isKept = false; //!< whether a fault ends the run alone
std::string g_fault;   //!< the first fault of a run that is kept

} // namespace

void
StopRun(const std::string& reason)
{
    if (!g_isKept)
    {
        NS_FATAL_ERROR(reason);
    }
    if (g_fault.empty())
    {
        g_fault = reason;
    }
}

RunKeeper::RunKeeper()
{
    g_isKept = true;
    g_fault.clear();
}

RunKeeper::~RunKeeper()
{
    g_isKept = false;
}

std::string
RunKeeper::GetFault()
{
    return g_fault;
}

} // namespace ns3
