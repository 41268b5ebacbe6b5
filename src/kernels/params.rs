//! Parameters of kernels: what may be set when a kernel is emitted, within which ranges.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(u64),
    /// A number.
    Float(f64),
    /// One of a few words.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            // Small numbers such as 1e-6 read badly with six zeros.
            Value::Float(value) if *value != 0.0 && value.abs() < 1e-3 => write!(f, "{value:e}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Word(word) => f.write_str(word),
        }
    }
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Whole numbers from `min` to `max`, both included, that are multiples of `multiple`.
    Int {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
        /// 1 where any number will do.
        multiple: u64,
    },
    /// Numbers from `min` to `max`, both included.
    Float {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// These words.
    Words(&'static [&'static str]),
}

impl Range {
    /// Whole numbers in a range.
    pub const fn ints(min: u64, max: u64) -> Self {
        Self::Int { min, max, multiple: 1 }
    }

    /// Multiples of `multiple` in a range.
    pub const fn multiples(multiple: u64, min: u64, max: u64) -> Self {
        Self::Int { min, max, multiple }
    }

    /// Whether the value is of the range's type and inside. A whole number is also a number.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Range::Int { min, max, multiple }, Value::Int(value)) => {
                (min..=max).contains(&value) && value.is_multiple_of(*multiple)
            }
            (Range::Float { min, max }, Value::Float(value)) => (min..=max).contains(&value),
            (Range::Float { .. }, Value::Int(value)) => self.contains(&Value::Float(*value as f64)),
            (Range::Words(words), Value::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Int { min, max, multiple: 1 } => write!(f, "whole numbers from {min} to {max}"),
            Range::Int { min, max, multiple } => write!(f, "multiples of {multiple} from {min} to {max}"),
            Range::Float { min, max } => write!(f, "numbers from {} to {}", Value::Float(*min), Value::Float(*max)),
            Range::Words(words) => f.write_str(&words.join(", ")),
        }
    }
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Name in specs; the command line's flag has hyphens for underscores.
    pub name: &'static str,
    /// What it is, one sentence.
    pub help: &'static str,
    /// What it may be.
    pub range: Range,
    /// What it is where nothing is said.
    pub default: fn() -> Value,
}

impl ParamInfo {
    /// Checks a value.
    ///
    /// # Errors
    /// If the value is of another type or out of range.
    pub fn check(&self, value: &Value) -> Result<(), ParamError> {
        if self.range.contains(value) {
            return Ok(());
        }
        Err(ParamError {
            name: self.name,
            value: value.to_string(),
            range: self.range,
        })
    }
}

/// A value that a parameter does not take.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamError {
    /// The parameter.
    pub name: &'static str,
    /// The value, as text.
    pub value: String,
    /// What it may be.
    pub range: Range,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {}; allowed: {}", self.name, self.value, self.range)
    }
}

impl Error for ParamError {}

/// Values of a kernel's parameters by name; what is missing has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, Value>);

impl Values {
    /// Sets a parameter.
    ///
    /// # Errors
    /// If the value is of another type or out of range.
    pub fn set(&mut self, param: &ParamInfo, value: Value) -> Result<(), ParamError> {
        param.check(&value)?;
        self.0.insert(param.name, value);
        Ok(())
    }

    /// The value that was set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The value that was set, or the default.
    pub fn of(&self, param: &ParamInfo) -> Value {
        self.get(param.name).cloned().unwrap_or_else(param.default)
    }
}

/// Types that a kernel's parameters have in Rust.
pub trait Field: Sized {
    /// From a value; `None` where its type differs.
    fn read(value: &Value) -> Option<Self>;

    /// To a value.
    fn write(&self) -> Value;
}

impl Field for u32 {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Int(value) => Self::try_from(*value).ok(),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Int(u64::from(*self))
    }
}

impl Field for f64 {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Int(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            Value::Word(_) => None,
        }
    }

    fn write(&self) -> Value {
        Value::Float(*self)
    }
}

/// The parameters of a kernel as a struct.
pub trait Spec: Sized {
    /// The parameters, in the order of the struct.
    const PARAMS: &'static [ParamInfo];

    /// From values by name; what is missing has its default.
    fn from_values(values: &Values) -> Self;

    /// The fields as values.
    ///
    /// # Errors
    /// The first field that is out of range.
    fn values(&self) -> Result<Values, ParamError>;
}

/// Declares a kernel's parameters once: the struct, its defaults, ranges and help.
macro_rules! spec {
    ($(#[$meta:meta])* $name:ident {
        $(#[doc = $help:literal] $field:ident: $ty:ty = $default:expr, $range:expr;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(#[doc = $help] pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::kernels::params::Spec for $name {
            const PARAMS: &'static [$crate::kernels::params::ParamInfo] = &[$(
                $crate::kernels::params::ParamInfo {
                    name: stringify!($field),
                    help: $help.trim_ascii(),
                    range: $range,
                    default: || $crate::kernels::params::Field::write(&{ let default: $ty = $default; default }),
                }
            ),*];

            fn from_values(values: &$crate::kernels::params::Values) -> Self {
                let default = Self::default();
                Self { $($field: values
                    .get(stringify!($field))
                    .and_then($crate::kernels::params::Field::read)
                    .unwrap_or(default.$field)),* }
            }

            fn values(&self) -> Result<$crate::kernels::params::Values, $crate::kernels::params::ParamError> {
                let mut values = $crate::kernels::params::Values::default();
                let mut params = Self::PARAMS.iter();
                $(if let Some(param) = params.next() {
                    values.set(param, $crate::kernels::params::Field::write(&self.$field))?;
                })*
                Ok(values)
            }
        }
    };
}

/// Declares a parameter that is one of a few words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }

        impl $crate::kernels::params::Field for $name {
            fn read(value: &$crate::kernels::params::Value) -> Option<Self> {
                match value {
                    $($crate::kernels::params::Value::Word(word) if word == $word => Some($name::$variant),)*
                    _ => None,
                }
            }

            fn write(&self) -> $crate::kernels::params::Value {
                $crate::kernels::params::Value::Word(self.word().to_owned())
            }
        }
    };
}

pub(super) use {spec, words};
