/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rank-exchange.h"

#include <dlfcn.h>
#include <iostream>

namespace ns3
{

std::shared_ptr<RankExchange>
RankExchange::Begin()
{
    // Parts of MPI are libraries that it loads itself, and that use it.
    void* library = dlopen("libhpcc-mpi.so", RTLD_NOW | RTLD_GLOBAL);
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
