/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SETTINGS_AGREEMENT_H
#define SETTINGS_AGREEMENT_H

#include "ns3/ptr.h"
#include "ns3/qbb-node.h"

#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief End the program if an attribute was changed that has no effect beside the others.
 * \param nodes the nodes, whose settings are as they were set
 * \param network their network
 */
void CheckThatAttributesCount(const std::vector<Ptr<QbbNode>>& nodes, const hpcc::Network& network);

/**
 * \ingroup hpcc
 * \brief End the program if a parameter of a congestion control was changed that no host runs.
 * \param nodes the nodes, whose settings are as they were set
 */
void CheckThatParametersCount(const std::vector<Ptr<QbbNode>>& nodes);

/**
 * \ingroup hpcc
 * \brief End the program if nodes differ where they must agree.
 * \param nodes the nodes, whose settings are resolved
 */
void CheckThatNodesAgree(const std::vector<Ptr<QbbNode>>& nodes);

/**
 * \ingroup hpcc
 * \brief End the program if only switches, or only hosts, have Fast CNP enabled: it would have no
 * effect.
 * \param nodes the nodes, which start
 */
void CheckThatFastCnpIsWhole(const std::vector<Ptr<QbbNode>>& nodes);

/**
 * \ingroup hpcc
 * \brief End the program if nodes cannot serve their links, as for scenario files.
 * \param nodes the nodes, whose settings are resolved
 * \param network their network
 */
void CheckThatLinksAreServed(const std::vector<Ptr<QbbNode>>& nodes, const hpcc::Network& network);

/**
 * \ingroup hpcc
 * \brief Refuse later changes of attributes of nodes and their Fast CNP.
 * \param nodes the nodes, which start
 */
void FreezeNodes(const std::vector<Ptr<QbbNode>>& nodes);

} // namespace ns3

#endif /* SETTINGS_AGREEMENT_H */
