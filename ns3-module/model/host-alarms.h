/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HOST_ALARMS_H
#define HOST_ALARMS_H

#include "ns3/event-impl.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{

class HostAlarms;

/**
 * \ingroup hpcc
 * \brief A wake-up of a host's port, or a timer of one of its queue pairs; an event that is used
 * again.
 */
class HostAlarm : public EventImpl
{
  public:
    /// The timer number of a port's wake-up.
    static constexpr uint8_t PORT = UINT8_MAX;

    /**
     * \param alarms where it returns to
     */
    explicit HostAlarm(HostAlarms& alarms);

    /// Let it fire without effect. EventImpl::Cancel would last, and the alarm is used again.
    void CallOff()
    {
        m_calledOff = true;
    }

    /// \return the timer of the queue pair, or PORT
    uint8_t GetTimer() const
    {
        return m_timer;
    }

    /// \return the queue pair or the port
    uint32_t GetOwner() const
    {
        return m_owner;
    }

    /// \return when it fires, in ns of simulated time
    uint64_t GetNanos() const
    {
        return m_nanos;
    }

  protected:
    // Inherited: the time has come.
    void Notify() override;

  private:
    friend class HostAlarms;

    HostAlarms& m_alarms;    //!< where it returns to
    uint8_t m_timer{PORT};   //!< timer of the queue pair, or PORT
    bool m_calledOff{false}; //!< whether it was replaced or cancelled
    uint32_t m_owner{0};     //!< the queue pair or the port
    uint64_t m_nanos{0};     //!< when
};

/**
 * \ingroup hpcc
 * \brief The alarms of a host. It must outlive the simulation's run.
 */
class HostAlarms
{
  public:
    /// Told of each alarm that fires and has not been called off.
    using Handler = std::function<void(const HostAlarm&)>;

    /**
     * \param handler called with each alarm
     */
    explicit HostAlarms(Handler handler);
    HostAlarms(const HostAlarms&) = delete;
    HostAlarms& operator=(const HostAlarms&) = delete;

    /**
     * \param context id of the host's node, to which the events belong
     */
    void SetContext(uint32_t context);

    /**
     * \brief Schedule an alarm.
     * \param nanos when, in ns of simulated time; now, if that has passed
     * \param owner the queue pair or the port
     * \param timer timer of the queue pair, or HostAlarm::PORT
     * \return the alarm, which is valid until it fires
     */
    HostAlarm* Schedule(uint64_t nanos, uint32_t owner, uint8_t timer);

  private:
    friend class HostAlarm;

    /**
     * \brief An alarm fires.
     * \param alarm the alarm
     */
    void OnAlarm(HostAlarm* alarm);

    Handler m_handler;                 //!< called with each alarm
    uint32_t m_context{0};             //!< id of the host's node
    std::vector<HostAlarm*> m_idle;    //!< alarms that wait for use
    std::vector<Ptr<HostAlarm>> m_all; //!< owns the alarms
};

} // namespace ns3

#endif /* HOST_ALARMS_H */
