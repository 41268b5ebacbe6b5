//! The builder: writes modules in the IR through typed registers and structured control flow.
//!
//! - Registers are typed ([`Reg`]): mixing classes does not compile. Names and `.reg` banks follow from the order of
//!   appearance.
//! - Control flow is structured ([`Kernel::if_then`], [`Kernel::for_range`], ...): labels and branches are the
//!   builder's business.
//! - Arrays are addressed through their symbols ([`Array`]), in a memory that the compiler checks ([`Memory`]).
//! - Methods that emit do not fail: the first mistake is kept and [`ModuleBuilder::finish`] returns it. It also finds
//!   what the module needs, from the gates of the instructions in it, and writes `.version` and `.target`
//!   accordingly.
//!
//! ```
//! use ptxgen::ptx::build::{Addr, Global, ModuleBuilder, B64, F32};
//!
//! let mut module = ModuleBuilder::new();
//! module.entry("twice", [32, 1, 1], |k| {
//!     let data = k.param::<B64>("data_ptr");
//!     let lane = k.tid_x();
//!     let at = k.mad_wide(lane, 4u32, data);
//!     let x = k.load::<F32>(Addr::<Global>::at(at));
//!     let y = k.add(x, x);
//!     k.store(Addr::<Global>::at(at), y);
//! });
//! let built = module.finish(None, None)?;
//! assert_eq!(built.module.functions.len(), 1);
//! # Ok::<(), ptxgen::ptx::build::BuildError>(())
//! ```

mod addr;
mod canon;
mod error;
mod flow;
mod function;
mod header;
mod memory;
mod module;
mod ops;
mod reduce;
mod value;

pub use addr::{Addr, Array, Const, Global, Memory, Shared};
pub use error::{BuildError, SHARED_LIMIT};
pub use function::Kernel;
pub use module::{Built, ModuleBuilder};
pub use ops::{Cmp, Float, Int, Number};
pub use value::{B16, B32, B64, Class, Cond, F32, F64, Pred, Reg, Value};

#[cfg(test)]
mod tests;
