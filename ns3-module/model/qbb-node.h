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
#include <string>
#include <vector>

namespace hpcc
{
struct FlowEnd;
struct Notice;
} // namespace hpcc

namespace ns3
{

class EngineNetwork;
class Packet;
class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief The part of a node behind its ports: a QbbSwitch, an RdmaHost or a PacketHost.
 *
 * It is aggregated to the node. The engine simulates it: this object has its settings, tells trace
 * sinks what happens, and asks the engine on behalf of programs.
 */
class QbbNode : public Object, public SettingsOwner
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
    virtual void AddPort(Ptr<QbbNetDevice> device);

    /**
     * \brief Another part of the same ns-3 node carries the packets of its stack by the ports of
     * this one, before the network starts.
     * \param stack that part, aggregated to the node
     */
    void SetStack(QbbNode& stack);

    /**
     * \brief Put into the settings the facts of ports and stack, before settings are settled.
     */
    virtual void PrepareSettings();

    /// \return what has settings here: the node, and last its part in Fast CNP if it has one
    std::vector<SettingsOwner*> GetOwners();

    /// End the program if ns-3 does not count in nanoseconds.
    static void CheckResolution();

    /// \return the number of ports
    uint32_t GetNPorts() const;

    /**
     * \param port number of a port, counted from 0
     * \return the port
     */
    Ptr<QbbNetDevice> GetPort(uint32_t port) const;

    /**
     * \param index the node's index in its network
     */
    void SetIndex(uint32_t index);

    /// \return the node's index in its network
    uint32_t GetIndex() const;

    /// \return whether the node forwards
    virtual bool IsSwitch() const = 0;

    /// \return what messages call it: "switch" or "host", and its index
    std::string Describe() const;

    /**
     * \brief The network starts: from now on the engine simulates the node.
     * \param network the network
     */
    virtual void Start(Ptr<EngineNetwork> network);

    /// \return the network; ends the program if it does not run, or a congestion control asks
    EngineNetwork& GetNetwork() const;

    /// \return the network, or nullptr where it does not run
    EngineNetwork* PeekNetwork() const;

    /// Be told from now on what happens here besides frames at ports, for trace sinks.
    void WatchEvents();

    /**
     * \brief Something has happened here.
     * \param notice what
     * \param frame the frame that it has happened to, if it has
     */
    virtual void OnNotice(const hpcc::Notice& notice, QbbFrame& frame);

    /**
     * \brief The node's ns-3 stack sends a packet. A node without a stack refuses.
     * \param out the port that it chose
     * \param packet the packet, from the network layer's header on
     * \param protocol the network layer's EtherType
     * \return whether it was queued
     */
    virtual bool SendPacket(QbbNetDevice& out, Ptr<Packet> packet, uint16_t protocol);

    /**
     * \brief Send a PFC frame on a port, or queue it there.
     * \param port the port
     * \param priority the priority to pause or resume at the far end
     * \param pause whether to pause
     */
    void SendPfc(const QbbNetDevice& port, uint8_t priority, bool pause);

    /// \return most payload bytes in a packet that begins here; 0 if none does
    virtual uint32_t GetMtu() const;

  protected:
    void DoDispose() override;

    /// \return whether what happens here besides frames at ports is logged
    virtual bool IsLogged() const;

    /**
     * \brief End the program if there is no such port.
     * \param port number of a port, counted from 0
     */
    void CheckPort(uint32_t port) const;

    std::vector<Ptr<QbbNetDevice>> m_ports; //!< the ports
    uint32_t m_index{0};                    //!< index in the network

  private:
    QbbNode* m_stack{nullptr};    //!< carries the packets of the node's stack, if another part does
    Ptr<EngineNetwork> m_network; //!< the network, while it runs
    bool m_watchesEvents{false};  //!< whether trace sinks hear what happens
};

} // namespace ns3

#endif /* QBB_NODE_H */
