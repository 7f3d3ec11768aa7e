/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CALL_RUST_H
#define HPCC_CALL_RUST_H

#include "core-pointer.h"
#include "rust/cxx.h"

#include "ns3/fatal-error.h"

#include <exception>
#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Call a function of the core that may refuse what it is given.
 * \tparam F type of the call
 * \param call the call
 * \return why it was refused; empty if it was not
 */
template <class F>
std::string
TryRust(F call)
{
    try
    {
        call();
    }
    catch (const rust::Error& error)
    {
        return error.what();
    }
    return {};
}

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
CallRust(F call) -> decltype(call())
{
    std::string reason;
    try
    {
        return call();
    }
    catch (const rust::Error& error)
    {
        reason = error.what();
    }
    // Not inside the catch block: the error would be reported a second time, as uncaught.
    NS_FATAL_ERROR(reason);
    // Compiled for a debugger, the macro is not known to end the program.
    std::terminate();
}

/**
 * \ingroup hpcc
 * \brief Take over an object that the core has made.
 * \tparam T its type
 * \param object the object
 * \return its owner, of which a std::shared_ptr can be made
 */
template <class T>
CorePointer<T>
FromRust(rust::Box<T> object)
{
    return CorePointer<T>(object.into_raw());
}

} // namespace ns3

#endif /* HPCC_CALL_RUST_H */
