/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FAST_CNP_SWITCH_H
#define FAST_CNP_SWITCH_H

#include "core-pointer.h"
#include "settings-owner.h"

#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>

namespace hpcc
{
struct Notice;
} // namespace hpcc

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

    /**
     * \brief The network starts.
     * \param node the switch
     */
    void Start(const QbbNode& node);

    /**
     * \brief Something has happened here.
     * \param notice what
     * \param frame the frame that it has happened to
     */
    void OnNotice(const hpcc::Notice& notice, const QbbFrame& frame);

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
    /// Be told from now on of notifications, for trace sinks.
    void Watch();

    /// \return what it did, nothing before the start
    hpcc::FastCnpCounters GetCounters() const;

    const QbbNode* m_owner{nullptr};             //!< the switch, once it runs
    TracedCallback<const QbbFrame&> m_sentTrace; //!< trace source
    TracedCallback<const QbbFrame&, const std::string&> m_withheldTrace; //!< trace source
    TracedCallback<uint32_t> m_learntTrace;                              //!< trace source
    TracedCallback<const QbbFrame&, bool> m_borderTrace;                 //!< trace source
};

} // namespace ns3

#endif /* FAST_CNP_SWITCH_H */
