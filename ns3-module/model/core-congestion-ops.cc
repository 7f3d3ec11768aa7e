/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "core-congestion-ops.h"

#include "controller-call.h"
#include "ns3-bridge/src/congestion_ops.rs.h"
#include "qbb-load-balancer.h"
#include "stop-run.h"

#include "ns3/abort.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/string.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

namespace hpcc
{

namespace
{

/**
 * \param name name of a class
 * \return the factory of its objects
 */
ns3::ObjectFactory
MakeFactory(rust::Str name)
{
    ns3::ObjectFactory factory;
    factory.SetTypeId(std::string(name));
    return factory;
}

/**
 * \param reads the telemetry that a class reads
 * \return the core's form
 */
OpsReads
MakeReads(ns3::RdmaCongestionOps::Reads reads)
{
    using Reads = ns3::RdmaCongestionOps::Reads;
    switch (reads)
    {
    case Reads::NOTHING:
        return OpsReads::Nothing;
    case Reads::RECORDS:
        return OpsReads::Records;
    case Reads::SEND_TIME:
        return OpsReads::SendTime;
    case Reads::UTILISATION:
        return OpsReads::Utilisation;
    }
    NS_ABORT_MSG("Reads has no value " << static_cast<int>(reads));
}

/// The base classes of TCP's congestion controls; some releases of ns-3 register TcpCubic under the
/// socket instead. By name, for the module has TCP only where ns-3's stack is built.
const char* const TCP_BASES[] = {"ns3::TcpCongestionOps", "ns3::TcpSocketBase"};
/// The common beginning of the names of TCP's congestion controls.
const char* const TCP_PREFIX = "ns3::Tcp";
/// Timers of a flow that may be due at one time: far more than a controller has use for.
constexpr uint32_t MOST_TIMERS_AT_ONCE = 100'000;
/// HPCC++ of TCP hosts.
const char* const TCP_HPCC_PLUS = "ns3::TcpHpccPlus";

/**
 * \param tid a class
 * \return whether congestion controls or load balancers are derived from it
 */
bool
IsBase(ns3::TypeId tid)
{
    return tid == ns3::RdmaCongestionOps::GetTypeId() || tid == ns3::QbbLoadBalancer::GetTypeId() ||
           std::find(std::begin(TCP_BASES), std::end(TCP_BASES), tid.GetName()) !=
               std::end(TCP_BASES);
}

/**
 * \param name a class that is not registered
 * \return whether it may be one of ns-3's TCP, without whose stack the module was built
 */
bool
IsOfMissingStack(const std::string& name)
{
    const auto isThere = [](const char* base) {
        ns3::TypeId tid;
        return ns3::TypeId::LookupByNameFailSafe(base, &tid);
    };
    return name.rfind(TCP_PREFIX, 0) == 0 &&
           std::none_of(std::begin(TCP_BASES), std::end(TCP_BASES), isThere);
}

/**
 * \brief Ask whether ns-3 can make an object of a text, which ns-3 does not check.
 * \param base what the object must be
 * \param text name of a class, perhaps with attributes in brackets
 * \return whether there is such a class, with a constructor, and it has those attributes
 */
bool
IsObject(ns3::TypeId base, const std::string& text)
{
    ns3::TypeId tid;
    if (!ns3::TypeId::LookupByNameFailSafe(text.substr(0, text.find('[')), &tid) ||
        !tid.HasConstructor() || (tid != base && !tid.IsChildOf(base)))
    {
        return false;
    }
    ns3::ObjectFactory factory;
    std::istringstream stream(text);
    stream >> factory;
    return !stream.fail();
}

} // namespace

CongestionOps::CongestionOps(ns3::Ptr<ns3::RdmaCongestionOps> ops)
    : m_ops(std::move(ops))
{
}

OpsDecision
CongestionOps::MakeDecision(const ns3::RdmaCongestionOps::Decision& decision) const
{
    const uint64_t rate = decision.rate.GetBitRate();
    if (!decision.keep && rate == 0)
    {
        ns3::StopRun(m_ops->GetInstanceTypeId().GetName() +
                     " has decided on a rate of 0, at which nothing is ever sent: Decision::rate "
                     "must be above 0 unless Decision::keep is true");
        return {true, rate, decision.windowBytes, decision.repace};
    }
    return {decision.keep, rate, decision.windowBytes, decision.repace};
}

OpsDecision
CongestionOps::on_feedback(const OpsFeedback& feedback, rust::Slice<const OpsHop> hops)
{
    m_feedback.now = feedback.now_ns;
    m_feedback.ackSeq = feedback.ack_seq;
    m_feedback.sndNxt = feedback.snd_nxt;
    m_feedback.acked = feedback.acked;
    m_feedback.rtt = feedback.rtt_ns;
    m_feedback.congestionMarked = feedback.congestion_marked;
    m_feedback.nanosModulus = feedback.ts_modulus;
    m_feedback.bytesModulus = feedback.tx_bytes_modulus;
    m_feedback.busiestPlace = feedback.busiest_place;
    m_feedback.sentAt = feedback.sent_at_ns;
    m_feedback.utilisation = feedback.utilisation;
    m_feedback.hops.clear();
    for (const auto& hop : hops)
    {
        m_feedback.hops.push_back({ns3::DataRate(hop.rate_bps), hop.ts_ns, hop.tx_bytes, hop.qlen});
    }
    const ns3::ControllerCall call(feedback.now_ns);
    return MakeDecision(m_ops->OnFeedback(m_feedback));
}

void
CongestionOps::on_sent(const OpsSent& sent)
{
    const ns3::ControllerCall call(sent.now_ns);
    m_ops->OnSent({sent.now_ns, sent.seq, sent.bytes, sent.in_flight, sent.retransmission});
}

OpsDecision
CongestionOps::on_loss(const OpsLoss& loss)
{
    const ns3::ControllerCall call(loss.now_ns);
    return MakeDecision(m_ops->OnLoss({loss.now_ns, loss.seq, loss.in_flight, loss.timeout}));
}

OpsDecision
CongestionOps::on_notification(uint64_t now)
{
    const ns3::ControllerCall call(now);
    return MakeDecision(m_ops->OnNotification(now));
}

void
CongestionOps::CheckTimeGoesOn(uint64_t now)
{
    m_timersDue = now == m_timerAt ? m_timersDue + 1 : 1;
    m_timerAt = now;
    if (m_timersDue > MOST_TIMERS_AT_ONCE)
    {
        const std::string time = std::to_string(now) + " ns";
        ns3::StopRun(m_ops->GetInstanceTypeId().GetName() + " arms its timers at " + time +
                     " for " + time +
                     " again and again, so that no time passes: OnTimer() must Arm() for a later "
                     "time");
    }
}

OpsDecision
CongestionOps::on_timer(uint8_t timer, uint64_t now)
{
    CheckTimeGoesOn(now);
    const ns3::ControllerCall call(now);
    return MakeDecision(m_ops->OnTimer(timer, now));
}

void
CongestionOps::on_port(uint64_t lineRate)
{
    const ns3::ControllerCall call;
    m_ops->OnPort(ns3::DataRate(lineRate));
}

bool
CongestionOps::take_armed(OpsTimers& timers)
{
    if (m_ops->m_armed == 0)
    {
        return false;
    }
    timers = {std::exchange(m_ops->m_armed, 0), m_ops->m_due};
    return true;
}

ns3::Ptr<ns3::RdmaCongestionOps>
CongestionOps::GetOps() const
{
    return m_ops;
}

bool
is_congestion_ops(rust::Str name)
{
    ns3::TypeId tid;
    return ns3::TypeId::LookupByNameFailSafe(std::string(name), &tid) &&
           tid.IsChildOf(ns3::RdmaCongestionOps::GetTypeId()) && tid.HasConstructor();
}

bool
is_tcp_congestion_ops(rust::Str name)
{
    ns3::TypeId tid;
    const auto isChild = [&tid](const char* base) {
        ns3::TypeId tcp;
        return ns3::TypeId::LookupByNameFailSafe(base, &tcp) && tid.IsChildOf(tcp);
    };
    return name != TCP_HPCC_PLUS && ns3::TypeId::LookupByNameFailSafe(std::string(name), &tid) &&
           tid.HasConstructor() && std::any_of(std::begin(TCP_BASES), std::end(TCP_BASES), isChild);
}

rust::String
why_no_congestion_ops(rust::Str name)
{
    const std::string text(name);
    ns3::TypeId tid;
    if (!ns3::TypeId::LookupByNameFailSafe(text, &tid))
    {
        if (IsOfMissingStack(text))
        {
            return "those of TCP are in ns-3's internet stack, which this simulator was built "
                   "without: its modules internet and applications";
        }
        return "no class " + text +
               " is registered: look at its spelling, and for its NS_OBJECT_ENSURE_REGISTERED()";
    }
    if (text == TCP_HPCC_PLUS)
    {
        return text + " is chosen as \"hpcc_plus\"";
    }
    if (!tid.IsChildOf(ns3::RdmaCongestionOps::GetTypeId()))
    {
        return text + " is not derived from " + ns3::RdmaCongestionOps::GetTypeId().GetName();
    }
    return "the TypeId of " + text + " has no AddConstructor()";
}

rust::Vec<OpsAttribute>
congestion_ops_attributes(rust::Str name)
{
    rust::Vec<OpsAttribute> attributes;
    // Its own, and those of the classes from which it derives, up to the base of its kind.
    for (ns3::TypeId tid = ns3::TypeId::LookupByName(std::string(name)); !IsBase(tid);
         tid = tid.GetParent())
    {
        for (std::size_t index = 0; index < tid.GetAttributeN(); ++index)
        {
            const ns3::TypeId::AttributeInformation info = tid.GetAttribute(index);
            attributes.push_back(
                {info.name, info.initialValue->SerializeToString(info.checker), info.help});
        }
    }
    return attributes;
}

OpsNeeds
congestion_ops_needs(rust::Str name)
{
    const auto ops = MakeFactory(name).Create<ns3::RdmaCongestionOps>();
    return {MakeReads(ops->GetReads()), ops->TakesDigests(), ops->ReactsToNotifications()};
}

bool
is_ops_value(rust::Str name, rust::Str attribute, rust::Str value)
{
    ns3::TypeId::AttributeInformation info;
    const ns3::TypeId tid = ns3::TypeId::LookupByName(std::string(name));
    const std::string text(value);
    if (!tid.LookupAttributeByName(std::string(attribute), &info))
    {
        return false;
    }
    const auto* pointer = dynamic_cast<const ns3::PointerChecker*>(PeekPointer(info.checker));
    return (!pointer || IsObject(pointer->GetPointeeTypeId(), text)) &&
           info.checker->CreateValidValue(ns3::StringValue(text));
}

std::unique_ptr<CongestionOps>
new_congestion_ops(rust::Str name,
                   rust::Slice<const OpsAttribute> attributes,
                   const OpsLimits& limits)
{
    ns3::ObjectFactory factory = MakeFactory(name);
    for (const auto& attribute : attributes)
    {
        factory.Set(std::string(attribute.name), ns3::StringValue(std::string(attribute.value)));
    }
    const ns3::ControllerCall call;
    const auto ops = factory.Create<ns3::RdmaCongestionOps>();
    ops->Start({ns3::DataRate(limits.line_rate_bps),
                ns3::NanoSeconds(limits.base_rtt_ns),
                limits.window_bytes,
                limits.mtu,
                limits.hops});
    return std::make_unique<CongestionOps>(ops);
}

rust::String
run_fault()
{
    return ns3::RunKeeper::GetFault();
}

} // namespace hpcc
