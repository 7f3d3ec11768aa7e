/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-hpcc-plus.h"

#include "ns3-bridge/src/lib.rs.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("TcpHpccPlus");

NS_OBJECT_ENSURE_REGISTERED(TcpHpccPlus);

namespace
{

/// The core's word for "never".
constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

/// \return the present time in ns
uint64_t
PresentNanos()
{
    return Simulator::Now().GetNanoSeconds();
}

} // namespace

TypeId
TcpHpccPlus::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TcpHpccPlus")
            .SetParent<TcpNewReno>()
            .SetGroupName("Hpcc")
            .AddConstructor<TcpHpccPlus>()
            .AddAttribute("Eta",
                          "Target utilisation",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&TcpHpccPlus::m_eta),
                          MakeDoubleChecker<double>(std::numeric_limits<double>::min(), 2))
            .AddAttribute("MaxStage",
                          "Rounds of additive increase before a multiplicative step",
                          UintegerValue(5),
                          MakeUintegerAccessor(&TcpHpccPlus::m_maxStage),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ExpectedFlows",
                          "Flows that share a link, of which W_ai follows; 0 for WindowIncrease",
                          UintegerValue(100),
                          MakeUintegerAccessor(&TcpHpccPlus::m_expectedFlows),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("WindowIncrease",
                          "W_ai in bytes, if ExpectedFlows is 0",
                          UintegerValue(80),
                          MakeUintegerAccessor(&TcpHpccPlus::m_windowIncrease),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MinRate",
                          "The rate never falls below this",
                          DataRateValue(DataRate("100Mbps")),
                          MakeDataRateAccessor(&TcpHpccPlus::m_minRate),
                          MakeDataRateChecker());
    return tid;
}

TcpHpccPlus::TcpHpccPlus()
{
    NS_LOG_FUNCTION(this);
}

TcpHpccPlus::TcpHpccPlus(const TcpHpccPlus& other)
    : TcpNewReno(other),
      m_eta(other.m_eta),
      m_maxStage(other.m_maxStage),
      m_expectedFlows(other.m_expectedFlows),
      m_windowIncrease(other.m_windowIncrease),
      m_minRate(other.m_minRate)
{
    NS_LOG_FUNCTION(this);
}

TcpHpccPlus::~TcpHpccPlus()
{
    m_probeTimer.Cancel();
}

bool
TcpHpccPlus::IsBound() const
{
    return m_core != nullptr;
}

bool
TcpHpccPlus::Bind(const Path& path, const hpcc::WireParameters& wire, uint32_t first, ProbeSender sendProbe)
{
    NS_LOG_FUNCTION(this << path.lineRate << path.baseRtt << first);
    NS_ABORT_MSG_UNLESS(hpcc::are_probes_heard(wire),
                        "TcpHpccPlus cannot work with telemetry layout \"" << std::string(wire.layout) << "\"");
    if (!m_tcb)
    {
        return false;
    }
    const hpcc::HpccPlusParameters control{m_eta,
                                           m_maxStage,
                                           m_expectedFlows,
                                           m_windowIncrease,
                                           m_minRate.GetBitRate(),
                                           false};
    const hpcc::ProbedFlowLimits limits{path.lineRate.GetBitRate(),
                                        static_cast<uint64_t>(path.baseRtt.GetNanoSeconds()),
                                        m_tcb->m_segmentSize,
                                        first};
    m_core.reset(hpcc::new_probed_flow(control, wire, limits).into_raw());
    m_sendProbe = std::move(sendProbe);
    m_tcb->m_pacing = true;
    m_tcb->m_paceInitialWindow = true;
    Apply();
    return true;
}

void
TcpHpccPlus::Apply()
{
    // TCP sends whole segments: with less than one it would never send again.
    m_tcb->m_cWnd = std::max(static_cast<uint32_t>(m_core->window_bytes()), m_tcb->m_segmentSize);
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_tcb->m_pacingRate = DataRate(m_core->rate_bps());
}

void
TcpHpccPlus::OnSent(uint32_t end)
{
    m_core->on_sent(PresentNanos(), end);
    ScheduleProbe();
}

void
TcpHpccPlus::OnAcked(uint32_t ack)
{
    m_core->on_acked(ack);
}

void
TcpHpccPlus::OnResponse(uint32_t seq, const uint8_t* section, std::size_t size)
{
    NS_LOG_FUNCTION(this << seq << size);
    if (m_core->on_response(PresentNanos(), seq, {section, size}))
    {
        Apply();
    }
}

uint16_t
TcpHpccPlus::PrepareProbe(uint8_t* section, std::size_t room) const
{
    return static_cast<uint16_t>(m_core->prepare_probe(PresentNanos(), {section, room}));
}

void
TcpHpccPlus::ScheduleProbe()
{
    const uint64_t due = m_core->next_probe();
    if (due == NEVER || m_probeTimer.IsRunning())
    {
        return;
    }
    m_probeTimer = Simulator::Schedule(NanoSeconds(std::max(due, PresentNanos()) - PresentNanos()), &TcpHpccPlus::OnProbeTime, this);
}

void
TcpHpccPlus::OnProbeTime()
{
    // A socket that was closed with data in flight gets no acknowledgement that would end this.
    if (m_tcb->GetReferenceCount() == 1)
    {
        return;
    }
    const hpcc::ProbedProbe probe = m_core->on_probe_time(PresentNanos());
    if (probe.present)
    {
        m_sendProbe(probe.seq);
    }
    ScheduleProbe();
}

std::string
TcpHpccPlus::GetName() const
{
    return "TcpHpccPlus";
}

void
TcpHpccPlus::Init(Ptr<TcpSocketState> tcb)
{
    m_tcb = tcb;
}

uint32_t
TcpHpccPlus::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    return IsBound() ? tcb->m_cWnd.Get() : TcpNewReno::GetSsThresh(tcb, bytesInFlight);
}

void
TcpHpccPlus::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    if (!IsBound())
    {
        TcpNewReno::IncreaseWindow(tcb, segmentsAcked);
    }
}

bool
TcpHpccPlus::HasCongControl() const
{
    return IsBound();
}

void
TcpHpccPlus::CongControl(Ptr<TcpSocketState>, const TcpRateOps::TcpRateConnection&, const TcpRateOps::TcpRateSample&)
{
    // What a timeout did to the window ends with the next acknowledgement.
    Apply();
}

Ptr<TcpCongestionOps>
TcpHpccPlus::Fork()
{
    return CopyObject<TcpHpccPlus>(this);
}

} // namespace ns3
