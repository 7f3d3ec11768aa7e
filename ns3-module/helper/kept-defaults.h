/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef KEPT_DEFAULTS_H
#define KEPT_DEFAULTS_H

#include "ns3/attribute.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Restores in the end what a scenario changes for the whole process: the simulator and its
 * order of events, and ns-3's run number.
 */
class KeptDefaults
{
  public:
    KeptDefaults();
    ~KeptDefaults();

    KeptDefaults(const KeptDefaults&) = delete;
    KeptDefaults& operator=(const KeptDefaults&) = delete;

  private:
    std::string m_simulator;                 //!< type of the simulator
    Ptr<const AttributeValue> m_isCanonical; //!< whether that runs in canonical order
    uint64_t m_run;                          //!< the run number
};

} // namespace ns3

#endif /* KEPT_DEFAULTS_H */
