//! What values are: uniformity, constants, where threads part and meet.

mod barriers;
mod calls;
mod converge;
mod dead;
mod exact;
mod fold;
mod frames;
mod geometry;
mod graphs;
mod linear;
mod objects;
mod reach;
mod recursion;
mod scalar;
mod source;
mod trips;
mod undefined;
mod uniform;
mod unit;

pub use barriers::{BarrierSite, Barriers};
pub use calls::{Call, Callee};
pub use converge::{Converge, Departure};
pub use dead::unused;
pub use exact::{Evaluator, Exact};
pub use fold::Folder;
pub use frames::FrameWord;
pub use geometry::{MOST_THREADS, Shape, WARP};
pub use graphs::{Code, Graphs};
pub use objects::{Object, Objects};
pub use reach::{Reach, Threads};
pub use recursion::{Circle, circles};
pub use source::Nature;
pub use undefined::{Step, Unwritten, unwritten};
pub use uniform::{Filled, Slot, Uniformity, Why};
pub use unit::{Analysis, Unit, nature_of};
