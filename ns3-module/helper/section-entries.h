/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SECTION_ENTRIES_H
#define SECTION_ENTRIES_H

#include "ns3-bridge/src/sections.rs.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Give keys and values to the core.
 * \param settings keys and values
 * \return the same in the core's form
 */
inline std::vector<hpcc::SectionEntry>
MakeSectionEntries(const std::vector<std::pair<std::string, std::string>>& settings)
{
    std::vector<hpcc::SectionEntry> entries;
    for (const auto& [key, value] : settings)
    {
        entries.push_back({key, value});
    }
    return entries;
}

} // namespace ns3

#endif /* SECTION_ENTRIES_H */
