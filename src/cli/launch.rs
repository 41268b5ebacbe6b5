//! `--block` and `--grid`: launch sizes as `X[,Y[,Z]]`, checked against what the hardware takes.

use crate::ptx::lint::Launch;

/// Largest block size in x, y, z (CUDA programming guide, "Technical Specifications per Compute Capability").
const BLOCK_MAX: [u32; 3] = [1024, 1024, 64];
/// Largest number of threads of a block.
const THREADS_MAX: u64 = 1024;
/// Largest grid size in x, y, z.
const GRID_MAX: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// Launch sizes that the text itself does not say.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LaunchArgs {
    /// Threads of a block, where the kernel has no `.reqntid`: up to 1024 in all, 64 in Z
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = block)]
    block: Option<Size>,

    /// Blocks of the grid: up to 2147483647 in X, 65535 in Y and Z
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = grid)]
    grid: Option<Size>,
}

impl LaunchArgs {
    /// The same for the linter; what is not given is as the configuration says.
    pub fn launch(&self, block: Option<Size>, grid: Option<Size>) -> Launch {
        Launch {
            block: self.block.or(block).map(|size| size.0),
            grid: self.grid.or(grid).map(|size| size.0),
        }
    }
}

/// A size in x, y, z, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size([u32; 3]);

impl Size {
    /// The numbers.
    pub fn get(self) -> [u32; 3] {
        self.0
    }
}

/// Reads the size of a block.
///
/// # Errors
/// What is wrong with it, and what is allowed.
pub fn block(text: &str) -> Result<Size, String> {
    let size = size(text, BLOCK_MAX)?;
    let threads: u64 = size.0.iter().map(|n| u64::from(*n)).product();
    if threads > THREADS_MAX {
        return Err(format!("{threads} threads; a block has 1 to {THREADS_MAX}"));
    }
    Ok(size)
}

/// Reads the size of a grid.
///
/// # Errors
/// What is wrong with it, and what is allowed.
pub fn grid(text: &str) -> Result<Size, String> {
    size(text, GRID_MAX)
}

fn size(text: &str, max: [u32; 3]) -> Result<Size, String> {
    let mut size = [1; 3];
    let parts: Vec<_> = text.split(',').collect();
    if parts.len() > size.len() {
        return Err(format!("{} numbers; X, Y and Z are all there is", parts.len()));
    }
    for (at, part) in parts.iter().enumerate() {
        let axis = ["X", "Y", "Z"][at];
        size[at] = match part.trim().parse() {
            Ok(n) if (1..=max[at]).contains(&n) => n,
            _ => return Err(format!("{axis} is `{part}`; it must be a number from 1 to {}", max[at])),
        };
    }
    Ok(Size(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_axes_are_one() {
        assert_eq!(block("256"), Ok(Size([256, 1, 1])));
        assert_eq!(block("32, 8"), Ok(Size([32, 8, 1])));
        assert_eq!(grid("2147483647,65535,65535"), Ok(Size([2147483647, 65535, 65535])));
    }

    #[test]
    fn errors_name_the_range() {
        assert_eq!(block("0").unwrap_err(), "X is `0`; it must be a number from 1 to 1024");
        assert_eq!(
            block("8,8,65").unwrap_err(),
            "Z is `65`; it must be a number from 1 to 64"
        );
        assert_eq!(block("64,32").unwrap_err(), "2048 threads; a block has 1 to 1024");
        assert_eq!(block("").unwrap_err(), "X is ``; it must be a number from 1 to 1024");
        assert_eq!(block("1,2,3,4").unwrap_err(), "4 numbers; X, Y and Z are all there is");
        assert!(grid("1,65536").unwrap_err().contains("65535"));
    }
}
