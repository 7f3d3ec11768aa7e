/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FAST_CNP_HOST_H
#define FAST_CNP_HOST_H

#include "core-pointer.h"
#include "frame-serializer.h"
#include "settings-owner.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class QbbFrame;
class QbbNode;

/**
 * \ingroup hpcc
 * \brief What a host does about Fast CNP (draft-xiao-rtgwg-rocev2-fast-cnp-01): it believes
 * notifications of listed sources, slows the flow down that they are about, and may move it to
 * another path. Where it is not enabled, the host answers as one that does not know the option.
 *
 * QbbHelper aggregates it to the RdmaHost. A host without it drops notifications silently. The
 * decisions are the core's (`hpcc_core::fast_cnp`).
 */
class FastCnpHost : public Object, public SettingsOwner
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    FastCnpHost();

    /**
     * \brief Make one with the same attributes, and nothing else of the other.
     * \param other whose attributes
     */
    FastCnpHost(const FastCnpHost& other);

    ~FastCnpHost() override;

    /// \return whether the host believes notifications
    bool IsEnabled() const;

    /**
     * \brief Get ready to run.
     * \param network the network
     * \param node the host
     */
    void Start(const hpcc::Network& network, const QbbNode& node);

    /**
     * \brief A flow begins.
     * \param dstAddress address of the destination
     * \param receiver the destination's queue pair
     * \param queuePair the host's own
     */
    void Connect(uint32_t dstAddress, uint32_t receiver, uint32_t queuePair);

    /**
     * \brief A flow has ended.
     * \param dstAddress address of the destination
     * \param receiver the destination's queue pair
     */
    void Disconnect(uint32_t dstAddress, uint32_t receiver);

    /**
     * \brief A notification has come. If it is believed, the flow reacts.
     * \param frame the notification
     * \param host the host's transport
     * \param rng the random number generator
     * \return its effect
     */
    hpcc::FastCnpReaction React(const QbbFrame& frame, hpcc::Host& host, hpcc::Rng& rng);

    /**
     * \brief Tell trace sources of a notification.
     * \param frame the notification
     * \param reaction its effect
     */
    void Tell(const QbbFrame& frame, const hpcc::FastCnpReaction& reaction);

    /**
     * \brief Turn a fresh frame into the answer of a host that does not know what a notification
     * is.
     * \param notification the notification
     * \param report the fresh frame
     * \return whether there is an answer
     */
    bool Report(const QbbFrame& notification, QbbFrame& report);

    /// \return whether the host notifies senders of marked packets by Fast CNPs
    bool IsNotifying() const;

    /**
     * \brief Turn a fresh answer to a marked packet into a Fast CNP.
     * \param data the packet
     * \param notification the answer
     */
    void Fill(const QbbFrame& data, QbbFrame& notification) const;

    /// \return all counters so far, for the module's results; programs ask for single counters
    hpcc::FastCnpCounters GetCounters() const;

    /// \return notifications that were believed and acted on so far; the trace source Accepted
    /// tells of those without effect, too
    uint64_t GetAccepted() const;

    /**
     * \param reason a reason, as the Refused trace source names it
     * \return notifications that were not believed for it so far
     */
    uint64_t GetRefused(const std::string& reason) const;

    /// \return answers to notifications that the host does not know, so far
    uint64_t GetReports() const;

    /// \return migrations so far
    uint64_t GetMigrations() const;

    /**
     * TracedCallback signature for notifications that were believed.
     * \param [in] frame the notification
     * \param [in] queuePair the flow that it is about
     */
    typedef void (*AcceptedTracedCallback)(const QbbFrame& frame, uint32_t queuePair);

    /**
     * TracedCallback signature for notifications that were not believed.
     * \param [in] frame the notification
     * \param [in] reason why
     */
    typedef void (*RefusedTracedCallback)(const QbbFrame& frame, const std::string& reason);

    /**
     * TracedCallback signature for migrations.
     * \param [in] queuePair the flow
     * \param [in] sport its new UDP source port
     */
    typedef void (*MigrationTracedCallback)(uint32_t queuePair, uint16_t sport);

  protected:
    void DoDispose() override;

  private:
    CorePointer<hpcc::FastCnpHost> m_core;                     //!< the decisions
    std::unique_ptr<FrameSerializer> m_serializer;             //!< what an answer quotes
    std::vector<std::string> m_reasons;                        //!< names of the core's reasons
    TracedCallback<const QbbFrame&, uint32_t> m_acceptedTrace; //!< trace source
    TracedCallback<const QbbFrame&, const std::string&> m_refusedTrace; //!< trace source
    TracedCallback<uint32_t, uint16_t> m_migrationTrace;                //!< trace source
};

} // namespace ns3

#endif /* FAST_CNP_HOST_H */
