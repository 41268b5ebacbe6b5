//! Where the elements of a matrix stand: which lane holds which, in the order of its registers.
//!
//! All fragments of `mma` but those of `m8n8k4` with `.f16` are made of one tile: eight rows, one for each four lanes, and
//! in a row a run of adjacent elements for each of the four. Tiles follow one another down the rows first. B is held
//! like A, rows and columns exchanged.
//!
//! The ISA leaves the fragments of `wmma` open; here they are the same tiles, and where a fragment has more elements than
//! its share of the matrix, it holds them again.

/// The shape of a product: D is `m` by `n`, A is `m` by `k`, B is `k` by `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and D.
    pub m: u32,
    /// Columns of B and D.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
}

impl Shape {
    /// The shape a modifier names, without the dot: `m16n8k16`. Every side of one is a power of two of at most 256, and
    /// a warp has an element for each lane in each matrix.
    pub fn from_name(name: &str) -> Option<Shape> {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let number = |text: &str| text.parse().ok().filter(|n: &u32| n.is_power_of_two() && *n <= 256);
        let (m, n, k) = (number(m)?, number(n)?, number(k)?);
        (m.min(n) >= 8 && k >= 4).then_some(Shape { m, n, k })
    }
}

/// An operand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The accumulator, and the result.
    C,
}

/// How the lanes of a warp hold a matrix, whose sides are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Rows of the matrix.
    pub rows: u32,
    /// Columns of the matrix.
    pub cols: u32,
    /// Adjacent elements of one lane, in one register where they fit: the power of two.
    run: u32,
    /// Tiles one below the other: the power of two.
    tiles: u32,
    /// Runs go along columns.
    transposed: bool,
}

impl Fragment {
    /// The fragment of an operand whose elements take up that many bits of a register (of an accumulator the width does
    /// not matter). Single bits are held as elements of 32: give a width of 32 and count `k` in words.
    pub const fn new(shape: Shape, side: Side, bits: u32) -> Fragment {
        let per_register = if bits >= 32 { 1 } else { 32 / bits };
        match side {
            Side::A => Fragment::of(shape.m, shape.k, per_register, false),
            Side::B => Fragment::of(shape.k, shape.n, per_register, true),
            Side::C => Fragment::of(shape.m, shape.n, 2, false),
        }
    }

    /// An 8 by 8 matrix of 16-bit elements as `ldmatrix`, `stmatrix` and `movmatrix` know it, or with `trans` its transpose.
    pub const fn eight_by_eight(trans: bool) -> Fragment {
        Fragment::of(8, 8, 2, trans)
    }

    const fn of(rows: u32, cols: u32, run: u32, transposed: bool) -> Fragment {
        let height = if transposed { cols } else { rows };
        Fragment {
            rows,
            cols,
            run: run.trailing_zeros(),
            tiles: (height / 8).trailing_zeros() % 32,
            transposed,
        }
    }

    /// Elements of the matrix in each lane.
    #[inline]
    pub const fn elements(self) -> u32 {
        let shared = self.rows * self.cols / 32;
        if shared == 0 { 1 } else { shared }
    }

    /// Row and column of a lane's element. Elements beyond the lane's share are the first ones again.
    #[inline]
    pub const fn place(self, lane: u32, element: u32) -> (u32, u32) {
        let element = element & (self.elements() - 1);
        let (tile, within) = (element >> self.run, element & ((1 << self.run) - 1));
        let (down, across) = (tile & ((1 << self.tiles) - 1), tile >> self.tiles);
        let row = 8 * down + lane / 4;
        let col = ((4 * across + lane % 4) << self.run) + within;
        if self.transposed { (col, row) } else { (row, col) }
    }
}

impl Fragment {
    /// The place of a lane's element in a table of the matrix, row after row.
    #[inline]
    pub(super) const fn index(self, lane: u32, element: u32) -> usize {
        let (row, col) = self.place(lane, element);
        (row * self.cols + col) as usize
    }

    /// From an element to the next of its run in that table.
    #[inline]
    pub(super) const fn step(self) -> usize {
        if self.transposed { self.cols as usize } else { 1 }
    }
}

/// The four products of `mma.m8n8k4` with `.f16`: which one a lane takes part in.
#[inline]
pub const fn quad(lane: u32) -> u32 {
    lane / 4 % 4
}

/// Row and column of a lane's element in A of `mma.m8n8k4` with `.f16`; for B columns and rows are exchanged, and so is
/// the meaning of `row_major`.
#[inline]
pub const fn quad_factor(lane: u32, element: u32, row_major: bool) -> (u32, u32) {
    let upper = lane / 16 * 4;
    if row_major {
        (lane % 4 + upper, element)
    } else {
        (element + upper, lane % 4)
    }
}

/// Row and column of a lane's element in C and D of `mma.m8n8k4` with `.f16`, held as `.f16` or as `.f32`.
#[inline]
pub const fn quad_sum(lane: u32, element: u32, single: bool) -> (u32, u32) {
    let upper = lane / 16 * 4;
    if single {
        let row = (lane & 1) + (element & 2) + upper;
        (row, (element & 4) + (lane & 2) + (element & 1))
    } else {
        (lane % 4 + upper, element)
    }
}

/// `movmatrix.trans` of an 8 by 8 matrix of 16-bit elements.
pub fn transpose(a: &[u32; 32]) -> [u32; 32] {
    let half = |row: u32, col: u32| {
        let word = a[(row % 8 * 4 + col % 8 / 2) as usize];
        word >> (16 * (col % 2)) & 0xffff
    };
    std::array::from_fn(|lane| {
        let at = |element| {
            let (row, col) = Fragment::eight_by_eight(true).place(lane as u32, element);
            half(row, col)
        };
        at(0) | at(1) << 16
    })
}

/// How single bits are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    /// `.xor.popc`
    Xor,
    /// `.and.popc`
    And,
}
