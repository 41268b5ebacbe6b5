//! `--block` and `--grid`: launch sizes as `X[,Y[,Z]]`, checked against what the hardware takes. `--param`: what parameters hold.

use crate::ptx::lint::{Given, Launch};

/// Largest block size in x, y, z (CUDA programming guide, "Technical Specifications per Compute Capability").
const BLOCK_MAX: [u32; 3] = [1024, 1024, 64];
/// Largest number of threads of a block.
const THREADS_MAX: u64 = 1024;
/// Largest grid size in x, y, z.
const GRID_MAX: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// Launch sizes that the text itself does not say.
#[derive(Clone, Debug, clap::Args)]
pub struct LaunchArgs {
    /// Threads of a block, where the kernel has no `.reqntid`: up to 1024 in all, 64 in Z
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = block)]
    block: Option<Size>,

    /// Blocks of the grid: up to 2147483647 in X, 65535 in Y and Z
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = grid)]
    grid: Option<Size>,

    /// What a scalar parameter of the kernels holds, by its name or its number from 0: an integer; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = param)]
    param: Vec<Given>,
}

impl LaunchArgs {
    /// The same for the linter; what is not given is as the configuration says.
    pub fn launch(&self, block: Option<Size>, grid: Option<Size>, params: &[Given]) -> Launch {
        let is_new = |known: &&Given| self.param.iter().all(|given| given.name != known.name);
        Launch {
            block: self.block.or(block).map(|size| size.0),
            grid: self.grid.or(grid).map(|size| size.0),
            params: self.param.iter().chain(params.iter().filter(is_new)).cloned().collect(),
        }
    }
}

/// Reads what a parameter holds: `NAME=VALUE`.
///
/// # Errors
/// What is wrong with it, and what is allowed.
pub fn param(text: &str) -> Result<Given, String> {
    let (name, value) = text
        .split_once('=')
        .map(|(name, value)| (name.trim(), value.trim()))
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| format!("`{text}` is not NAME=VALUE, such as `n=1024` or `2=1024` for the third parameter"))?;
    let wrong = || format!("`{value}` is no integer of 64 bits, such as 1024, -1 or 0x400");
    let (digits, negative) = value.strip_prefix('-').map_or((value, false), |digits| (digits, true));
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let number = number.map_err(|_| wrong())?;
    if negative && number > i64::MIN.unsigned_abs() {
        return Err(wrong());
    }
    Ok(Given {
        name: name.to_owned(),
        value: if negative { number.wrapping_neg() } else { number },
    })
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
    fn parameters_by_name_and_number() {
        let given = |name: &str, value: u64| {
            Ok(Given {
                name: name.to_owned(),
                value,
            })
        };
        assert_eq!(param("n=1024"), given("n", 1024));
        assert_eq!(param("2 = 0x10"), given("2", 16));
        assert_eq!(param("k_param_0=-1"), given("k_param_0", u64::MAX));
        assert!(param("n").unwrap_err().contains("NAME=VALUE"));
        assert!(param("=1").unwrap_err().contains("NAME=VALUE"));
        assert!(param("n=1.5").unwrap_err().contains("no integer"));
        assert!(param("n=-0x8000000000000001").unwrap_err().contains("no integer"));
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
