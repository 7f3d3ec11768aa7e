/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_FLOWS_H
#define BY_HAND_FLOWS_H

#include "ns3/core-module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace byhand
{

/// A flow of a run.
struct Flow
{
    uint32_t number;  //!< its number in the run
    uint32_t src;     //!< host that sends it
    uint32_t dst;     //!< host that receives it
    uint16_t dport;   //!< destination port
    uint8_t priority; //!< its priority
    uint64_t size;    //!< bytes
    Time start;       //!< when it starts
};

/**
 * \brief Read the flows of a run: those that finished, and those that did not. The program ends if
 * that cannot be.
 * \param folder what the run has left
 * \param stop what starts later is left out
 * \return the flows by number
 */
std::vector<Flow> ReadFlows(const std::string& folder, Time stop);

/// Print the head of the table of results.
void PrintHead();

/**
 * \brief Print that a flow has finished.
 * \param number its number in the run
 * \param completion how long it took
 */
void PrintFinished(uint32_t number, Time completion);

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_FLOWS_H */
