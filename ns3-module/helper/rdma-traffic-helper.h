/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_TRAFFIC_HELPER_H
#define RDMA_TRAFFIC_HELPER_H

#include "section-settings.h"

#include "ns3/application-container.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Makes RdmaClient applications of common patterns.
 *
 * Patterns and their keys are those of `[[traffic]]` in scenario files that are flows - `poisson`,
 * `incast`, `permutation`, `all_to_all` and others: `./hpcc explain traffic` - with the same flows,
 * of which hosts are numbered in the order of their installation, from 0. Random ones follow ns-3's
 * run (`--RngRun`) as files follow `run.seed`.
 */
class RdmaTrafficHelper : public SectionSettings
{
  public:
    /**
     * \param kind the pattern
     */
    explicit RdmaTrafficHelper(const std::string& kind);

    /**
     * \brief Begin another pattern, whose keys Set() sets from now on. What is random in one
     * depends on how many there are before it.
     * \param kind the pattern
     */
    void Add(const std::string& kind);

    /**
     * \brief Set an attribute of all applications that a pattern does not set.
     * \param name the attribute of RdmaClient, such as CongestionControl
     * \param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Add an application to the source of each flow, which starts and stops as the pattern
     * says; ends the program with the reason if there are no such flows.
     * \param network the network, whose hosts are linked
     * \return the applications, by ascending start
     */
    ApplicationContainer Install(const QbbHelper& network) const;

  private:
    ObjectFactory m_factory; //!< makes the applications
};

} // namespace ns3

#endif /* RDMA_TRAFFIC_HELPER_H */
