/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_SWITCH_H
#define QBB_SWITCH_H

#include "qbb-load-balancer.h"
#include "qbb-net-device.h"
#include "qbb-node.h"

#include "ns3/data-rate.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>

namespace hpcc
{
struct SwitchCounters;
} // namespace hpcc

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A shared-buffer switch: ECMP, dynamic PFC thresholds, ECN marking, in-band telemetry.
 *
 * The decisions are the core's (`hpcc_core::switch`); the switch moves the frames.
 */
class QbbSwitch : public QbbNode
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    QbbSwitch();

    /**
     * \brief Make a switch with the same attributes, and nothing else of the other.
     * \param other whose attributes
     */
    QbbSwitch(const QbbSwitch& other);

    ~QbbSwitch() override;

    /**
     * \brief Set when ports of one rate mark frames, in place of the scaled attributes.
     * \param rate the ports' rate
     * \param kmin queue length in bytes up to which nothing is marked
     * \param kmax queue length in bytes above which everything is marked
     * \param pmax probability at kmax
     */
    void SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax);

    /**
     * \brief Count the bytes that wait at a port, PFC frames excepted.
     * \param port number of the port, counted from 0
     * \return bytes; ends the program if there is no such port, or another process simulates the
     * switch
     */
    uint32_t GetQueuedBytes(uint16_t port) const;

    /// \return frames dropped so far for lack of buffer
    uint64_t GetDrops() const;

    /// \return data frames marked so far (ECN); a frame counts once
    uint64_t GetMarks() const;

    /// \return frames dropped so far because the link that they waited for failed
    uint64_t GetLinkDrops() const;

    /**
     * \param port number of a port, counted from 0
     * \return bytes of all frames that left it so far, without preamble and gap; ends the
     * program if there is no such port, or another process simulates the switch
     */
    uint64_t GetSentBytes(uint16_t port) const;

    /// \return frames dropped so far for lack of a route
    uint64_t GetUnroutable() const;

    /// \return frames dropped so far at the end of their hop limit; frames of the wire profile
    /// "reference" have none
    uint64_t GetExpired() const;

    /// \return what balances load here if LoadBalancingScheme is a class of the program, from
    /// QbbHelper::Start() on; otherwise nullptr
    Ptr<QbbLoadBalancer> GetLoadBalancer() const;

    /**
     * \brief Tell what balances load here.
     * \param balancer the object
     */
    void SetLoadBalancer(Ptr<QbbLoadBalancer> balancer);

    /**
     * \brief Send a frame of priority 0 that begins here, by the port to its destination.
     * \param frame the frame
     */
    void Send(const QbbFrame& frame);

    // Inherited
    bool IsSwitch() const override;
    void Start(Ptr<EngineNetwork> network) override;
    void OnNotice(const hpcc::Notice& notice, QbbFrame& frame) override;

  protected:
    void DoDispose() override;
    bool IsLogged() const override;

  private:
    /// Be told of dropped frames from now on.
    void WatchDrops();

    /// \return what the engine counts
    hpcc::SwitchCounters GetCounters() const;

    Ptr<QbbLoadBalancer> m_loadBalancer;         //!< of the program, if there is one
    bool m_watchesDrops{false};                  //!< whether somebody hears of dropped frames
    TracedCallback<const QbbFrame&> m_dropTrace; //!< trace source
    TracedCallback<const QbbFrame&> m_markTrace; //!< trace source
};

} // namespace ns3

#endif /* QBB_SWITCH_H */
