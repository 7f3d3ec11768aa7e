/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "prototype-factory.h"

#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"

#include <type_traits>

namespace ns3
{

namespace
{

/**
 * \brief Copy an object, if it is of one of some types, and not of one derived from them.
 * \tparam Types the types
 * \param object the object
 * \return the copy, or nothing
 */
template <class... Types>
Ptr<Object>
CopyIfOneOf(Ptr<Object> object)
{
    Ptr<Object> copy;
    const auto copyIf = [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        if (object->GetInstanceTypeId() == T::GetTypeId())
        {
            copy = CopyObject(StaticCast<T>(object));
        }
    };
    (copyIf(static_cast<Types*>(nullptr)), ...);
    return copy;
}

} // namespace

PrototypeFactory::PrototypeFactory(const ObjectFactory& factory)
    : m_factory(factory)
{
}

Ptr<Object>
PrototypeFactory::Create()
{
    if (!m_first)
    {
        m_first = m_factory.Create<Object>();
        return m_first;
    }
    const Ptr<Object> copy =
        CopyIfOneOf<RdmaHost, QbbSwitch, FastCnpHost, FastCnpSwitch, QbbNetDevice>(m_first);
    return copy ? copy : m_factory.Create<Object>();
}

} // namespace ns3
