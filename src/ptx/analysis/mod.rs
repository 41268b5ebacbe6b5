//! What values are: uniformity, constants, where threads part and meet.

mod barriers;
mod calls;
mod converge;
mod exact;
mod frames;
mod geometry;
mod lanes;
mod linear;
mod places;
mod reach;
mod scalar;
mod source;
mod trips;
mod uniform;
mod unit;

pub use barriers::{BarrierSite, Barriers};
pub use calls::{Call, Callee};
pub use converge::{Converge, Departure};
pub use exact::{Evaluator, Exact};
pub use frames::FrameWord;
pub use geometry::{MOST_THREADS, Shape, WARP};
pub use lanes::{Apart, Company, Gone, Lanes, is_joint};
pub use places::{Clash, Footprint, Place, Places};
pub use reach::{Reach, Threads};
pub use source::Nature;
pub use uniform::{Filled, Slot, Uniformity, Why};
pub use unit::{Analysis, Unit, nature_of};
