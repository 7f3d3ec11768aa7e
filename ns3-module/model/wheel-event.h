/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef WHEEL_EVENT_H
#define WHEEL_EVENT_H

#include <cstdint>
#include <tuple>

namespace ns3
{

class EventImpl;

/**
 * \ingroup hpcc
 * \brief Which of several events of the same nanosecond runs first.
 */
enum class EventOrder
{
    INSERTION, //!< the one that was inserted first, as in every sequential simulator of ns-3
    /**
     * Events of no node first. Then, at each node, frames that arrive, by port, and behind them all
     * other events, by insertion. Events of different nodes, which cannot affect each other at that
     * time, run in any order. Nothing of it depends on what happens at other nodes meanwhile: it is
     * the same however many processes share a simulation.
     */
    CANONICAL,
};

/**
 * \ingroup hpcc
 * \brief An event with its time and its place among the events of that time.
 */
struct WheelEvent
{
    EventImpl* impl; //!< what runs
    uint64_t ts;     //!< when, in time steps
    /// How many were inserted before it; of an arrival in canonical order: the port.
    uint64_t id;
    uint32_t context; //!< its node
    bool isForeseen;  //!< whether it is a ForeseenEvent
    /// Whether it is the arrival of a frame, which matters in canonical order only.
    bool isArrival{false};

    /**
     * \param order which of several events of a time runs first
     * \param other another event of the same time
     * \return whether this one runs before it
     */
    bool RunsBefore(const WheelEvent& other, EventOrder order) const
    {
        if (order == EventOrder::INSERTION)
        {
            return id < other.id;
        }
        // The context of events of no node is the largest number: 0 comes behind it.
        const auto place = [](const WheelEvent& ev) {
            return std::tuple(ev.context + 1, !ev.isArrival, ev.id);
        };
        return place(*this) < place(other);
    }
};

} // namespace ns3

#endif /* WHEEL_EVENT_H */
