/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// ASTRA-sim on the engine of hpcc-core, with the options and files of ASTRA-sim's ns-3 backend.

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "extern/remote_memory_backend/analytical/AnalyticalRemoteMemory.hh"
#include "hpcc-network.h"

#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

/// What the command line says.
struct Options
{
    /// Options of one value each, with those that need not be given.
    std::map<std::string, std::string> values{{"workload-configuration", ""},
                                              {"system-configuration", ""},
                                              {"network-configuration", ""},
                                              {"remote-memory-configuration", ""},
                                              {"logical-topology-configuration", ""},
                                              {"comm-group-configuration", "empty"},
                                              {"logging-configuration", "empty"},
                                              {"num-queues-per-dim", "1"},
                                              {"comm-scale", "1"},
                                              {"injection-scale", "1"},
                                              {"rendezvous-protocol", "false"},
                                              {"out", "hpcc-out/astra-sim"}};
    /// Keys of the network that are overridden.
    rust::Vec<rust::String> set;

    /**
     * \param argc number of arguments
     * \param argv --NAME=VALUE each
     */
    Options(int argc, char* argv[])
    {
        for (int place = 1; place < argc; place++)
        {
            const std::string argument = argv[place];
            const size_t equals = argument.find('=');
            const std::string name = argument.substr(argument.find_first_not_of('-'), equals - 2);
            const std::string value =
                equals == std::string::npos ? "true" : argument.substr(equals + 1);
            if (name == "set")
            {
                set.push_back(value);
            }
            else if (argument.rfind("--", 0) != 0 || values.count(name) == 0)
            {
                throw std::runtime_error(argument + ": no option of this program");
            }
            else
            {
                values[name] = value;
            }
        }
        for (const auto& [name, value] : values)
        {
            if (value.empty())
            {
                throw std::runtime_error("--" + name + "=FILE is missing");
            }
        }
    }
};

/**
 * Simulates a workload.
 * \param options what the command line says
 * \return the exit status
 */
static int
Simulate(Options& options)
{
    auto value = [&](const char* name) { return options.values.at(name); };
    AstraSim::LoggerFactory::init(value("logging-configuration"));
    const auto dims = hpcc::read_logical_dims(value("logical-topology-configuration"));
    const std::vector<int> logical(dims.begin(), dims.end());
    const int ranks = std::accumulate(logical.begin(), logical.end(), 1, std::multiplies<>());
    const std::vector<int> queues(logical.size(), std::stoi(value("num-queues-per-dim")));
    const bool rendezvous =
        value("rendezvous-protocol") == "true" || value("rendezvous-protocol") == "1";
    Analytical::AnalyticalRemoteMemory memory(value("remote-memory-configuration"));
    HpccSession session(hpcc::open_astra_network(value("network-configuration"),
                                                 {options.set.data(), options.set.size()},
                                                 ranks,
                                                 value("out")),
                        ranks);
    std::vector<std::unique_ptr<HpccNetwork>> networks;
    // ASTRA-sim's systems are never deleted, there as here.
    std::vector<AstraSim::Sys*> systems;
    for (int rank = 0; rank < ranks; rank++)
    {
        networks.push_back(std::make_unique<HpccNetwork>(rank, session));
        systems.push_back(new AstraSim::Sys(rank,
                                            value("workload-configuration"),
                                            value("comm-group-configuration"),
                                            value("system-configuration"),
                                            &memory,
                                            networks.back().get(),
                                            logical,
                                            queues,
                                            std::stod(value("injection-scale")),
                                            std::stod(value("comm-scale")),
                                            rendezvous));
    }
    for (AstraSim::Sys* system : systems)
    {
        system->workload->fire();
    }
    const int status = session.Run();
    AstraSim::LoggerFactory::shutdown();
    return status;
}

int
main(int argc, char* argv[])
{
    try
    {
        Options options(argc, argv);
        return Simulate(options);
    }
    catch (const std::exception& error)
    {
        std::cerr << "hpcc: " << error.what() << "\n";
        return 2;
    }
}
