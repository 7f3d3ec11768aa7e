/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_LATE_TRACE_H
#define HPCC_LATE_TRACE_H

#include "ns3/callback.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"
#include "ns3/trace-source-accessor.h"

#include <string>
#include <utility>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Connects to a trace source that its object makes when the first sink comes: until then it
 * costs no frame anything.
 * \tparam T type of the object
 * \tparam Find type of what finds the trace source
 */
template <class T, class Find>
class LateTraceAccessor : public TraceSourceAccessor
{
  public:
    /**
     * \param find returns the trace source of an object, and makes it if need be
     */
    explicit LateTraceAccessor(Find find)
        : m_find(std::move(find))
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return With(object, [&](auto& source) { source.ConnectWithoutContext(sink); });
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& sink) const override
    {
        return With(object, [&](auto& source) { source.Connect(sink, context); });
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& sink) const override
    {
        return With(object, [&](auto& source) { source.DisconnectWithoutContext(sink); });
    }

    bool Disconnect(ObjectBase* object,
                    std::string context,
                    const CallbackBase& sink) const override
    {
        return With(object, [&](auto& source) { source.Disconnect(sink, context); });
    }

  private:
    /**
     * \brief Call a function with the trace source of an object.
     * \tparam F type of the function
     * \param object the object
     * \param then the function
     * \return whether the object is of the type that has it
     */
    template <class F>
    bool With(ObjectBase* object, F then) const
    {
        const auto owner = dynamic_cast<T*>(object);
        if (owner)
        {
            then(m_find(*owner));
        }
        return owner;
    }

    Find m_find; //!< returns the trace source of an object
};

/**
 * \ingroup hpcc
 * \brief Make a LateTraceAccessor.
 * \tparam T type of the object
 * \tparam Find type of what finds the trace source
 * \param find returns the trace source of an object, and makes it if need be
 * \return the accessor
 */
template <class T, class Find>
Ptr<const TraceSourceAccessor>
MakeLateTraceAccessor(Find find)
{
    return Ptr<const TraceSourceAccessor>(new LateTraceAccessor<T, Find>(std::move(find)), false);
}

} // namespace ns3

#endif /* HPCC_LATE_TRACE_H */
