/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_NODE_H
#define QBB_NODE_H

#include "core-pointer.h"
#include "qbb-frame.h"
#include "settings-owner.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

class Packet;
class QbbNetDevice;
class SharedNetwork;

/**
 * \ingroup hpcc
 * \brief The part of a node behind its ports: a QbbSwitch or an RdmaHost.
 *
 * It is aggregated to the node. Devices hand it each frame that arrives and ask it for the next
 * frame to send.
 */
class alignas(64) QbbNode : public Object, public SettingsOwner
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    QbbNode();

    /**
     * \brief Make a node with the same attributes, and nothing else of the other.
     * \param other whose attributes
     */
    QbbNode(const QbbNode& other);

    ~QbbNode() override;

    /**
     * \brief Add a port. Its number is the count of ports before.
     * \param device the port
     */
    void AddPort(Ptr<QbbNetDevice> device);

    /// Count a port that this process does not build: its node and its peer are other processes'.
    void AddAbsentPort();

    /// Take over what settings say of frames: the node starts, and they may have changed since
    /// links were made.
    void ReadSettings();

    /**
     * \brief Put into the settings the facts of ports and stack, before settings are resolved.
     */
    virtual void PrepareSettings();

    /// End the program if ns-3 does not count in nanoseconds.
    static void CheckResolution();

    /// \return the number of ports
    uint32_t GetNPorts() const;

    /**
     * \param port number of a port, counted from 0
     * \return the port; nullptr if this process has not built it
     */
    Ptr<QbbNetDevice> GetPort(uint32_t port) const;

    /**
     * \param index the node's index in its network
     */
    void SetIndex(uint32_t index);

    /// \return the node's index in its network
    uint32_t GetIndex() const;

    /**
     * \brief Take frames from a pool that other nodes use too. By default each node has a pool of
     * its own; one for a whole network touches less memory.
     * \param pool the pool
     */
    void SetFramePool(std::shared_ptr<QbbFramePool> pool);

    /**
     * \brief Make the node a part of a simulation whose time is cut into windows.
     * \param shared the shared network; the simulator owns it
     */
    void SetShared(SharedNetwork* shared);

    /// \return whether this process simulates the node
    bool IsLocal() const;

    /// \return whether the node forwards
    virtual bool IsSwitch() const = 0;

    /// \return what messages call it: "switch" or "host", and its index
    std::string Describe() const;

    /**
     * \brief Set the source of rng. By default each node has one of its own.
     * \param rng the generator; may be shared by several nodes
     */
    void SetRng(std::shared_ptr<hpcc::Rng> rng);

    /**
     * \brief Get ready to run: all ports and routes are known. A node that another process
     * simulates prepares only what its peers here ask of it.
     * \param network the network
     */
    virtual void Start(const std::shared_ptr<hpcc::Network>& network) = 0;

    /**
     * \brief A port's cable has broken: clear what waits there.
     * \param port the port
     */
    virtual void OnLinkDown(QbbNetDevice& port) = 0;

    /**
     * \brief A port's cable is whole again, and routes lead over it.
     * \param port the port
     */
    virtual void OnLinkUp(QbbNetDevice& port);

    /**
     * \brief The far end of a port pauses other priorities than before.
     * \param port the port
     */
    virtual void OnPause(QbbNetDevice& port);

    /**
     * \brief The network has computed new routes.
     */
    virtual void OnNewRoutes() = 0;

    /**
     * \brief A frame arrived. The node now owns it.
     * \param in port by which it came
     * \param frame the frame; never a PFC frame
     */
    virtual void Receive(QbbNetDevice& in, QbbFrame* frame) = 0;

    /**
     * \brief A port is idle.
     * \param out the port
     * \return the frame that it sends now, or nullptr
     */
    virtual QbbFrame* NextFrame(QbbNetDevice& out) = 0;

    /**
     * \brief A port begins to send a frame, and none waits at it.
     * \param out the port
     * \param end when the frame has left, nanoseconds
     * \return whether the port is to ask for a frame then, even if none has come to it
     */
    virtual bool AwaitsEnd(const QbbNetDevice& out, uint64_t end);

    /// Cache lines from the beginning of the object on that are used for each frame.
    static constexpr std::size_t STATE_LINES = 4;

    /**
     * \brief A frame will arrive soon: a node may fetch what its arrival will touch.
     * \param step 3 or 4, as for ForeseenEvent::Fetch(); the port and this object are in the cache
     * \param in port by which it will come
     * \param frame the frame
     */
    virtual void FetchArrival(unsigned step, const QbbNetDevice& in, const QbbFrame& frame) const;

    /**
     * \brief A port will be idle soon: fetch what it takes to choose the next frame and to send it.
     * \param step 3 or 4, as for ForeseenEvent::Fetch(); the port, its first frame and this object
     * are in the cache
     * \param out the port
     */
    virtual void FetchDeparture(unsigned step, const QbbNetDevice& out) const;

    /**
     * \brief The node's ns-3 stack sends a packet. A node without a stack refuses.
     * \param out the port that it chose
     * \param packet the packet, from the network layer's header on
     * \param protocol the network layer's EtherType
     * \return whether it was queued
     */
    virtual bool SendPacket(QbbNetDevice& out, Ptr<Packet> packet, uint16_t protocol);

    /**
     * \brief Get a frame of priority 0 that begins here: without payload, marks and telemetry.
     * \return the frame; its kind, addresses and size are the caller's to fill in
     */
    QbbFrame* NewFrame();

    /**
     * \brief Get a PFC frame.
     * \param port the port that will send it
     * \param priority the priority to pause or resume
     * \param pause whether to pause
     * \return the frame
     */
    QbbFrame* MakePfc(const QbbNetDevice& port, uint8_t priority, bool pause);

    /**
     * \brief Send a PFC frame on a port, or queue it there.
     * \param port the port
     * \param priority the priority to pause or resume
     * \param pause whether to pause
     */
    void SendPfc(QbbNetDevice& port, uint8_t priority, bool pause);

    /// \return most payload bytes in a packet that begins here; 0 if none does
    virtual uint32_t GetMtu() const;

  protected:
    void DoDispose() override;

    /**
     * \brief Settle what the settings leave to the simulator; ends the program if they contradict
     * each other.
     * \param network the network
     */
    void ResolveSettings(const hpcc::Network& network);

    /**
     * \brief End the program if there is no such port.
     * \param port number of a port, counted from 0
     */
    void CheckPort(uint32_t port) const;

    /// Make a random number generator if none was set.
    void EnsureRng();

    std::vector<Ptr<QbbNetDevice>> m_ports; //!< the ports
    std::shared_ptr<QbbFramePool> m_pool;   //!< frames that begin here
    std::shared_ptr<hpcc::Rng> m_rng;       //!< the random number generator
    /// The shared network; nullptr: one process simulates all nodes.
    SharedNetwork* m_shared{nullptr};
    uint32_t m_index{0};    //!< index in the network
    uint32_t m_pfcBytes{0}; //!< size of a PFC frame
};

} // namespace ns3

#endif /* QBB_NODE_H */
