//! Execution: the state of a grid, and what instructions do to it.
//!
//! A warp is a list of splits: lanes that are at one place together. The split that is deepest in calls and first in the
//! order of the program (`flow::in_order`) runs, splits that meet merge, and one that goes round and round gives way now and then. So lanes come together
//! again where compilers expect it, and still none waits for one that waits for it.

mod access;
mod accumulators;
mod atomic;
mod barrier;
mod bulk;
mod bytes;
mod calls;
mod clock;
mod cluster;
mod convergence;
mod copies;
mod fast;
mod flow;
mod grid;
mod joins;
mod locate;
mod matrix;
mod mbarrier;
mod precision;
mod print;
mod proxy;
mod race;
mod shape;
mod shuffle;
mod special;
mod stack;
mod state;
mod stuck;
mod tensor;
mod tensor_memory;
mod tensor_product;
mod together;
mod traffic;
mod visits;
mod warpgroup;

pub use grid::{run, run_some};
pub use state::{BlockId, Ctx, Frame, Hall, Split, Wait, Warp, World};
