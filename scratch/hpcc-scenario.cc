/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Runs any experiment that a file describes:
//
//   ./ns3 run "hpcc-scenario --config=configs/quickstart.toml --out=out/quickstart"
//
// --set=KEY=VALUE, any number of times, replaces what the file says; --quiet shows neither notes
// nor progress, --watch queues and slowdowns, too. --threads=N shares the work among threads, and
// several processes share it by
//
//   mpirun -n 4 hpcc-scenario --shared --config=...

#include "ns3/core-module.h"
#include "ns3/hpcc-scenario-helper.h"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace ns3;

int
main(int argc, char* argv[])
{
    // It is that already. Once it is set, ns-3 need not remember every Time in case another is.
    Time::SetResolution(Time::NS);
    // A file that may not grow is reported like a disk that is full.
    std::signal(SIGXFSZ, SIG_IGN);
#ifdef __linux__
    // The command hpcc, which waits for this, may be killed without a chance to end it.
    const char* parent = std::getenv("HPCC_PARENT");
    if (parent && parent == std::to_string(getppid()))
    {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
#endif
    std::string config;
    std::string out = "hpcc-out";
    std::vector<std::string> overrides;
    uint32_t threads = 1;
    bool isShared = false;
    bool isQuiet = false;
    bool isWatched = false;

    CommandLine cmd(__FILE__);
    // CommandLine cuts strings at the first space, and gives them whole to a function. Releases of
    // ns-3 differ in how that function is to take its argument; a lambda suits them all.
    const auto assign = [](std::string& to) {
        return [&to](const std::string& text) {
            to = text;
            return true;
        };
    };
    cmd.AddValue("config", "experiment: TOML, or the 2019 simulator's config.txt", assign(config));
    cmd.AddValue("out", "folder for the results", assign(out), out);
    cmd.AddValue("set",
                 "KEY=VALUE, replaces what the file says",
                 [&overrides](const std::string& text) {
                     overrides.push_back(text);
                     return true;
                 });
    cmd.AddValue("shared", "whether the processes that mpirun has started share the run", isShared);
    cmd.AddValue("threads", "threads that share the work; results are those of one", threads);
    cmd.AddValue("quiet", "whether neither notes nor progress are shown, only errors", isQuiet);
    cmd.AddValue("watch", "whether queues and slowdowns are shown beside the progress", isWatched);
    cmd.Parse(argc, argv);

    if (RngSeedManager::GetSeed() != 1 || RngSeedManager::GetRun() != 1)
    {
        std::cerr << "hpcc: the file's run.seed decides, not --RngSeed or --RngRun; expected "
                     "--set=run.seed=N"
                  << std::endl;
        return HpccScenarioHelper::BAD_INPUT;
    }

    HpccScenarioHelper scenario;
    scenario.UseThreads(threads);
    if (isWatched)
    {
        scenario.Watch();
    }
    if (isQuiet)
    {
        scenario.BeQuiet();
    }
    if (isShared)
    {
        const auto ranks = RankExchange::Begin();
        if (!ranks)
        {
            return HpccScenarioHelper::BAD_INPUT;
        }
        scenario.ShareAmong(ranks);
    }
    if (!scenario.Load(config, overrides))
    {
        return HpccScenarioHelper::BAD_INPUT;
    }
    return scenario.Run(out);
}
