/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_FRAME_H
#define QBB_FRAME_H

#include "foreseen-event.h"

#include "ns3/ptr.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

class Packet;
class QbbFramePool;
class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief A frame on its way through a lossless Ethernet network (802.1Qbb).
 *
 * A frame is a typed record; only its telemetry section is kept as the bytes that it has on the
 * wire, because their widths and wrap-around are what the sender's algorithm sees. It is also the
 * event of its own arrival at the next device, and a link in the queue in which it waits. Frames
 * are recycled by a QbbFramePool, which also says how much room for telemetry stands behind each.
 */
class alignas(64) QbbFrame : public ForeseenEvent
{
  public:
    /// What a frame is for.
    enum class Kind : uint8_t
    {
        DATA,            //!< carries payload
        ACK,             //!< positive acknowledgement
        NACK,            //!< negative acknowledgement: a byte is missing
        PFC,             //!< pause or resume of one priority on one link
        PROBE,           //!< a packet of a flow without payload, which collects telemetry
        FEEDBACK,        //!< telemetry that comes back by itself
        PACKET,          //!< a packet of an ns-3 stack
        PACKET_PROBE,    //!< a probe of a flow of such packets
        PACKET_RESPONSE, //!< its telemetry on the way back
        CNP,             //!< congestion notification by the receiver
        /// Congestion notification by a switch; destination options in the place of telemetry.
        FAST_CNP,
        /// ICMPv6 about one of those; the whole IPv6 packet in the place of telemetry.
        ICMPV6,
    };

    /// Of a negative acknowledgement: no packet arrived ahead of its turn.
    static constexpr uint64_t NOTHING_AHEAD = UINT64_MAX;

    /// Hop limit of a frame as it leaves its sender, as the core has it.
    static const uint8_t INITIAL_HOP_LIMIT;

    /// Room for the telemetry section comes in steps of so many bytes.
    static constexpr std::size_t ROOM_UNIT = 8;

    /// Most room for the telemetry section in bytes, as its steps are counted in a byte. How much a
    /// layout needs, which is less, is for the core to say.
    static constexpr std::size_t MAX_TELEMETRY = UINT8_MAX * ROOM_UNIT;

    /// Give the frame back to its pool.
    void Release();

    /// \return the telemetry section as on the wire: telemetryBytes of it, and room behind them
    uint8_t* GetTelemetry()
    {
        return reinterpret_cast<uint8_t*>(this + 1);
    }

    /// \return the telemetry section as on the wire
    const uint8_t* GetTelemetry() const
    {
        return reinterpret_cast<const uint8_t*>(this + 1);
    }

    /// \return whether switches stamp their telemetry into it
    bool CollectsTelemetry() const
    {
        return (TraitsOf(kind) & COLLECTS) != 0;
    }

    /// \return whether it carries an ns-3 packet
    bool CarriesPacket() const
    {
        return (TraitsOf(kind) & PACKET_INSIDE) != 0;
    }

    /**
     * \brief Put an ns-3 packet into the frame.
     * \pre the frame is of a kind that carries one, and carries none
     * \param contents the packet
     */
    void SetPacket(Ptr<Packet> contents);

    /**
     * \brief Take the packet out of the frame.
     * \pre the frame carries one
     * \return the packet
     */
    Ptr<Packet> TakePacket();

    /// \return whether nothing but telemetry needs it
    bool IsForTelemetryAlone() const
    {
        return (TraitsOf(kind) & TELEMETRY_ALONE) != 0;
    }

    /// \return whether telemetry stands in its place, and nothing else
    bool HasTelemetrySection() const
    {
        return (TraitsOf(kind) & SECTION) != 0;
    }

    /// \return bytes on the link that only telemetry needs
    uint32_t GetTelemetryCost() const
    {
        return IsForTelemetryAlone() ? size : HasTelemetrySection() ? telemetryBytes : 0;
    }

    /// \return whether it acknowledges data, or says that some is missing
    bool IsAcknowledgement() const
    {
        return kind == Kind::ACK || kind == Kind::NACK;
    }

    /// \return room for the telemetry section in bytes
    std::size_t GetRoom() const
    {
        return m_room * ROOM_UNIT;
    }

    /**
     * \brief Give back the memory of a frame and of the room behind it.
     * \param frame the frame
     */
    static void operator delete(void* frame);

    // Members that a switch reads fill the first cache line, behind the event's own members.
    QbbNetDevice* receiver{nullptr}; //!< device at which the frame arrives
    QbbFrame* next{nullptr};         //!< next frame of the queue that this one waits in
    Kind kind{Kind::DATA};           //!< what it is for
    uint8_t priority{0};             //!< priority group, 0 (highest) to 7
    bool congestionMarked{false};    //!< ECN: congestion experienced
    bool congestionEchoed{false};    //!< acknowledgement: the data frame was marked
    bool pause{false};               //!< PFC: pause or resume
    bool ackRequested{false};        //!< data: the receiver is to acknowledge it at once
    uint8_t hopLimit{0};             //!< IPv4 time to live or IPv6 hop limit
  private:
    /// Traits of a kind of frames; bits.
    enum Trait : uint8_t
    {
        COLLECTS = 1,        //!< switches stamp their telemetry into it
        PACKET_INSIDE = 2,   //!< it carries an ns-3 packet
        TELEMETRY_ALONE = 4, //!< nothing but telemetry needs it
        SECTION = 8,         //!< telemetry stands in its place, and nothing else
    };

    /**
     * \param kind a kind
     * \return its traits
     */
    static constexpr uint8_t TraitsOf(Kind kind)
    {
        switch (kind)
        {
        case Kind::DATA:
            return COLLECTS | SECTION;
        case Kind::ACK:
        case Kind::NACK:
            return SECTION;
        case Kind::PROBE:
            return COLLECTS | TELEMETRY_ALONE | SECTION;
        case Kind::FEEDBACK:
            return TELEMETRY_ALONE | SECTION;
        case Kind::PACKET:
            return PACKET_INSIDE | SECTION;
        case Kind::PACKET_PROBE:
            return COLLECTS | PACKET_INSIDE | TELEMETRY_ALONE | SECTION;
        case Kind::PACKET_RESPONSE:
            return PACKET_INSIDE | TELEMETRY_ALONE | SECTION;
        case Kind::PFC:
        case Kind::CNP:
        case Kind::FAST_CNP:
        case Kind::ICMPV6:
            return 0;
        }
        return 0;
    }

    uint8_t m_room; //!< room for telemetry in units of ROOM_UNIT

  public:
    uint16_t ingress{0};        //!< port by which it came into the present switch
    uint16_t telemetryBytes{0}; //!< length of the telemetry section
    uint32_t size{0};           //!< bytes that it occupies on the link, telemetry included
    uint32_t dst{0};            //!< destination node
    uint32_t srcAddress{0};     //!< IPv4 source address
    uint32_t dstAddress{0};     //!< IPv4 destination address
    uint16_t sport{0};          //!< UDP source port
    uint16_t dport{0};          //!< UDP destination port

    // Members that hosts read fill the second. Telemetry begins with the third.
    uint16_t payload{0}; //!< payload bytes
    uint16_t mtu{0};     //!< most payload bytes of the flow's packets
    /// Packets before the flow's first one on its queue pair; 0 if the flow has it to itself.
    uint32_t earlierPackets{0};
    /// First byte of the payload; of an acknowledgement: first byte still expected; of PFC: bytes
    /// that wait in its priority at the port that sends it.
    uint64_t seq{0};

    union {
        uint64_t flowBytes{0}; //!< bytes of the flow
        /// Of a frame that carries a packet: it; the frame holds a reference.
        Packet* packet;
    };

    /// Negative acknowledgement: the packet that arrived, by its first byte.
    uint64_t selective{0};
    /// When it came into the present switch, in ns, if its telemetry says so.
    uint64_t arrived{0};
    uint32_t src{0};            //!< source node
    uint32_t queuePair{0};      //!< key of the queue pair that it is for, at its destination
    uint32_t replyQueuePair{0}; //!< key of the queue pair that an answer is for
    uint32_t earlierWrites{0};  //!< RDMA WRITEs before the flow's first one, as earlierPackets

    // Inherited
    void Fetch(unsigned step) override;
    // Inherited: the frame arrives.
    void Notify() override;

    /// Fetch all of the frame that a switch needs.
    void FetchState() const
    {
        FetchLines(this, 3);
    }

  private:
    friend class QbbFramePool;

    /**
     * \param pool where the frame returns to
     * \param room room for telemetry behind the frame, in bytes, a multiple of ROOM_UNIT
     */
    QbbFrame(QbbFramePool* pool, std::size_t room);
    ~QbbFrame() override;

    /// Let go of the packet, if there is one.
    void DropPacket();

    QbbFramePool* m_pool; //!< where the frame returns to
};

/**
 * \ingroup hpcc
 * \brief Frames, used again when they have been released; the one released last first, for it is in
 * the cache.
 *
 * The pool holds a reference to each frame, so that a simulator that drops its reference after each
 * arrival never frees one. It must outlive the simulation's run, not the simulator's queue of
 * events. Frames stand close together, in blocks: where very many are on their way, the kernel's
 * time for new memory counts.
 */
class QbbFramePool
{
  public:
    /**
     * \param room room for telemetry in each frame, in bytes, at most QbbFrame::MAX_TELEMETRY: what
     * frames do not need costs time, for fewer of them fit the caches
     */
    explicit QbbFramePool(std::size_t room = QbbFrame::MAX_TELEMETRY);
    ~QbbFramePool();
    QbbFramePool(const QbbFramePool&) = delete;
    QbbFramePool& operator=(const QbbFramePool&) = delete;

    /**
     * \brief Get a frame, whose fields have values of its previous use.
     * \return the frame
     */
    QbbFrame* Acquire();

  private:
    friend class QbbFrame;

    /**
     * \brief Make one more frame, in the last block or in a new one.
     * \return the frame
     */
    [[gnu::noinline]] QbbFrame* Make();

    const std::size_t m_room;         //!< room for telemetry in each frame
    const std::size_t m_pitch;        //!< bytes from one frame of a block to the next
    const std::size_t m_perBlock;     //!< how many frames a block has room for
    QbbFrame* m_free{nullptr};        //!< released frames
    std::vector<std::byte*> m_blocks; //!< where frames stand
    std::size_t m_used{0};            //!< how many frames the last block has
};

/**
 * \ingroup hpcc
 * \brief A first-in first-out queue of frames, linked through the frames themselves.
 */
class QbbFrameQueue
{
  public:
    /// \return whether no frame waits
    bool IsEmpty() const
    {
        return m_head == nullptr;
    }

    /**
     * \brief Append a frame.
     * \param frame the frame
     */
    void Push(QbbFrame* frame)
    {
        frame->next = nullptr;
        (m_head ? m_tail->next : m_head) = frame;
        m_tail = frame;
        m_bytes += frame->size;
    }

    /**
     * \brief Take the first frame.
     * \pre the queue is not empty
     * \return the frame
     */
    QbbFrame* Pop()
    {
        QbbFrame* frame = m_head;
        m_head = frame->next;
        m_bytes -= frame->size;
        return frame;
    }

    /// \return the frame that leaves first; nothing if there is none
    const QbbFrame* GetHead() const
    {
        return m_head;
    }

    /// \return bytes of the frame that leaves first, 0 if there is none
    uint32_t GetHeadBytes() const
    {
        return m_head ? m_head->size : 0;
    }

    /// \return bytes of all frames in the queue
    uint64_t GetBytes() const
    {
        return m_bytes;
    }

  private:
    QbbFrame* m_head{nullptr}; //!< the frame that leaves first
    QbbFrame* m_tail{nullptr}; //!< the frame that leaves last, if there is one
    uint64_t m_bytes{0};       //!< bytes of all frames
};

} // namespace ns3

#endif /* QBB_FRAME_H */
