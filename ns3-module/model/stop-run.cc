/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "stop-run.h"

#include "ns3/fatal-error.h"

#include <utility>

namespace ns3
{

namespace
{

/**
 * \brief Get the handler of faults. A process has one simulation at a time.
 * \return the handler, which is empty if there is none
 */
RunKeeper::Handler&
GetHandler()
{
    static RunKeeper::Handler handler;
    return handler;
}

} // namespace

void
StopRun(const std::string& reason)
{
    if (!GetHandler())
    {
        NS_FATAL_ERROR(reason);
    }
    GetHandler()(reason);
}

RunKeeper::RunKeeper(Handler onFault)
{
    GetHandler() = std::move(onFault);
}

RunKeeper::~RunKeeper()
{
    GetHandler() = nullptr;
}

} // namespace ns3
