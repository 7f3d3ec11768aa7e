/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "wheel-scheduler.h"

#include "ns3/assert.h"
#include "ns3/event-impl.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("WheelScheduler");

NS_OBJECT_ENSURE_REGISTERED(WheelScheduler);

namespace
{

/// Heap order: the earliest event on top.
bool
IsLater(const Scheduler::Event& a, const Scheduler::Event& b)
{
    return b.key < a.key;
}

/// Index of the lowest bit that is set.
uint32_t
LowestBit(uint64_t word)
{
    return __builtin_ctzll(word);
}

} // namespace

TypeId
WheelScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WheelScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<WheelScheduler>();
    return tid;
}

WheelScheduler::WheelScheduler()
{
    NS_LOG_FUNCTION(this);
    m_occupied.fill(0);
}

WheelScheduler::~WheelScheduler()
{
    NS_LOG_FUNCTION(this);
}

void
WheelScheduler::Insert(const Event& ev)
{
    if (ev.key.m_ts - m_base >= SLOTS)
    {
        m_far.push_back(ev);
        std::push_heap(m_far.begin(), m_far.end(), IsLater);
        return;
    }
    uint32_t index = m_free;
    if (index == NIL)
    {
        index = static_cast<uint32_t>(m_entries.size());
        m_entries.push_back({ev, NIL});
    }
    else
    {
        m_free = m_entries[index].next;
        m_entries[index] = {ev, NIL};
    }
    const uint32_t slotIndex = ev.key.m_ts % SLOTS;
    Slot& slot = m_slots[slotIndex];
    if (slot.head == NIL)
    {
        slot.head = index;
        m_occupied[slotIndex / 64] |= uint64_t{1} << (slotIndex % 64);
        m_occupiedWords |= uint64_t{1} << (slotIndex / 64);
    }
    else
    {
        m_entries[slot.tail].next = index;
    }
    slot.tail = index;
    ++m_wheelSize;
}

bool
WheelScheduler::IsEmpty() const
{
    return m_wheelSize == 0 && m_far.empty();
}

uint32_t
WheelScheduler::FirstSlot() const
{
    static_assert(WORDS == 64, "one word must hold a bit for each word");
    const uint32_t base = m_base % SLOTS;
    const uint32_t word = base / 64;
    const uint64_t here = m_occupied[word] >> (base % 64);
    if (here)
    {
        return base + LowestBit(here);
    }
    // The words behind this one, then round to this one again for what precedes the base in it.
    const uint64_t behind = word == 63 ? 0 : m_occupiedWords >> (word + 1);
    const uint32_t found = behind ? word + 1 + LowestBit(behind) : LowestBit(m_occupiedWords);
    return found * 64 + LowestBit(m_occupied[found]);
}

bool
WheelScheduler::NextIsFar(uint32_t& slot) const
{
    if (m_wheelSize == 0)
    {
        return true;
    }
    slot = FirstSlot();
    return !m_far.empty() && m_far.front().key < m_entries[m_slots[slot].head].event.key;
}

Scheduler::Event
WheelScheduler::PeekNext() const
{
    NS_ASSERT(!IsEmpty());
    uint32_t slot = 0;
    return NextIsFar(slot) ? m_far.front() : m_entries[m_slots[slot].head].event;
}

Scheduler::Event
WheelScheduler::PopFront(uint32_t slotIndex)
{
    Slot& slot = m_slots[slotIndex];
    const uint32_t index = slot.head;
    Entry& entry = m_entries[index];
    slot.head = entry.next;
    if (slot.head == NIL)
    {
        uint64_t& word = m_occupied[slotIndex / 64];
        word &= ~(uint64_t{1} << (slotIndex % 64));
        if (word == 0)
        {
            m_occupiedWords &= ~(uint64_t{1} << (slotIndex / 64));
        }
    }
    entry.next = m_free;
    m_free = index;
    --m_wheelSize;
    return entry.event;
}

Scheduler::Event
WheelScheduler::RemoveNext()
{
    NS_ASSERT(!IsEmpty());
    uint32_t slot = 0;
    Event next;
    if (NextIsFar(slot))
    {
        std::pop_heap(m_far.begin(), m_far.end(), IsLater);
        next = m_far.back();
        m_far.pop_back();
    }
    else
    {
        next = PopFront(slot);
    }
    m_base = next.key.m_ts;
    return next;
}

void
WheelScheduler::Remove(const Event& ev)
{
    NS_LOG_FUNCTION(this << &ev);
    const auto isIt = [&ev](const Event& other) { return other.key.m_uid == ev.key.m_uid; };
    const auto far = std::find_if(m_far.begin(), m_far.end(), isIt);
    if (far != m_far.end())
    {
        m_far.erase(far);
        std::make_heap(m_far.begin(), m_far.end(), IsLater);
        return;
    }
    // Rotate the slot's list once, leaving the event out.
    const uint32_t slotIndex = ev.key.m_ts % SLOTS;
    std::vector<Event> kept;
    while (m_slots[slotIndex].head != NIL)
    {
        const Event event = PopFront(slotIndex);
        if (!isIt(event))
        {
            kept.push_back(event);
        }
    }
    std::for_each(kept.begin(), kept.end(), [this](const Event& event) { Insert(event); });
}

} // namespace ns3
