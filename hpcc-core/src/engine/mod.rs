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
//!               Alarm   -> on_alarm: a timer of a queue pair, or a rank's time that is over
//! meet          between windows parts of a network on several threads hand over what leaves them
//! ```

mod agenda;
mod agents;
mod alarms;
mod attackers;
mod balancing;
mod clock;
mod deceived;
mod events;
mod fifo;
mod flight;
mod flows;
mod frame;
mod frames;
mod groups;
mod hash_order;
mod holds;
mod hosting;
mod links;
mod nodes;
mod notices;
mod observer;
mod parts;
mod port;
mod program;
mod run;
mod slow;
mod state;
mod switching;
mod traffic;
mod transports;
mod watch;
mod watchdog;
mod ways;
mod work;

pub use clock::{Acted, ProgramClock};
pub use events::Order;
pub use frame::Frame;
pub use holds::{Hold, Queue, Wait, circle};
pub use links::Quality;
pub use observer::{ControlState, Event, NoticeTotals, Observer, Place, PortCounts, Sight, SwitchCounts, Totals};
pub use parts::{Parcel, PartState, Peers};
pub use program::PortState;
pub use run::Stop;
pub use state::{Engine, Streams};
pub use traffic::{Completion, ENDLESS, FlowOptions, FlowRequest, Started};
pub use watchdog::Storm;
