//! Scalar types and state spaces (PTX ISA, "State Spaces, Types, and Variables").

/// What the bits of a value mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One truth value.
    Pred,
    /// Untyped bits: fits every type of its width.
    Bits,
    /// Two's complement or unsigned without sign.
    Unsigned,
    /// Two's complement with sign.
    Signed,
    /// A floating-point number or a packed vector of them.
    Float,
    /// An opaque reference (`.texref`, `.samplerref`, `.surfref`).
    Opaque,
}

macro_rules! types {
    ($($variant:ident $name:literal $bits:literal $kind:ident;)*) => {
        /// A scalar or packed type, as it is written after a dot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Type { $(#[doc = concat!("`.", $name, "`, ", $bits, " bits.")] $variant),* }

        impl Type {
            /// Every type, in declaration order.
            pub const ALL: &'static [Type] = &[$(Type::$variant),*];

            /// The name without the dot: `f32`.
            pub const fn name(self) -> &'static str {
                match self { $(Type::$variant => $name),* }
            }

            /// Width in bits; 1 for `.pred`.
            pub const fn bits(self) -> u32 {
                match self { $(Type::$variant => $bits),* }
            }

            /// What the bits mean.
            pub const fn kind(self) -> Kind {
                match self { $(Type::$variant => Kind::$kind),* }
            }

            /// The type of that name, without the dot.
            pub fn from_name(name: &str) -> Option<Type> {
                match name { $($name => Some(Type::$variant),)* _ => None }
            }
        }
    };
}

types! {
    Pred "pred" 1 Pred;
    B1 "b1" 1 Bits;
    B4 "b4" 4 Bits;
    B8 "b8" 8 Bits;
    B16 "b16" 16 Bits;
    B32 "b32" 32 Bits;
    B64 "b64" 64 Bits;
    B128 "b128" 128 Bits;
    U4 "u4" 4 Unsigned;
    U8 "u8" 8 Unsigned;
    U16 "u16" 16 Unsigned;
    U32 "u32" 32 Unsigned;
    U64 "u64" 64 Unsigned;
    U16x2 "u16x2" 32 Unsigned;
    U8x4 "u8x4" 32 Unsigned;
    S4 "s4" 4 Signed;
    S8 "s8" 8 Signed;
    S16 "s16" 16 Signed;
    S32 "s32" 32 Signed;
    S64 "s64" 64 Signed;
    S16x2 "s16x2" 32 Signed;
    S8x4 "s8x4" 32 Signed;
    F16 "f16" 16 Float;
    F16x2 "f16x2" 32 Float;
    Bf16 "bf16" 16 Float;
    Bf16x2 "bf16x2" 32 Float;
    Tf32 "tf32" 32 Float;
    F32 "f32" 32 Float;
    F32x2 "f32x2" 64 Float;
    F64 "f64" 64 Float;
    E4m3 "e4m3" 8 Float;
    E5m2 "e5m2" 8 Float;
    E3m2 "e3m2" 8 Float;
    E2m3 "e2m3" 8 Float;
    E2m1 "e2m1" 4 Float;
    E4m3x2 "e4m3x2" 16 Float;
    E5m2x2 "e5m2x2" 16 Float;
    E3m2x2 "e3m2x2" 16 Float;
    E2m3x2 "e2m3x2" 16 Float;
    E2m1x2 "e2m1x2" 8 Float;
    E4m3x4 "e4m3x4" 32 Float;
    E5m2x4 "e5m2x4" 32 Float;
    E3m2x4 "e3m2x4" 32 Float;
    E2m3x4 "e2m3x4" 32 Float;
    E2m1x4 "e2m1x4" 16 Float;
    Ue8m0 "ue8m0" 8 Float;
    Ue8m0x2 "ue8m0x2" 16 Float;
    Ue4m3 "ue4m3" 8 Float;
    Texref "texref" 64 Opaque;
    Samplerref "samplerref" 64 Opaque;
    Surfref "surfref" 64 Opaque;
}

impl Type {
    /// Width in memory, in bytes: sub-byte types and predicates count as one.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether registers and variables can have it; the others are types of instructions alone.
    pub const fn is_declarable(self) -> bool {
        matches!(
            self,
            Type::Pred
                | Type::B8
                | Type::B16
                | Type::B32
                | Type::B64
                | Type::B128
                | Type::U8
                | Type::U16
                | Type::U32
                | Type::U64
                | Type::S8
                | Type::S16
                | Type::S32
                | Type::S64
                | Type::F16
                | Type::F16x2
                | Type::F32
                | Type::F64
                | Type::Texref
                | Type::Samplerref
                | Type::Surfref
        )
    }

    /// Integers with or without sign and untyped bits.
    pub const fn is_integral(self) -> bool {
        matches!(self.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed)
    }
}

/// A state space. `Generic` is the absence of one in a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// No space named: the address says which memory it is.
    Generic,
    /// `.reg`.
    Reg,
    /// `.const`.
    Const,
    /// `.global`.
    Global,
    /// `.local`.
    Local,
    /// `.param`: kernel parameters, or arguments around a call.
    Param,
    /// `.shared` and `.shared::cta`.
    Shared,
    /// `.shared::cluster`: the shared memory of every CTA in the cluster.
    SharedCluster,
    /// `.tex` (deprecated).
    Tex,
}

impl Space {
    /// The name as a declaration writes it, without the dot; empty for [`Space::Generic`].
    pub const fn name(self) -> &'static str {
        match self {
            Space::Generic => "",
            Space::Reg => "reg",
            Space::Const => "const",
            Space::Global => "global",
            Space::Local => "local",
            Space::Param => "param",
            Space::Shared => "shared",
            Space::SharedCluster => "shared::cluster",
            Space::Tex => "tex",
        }
    }

    /// The space a declaration names, without the dot: an instruction may say which shared memory it means, a declaration may not.
    pub fn of_declaration(name: &str) -> Option<Space> {
        Space::from_name(name).filter(|space| *space != Space::SharedCluster && space.name() == name)
    }

    /// The space a modifier names, without the dot; sub-spaces included.
    pub fn from_name(name: &str) -> Option<Space> {
        Some(match name {
            "reg" => Space::Reg,
            "const" => Space::Const,
            "global" => Space::Global,
            "local" => Space::Local,
            "param" | "param::entry" | "param::func" => Space::Param,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::SharedCluster,
            "tex" => Space::Tex,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for ty in Type::ALL {
            assert_eq!(Type::from_name(ty.name()), Some(*ty));
            assert!(ty.bits() > 0 && ty.bytes() * 8 >= ty.bits());
        }
        assert_eq!(Type::from_name("f31"), None);
    }
}
