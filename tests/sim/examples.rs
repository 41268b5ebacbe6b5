//! Every example of the instruction table is executed, and random sequences of them: whatever it comes to, the simulator
//! answers and does not break.

use proptest::prelude::*;
use ptxgen::ptx::isa;
use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, Arg, Buffer, Launch, Options, Stop, TensorMap};
use std::fmt::Write;
use std::sync::OnceLock;

/// A kernel of these statements, over registers that hold something: the pairs lead to memory, the others are small.
fn module(statements: &[&str], places: &[u8]) -> String {
    let mut text = String::from(
        ".version 9.0\n.target sm_100a\n.address_size 64\n\
         .shared .align 16 .b8 smem[1024];\n.global .align 16 .b8 gbl[1024];\n\
         .func fn0 () { ret; }\n.func (.reg .b32 o) fr (.reg .b32 i) { mov.b32 o, i; ret; }\n\
         .visible .entry k(.param .u64 p0, .param .u32 n)\n{\n\
         .reg .pred %p<10>;\n.reg .b16 %rs<10>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<10>;\n\
         .reg .b128 %rq<4>;\n.reg .f32 %f<20>;\n.reg .f64 %fd<10>;\nTS: .branchtargets L1, L2;\n",
    );
    for at in 0..10 {
        let _ = writeln!(
            text,
            "setp.gt.u32 %p{at}, %tid.x, {at};\ncvt.u16.u32 %rs{at}, %tid.x;\nmov.f64 %fd{at}, 0d3FF8000000000000;"
        );
        let _ = writeln!(text, "ld.param.u64 %rd{at}, [p0];");
    }
    for at in 0..20 {
        let _ = writeln!(text, "add.u32 %r{at}, %tid.x, {at};\ncvt.rn.f32.u32 %f{at}, %r{at};");
    }
    for at in 0..4 {
        let _ = writeln!(text, "mov.b128 %rq{at}, {{%rd1, %rd2}};");
    }
    for (at, statement) in statements.iter().enumerate() {
        // Some are guarded, and some come again.
        let kind = places.get(at).copied().unwrap_or(0);
        let guard = match kind % 4 {
            0 => String::new(),
            other => format!("@{}%p{} ", if other == 3 { "!" } else { "" }, kind % 10),
        };
        let _ = writeln!(text, "T{at}: {{ {guard}{statement} }}");
        if kind % 16 == 5 {
            let _ = writeln!(text, "@%p{} bra T{};", kind % 10, usize::from(kind) % (at + 1));
        }
    }
    text.push_str("L1: ret;\nL2: ret;\n}\n");
    text
}

/// What the pairs lead to: a tensor map, and zeros behind it.
fn memory() -> Vec<u8> {
    let map = TensorMap {
        element: 7,
        dims: vec![16, 16],
        strides: vec![64],
        size: vec![8, 4],
        steps: vec![1, 1],
        swizzle: 1,
        nan: false,
    };
    let mut bytes = map.encode(0).to_vec();
    bytes.resize(4096, 0);
    bytes
}

/// Runs it; `None` if it came to an end, with or without faults.
fn run(text: &str) -> Option<Stop> {
    let parsed = parse(text);
    let launch = Launch {
        grid: [2, 1, 1],
        block: [48, 1, 1],
        dynamic_shared: 0,
        args: vec![
            Arg::Buffer(Buffer {
                bytes: memory().into(),
                ..Buffer::default()
            }),
            Arg::Bytes(vec![1, 0, 0, 0]),
        ],
        options: Options {
            budget: 1 << 18,
            ..Options::default()
        },
    };
    sim::run(&parsed.module, "k", &launch).err().map(|stopped| stopped.stop)
}

/// Whether the simulator executes an example.
fn is_supported(example: &str) -> bool {
    !matches!(run(&module(&[example], &[])), Some(Stop::Unsupported { .. }))
}

/// The list is complete: what is not in it is executed. Products in tensor memory are in it: the numbers that the examples
/// find are no descriptors.
#[test]
fn every_example_is_executed_or_refused() {
    let examples = isa::rows().flat_map(|row| row.examples);
    let refused: Vec<&str> = examples.copied().filter(|example| !is_supported(example)).collect();
    insta::assert_snapshot!("unsupported", refused.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_do_not_break_it(picks in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24)) {
        static ALL: OnceLock<Vec<&str>> = OnceLock::new();
        let all = ALL.get_or_init(|| isa::rows().flat_map(|row| row.examples).copied().filter(|example| is_supported(example)).collect());
        let statements: Vec<&str> = picks.iter().map(|(index, _)| *index.get(all)).collect();
        let places: Vec<u8> = picks.iter().map(|(_, place)| *place).collect();
        let text = module(&statements, &places);
        let (first, second) = (run(&text), run(&text));
        prop_assert_eq!(first, second);
    }
}
