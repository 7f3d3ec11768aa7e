/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FAST_CNP_HOST_H
#define FAST_CNP_HOST_H

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

    /// \return whether the host believes notifications, once the network runs
    bool IsEnabled() const;

    /**
     * \brief The network starts.
     * \param node the host
     */
    void Start(const QbbNode& node);

    /**
     * \brief Something has happened here.
     * \param notice what
     * \param frame the notification
     */
    void OnNotice(const hpcc::Notice& notice, const QbbFrame& frame);

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
    /// Be told from now on of notifications, for trace sinks.
    void Watch();

    /// \return what it did, nothing before the start
    hpcc::FastCnpCounters GetCounters() const;

    const QbbNode* m_owner{nullptr};                           //!< the host, once it runs
    bool m_isEnabled{false};                                   //!< whether it believes them
    TracedCallback<const QbbFrame&, uint32_t> m_acceptedTrace; //!< trace source
    TracedCallback<const QbbFrame&, const std::string&> m_refusedTrace; //!< trace source
    TracedCallback<uint32_t, uint16_t> m_migrationTrace;                //!< trace source
};

} // namespace ns3

#endif /* FAST_CNP_HOST_H */
