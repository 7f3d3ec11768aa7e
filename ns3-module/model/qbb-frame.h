/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_FRAME_H
#define QBB_FRAME_H

#include "ns3/event-impl.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

class QbbFramePool;
class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief A frame on its way through a lossless Ethernet network (802.1Qbb).
 *
 * A frame is a typed record; only its telemetry section is kept as the bytes that it has on the wire, because
 * their widths and wrap-around are what the sender's algorithm sees. It is also the event of its own arrival at
 * the next device, and a link in the queue in which it waits. Frames are recycled by a QbbFramePool.
 */
class alignas(64) QbbFrame : public EventImpl
{
  public:
    /// What a frame is for.
    enum class Kind : uint8_t
    {
        DATA, //!< carries payload
        ACK,  //!< positive acknowledgement
        NACK, //!< negative acknowledgement: a byte is missing
        PFC,  //!< pause or resume of one priority on one link
    };

    /// Hop limit of a frame as it leaves its sender, as Linux and RoCE adapters set it.
    static constexpr uint8_t INITIAL_HOP_LIMIT = 64;

    /// Room for the telemetry section in bytes: 15 hops in the largest layout.
    static constexpr std::size_t TELEMETRY_CAPACITY = 488;

    /// Give the frame back to its pool.
    void Release();

    // What a switch looks at fills the frame's first cache line, behind the event's own members.
    QbbNetDevice* receiver{nullptr}; //!< device at which the frame arrives
    QbbFrame* next{nullptr};         //!< next frame of the queue that this one waits in
    Kind kind{Kind::DATA};           //!< what it is for
    uint8_t priority{0};             //!< priority group, 0 (highest) to 7
    bool congestionMarked{false};    //!< ECN: congestion experienced
    bool congestionEchoed{false};    //!< acknowledgement: the data frame was marked
    bool pause{false};               //!< PFC: pause or resume
    bool ackRequested{false};        //!< data: the receiver is to acknowledge it at once
    uint8_t hopLimit{0};             //!< IPv4 time to live or IPv6 hop limit
    uint16_t ingress{0};             //!< port by which it came into the present switch
    uint16_t telemetryBytes{0};      //!< length of the telemetry section
    uint32_t size{0};                //!< bytes that it occupies on the link, telemetry included
    uint32_t dst{0};                 //!< destination node
    uint32_t srcAddress{0};          //!< IPv4 source address
    uint32_t dstAddress{0};          //!< IPv4 destination address
    uint16_t sport{0};               //!< UDP source port
    uint16_t dport{0};               //!< UDP destination port
    uint32_t payload{0};             //!< payload bytes
    uint64_t arrived{0};             //!< when it came into the present switch, in nanoseconds
    std::array<uint8_t, TELEMETRY_CAPACITY> telemetry; //!< the telemetry section as on the wire
    uint64_t seq{0};           //!< first byte of the payload; of an acknowledgement: first byte still expected
    uint64_t flowBytes{0};     //!< bytes of the flow
    uint32_t mtu{0};           //!< most payload bytes of the flow's packets
    uint64_t selective{0};     //!< negative acknowledgement: the packet that arrived, by its first byte
    uint32_t src{0};           //!< source node
    uint32_t queuePair{0};     //!< key of the queue pair that it is for, at its destination
    uint32_t replyQueuePair{0}; //!< key of the queue pair that an answer is for

  protected:
    // Inherited: the frame arrives.
    void Notify() override;

  private:
    friend class QbbFramePool;

    /**
     * \param pool where the frame returns to
     */
    explicit QbbFrame(QbbFramePool* pool);

    QbbFramePool* m_pool; //!< where the frame returns to
};

/**
 * \ingroup hpcc
 * \brief Frames, used again when they have been released; the one released last first, for it is in the cache.
 *
 * The pool holds a reference to each frame, so that the simulator, which drops its reference after each
 * arrival, never frees one. It must outlive the simulation's run, not the simulator's queue of events.
 */
class QbbFramePool
{
  public:
    QbbFramePool() = default;
    ~QbbFramePool();
    QbbFramePool(const QbbFramePool&) = delete;
    QbbFramePool& operator=(const QbbFramePool&) = delete;

    /**
     * \brief Get a frame. Its fields are those of its previous use.
     * \return the frame
     */
    QbbFrame* Acquire();

  private:
    friend class QbbFrame;

    QbbFrame* m_free{nullptr};      //!< released frames
    std::vector<QbbFrame*> m_frames; //!< all frames
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
