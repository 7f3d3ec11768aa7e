/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CORE_CONGESTION_OPS_H
#define HPCC_CORE_CONGESTION_OPS_H

#include "rdma-congestion-ops.h"
#include "rust/cxx.h"

#include "ns3/ptr.h"

#include <memory>

namespace hpcc
{

struct OpsAttribute;
struct OpsDecision;
struct OpsFeedback;
struct OpsHop;
struct OpsLimits;
struct OpsLoss;
struct OpsNeeds;
struct OpsSent;
struct OpsTimers;

/// An RdmaCongestionOps as the core calls it.
class CongestionOps
{
  public:
    /**
     * \param ops the object
     */
    explicit CongestionOps(ns3::Ptr<ns3::RdmaCongestionOps> ops);

    /**
     * \param feedback an acknowledgement
     * \param hops records of its hops
     * \return what to do
     */
    OpsDecision on_feedback(const OpsFeedback& feedback, rust::Slice<const OpsHop> hops);

    /**
     * \param sent a packet that has left
     */
    void on_sent(const OpsSent& sent);

    /**
     * \param loss the loss
     * \return what to do
     */
    OpsDecision on_loss(const OpsLoss& loss);

    /**
     * \param now when a notification came, in ns
     * \return what to do
     */
    OpsDecision on_notification(uint64_t now);

    /**
     * \param timer number of a timer that is due
     * \param now when, in ns
     * \return what to do
     */
    OpsDecision on_timer(uint8_t timer, uint64_t now);

    /**
     * \param lineRate rate of the port that the flow has moved to, in bit/s
     */
    void on_port(uint64_t lineRate);

    /**
     * \param timers [out] what was armed since the last call
     * \return whether anything was
     */
    bool take_armed(OpsTimers& timers);

    /// \return the object
    ns3::Ptr<ns3::RdmaCongestionOps> GetOps() const;

  private:
    /**
     * \param decision the controller's decision; a rate of 0 ends the program
     * \return the core's form
     */
    OpsDecision MakeDecision(const ns3::RdmaCongestionOps::Decision& decision) const;

    /**
     * \brief End the program if timers come due at one time again and again.
     * \param now when one is due, in ns
     */
    void CheckTimeGoesOn(uint64_t now);

    ns3::Ptr<ns3::RdmaCongestionOps> m_ops;      //!< the object
    ns3::RdmaCongestionOps::Feedback m_feedback; //!< used again for each acknowledgement
    uint64_t m_timerAt{0};                       //!< when a timer was due last, in ns
    uint32_t m_timersDue{0};                     //!< how many were due then
};

/**
 * \param name a name
 * \return whether a class of that name is registered which derives from RdmaCongestionOps and can
 * be made
 */
bool is_congestion_ops(rust::Str name);

/**
 * \param name a name
 * \return whether a class of that name is registered which is a congestion control of ns-3's TCP;
 * HPCC++ is not, for it is the core's
 */
bool is_tcp_congestion_ops(rust::Str name);

/**
 * \brief Say why a name belongs to no class of either kind.
 * \param name the name
 * \return the reason
 */
rust::String why_no_congestion_ops(rust::Str name);

/**
 * \param name name of a class of either kind
 * \return its attributes
 */
rust::Vec<OpsAttribute> congestion_ops_attributes(rust::Str name);

/**
 * \param name name of such a class
 * \return its needs
 */
OpsNeeds congestion_ops_needs(rust::Str name);

/**
 * \brief Ask whether an attribute takes a value.
 * \param name name of such a class
 * \param attribute name of the attribute
 * \param value the value as text
 * \return whether it does
 */
bool is_ops_value(rust::Str name, rust::Str attribute, rust::Str value);

/**
 * \brief Make the state of a new flow.
 * \param name name of such a class
 * \param attributes attributes that differ from their initial values
 * \param limits facts of the flow
 * \return the state
 */
std::unique_ptr<CongestionOps> new_congestion_ops(rust::Str name,
                                                  rust::Slice<const OpsAttribute> attributes,
                                                  const OpsLimits& limits);

/// \return the fault by which a controller has ended the run; empty if none has
rust::String run_fault();

} // namespace hpcc

#endif /* HPCC_CORE_CONGESTION_OPS_H */
