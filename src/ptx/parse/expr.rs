//! Numbers and constant expressions (PTX ISA, "Constants" and "Constant Expressions").

use super::Parser;
use super::lexer::{Kind, Token};
use crate::ptx::diag::{Diag, codes};
use crate::ptx::ir::Imm;

/// Binary operators with their precedence, loosest first.
fn binary(text: &str) -> Option<u8> {
    Some(match text {
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "<<" | ">>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        _ => return None,
    })
}

/// The name of the number of threads in a warp.
pub(super) const WARP_SIZE: &str = "WARP_SZ";

/// That number.
const WARP: i64 = 32;

impl Parser<'_> {
    /// Whether the token at hand can start a constant.
    pub(super) fn at_constant(&self) -> bool {
        matches!(self.token.kind, Kind::Number | Kind::Punct(b'-' | b'+' | b'~'))
            || self.at_fraction()
            || self.at_warp_size()
    }

    /// `WARP_SZ`: the one name that is a constant.
    pub(super) fn at_warp_size(&self) -> bool {
        self.token.kind == Kind::Word && self.here() == WARP_SIZE
    }

    /// `.5`: the lexer takes it for a modifier.
    fn at_fraction(&self) -> bool {
        self.token.kind == Kind::Dot && self.here().as_bytes().get(1).is_some_and(u8::is_ascii_digit)
    }

    /// A constant expression. `None` if it could not be read, which has been reported.
    pub(super) fn constant(&mut self) -> Option<Imm> {
        // Nearly every constant is a lone number.
        let token = self.token;
        if token.kind == Kind::Number && self.lexer.before_end_of_operand() {
            self.bump();
            return self.number_at(token);
        }
        self.expression(0)
    }

    fn number_at(&mut self, token: Token) -> Option<Imm> {
        match number(self.slice(token.span)) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.error(codes::SYN001, token.span, problem);
                None
            }
        }
    }

    /// An integer constant expression.
    pub(super) fn integer(&mut self, what: &str) -> Option<i64> {
        self.integer_by(what, Self::constant)
    }

    /// An integer without operators: what stands before a `>` that closes something.
    pub(super) fn plain_integer(&mut self, what: &str) -> Option<i64> {
        self.integer_by(what, Self::unary)
    }

    fn integer_by(&mut self, what: &str, read: impl FnOnce(&mut Self) -> Option<Imm>) -> Option<i64> {
        let span = self.token.span;
        if !self.at_constant() && !self.token.is(b'(') {
            self.unexpected(what);
            return None;
        }
        let value = read(self)?.as_int();
        if value.is_none() {
            let found = self.slice(self.since(span.start));
            let message = format!("expected {what}, found `{found}`, which is no integer");
            self.error(codes::SYN001, span, message);
        }
        value
    }

    fn expression(&mut self, least: u8) -> Option<Imm> {
        let left = self.nested(Self::unary)??;
        self.expression_behind(left, least)
    }

    /// What is left of `WARP_SZ - 1`, the name passed. `None` where the name stands alone, or if the rest could not be read,
    /// which has been reported.
    pub(super) fn behind_warp_size(&mut self) -> Option<Option<Imm>> {
        let alone =
            !matches!(self.token.kind, Kind::Punct(_)) || !(self.token.is(b'?') || binary(self.here()).is_some());
        (!alone).then(|| self.expression_behind(Imm::Int(WARP), 0))
    }

    /// The rest of an expression whose first part has been read.
    fn expression_behind(&mut self, mut left: Imm, least: u8) -> Option<Imm> {
        while let Kind::Punct(_) = self.token.kind {
            let operator = self.here();
            let Some(precedence) = binary(operator).filter(|precedence| *precedence > least) else {
                break;
            };
            let span = self.token.span;
            self.bump();
            let right = self.nested(|parser| parser.expression(precedence))??;
            let Some(value) = apply(operator, left, right) else {
                let message = format!("`{operator}` cannot be applied to these constants");
                self.error(codes::SYN001, span, message);
                return None;
            };
            left = value;
        }
        if least == 0 && self.eat(b'?') {
            self.choice(left)
        } else {
            Some(left)
        }
    }

    /// `condition ? value : value`, the question mark passed.
    fn choice(&mut self, condition: Imm) -> Option<Imm> {
        let yes = self.nested(|parser| parser.expression(0))??;
        if !self.expect(b':', "in a choice") {
            return None;
        }
        let no = self.nested(|parser| parser.expression(0))??;
        Some(if condition.as_int() == Some(0) { no } else { yes })
    }

    /// `(.s64) value` and `(.u64) value`, the parenthesis passed and the type at hand.
    fn cast(&mut self) -> Option<Imm> {
        let token = self.bump();
        self.expect(b')', "behind a cast");
        let value = self.nested(Self::unary)??;
        let result = match (self.slice(token.span), value.as_int()) {
            (".s64", Some(value)) => Some(Imm::Int(value)),
            (".u64", Some(value)) => Some(Imm::Unsigned(value as u64)),
            _ => None,
        };
        if result.is_none() {
            self.error(
                codes::SYN001,
                token.span,
                "a cast is `(.s64)` or `(.u64)` of an integer",
            );
        }
        result
    }

    fn unary(&mut self) -> Option<Imm> {
        let token = self.token;
        match token.kind {
            Kind::Punct(b'(') => {
                self.bump();
                if self.token.kind == Kind::Dot && !self.at_fraction() {
                    return self.cast();
                }
                let value = self.nested(|parser| parser.expression(0))??;
                self.expect(b')', "behind a constant expression").then_some(value)
            }
            Kind::Punct(sign @ (b'-' | b'+' | b'~' | b'!')) => {
                self.bump();
                self.unsigned_bits();
                let value = self.nested(Self::unary)??;
                let result = negate(sign, value);
                if result.is_none() {
                    let message = format!("`{}` needs an integer", char::from(sign));
                    self.error(codes::SYN001, token.span, message);
                }
                result
            }
            Kind::Word if self.at_warp_size() => {
                self.bump();
                Some(Imm::Int(WARP))
            }
            Kind::Number | Kind::Dot if self.at_constant() => {
                self.bump();
                self.number_at(token)
            }
            _ => {
                self.unexpected("a constant");
                None
            }
        }
    }
}

impl Parser<'_> {
    /// Bits such as `0f3F800000` take no sign: it is among them.
    fn unsigned_bits(&mut self) {
        let is_bits = |text: &str| text.len() > 2 && matches!(&text.as_bytes()[..2], b"0f" | b"0F");
        if self.token.kind == Kind::Number && is_bits(self.here()) {
            let message = format!("`{}` takes no sign", self.here());
            let help = "the highest bit is the sign: -1.0 is `0fBF800000`";
            self.report(Diag::error(codes::SYN001, self.token.span, message).help(help));
        }
    }
}

/// The value of a number's text.
///
/// # Errors
/// What is wrong with it, and what it should look like.
pub(super) fn number(text: &str) -> Result<Imm, String> {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.get(1)) {
        (Some(b'0'), Some(b'f' | b'F')) => hex_float(text, 8).map(|bits| Imm::F32(bits as u32)),
        (Some(b'0'), Some(b'd' | b'D')) => hex_float(text, 16).map(Imm::F64),
        (Some(b'0'), Some(b'x' | b'X')) => integer(text, &text[2..], 16),
        (Some(b'0'), Some(b'b' | b'B')) => integer(text, &text[2..], 2),
        _ if text.contains(['.', 'e', 'E']) => decimal(text),
        (Some(b'0'), Some(b'0'..=b'9')) => integer(text, &text[1..], 8),
        _ => integer(text, text, 10),
    }
}

fn hex_float(text: &str, digits: usize) -> Result<u64, String> {
    let hex = &text[2..];
    let exact = hex.len() == digits;
    let value = hex.chars().try_fold(0, |value, digit| {
        let digit = digit.to_digit(16).filter(|_| exact)?;
        Some(value << 4 | u64::from(digit))
    });
    value.filter(|_| exact).ok_or_else(|| {
        let found = hex.len();
        format!(
            "`{text}` is no floating-point constant: `{}` takes exactly {digits} hexadecimal digits, here are {found}",
            &text[..2]
        )
    })
}

fn integer(text: &str, digits: &str, radix: u32) -> Result<Imm, String> {
    let (digits, unsigned) = match digits.strip_suffix(['U', 'u']) {
        Some(digits) => (digits, true),
        None => (digits, false),
    };
    let value = u64::from_str_radix(digits, radix).map_err(|_| format!("`{text}` is no integer of at most 64 bits"))?;
    Ok(match i64::try_from(value) {
        Ok(value) if !unsigned => Imm::Int(value),
        _ => Imm::Unsigned(value),
    })
}

fn decimal(text: &str) -> Result<Imm, String> {
    let value: Result<f64, _> = text.parse();
    value
        .map(|value| Imm::F64(value.to_bits()))
        .map_err(|_| format!("`{text}` is no number"))
}

pub(super) fn negate(sign: u8, value: Imm) -> Option<Imm> {
    Some(match (sign, value) {
        (b'+', value) => value,
        (b'-', Imm::F32(bits)) => Imm::F32(bits ^ (1 << 31)),
        (b'-', Imm::F64(bits)) => Imm::F64(bits ^ (1 << 63)),
        (b'-', value) => Imm::Int(value.as_int()?.wrapping_neg()),
        (b'!', value) => Imm::Int(i64::from(value.as_int()? == 0)),
        (_, Imm::Unsigned(value)) => Imm::Unsigned(!value),
        (_, value) => Imm::Int(!value.as_int()?),
    })
}

/// Integer operators; unsigned where either side is.
fn apply(operator: &str, left: Imm, right: Imm) -> Option<Imm> {
    let (a, b) = (left.as_int()?, right.as_int()?);
    let unsigned = matches!(left, Imm::Unsigned(_)) || matches!(right, Imm::Unsigned(_));
    let shift = u32::try_from(b).ok().filter(|by| *by < 64);
    let ordered = if unsigned {
        (a as u64).cmp(&(b as u64))
    } else {
        a.cmp(&b)
    };
    let truth = match operator {
        "||" => Some(a != 0 || b != 0),
        "&&" => Some(a != 0 && b != 0),
        "==" => Some(a == b),
        "!=" => Some(a != b),
        "<" => Some(ordered.is_lt()),
        "<=" => Some(ordered.is_le()),
        ">" => Some(ordered.is_gt()),
        ">=" => Some(ordered.is_ge()),
        _ => None,
    };
    if let Some(truth) = truth {
        return Some(Imm::Int(i64::from(truth)));
    }
    let value = match operator {
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "<<" => a << shift?,
        ">>" if unsigned => ((a as u64) >> shift?) as i64,
        ">>" => a >> shift?,
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if unsigned => (a as u64).checked_div(b as u64)? as i64,
        "/" => a.checked_div(b)?,
        "%" if unsigned => (a as u64).checked_rem(b as u64)? as i64,
        _ => a.checked_rem(b)?,
    };
    Some(if unsigned {
        Imm::Unsigned(value as u64)
    } else {
        Imm::Int(value)
    })
}
