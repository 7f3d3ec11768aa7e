/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_NODE_REFERENCE_H
#define HPCC_NODE_REFERENCE_H

#include "ns3/abort.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A reference to a node: by its index in the order of installation, by its pointer, or by
 * its name (ns3::Names).
 */
class NodeReference
{
  public:
    /**
     * \tparam T a whole number
     * \param index the node's place in the order of installation
     */
    template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
    NodeReference(T index)
        : m_index(index >= 0 && static_cast<uint64_t>(index) < UINT32_MAX
                      ? static_cast<uint32_t>(index)
                      : UINT32_MAX)
    {
    }

    /**
     * \param node the node
     */
    NodeReference(Ptr<Node> node)
        : m_node(std::move(node))
    {
        NS_ABORT_MSG_UNLESS(m_node, "a null pointer is no node");
    }

    /**
     * \param name the node's name; ends the program if no node has it
     */
    NodeReference(const std::string& name)
        : m_node(Names::Find<Node>(name))
    {
        NS_ABORT_MSG_UNLESS(m_node, "no node has the name \"" << name << "\"");
    }

    /**
     * \param name the node's name; ends the program if no node has it
     */
    NodeReference(const char* name)
        : NodeReference(std::string(name))
    {
    }

    /// \return the node; nullptr for a reference by index
    Ptr<Node> GetNode() const
    {
        return m_node;
    }

    /// \return its index, if it is meant by that
    uint32_t GetIndex() const
    {
        return m_index;
    }

  private:
    Ptr<Node> m_node;    //!< the node
    uint32_t m_index{0}; //!< its index, without the node
};

} // namespace ns3

#endif /* HPCC_NODE_REFERENCE_H */
