//! Texts to try: small modules, listings and fragments made by a grammar, and edits of them and of real ones.
//!
//! They are short on purpose: what breaks a compiler is two odd things next to each other, and many short texts hold more such
//! pairs than a few long ones. Each text follows from the seed and its own number alone.

use ptxgen::ptx::isa;
use ptxgen::ptx::parse::tokens;
use ptxgen::ptx::source::Span;
use std::fmt::Write;

/// SplitMix64: small, and the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Whether something of that probability, in percent, happens.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Words of which PTX is made, and a few of which it is not.
const WORDS: &[&str] = &[
    ".version 8.0\n",
    ".target sm_90\n",
    ".entry k",
    ".func",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "@",
    "!",
    "%p1",
    "%r1",
    "%rd1",
    "%f1",
    "%tid.x",
    "L1",
    "L1:",
    "bra",
    "bar.sync",
    "// ptxgen: allow(BAR019)\n",
    "/* ptxgen: allow(isa021, BAR) */",
    "// ptxgen: allow-file(LINT001, x)\n",
    "[%rd1-4]",
    "ld.global.v4.f32",
    "mov.b64",
    "call",
    "brx.idx",
    ".reg .b32",
    "%r<9>",
    ".shared .align 4 .b8",
    "x[4]",
    "=",
    "0",
    "-",
    "+",
    "1.5e-3",
    "0f3F800000",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    ".loc 1 2 3\n",
    ".branchtargets",
    ".callprototype",
    ".section",
    ".pragma \"x\";",
    "é",
    "\0",
    "_",
    "|",
    "&",
    "<<",
    "exit",
    "@%p1",
    "setp.eq.s32",
    "arr[%r1]",
    "%r1+4",
    "generic(",
    "?",
    "%",
    "0x",
    "9999999999999999999999",
    ".b0",
    "ret;",
    "// c\n",
    "/* c */",
    "\u{feff}",
    "\r\n",
    "Fatbin",
    "@@DWARF x\n",
    ".v4",
    "WARP_SZ",
    "'",
    "`",
    "#",
    "\\",
];

const OPERANDS: &[&str] = &[
    "%r1",
    "%r2",
    "%r3",
    "%rd1",
    "%rd2",
    "%f1",
    "%f2",
    "%fd1",
    "%rs1",
    "%p1",
    "%p2",
    "!%p1",
    "0",
    "1",
    "-1",
    "16",
    "0x1F",
    "31",
    "0f3F800000",
    "0d3FF0000000000000",
    "1.5",
    "%tid.x",
    "%laneid",
    "%clock64",
    "WARP_SZ",
    "[%rd1]",
    "[%rd1+8]",
    "[arr+4]",
    "[p0]",
    "arr",
    "arr+8",
    "arr[2]",
    "{%r1, %r2}",
    "{%f1, %f2, %f3, %f1}",
    "{%r1, _}",
    "%p1|%p2",
    "_",
    "L0",
    "L1",
    "%r1+4",
    "(1 << 4)",
    "[%rd1, {%r1, %r2}]",
    "f",
    "(%r1)",
    "0xffffffff",
];

/// Headers, most of them of today.
const HEADS: &[&str] = &[
    ".version 8.6\n.target sm_90a\n.address_size 64\n",
    ".version 8.6\n.target sm_90a\n.address_size 64\n",
    ".version 9.3\n.target sm_90a\n.address_size 64\n",
    ".version 9.3\n.target sm_100a\n.address_size 64\n",
    ".version 9.3\n.target sm_103a\n.address_size 64\n",
    ".version 9.0\n.target sm_100a\n.address_size 64\n",
    ".version 9.3 .target sm_120f .address_size 64 // head\n",
    ".version 3.1\n.target sm_30, texmode_independent\n.address_size 32\n",
    ".version 1.4\n.target sm_13\n",
    ".version 7.0\r\n.target sm_80\r\n.address_size 64\r\n",
];

/// What instructions refer to.
const USED: &str = ".shared .align 16 .b32 arr[64];\n.func f(.reg .b32 a) { ret; }\n";

/// What else stands at module scope.
const ITEMS: &[&str] = &[
    ".func f(.reg .b32 a);\n",
    ".visible .func (.param .b32 r) g(.param .b64 a, .param .align 8 .b8 b[16])\n;\n",
    ".extern .shared .align 16 .b8 dyn[];\n",
    ".global .align 4 .b32 tab[2][3] = {{1, -2, 0x3}, {arr, generic(arr), 'a'}};\n",
    ".const .f32 c = 0f3F800000; // one\n",
    ".global .texref t;\n.global .samplerref s = { addr_mode_0 = wrap, filter_mode = nearest };\n",
    ".file 1 \"a.cu\", 1, 2\n",
    ".alias g, f;\n",
    ".section .debug_str\n{\n.b8 97,0\ninfo: .b32 .debug_str+4\n}\n",
    ".weak .global .attribute(.managed) .u64 m;\n",
    "@@DWARF .4byte 1\n",
    ".global .v4 .f32 v = {1.0, 2.0, 0f3F800000, -4.0};\n",
    ".weak .shared .u8 w[4];\n",
    "/* note */ ",
];

/// Heads of kernels, with their brace.
const KERNELS: &[&str] = &[
    ".entry k(.param .u64 p0)\n{\n",
    ".entry k(.param .u64 p0)\n{\n",
    ".visible .entry k(.param .u64 .ptr .global .align 8 p0, // first\n .param .b8 p1[8])\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n",
    ".entry k(.param .u64 p0) .reqntid 32 .pragma \"nounroll\"; {",
    ".func (.reg .b32 out) k(.reg .b64 p0)\n{\n",
];

/// What `cuobjdump` writes before a module.
const ENTRY: &str = "\nFatbin ptx code:\n================\narch = sm_90\ncode version = [8,6]\nhost = linux\ncompile_size = 64bit\ncompressed\n\n";
const REGS: &str =
    ".reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<5>;\n.reg .f64 %fd<3>;\n";

/// A source of texts.
#[derive(Clone, Debug)]
pub struct Generator {
    random: Random,
    seed: u64,
    real: Vec<String>,
    opcodes: Vec<&'static str>,
}

impl Generator {
    /// A generator that also edits these real texts.
    pub fn new(seed: u64, real: Vec<String>) -> Self {
        let examples = isa::rows().flat_map(|row| row.examples.iter().copied());
        Self {
            random: Random(seed),
            seed,
            real,
            opcodes: examples.collect(),
        }
    }

    /// The text of a number.
    pub fn text(&mut self, number: u64) -> String {
        self.random = Random(self.seed);
        self.random = Random(self.random.next() ^ number.wrapping_mul(0xD134_2543_DE82_EF95));
        let mut text = match self.random.below(40) {
            0..=3 => return self.soup(),
            4..=6 if !self.real.is_empty() => self.excerpt(),
            7..=10 => self.body(),
            11 | 12 => self.listing(),
            _ => self.module(),
        };
        if self.random.percent(50) {
            for _ in 0..=self.random.below(3) {
                text = self.edited(text);
            }
        }
        text
    }

    /// Tokens in no order.
    fn soup(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(40) {
            text.push_str(self.random.pick(WORDS));
            text.push_str(self.random.pick(&[" ", "", "\n"]));
        }
        text
    }

    /// A real text.
    fn excerpt(&mut self) -> String {
        self.real[self.random.below(self.real.len())].clone()
    }

    /// A header, some declarations, and a kernel.
    fn module(&mut self) -> String {
        let mut text = String::from(self.random.pick(HEADS));
        if self.random.percent(80) {
            text.push_str(USED);
        }
        for _ in 0..self.random.below(3) {
            text.push_str(self.random.pick(ITEMS));
        }
        text.push_str(self.random.pick(KERNELS));
        text.push_str(REGS);
        text.push_str(&self.body());
        text.push_str("}\n");
        text
    }

    /// Modules the way `cuobjdump` lists them.
    fn listing(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.random.below(2) {
            text.push_str(ENTRY);
            text.push_str(&self.module());
        }
        text
    }

    /// Examples of the instruction table, branches, scopes and odd operands.
    fn body(&mut self) -> String {
        let mut text = String::from("L0:\n");
        let mut open = 0;
        for _ in 0..self.random.below(7) {
            self.statement(&mut text, &mut open);
        }
        text.push_str(&"}\n".repeat(open));
        text.push_str("L1:\nret;\n");
        text
    }

    fn statement(&mut self, text: &mut String, open: &mut usize) {
        let guard = if self.random.percent(20) {
            self.random.pick(&["@%p1 ", "@!%p2 "])
        } else {
            ""
        };
        let comment = if self.random.percent(5) {
            self.random.pick(&[" // c\n", " /* c */ "])
        } else {
            ""
        };
        // Writing to a string cannot fail.
        let _ = match self.random.below(12) {
            0 => writeln!(text, "{guard}bra {};", self.random.pick(&["L0", "L1"])),
            1 => {
                *open += 1;
                writeln!(text, "{{ .reg .b32 %r<3>;{comment}")
            }
            2 if *open > 0 => {
                *open -= 1;
                writeln!(text, "}}")
            }
            3 => self.odd(text, guard),
            4 => writeln!(
                text,
                "{}",
                self.random.pick(&[
                    ".loc 1 2 3",
                    ".loc 1 2 3, function_name info, inlined_at 1 4 5",
                    ".pragma \"nounroll\";",
                    ".local .b64 v;",
                    ".shared .align 16 .b8 buf[32];",
                    "// begin inline asm",
                    "{ .param .b32 q; st.param.b32 [q+0], %r1; call.uni (r), f, (q); }",
                    "{ T: .branchtargets L0, L1; }"
                ])
            ),
            _ => writeln!(text, "{guard}{comment}{}", self.random.pick(&self.opcodes)),
        };
    }

    /// A known opcode with operands that need not fit it.
    fn odd(&mut self, text: &mut String, guard: &str) -> std::fmt::Result {
        let opcode = self.random.pick(&self.opcodes).split(' ').next().unwrap_or("nop");
        write!(text, "{guard}{opcode}")?;
        for at in 0..self.random.below(5) {
            write!(
                text,
                "{}{}",
                if at > 0 { ", " } else { " " },
                self.random.pick(OPERANDS)
            )?;
        }
        writeln!(text, ";")
    }

    /// The text with one token dropped, doubled, exchanged or replaced, or cut off.
    fn edited(&mut self, text: String) -> String {
        let spans = tokens(&text);
        if spans.is_empty() {
            return text;
        }
        let span = self.random.pick(&spans);
        let other = self.random.pick(&spans);
        let put = match self.random.below(8) {
            0 => String::new(),
            1 => format!("{0} {0}", span.of(&text)),
            2 | 3 => other.of(&text).to_owned(),
            4 => self.random.pick(OPERANDS).to_owned(),
            5 => format!("{} {}", span.of(&text), self.random.pick(WORDS)),
            6 if self.random.percent(20) => return Span::new(0, span.end).of(&text).to_owned(),
            _ => self.random.pick(WORDS).to_owned(),
        };
        let mut edited = text;
        edited.replace_range(span.start as usize..span.end as usize, &put);
        edited
    }
}
