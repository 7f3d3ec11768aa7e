/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "core-parameters.h"

#include "ns3/fatal-error.h"

#include <array>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \brief Look a name up; ends the program, naming the choices, if it is not there.
 * \param what what is named
 * \param name the name
 * \param choices names and values
 * \return the value
 */
template <class T, std::size_t N>
T
Choose(const char* what, const std::string& name, const std::array<std::pair<const char*, T>, N>& choices)
{
    std::string known;
    for (const auto& [candidate, value] : choices)
    {
        if (name == candidate)
        {
            return value;
        }
        known += std::string(known.empty() ? "" : ", ") + candidate;
    }
    NS_FATAL_ERROR("unknown " << what << " \"" << name << "\"; there are: " << known);
    return choices.front().second; // not reached, but the macro does not say so to the compiler
}

} // namespace

hpcc::TelemetryParameters
MakeTelemetryParameters(const std::string& layout, uint32_t multiplier)
{
    using Entry = std::pair<const char*, hpcc::LayoutKind>;
    static const std::array<Entry, 3> layouts{Entry{"none", hpcc::LayoutKind::None},
                                              Entry{"reference", hpcc::LayoutKind::Reference},
                                              Entry{"paper", hpcc::LayoutKind::Paper}};
    return {Choose("telemetry layout", layout, layouts), multiplier};
}

hpcc::AlgorithmKind
MakeAlgorithmKind(const std::string& name)
{
    using Entry = std::pair<const char*, hpcc::AlgorithmKind>;
    static const std::array<Entry, 2> algorithms{Entry{"hpcc", hpcc::AlgorithmKind::Hpcc},
                                                 Entry{"none", hpcc::AlgorithmKind::LineRate}};
    return Choose("congestion control", name, algorithms);
}

} // namespace ns3
