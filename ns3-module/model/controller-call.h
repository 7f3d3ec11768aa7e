/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CONTROLLER_CALL_H
#define HPCC_CONTROLLER_CALL_H

#include <cstdint>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief As long as this exists, the core calls a congestion control or a load balancer in C++:
 * hosts and switches are in the midst of their work, and cannot be called.
 */
class ControllerCall
{
  public:
    ControllerCall();

    /**
     * \param now the time of what is told, in ns; ends the program if ns-3's clock stands elsewhere
     */
    explicit ControllerCall(uint64_t now);

    ~ControllerCall();
    ControllerCall(const ControllerCall&) = delete;
    ControllerCall& operator=(const ControllerCall&) = delete;

    /// \return whether there is one
    static bool IsUnderWay();
};

} // namespace ns3

#endif /* HPCC_CONTROLLER_CALL_H */
