/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_SCHEDULER_H
#define WHEEL_SCHEDULER_H

#include "ns3/scheduler.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief An event scheduler for packet traffic: a timing wheel with a heap for what is far away.
 *
 * Frames of a datacenter network are events of the next microseconds. The wheel has a slot for each of the
 * next 4096 time steps; insertion and removal there take constant time, however many events wait. Events of
 * one step are a list in the order of their insertion, which is the order in which the simulator runs them.
 * Events beyond the wheel (timers, arrivals of flows) are in a binary heap, and are taken from there directly
 * when their time comes.
 */
class WheelScheduler : public Scheduler
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    WheelScheduler();
    ~WheelScheduler() override;

    // Inherited
    void Insert(const Event& ev) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& ev) override;

  private:
    static constexpr uint32_t SLOTS = 4096;     //!< steps that the wheel spans
    static constexpr uint32_t WORDS = SLOTS / 64; //!< words of the occupancy bitmap
    static constexpr uint32_t NIL = UINT32_MAX; //!< end of a list

    /// An event in a slot's list.
    struct Entry
    {
        Event event;   //!< the event
        uint32_t next; //!< index of the list's next entry
    };

    /// The list of one time step.
    struct Slot
    {
        uint32_t head{NIL}; //!< index of the first entry
        uint32_t tail{NIL}; //!< index of the last entry
    };

    /**
     * \brief Find the slot of the wheel's earliest event.
     * \pre the wheel is not empty
     * \return the slot's index
     */
    uint32_t FirstSlot() const;

    /**
     * \brief Whether the next event is in the heap, not in the wheel.
     * \param slot set to the wheel's first slot if the next event is there
     * \return true if it is in the heap
     */
    bool NextIsFar(uint32_t& slot) const;

    /**
     * \brief Take the first entry of a slot's list.
     * \param slot the slot's index
     * \return its event
     */
    Event PopFront(uint32_t slot);

    std::array<Slot, SLOTS> m_slots;         //!< the wheel; a slot's index is its time step modulo SLOTS
    std::array<uint64_t, WORDS> m_occupied;  //!< a bit for each slot that has events
    uint64_t m_occupiedWords{0};             //!< a bit for each word of m_occupied that is not 0
    std::vector<Entry> m_entries;            //!< storage of the lists
    uint32_t m_free{NIL};                    //!< list of unused entries
    uint32_t m_wheelSize{0};                 //!< events in the wheel
    uint64_t m_base{0};                      //!< time step of the latest removal: where the wheel begins
    std::vector<Event> m_far;                //!< binary heap of the events beyond the wheel
};

} // namespace ns3

#endif /* WHEEL_SCHEDULER_H */
