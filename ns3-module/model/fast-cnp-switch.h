/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FAST_CNP_SWITCH_H
#define FAST_CNP_SWITCH_H

#include "core-pointer.h"
#include "frame-serializer.h"
#include "settings-owner.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

class QbbFrame;
class QbbNetDevice;
class QbbNode;

/**
 * \ingroup hpcc
 * \brief What a switch does about Fast CNP (draft-xiao-rtgwg-rocev2-fast-cnp-01): it notifies the
 * senders of frames that meet congestion, learns who does not understand that, and keeps
 * notifications inside the domain where it is a border.
 *
 * QbbHelper aggregates it to the QbbSwitch. The decisions are the core's (`hpcc_core::fast_cnp`).
 */
class FastCnpSwitch : public Object, public SettingsOwner
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    FastCnpSwitch();

    /**
     * \brief Make one with the same attributes, and nothing else of the other.
     * \param other whose attributes
     */
    FastCnpSwitch(const FastCnpSwitch& other);

    ~FastCnpSwitch() override;

    /// \return whether the switch notifies
    bool IsEnabled() const;

    /**
     * \brief Make a port a border: what is behind it does not belong to the domain. Before the
     * network starts.
     * \param port the port's number
     */
    void SetBorder(uint16_t port);

    /**
     * \brief Get ready to run.
     * \param network the network
     * \param node the switch, whose settings are resolved
     * \return whether there is anything to do; if not, none of what follows is called
     */
    bool Start(const hpcc::Network& network, const QbbNode& node);

    /**
     * \brief A data frame leaves, stamped.
     * \param out port by which it leaves
     * \param frame the frame
     * \param marked whether the ECN rule marks it
     * \param rng the random number generator
     * \return what to do
     */
    hpcc::FastCnpVerdict OnData(const QbbNetDevice& out,
                                const QbbFrame& frame,
                                bool marked,
                                hpcc::Rng& rng);

    /**
     * \brief A frame leaves, whatever it is for.
     * \param out port by which it leaves
     * \param frame the frame
     */
    void OnSent(const QbbNetDevice& out, const QbbFrame& frame);

    /**
     * \brief Turn a fresh frame into a notification.
     * \param data the data frame that met congestion
     * \param node the switch's index in the network
     * \param address the switch's address
     * \param notification the fresh frame
     */
    void Fill(const QbbFrame& data, uint32_t node, uint32_t address, QbbFrame& notification);

    /**
     * \brief Take in a frame to the switch.
     * \param frame the frame
     */
    void Receive(const QbbFrame& frame);

    /**
     * \brief Ask whether a frame may pass a port.
     * \param port the port
     * \param frame the frame
     * \param inbound whether it came by the port; otherwise it leaves by it
     * \return whether it may
     */
    bool Passes(const QbbNetDevice& port, const QbbFrame& frame, bool inbound);

    /// \return all counters so far, for the module's results; programs ask for single counters
    hpcc::FastCnpCounters GetCounters() const;

    /// \return notifications sent so far
    uint64_t GetSent() const;

    /// \return notifications dropped at borders so far
    uint64_t GetBorderDrops() const;

    /**
     * TracedCallback signature for notifications that were withheld.
     * \param [in] frame the data frame
     * \param [in] reason why
     */
    typedef void (*WithheldTracedCallback)(const QbbFrame& frame, const std::string& reason);

    /**
     * TracedCallback signature for senders that do not understand notifications.
     * \param [in] node index of the sender in the network
     */
    typedef void (*LearntTracedCallback)(uint32_t node);

    /**
     * TracedCallback signature for notifications that a border dropped.
     * \param [in] frame the notification
     * \param [in] inbound whether it would have come into the domain
     */
    typedef void (*BorderTracedCallback)(const QbbFrame& frame, bool inbound);

  protected:
    void DoDispose() override;

  private:
    CorePointer<hpcc::FastCnpSwitch> m_core;       //!< the decisions
    std::unique_ptr<FrameSerializer> m_serializer; //!< what borders look at
    std::set<uint16_t> m_borders;                  //!< ports at the edge of the domain
    std::vector<std::string> m_reasons;            //!< names of the core's reasons
    bool m_enabled{false}; //!< whether it notifies senders; as the settings said at the start
    TracedCallback<const QbbFrame&> m_sentTrace;                         //!< trace source
    TracedCallback<const QbbFrame&, const std::string&> m_withheldTrace; //!< trace source
    TracedCallback<uint32_t> m_learntTrace;                              //!< trace source
    TracedCallback<const QbbFrame&, bool> m_borderTrace;                 //!< trace source
};

} // namespace ns3

#endif /* FAST_CNP_SWITCH_H */
