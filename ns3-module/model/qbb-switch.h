/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_SWITCH_H
#define QBB_SWITCH_H

#include "fast-cnp-switch.h"
#include "next-hop-cache.h"
#include "qbb-net-device.h"
#include "qbb-node.h"

#include "ns3/data-rate.h"

#include <memory>
#include <string>
#include <vector>

namespace hpcc
{
struct DepartingFrame;
enum class Verdict : uint8_t;
} // namespace hpcc

namespace ns3
{

class ActiveSwitches;

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

    /**
     * \brief Sample all queues for a run's histogram and statistics.
     * \param results the run's results
     * \param first index of the first port there
     * \return whether any queue holds something
     */
    bool SampleQueues(hpcc::Results& results, std::size_t first) const;

    /**
     * \brief Add a point to the time series of all queues.
     * \param results the run's results
     * \param first index of the first port there
     * \return whether any queue holds something
     */
    bool TraceQueues(hpcc::Results& results, std::size_t first) const;

    /**
     * \brief Join a list at the next frame that arrives.
     * \param list the list; it outlives the run
     */
    void Register(ActiveSwitches& list);

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

    /**
     * \brief Send a frame of priority 0 that begins here, by the port to its destination.
     * \param frame the frame
     */
    void Send(QbbFrame* frame);

    // Inherited
    bool IsSwitch() const override;
    void Start(const std::shared_ptr<hpcc::Network>& network) override;
    void OnLinkDown(QbbNetDevice& port) override;
    void OnLinkUp(QbbNetDevice& port) override;
    void OnPause(QbbNetDevice& port) override;
    void OnNewRoutes() override;
    void Receive(QbbNetDevice& in, QbbFrame* frame) override;
    QbbFrame* NextFrame(QbbNetDevice& out) override;
    void FetchArrival(unsigned step, const QbbNetDevice& in, const QbbFrame& frame) const override;
    void FetchDeparture(unsigned step, const QbbNetDevice& out) const override;

  protected:
    void DoDispose() override;

  private:
    /// End the program if another process simulates the switch.
    void CheckLocal() const;

    /**
     * \brief Find where an arrived frame goes, or drop it.
     * \param in port by which it came
     * \param frame the frame
     * \return port by which it leaves; nullptr if it was dropped
     */
    QbbNetDevice* Route(const QbbNetDevice& in, QbbFrame* frame);

    /**
     * \brief Find where a frame goes whose way is not in m_nextHops: ask the core.
     * \param in port by which it came
     * \param frame the frame
     * \return as Route()
     */
    [[gnu::noinline]] QbbNetDevice* RouteNew(const QbbNetDevice& in, QbbFrame* frame);

    /**
     * \param frame an arrived frame
     * \return whether it may leave by another port than the frame of its flow before it
     */
    bool IsBalanced(const QbbFrame& frame) const
    {
        return m_balances && frame.CollectsTelemetry();
    }

    /**
     * \brief Fetch the core's accounts of a frame.
     * \param ingress port by which it comes, or came
     * \param egress port by which it will leave
     */
    void FetchAccounts(uint16_t ingress, uint16_t egress) const;

    /**
     * \brief Let an arrived frame leave at once, if it need not wait.
     * \param out port by which it leaves
     * \param frame the frame
     * \return whether it has left; nothing has happened if not
     */
    bool CutThrough(QbbNetDevice& out, QbbFrame* frame);

    /**
     * \brief Queue an arrived frame, or drop it; pause its sender if necessary.
     * \param in port by which it came
     * \param out port by which it leaves
     * \param frame the frame
     */
    void Queue(QbbNetDevice& in, QbbNetDevice& out, QbbFrame* frame);

    /**
     * \brief Account for a frame that leaves its queue, mark it, stamp it, resume its sender.
     * \param out port by which it leaves
     * \param frame the frame
     */
    void Depart(QbbNetDevice& out, QbbFrame& frame);

    /**
     * \brief Describe a frame that leaves to the core.
     * \param out port by which it leaves
     * \param frame the frame
     * \return that
     */
    hpcc::DepartingFrame GetDeparting(const QbbNetDevice& out, const QbbFrame& frame) const;

    /**
     * \brief Mark a frame that leaves, and set its length with the telemetry of this hop.
     * \param out port by which it leaves
     * \param frame the frame
     * \param telemetryBytes length of its telemetry section from now on
     * \param mark whether the ECN rule marks it
     */
    void Stamp(QbbNetDevice& out, QbbFrame& frame, uint16_t telemetryBytes, bool mark);

    /**
     * \brief Mark a frame (ECN), and count it if it is the first time.
     * \param frame the frame
     */
    void Mark(QbbFrame& frame);

    /**
     * \brief Stamp() for a switch that is a border of telemetry, or takes part in Fast CNP.
     * \param out port by which it leaves
     * \param frame the frame, stamped
     * \param mark whether the ECN rule marks it
     */
    [[gnu::noinline]] void DepartWithMore(QbbNetDevice& out, QbbFrame& frame, bool mark);

    /**
     * \brief Decide whether a frame that leaves is marked, and whether its sender is notified,
     * under Fast CNP.
     * \param out port by which it leaves
     * \param frame the frame, stamped
     * \param marked whether the ECN rule marks it
     * \return whether it is marked
     */
    bool DepartWithFastCnp(QbbNetDevice& out, const QbbFrame& frame, bool marked);

    /**
     * \brief Notify the sender of a frame.
     * \param data the frame
     */
    void NotifySender(const QbbFrame& data);

    /**
     * \brief Look at a frame as Fast CNP's border, and as its destination.
     * \param in port by which it came
     * \param frame the frame
     * \return whether it goes on
     */
    bool ReceiveWithFastCnp(QbbNetDevice& in, QbbFrame* frame);

    /**
     * \brief Drop a frame.
     * \param frame the frame
     * \param why why it is not forwarded
     */
    void Drop(QbbFrame* frame, hpcc::Verdict why);

    /**
     * \brief Drop a frame that a border of Fast CNP lets neither in nor out, and has counted.
     * \param frame the frame
     */
    void DropAtBorder(QbbFrame* frame);

    /**
     * \param why why a frame is not forwarded
     * \return what counts such frames
     */
    uint64_t& CounterOf(hpcc::Verdict why);

    /// Join the lists that wait for a frame.
    void JoinLists();

    // Members that each frame needs are one cache line.
    alignas(64) CorePointer<hpcc::Switch> m_core; //!< the decisions
    Ptr<FastCnpSwitch> m_fastCnp;                 //!< its part in Fast CNP; null if it has none
    /// Hides telemetry from another domain; null if it is no border.
    CorePointer<hpcc::TelemetryBorder> m_border;
    std::vector<ActiveSwitches*> m_lists; //!< lists that wait for a frame
    NextHopCache m_nextHops;              //!< where the frames of its flows go
    bool m_notesArrival{false};           //!< whether telemetry says when a frame came in
    bool m_balances{false};               //!< whether data of a flow may take several paths
    bool m_pauses{true};                  //!< whether a PFC pause lasts
    /// Whether frames that a failed link drops stay accounted.
    bool m_leakOnLinkDown{false};
    // Members that few frames need.
    std::shared_ptr<hpcc::Network> m_network;    //!< routes
    uint64_t m_marks{0};                         //!< data frames that it marked
    uint64_t m_drops{0};                         //!< frames dropped for lack of buffer
    uint64_t m_linkDrops{0};                     //!< frames dropped as their link failed
    uint64_t m_unroutable{0};                    //!< frames dropped for lack of a route
    uint64_t m_expired{0};                       //!< frames dropped at the end of their hop limit
    TracedCallback<const QbbFrame&> m_dropTrace; //!< trace source
};

} // namespace ns3

#endif /* QBB_SWITCH_H */
