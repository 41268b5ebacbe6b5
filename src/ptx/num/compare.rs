//! Comparisons: `setp`, `set`, `slct`, `testp`.

/// A comparison operator of `setp` and `set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `.eq`
    Eq,
    /// `.ne`
    Ne,
    /// `.lt`, and `.lo` of unsigned integers
    Lt,
    /// `.le`, and `.ls`
    Le,
    /// `.gt`, and `.hi`
    Gt,
    /// `.ge`, and `.hs`
    Ge,
    /// `.equ`: true if either is NaN, as are the next five
    Equ,
    /// `.neu`
    Neu,
    /// `.ltu`
    Ltu,
    /// `.leu`
    Leu,
    /// `.gtu`
    Gtu,
    /// `.geu`
    Geu,
    /// `.num`: neither is NaN
    Num,
    /// `.nan`: either is NaN
    Nan,
}

impl Compare {
    /// The operator a modifier names, without the dot.
    pub fn from_name(name: &str) -> Option<Compare> {
        Some(match name {
            "eq" => Compare::Eq,
            "ne" => Compare::Ne,
            "lt" | "lo" => Compare::Lt,
            "le" | "ls" => Compare::Le,
            "gt" | "hi" => Compare::Gt,
            "ge" | "hs" => Compare::Ge,
            "equ" => Compare::Equ,
            "neu" => Compare::Neu,
            "ltu" => Compare::Ltu,
            "leu" => Compare::Leu,
            "gtu" => Compare::Gtu,
            "geu" => Compare::Geu,
            "num" => Compare::Num,
            "nan" => Compare::Nan,
            _ => return None,
        })
    }

    /// Whether two integers of any type are so related; the operators about NaN take none to be there.
    #[inline(always)]
    pub fn ints<T: Ord>(self, a: T, b: T) -> bool {
        match self {
            Compare::Eq | Compare::Equ => a == b,
            Compare::Ne | Compare::Neu => a != b,
            Compare::Lt | Compare::Ltu => a < b,
            Compare::Le | Compare::Leu => a <= b,
            Compare::Gt | Compare::Gtu => a > b,
            Compare::Ge | Compare::Geu => a >= b,
            Compare::Num => true,
            Compare::Nan => false,
        }
    }

    /// Whether two floats (`f32` or `f64`) are so related. The narrow formats convert to `f32` exactly, so compare there.
    #[inline(always)]
    pub fn floats<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => (a < b) | (a > b),
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
            Compare::Equ => !((a < b) | (a > b)),
            Compare::Neu => a != b,
            Compare::Ltu => !at_least(&a, &b),
            Compare::Leu => !above(&a, &b),
            Compare::Gtu => !at_least(&b, &a),
            Compare::Geu => !above(&b, &a),
            Compare::Num => a.partial_cmp(&b).is_some(),
            Compare::Nan => a.partial_cmp(&b).is_none(),
        }
    }

    /// Whether two `.f32` values are so related, subnormals taken for zero with `ftz`.
    #[inline(always)]
    pub fn singles(self, a: u32, b: u32, ftz: bool) -> bool {
        let value = |x| f32::from_bits(if ftz { super::single::flush(x) } else { x });
        self.floats(value(a), value(b))
    }

    /// Whether two `.f64` values are so related.
    #[inline(always)]
    pub fn doubles(self, a: u64, b: u64) -> bool {
        self.floats(f64::from_bits(a), f64::from_bits(b))
    }

    /// Whether two `.f16` or `.bf16` values are so related, subnormals taken for zero with `ftz`.
    #[inline(always)]
    pub fn halves(self, format: super::Format, a: u16, b: u16, ftz: bool) -> bool {
        let value = |x: u16| {
            let x = if ftz { format.flush(u64::from(x)) as u16 } else { x };
            f32::from_bits(super::half::to_single(format, x))
        };
        self.floats(value(a), value(b))
    }
}

#[inline(always)]
fn at_least<T: PartialOrd>(a: &T, b: &T) -> bool {
    a >= b
}

#[inline(always)]
fn above<T: PartialOrd>(a: &T, b: &T) -> bool {
    a > b
}

/// How `setp` and `set` join the comparison with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// `.and`
    And,
    /// `.or`
    Or,
    /// `.xor`
    Xor,
}

impl Join {
    /// The operator a modifier names, without the dot.
    pub fn from_name(name: &str) -> Option<Join> {
        Some(match name {
            "and" => Join::And,
            "or" => Join::Or,
            "xor" => Join::Xor,
            _ => return None,
        })
    }

    /// The two joined.
    #[inline(always)]
    pub fn apply(self, a: bool, b: bool) -> bool {
        match self {
            Join::And => a & b,
            Join::Or => a | b,
            Join::Xor => a ^ b,
        }
    }
}

/// What `testp` asks of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// `.finite`: neither infinite nor NaN
    Finite,
    /// `.infinite`
    Infinite,
    /// `.number`: not NaN
    Number,
    /// `.notanumber`
    NotANumber,
    /// `.normal`: neither infinite, NaN nor subnormal; the ISA counts zero as normal
    Normal,
    /// `.subnormal`; zero is none
    Subnormal,
}

impl Test {
    /// The question a modifier names, without the dot.
    pub fn from_name(name: &str) -> Option<Test> {
        Some(match name {
            "finite" => Test::Finite,
            "infinite" => Test::Infinite,
            "number" => Test::Number,
            "notanumber" => Test::NotANumber,
            "normal" => Test::Normal,
            "subnormal" => Test::Subnormal,
            _ => return None,
        })
    }

    /// The answer for a number of that format.
    #[inline]
    pub fn apply(self, format: super::Format, a: u64) -> bool {
        let special = format.is_nan(a) || format.is_infinite(a);
        match self {
            Test::Finite => !special,
            Test::Infinite => format.is_infinite(a),
            Test::Number => !format.is_nan(a),
            Test::NotANumber => format.is_nan(a),
            Test::Normal => !special && !format.is_subnormal(a),
            Test::Subnormal => format.is_subnormal(a),
        }
    }
}

/// `slct.type.f32`: `a` if `c` is at least zero (-0 is), else `b`, and `b` if `c` is NaN.
#[inline(always)]
pub fn select_by_single<T>(a: T, b: T, c: u32, ftz: bool) -> T {
    if Compare::Ge.singles(c, 0, ftz) { a } else { b }
}

/// `slct.type.s32`: `a` if `c` is at least zero, else `b`.
#[inline(always)]
pub fn select_by_int<T>(a: T, b: T, c: i32) -> T {
    if c >= 0 { a } else { b }
}
