// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulator of hosts and switches, without ns-3: frames, ports and nodes in flat arenas, and the events between them.
//!
//! ```text
//! run_until     what concerns no node (on_item), or a window:
//!   run_groups  each group of nodes that is due runs through the window by itself
//!     open      its ports and alarms say what happens in it
//!     handle    Arrival -> receive_at_switch or receive_at_host
//!               End     -> try_send -> next_of_switch or next_of_host -> transmit
//!               Wake    -> on_wake: the pacer of a port
//!               Alarm   -> on_alarm: a timer of a queue pair, or another [duty](alarms::Duty) of a node
//! meet          between windows parts of a network on several threads hand over the frames that cross from one to another
//! ```
//!
//! [`state`] has the one object, [`Engine`], whose methods stand in the file of what they do:
//!
//! | files | hold |
//! | --- | --- |
//! | `run`, `events`, `groups`, `agenda`, `alarms`, `windows` | time: the loop, and what happens when |
//! | `frame`, `frames`, `flight`, `port`, `paths`, `links`, `chance`, `retry`, `credits` | wires: frames, where they wait and travel, and what links do to them |
//! | `nodes`, `switching`, `balancing`, `watchdog`, `holds`, `quanta` | switches, and pauses |
//! | `sending`, `receiving`, `answering`, `sharing`, `slow`, `transports` | hosts |
//! | `notices`, `agents` | Fast CNP, and borders of telemetry, at both |
//! | `flows`, `flow_list`, `traffic`, `work` | flows from request to completion, and jobs |
//! | `attackers`, `deceived` | what attackers do, and whom they deceive |
//! | `skip` | time that is left out, for the same happens in it as before |
//! | `observer`, `watch`, `program`, `clock`, `parts` | who else looks or acts: observers, an ns-3 program, other threads |

mod agenda;
mod agents;
mod alarms;
mod answering;
mod attackers;
mod balancing;
mod chance;
mod clock;
mod credits;
mod deceived;
mod events;
mod fifo;
mod flight;
mod flow_list;
mod flows;
mod frame;
mod frames;
mod groups;
mod hash_order;
mod holds;

mod links;
mod nodes;
mod notices;
mod observer;
mod parts;
mod paths;
mod port;
mod program;
mod quanta;
mod receiving;
mod retry;
mod run;
mod sending;
mod sharing;
mod skip;
mod slow;
mod state;
mod switching;
mod traffic;
mod transports;
mod watch;
mod watchdog;
mod windows;
mod work;

pub use clock::{Acted, ProgramClock};
pub use events::Order;
pub use frame::{Detail, Frame};
pub use holds::{Hold, Queue, Wait, circle};
pub use links::{LinkFailure, Quality};
pub use observer::{ControlState, Event, NoticeTotals, Observer, Place, PortCounts, Sight, SwitchCounts, Totals};
pub use parts::{Parcel, PartState, Peers};
pub use program::{FrameJudge, PortState};
pub use run::Stop;
pub use skip::Skipped;
pub use state::{Engine, Streams};
pub use traffic::{Completion, ENDLESS, FlowOptions, FlowRequest, SourcePorts, Started};
pub use watchdog::Storm;
