/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_CHANGES_H
#define BY_HAND_CHANGES_H

#include "experiment.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <string>

namespace ns3
{
namespace byhand
{

/// What a run sets in another way than the scenario that it starts from.
using Change = std::function<void(Experiment&)>;
/// Changes by name.
using Changes = std::map<std::string, Change>;

/// A sweep.
struct Sweep
{
    std::string base; //!< the scenario that all runs start from
    Changes variants; //!< what makes each variant
    Changes steps{};  //!< what makes each step of the axis; none without an axis
    Change quick{};   //!< what makes the quick form; empty if there is none
};

/// Sweeps by the names of their files.
using Sweeps = std::map<std::string, Sweep>;

/**
 * \brief Change nothing but attributes of the congestion control.
 * \param attributes what is set
 * \return the change
 */
Change Control(const Attributes& attributes);

/**
 * \brief Run another congestion control.
 * \param attributes its name, and what is set of it
 * \return the change
 */
Change OtherControl(const Attributes& attributes);

/**
 * \brief Use another layout of telemetry.
 * \param layout the layout
 * \return the change
 */
Change Telemetry(const std::string& layout);

/**
 * \brief Use another layout of telemetry, with room for some hops.
 * \param layout the layout
 * \param hops how many
 * \return the change
 */
Change Telemetry(const std::string& layout, const std::string& hops);

/**
 * \brief Set attributes of hosts.
 * \param attributes the attributes
 * \return the change
 */
Change Hosts(const Attributes& attributes);

/**
 * \brief Set attributes of switches.
 * \param attributes the attributes
 * \return the change
 */
Change Switches(const Attributes& attributes);

/**
 * \brief Have switches notify senders.
 * \param attributes what they do in another way than by default
 * \return the change
 */
Change FastCnp(const Attributes& attributes = {});

/**
 * \brief Change attributes of single nodes.
 * \param nodes their numbers
 * \param attributes name and value of each
 * \return the change
 */
Change Nodes(const std::vector<uint32_t>& nodes, const Attributes& attributes);

/**
 * \brief Let links fail.
 * \param failures the links, and when
 * \return the change
 */
Change Fail(const std::vector<Failure>& failures);

/**
 * \brief Make several changes, one after the other.
 * \param changes the changes
 * \return all of them
 */
Change All(std::initializer_list<Change> changes);

/**
 * \brief Run with several loads, of which only flows know.
 * \param loads the loads
 * \return the steps
 */
Changes Loads(std::initializer_list<std::string> loads);

/**
 * \brief Run with cables of several lengths.
 * \param distances their delays
 * \return the steps
 */
Changes Distances(std::initializer_list<std::string> distances);

// What several sweeps share. Functions, as constants of other files might not be made yet.

/// Run as the scenario. Its flows may differ, which are not set here.
void AsItIs(Experiment&);

/**
 * \brief Run DCQCN with the presets of the authors' simulator.
 * \param experiment what a program sets
 */
void Dcqcn(Experiment& experiment);

/**
 * \brief Run DCQCN in place of HPCC++: marks come back in packets of their own, and nothing else
 * does. \param experiment what a program sets
 */
void DcqcnAlone(Experiment& experiment);

/**
 * \brief Run DCQCN as in its paper.
 * \param experiment what a program sets
 */
void PaperDcqcn(Experiment& experiment);

/**
 * \brief Run HPCC-PINT.
 * \param experiment what a program sets
 */
void HpccPint(Experiment& experiment);

/**
 * \brief Run TIMELY.
 * \param experiment what a program sets
 */
void Timely(Experiment& experiment);

/**
 * \brief Run DCTCP.
 * \param experiment what a program sets
 */
void Dctcp(Experiment& experiment);

/**
 * \brief Bound the bytes in flight.
 * \param experiment what a program sets
 */
void WithWindow(Experiment& experiment);

/**
 * \brief Send marks back in packets of their own.
 * \param experiment what a program sets
 */
void WithCnps(Experiment& experiment);

/**
 * \brief Make every update of HPCC multiplicative.
 * \param experiment what a program sets
 */
void MaxStage0(Experiment& experiment);

/**
 * \brief Turn telemetry off, and with it the room for it.
 * \param experiment what a program sets
 */
void NoTelemetry(Experiment& experiment);

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_CHANGES_H */
