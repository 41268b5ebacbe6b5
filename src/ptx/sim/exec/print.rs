//! Functions of the system: `vprintf`, `__assertfail`.

use super::super::Stop;
use super::super::fault::{Fault, codes};
use super::super::lanes::lanes;
use super::super::program::CallSite;
use super::state::{BlockId, Ctx, Split};
use crate::ptx::diag::Level;
use crate::ptx::types::Space;

/// The longest string.
const LONGEST: u64 = 4096;

impl Ctx<'_> {
    /// A call of a function that the module only declares.
    pub fn system(&mut self, name: &str, call: &CallSite, split: Split) {
        match (name, call.args.as_slice()) {
            ("vprintf", [format, list]) => {
                let (formats, lists) = (self.fetch(*format, split.mask), self.fetch(*list, split.mask));
                let mut counts = Vec::new();
                for (at, lane) in lanes(split.mask).enumerate() {
                    let text = self.print(formats[at] as u64, lists[at] as u64, lane);
                    counts.push(text.len() as u128);
                    if self.world.printed.len() < self.world.options.most_printed {
                        self.world.printed.push_str(&text);
                    }
                }
                if let Some(result) = call.results.first() {
                    self.deliver(&counts, *result, split.mask);
                }
                self.go_on(split, split.mask);
            }
            ("__assertfail", [message, ..]) => {
                let lane = split.mask.trailing_zeros() as usize & 31;
                let address = self.fetch(*message, split.mask).first().copied().unwrap_or(0);
                let text = self.text(address as u64, lane);
                let message = format!("the assertion `{text}` does not hold");
                let fault = Fault::new(codes::RUN002, Level::Error, self.site(split.pc), message);
                self.report(fault.thread(self.thread(lane)));
                self.world.over = true;
            }
            _ => {
                let (site, what) = (
                    self.site(split.pc),
                    format!("a call of `{name}`, which this module does not define"),
                );
                self.stop(Stop::Unsupported { site, what });
            }
        }
    }

    fn byte(&mut self, address: u64, lane: usize) -> Option<u8> {
        self.number(address, 1, lane).map(|value| value as u8)
    }

    /// A number at a generic address.
    fn number(&mut self, address: u64, size: u64, lane: usize) -> Option<u64> {
        let view = self.locate(Space::Generic, address)?;
        if view.size < size || address.wrapping_sub(view.base) > view.size - size {
            return None;
        }
        let stride = if view.block == BlockId::Local { view.stride } else { 0 };
        let at = view.at + stride * lane as u64 + (address - view.base);
        Some(self.block(view.block)?.load(at as usize, size as usize) as u64)
    }

    fn text(&mut self, address: u64, lane: usize) -> String {
        let mut bytes = Vec::new();
        for at in 0..LONGEST {
            match self.byte(address + at, lane) {
                None | Some(0) => break,
                Some(byte) => bytes.push(byte),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What `printf` makes of a format and a list of arguments.
    fn print(&mut self, format: u64, list: u64, lane: usize) -> String {
        let format = self.text(format, lane);
        let mut out = String::new();
        let mut at = list;
        let mut rest = format.as_str();
        while let Some(percent) = rest.find('%') {
            out.push_str(&rest[..percent]);
            rest = &rest[percent + 1..];
            let end = rest.find(|c: char| c.is_ascii_alphabetic() && !"hlLjzt".contains(c) || c == '%');
            let Some(end) = end else { break };
            let (spec, conversion) = (&rest[..end], rest.as_bytes()[end]);
            rest = &rest[end + 1..];
            if conversion == b'%' {
                out.push('%');
                continue;
            }
            let wide = spec.contains('l') || spec.contains('z') || spec.contains('j') || b"sp".contains(&conversion);
            let float = b"fFeEgGaA".contains(&conversion);
            let size = if wide || float { 8 } else { 4 };
            at = at.next_multiple_of(size);
            let value = self.number(at, size, lane).unwrap_or(0);
            at += size;
            let text = match conversion {
                b's' => self.text(value, lane),
                _ => number(spec, conversion, value, size),
            };
            out.push_str(&pad(spec, &text));
        }
        out.push_str(rest);
        out
    }
}

fn number(spec: &str, conversion: u8, value: u64, size: u64) -> String {
    let precision = spec
        .split('.')
        .nth(1)
        .map(|digits| digits.trim_end_matches(|c: char| !c.is_ascii_digit()));
    let precision = precision.and_then(|digits| digits.parse::<usize>().ok());
    let signed = if size == 8 {
        value as i64
    } else {
        i64::from(value as u32 as i32)
    };
    let float = f64::from_bits(value);
    let plus = if spec.contains('+') { "+" } else { "" };
    match conversion {
        b'd' | b'i' if signed >= 0 => format!("{plus}{signed}"),
        b'd' | b'i' => format!("{signed}"),
        b'x' => format!("{value:x}"),
        b'X' => format!("{value:X}"),
        b'o' => format!("{value:o}"),
        b'p' => format!("{value:#x}"),
        b'c' => (value as u8 as char).to_string(),
        b'e' | b'E' => exponent(float, precision.unwrap_or(6), conversion),
        b'g' | b'G' => format!("{float}"),
        b'f' | b'F' => format!("{float:.*}", precision.unwrap_or(6)),
        _ => format!("{value}"),
    }
}

/// As C writes exponents: a sign and at least two digits.
fn exponent(value: f64, precision: usize, conversion: u8) -> String {
    let text = format!("{value:.precision$e}");
    let Some((digits, power)) = text.split_once('e') else {
        return text;
    };
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}{}{sign}{power:0>2}", char::from(conversion))
}

fn pad(spec: &str, text: &str) -> String {
    let width: String = spec
        .trim_start_matches(['-', '+', ' ', '#'])
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let zero = width.starts_with('0');
    let width = width.parse().unwrap_or(0).min(256);
    match (spec.contains('-'), zero) {
        (true, _) => format!("{text:<width$}"),
        (false, true) if text.starts_with('-') => format!("-{:0>1$}", &text[1..], width.saturating_sub(1)),
        (false, true) => format!("{text:0>width$}"),
        (false, false) => format!("{text:>width$}"),
    }
}
