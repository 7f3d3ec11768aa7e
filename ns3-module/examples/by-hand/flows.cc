/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "flows.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace ns3
{
namespace byhand
{

namespace
{

/**
 * \param line a line with commas
 * \return what is between them
 */
std::vector<std::string>
Split(const std::string& line)
{
    std::vector<std::string> fields;
    std::istringstream rest(line);
    for (std::string field; std::getline(rest, field, ',');)
    {
        fields.push_back(field);
    }
    return fields;
}

/**
 * \brief Read the flows of one file.
 * \param path the file
 * \param flows where they are added
 */
void
AddFlows(const std::string& path, std::vector<Flow>& flows)
{
    std::ifstream file(path);
    std::string line;
    NS_ABORT_MSG_UNLESS(std::getline(file, line), path << " cannot be read");
    const std::vector<std::string> names = Split(line);
    while (std::getline(file, line))
    {
        const std::vector<std::string> fields = Split(line);
        NS_ABORT_MSG_UNLESS(fields.size() == names.size(), path << " is cut off");
        std::map<std::string, std::string> row;
        for (std::size_t column = 0; column < names.size(); ++column)
        {
            row[names[column]] = fields[column];
        }
        const auto number = [&row](const char* name) { return std::stoull(row.at(name)); };
        flows.push_back({static_cast<uint32_t>(number("flow")),
                         static_cast<uint32_t>(number("src")),
                         static_cast<uint32_t>(number("dst")),
                         static_cast<uint16_t>(number("dport")),
                         static_cast<uint8_t>(number("priority")),
                         number("size_bytes"),
                         NanoSeconds(number("start_ns"))});
    }
}

} // namespace

std::vector<Flow>
ReadFlows(const std::string& folder, Time stop)
{
    NS_ABORT_MSG_IF(folder.empty(), "expected --flows: the folder of the run's results");
    NS_ABORT_MSG_UNLESS(stop.IsStrictlyPositive(), "expected --stop: a time such as 4ms");
    std::vector<Flow> flows;
    AddFlows(SystemPath::Append(folder, "fct.csv"), flows);
    AddFlows(SystemPath::Append(folder, "unfinished.csv"), flows);
    flows.erase(std::remove_if(flows.begin(),
                               flows.end(),
                               [stop](const Flow& flow) { return flow.start >= stop; }),
                flows.end());
    std::sort(flows.begin(), flows.end(), [](const Flow& a, const Flow& b) {
        return a.number < b.number;
    });
    return flows;
}

void
PrintHead()
{
    std::cout << "flow,fct_ns\n";
}

void
PrintFinished(uint32_t number, Time completion)
{
    std::cout << number << ',' << completion.GetNanoSeconds() << '\n';
}

} // namespace byhand
} // namespace ns3
