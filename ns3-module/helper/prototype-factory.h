/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PROTOTYPE_FACTORY_H
#define PROTOTYPE_FACTORY_H

#include "ns3/object-factory.h"
#include "ns3/object.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Makes objects by one factory, with the same attributes.
 *
 * ns-3 sets every attribute of every object that a factory makes, which is a third of the time that
 * a large network takes to set up. So the first object comes from the factory, and others of those
 * types that can be copied before they are used are copies of it.
 */
class PrototypeFactory
{
  public:
    /**
     * \param factory makes the first object; neither it nor ns-3's defaults change while this is
     * used
     */
    explicit PrototypeFactory(const ObjectFactory& factory);

    /// \return a new object
    Ptr<Object> Create();

  private:
    const ObjectFactory& m_factory; //!< makes the first object
    Ptr<Object> m_first;            //!< the first object
};

} // namespace ns3

#endif /* PROTOTYPE_FACTORY_H */
