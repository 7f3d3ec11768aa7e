/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CORE_LOAD_BALANCER_H
#define HPCC_CORE_LOAD_BALANCER_H

#include "qbb-load-balancer.h"
#include "rust/cxx.h"

#include "ns3/ptr.h"

#include <memory>
#include <vector>

namespace hpcc
{

struct BalancerChoice;
struct BalancerHop;

/// A QbbLoadBalancer as the core calls it.
class CoreLoadBalancer
{
  public:
    /**
     * \param balancer the object
     * \param index index of its switch
     */
    CoreLoadBalancer(ns3::Ptr<ns3::QbbLoadBalancer> balancer, uint32_t index);

    /**
     * \param choice a packet
     * \param hops its next hops
     * \param draws random numbers
     * \return the port of one of them
     */
    uint16_t choose(const BalancerChoice& choice,
                    rust::Slice<const BalancerHop> hops,
                    Draws& draws);

  private:
    ns3::Ptr<ns3::QbbLoadBalancer> m_balancer; //!< the object
    ns3::QbbLoadBalancer::Choice m_choice;     //!< used again for each packet
};

/**
 * \param name a name
 * \return whether a class of that name is registered which derives from QbbLoadBalancer and can be
 * made
 */
bool is_load_balancer(rust::Str name);

/**
 * \brief Say why a name belongs to no such class.
 * \param name the name
 * \return the reason
 */
rust::String why_no_load_balancer(rust::Str name);

/**
 * \brief Make what balances load at a switch.
 * \param name name of such a class
 * \param attributes attributes that differ from their initial values: name and value by turns
 * \param switchIndex index of the switch
 * \return the object
 */
std::unique_ptr<CoreLoadBalancer> new_load_balancer(rust::Str name,
                                                    rust::Slice<const rust::String> attributes,
                                                    uint32_t switchIndex);

/// \return the objects that were made since the last call
std::vector<ns3::Ptr<ns3::QbbLoadBalancer>> TakeLoadBalancers();

} // namespace hpcc

#endif /* HPCC_CORE_LOAD_BALANCER_H */
