// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulator of hosts and switches, without ns-3: frames, ports and nodes in flat arenas, and the events between them.
//!
//! ```text
//! Engine::run_until    takes the next event:
//!   Arrival  ->  switching::receive  or  hosting::receive
//!   End      ->  Engine::try_send -> switching::next or hosting::next -> Engine::transmit
//!   Alarm    ->  hosting::on_alarm: a pacer's wake-up, a timer of a queue pair
//!   Agenda   ->  flows begin, links fail
//! ```

mod agenda;
mod agents;
mod alarms;
mod events;
mod flows;
mod frame;
mod groups;
mod hash_order;
mod hosting;
mod links;
mod nodes;
mod notices;
mod observer;
mod parts;
mod port;
mod run;
mod slow;
mod state;
mod switching;
mod traffic;
mod watch;
mod ways;

pub use events::Order;
pub use frame::Frame;
pub use observer::{ControlState, NoticeTotals, Observer, Place, Sight, Totals};
pub use parts::{Parcel, Peers, Told};
pub use run::Stop;
pub use state::{Engine, Streams};
pub use traffic::{Completion, FlowRequest, Started};
