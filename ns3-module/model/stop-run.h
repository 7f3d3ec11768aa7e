/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_STOP_RUN_H
#define HPCC_STOP_RUN_H

#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief End the run in progress because of its input.
 *
 * A RunKeeper keeps the results until then, and the caller goes on without the impossible step.
 * Without a RunKeeper the program ends here.
 *
 * \param reason what is wrong
 */
void StopRun(const std::string& reason);

/**
 * \ingroup hpcc
 * \brief As long as this exists, a fault ends the run but not the program, so that results stay.
 */
class RunKeeper
{
  public:
    RunKeeper();
    ~RunKeeper();
    RunKeeper(const RunKeeper&) = delete;
    RunKeeper& operator=(const RunKeeper&) = delete;

    /// \return the first fault so far; empty if there is none
    static std::string GetFault();
};

} // namespace ns3

#endif /* HPCC_STOP_RUN_H */
