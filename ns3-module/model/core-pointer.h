/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CORE_POINTER_H
#define HPCC_CORE_POINTER_H

#include <memory>

/**
 * \ingroup hpcc The Rust core behind the module; see the generated bridge header for its functions.
 * Only declared here, so that no public header of the module needs the bridge.
 */
namespace hpcc
{
struct FastCnpCounters;
struct FlowKey;
struct Frame;
struct FrameWriter;
struct Network;
struct Notice;
struct ProbedFlow;
struct Scenario;
struct Settings;
struct StackRun;
struct SwitchCounters;
} // namespace hpcc

namespace ns3
{

/**
 * \ingroup hpcc
 * Hands an object of the Rust core back to Rust, which frees it.
 * \tparam T type of the core
 */
template <class T>
struct CoreDelete
{
    /**
     * \param object the object to free
     */
    void operator()(T* object) const;
};

/**
 * \ingroup hpcc
 * Owns an object of the Rust core.
 * \tparam T type of the core
 */
template <class T>
using CorePointer = std::unique_ptr<T, CoreDelete<T>>;

} // namespace ns3

#endif /* HPCC_CORE_POINTER_H */
