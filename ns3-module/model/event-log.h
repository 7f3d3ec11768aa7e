/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_EVENT_LOG_H
#define HPCC_EVENT_LOG_H

#include "ns3/log.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief The engine tells only of what is asked for before: the network's start looks what is
 * logged.
 *
 * Losses, drops and timeouts are warnings (NS_LOG_WARN); pauses, marks, retransmissions,
 * notifications and new paths are NS_LOG_INFO; each frame and each decision of a congestion control
 * is NS_LOG_LOGIC.
 *
 * \param component a log component
 * \return whether more of it is to be seen than calls of functions
 */
inline bool
LogsEvents(const LogComponent& component)
{
    return component.IsEnabled(static_cast<LogLevel>(LOG_WARN | LOG_INFO | LOG_LOGIC));
}

} // namespace ns3

#endif /* HPCC_EVENT_LOG_H */
