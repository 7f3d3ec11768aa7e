/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Runs any experiment that a file describes:
//
//   ./ns3 run "hpcc-scenario --config=configs/quickstart.toml --out=out/quickstart"
//
// --set=KEY=VALUE, any number of times, replaces what the file says.

#include "ns3/core-module.h"
#include "ns3/hpcc-scenario-helper.h"

#include <string>
#include <vector>

using namespace ns3;

namespace
{

// CommandLine cuts strings at the first space; a callback gets them whole.
bool
Assign(std::string* to, const std::string& text)
{
    *to = text;
    return true;
}

bool
Append(std::vector<std::string>* to, const std::string& text)
{
    to->push_back(text);
    return true;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string config;
    std::string out = "hpcc-out";
    std::vector<std::string> overrides;

    CommandLine cmd(__FILE__);
    cmd.AddValue("config", "experiment: TOML, or the reference simulator's config.txt", MakeBoundCallback(&Assign, &config));
    cmd.AddValue("out", "folder for the results", MakeBoundCallback(&Assign, &out), out);
    cmd.AddValue("set", "KEY=VALUE, replaces what the file says", MakeBoundCallback(&Append, &overrides));
    cmd.Parse(argc, argv);

    HpccScenarioHelper scenario;
    if (!scenario.Load(config, overrides))
    {
        return HpccScenarioHelper::BAD_INPUT;
    }
    return scenario.Run(out);
}
