/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CALL_CORE_H
#define HPCC_CALL_CORE_H

#include "rust/cxx.h"

#include "ns3/fatal-error.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Call a function of the core that may refuse what it is given; ends the program with the
 * reason if it does.
 * \tparam F type of the call
 * \param call the call
 * \return what it returns
 */
template <class F>
auto
CallCore(F call) -> decltype(call())
{
    try
    {
        return call();
    }
    catch (const rust::Error& error)
    {
        NS_FATAL_ERROR(error.what());
        throw; // not reached, but the macro does not say so to the compiler
    }
}

} // namespace ns3

#endif /* HPCC_CALL_CORE_H */
