/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rank-exchange.h"

#include <dlfcn.h>
#include <iostream>
#include <string>

namespace ns3
{

std::shared_ptr<RankExchange>
RankExchange::Begin()
{
    // Beside the library that this is in.
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&RankExchange::Begin), &info);
    const std::string own(info.dli_fname ? info.dli_fname : "");
    const std::string file = own.substr(0, own.rfind('/') + 1) + "libhpcc-mpi.so";
    // Parts of MPI are libraries that it loads itself, and that use it.
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* begin = library ? dlsym(library, "hpcc_begin_mpi") : nullptr;
    if (!begin)
    {
        std::cerr << "hpcc: processes share a run by MPI, which is not here: " << dlerror()
                  << std::endl;
        return nullptr;
    }
    return std::shared_ptr<RankExchange>(reinterpret_cast<RankExchange* (*)()>(begin)());
}

} // namespace ns3
