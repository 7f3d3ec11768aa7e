/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCOPED_DEFAULTS_H
#define SCOPED_DEFAULTS_H

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
class ScopedDefaults
{
  public:
    ScopedDefaults();
    ~ScopedDefaults();

    ScopedDefaults(const ScopedDefaults&) = delete;
    ScopedDefaults& operator=(const ScopedDefaults&) = delete;

  private:
    std::string m_simulator;                 //!< type of the simulator
    Ptr<const AttributeValue> m_isCanonical; //!< whether that runs in canonical order
    uint64_t m_run;                          //!< the run number
};

} // namespace ns3

#endif /* SCOPED_DEFAULTS_H */
