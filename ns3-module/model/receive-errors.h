/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_RECEIVE_ERRORS_H
#define HPCC_RECEIVE_ERRORS_H

#include <cstddef>
#include <cstdint>

namespace hpcc
{

/**
 * \brief Ask the error model of a port.
 * \param network address of the EngineNetwork
 * \param node a node's index
 * \param port the number of its port
 * \param bytes the size of a frame that arrives there now
 * \return whether it has errors
 */
bool is_corrupt(std::size_t network, uint32_t node, uint16_t port, uint32_t bytes);

} // namespace hpcc

#endif /* HPCC_RECEIVE_ERRORS_H */
