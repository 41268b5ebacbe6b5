//! Tests of the builder: what it writes is what the parser reads, and what it finds wrong.

use super::*;
use crate::ptx::ir::Module;
use crate::ptx::ir::Notes;
use crate::ptx::parse::parse;
use crate::ptx::print::print;
use crate::ptx::target::{PtxVersion, Target};
use proptest::prelude::*;

/// One kernel of one warp.
fn built(build: impl FnOnce(&mut Kernel<'_>)) -> Result<Built, BuildError> {
    let mut module = ModuleBuilder::new();
    module.entry("kernel", [32, 1, 1], build);
    module.finish(Some(Target::base(80)), None)
}

fn text(build: impl FnOnce(&mut Kernel<'_>)) -> String {
    let built = built(build).unwrap();
    print(&built.module, &built.notes)
}

/// The body of the kernel's text, declarations and `ret` included.
fn body(build: impl FnOnce(&mut Kernel<'_>)) -> String {
    let text = text(build);
    let (_, body) = text.split_once("{\n").unwrap();
    body.trim_end_matches("}\n").to_owned()
}

fn reads_back(module: &Module) {
    let text = print(module, &Notes::default());
    let parsed = parse(&text);
    assert!(parsed.diags.is_empty(), "{:?}\n{text}", parsed.diags);
    assert!(parsed.module == *module, "{text}");
}

#[test]
fn control_flow_is_written_as_branches_to_labels_of_its_own() {
    let body = body(|k| {
        let n = k.param::<B32>("n");
        let sum = k.var::<B32>(0u32);
        k.comment("over all");
        k.for_range("items", 0u32, n, 1u32, |k, item| {
            let odd = k.and(item, 1u32);
            let odd = k.compare(Cmp::Ne, odd, 0u32);
            k.if_else(odd, |k| k.add_into(sum, sum, item), |k| k.add_into(sum, sum, 1u32));
        });
        let zero = k.compare(Cmp::Eq, sum, 0u32);
        k.if_then(!zero, |k| k.trap_if(zero));
        k.repeat("twice", 2, |k| k.add_into(sum, sum, sum));
        k.while_loop(
            "until",
            |k| !k.compare(Cmp::Gt, sum, 100u32),
            |k| k.add_into(sum, sum, sum),
        );
    });
    insta::assert_snapshot!(body.replace('\t', "    "), @"
        .reg .b32 %r<5>;
        .reg .pred %p<6>;
        ld.param.u32 %r0, [n];
        mov.b32 %r1, 0;
        // over all
        mov.b32 %r2, 0;
        setp.ge.u32 %p0, %r2, %r0;
        @%p0 bra $L1_items_end;
    $L1_items:
        and.b32 %r3, %r2, 1;
        setp.ne.u32 %p1, %r3, 0;
        @!%p1 bra $L2_else;
        add.u32 %r1, %r1, %r2;
        bra.uni $L2_endif;
    $L2_else:
        add.u32 %r1, %r1, 1;
    $L2_endif:
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p2, %r2, %r0;
        @%p2 bra $L1_items;
    $L1_items_end:
        setp.eq.u32 %p3, %r1, 0;
        @%p3 bra $L3_endif;
        @%p3 trap;
    $L3_endif:
        mov.b32 %r4, 2;
    $L4_twice:
        add.u32 %r1, %r1, %r1;
        sub.u32 %r4, %r4, 1;
        setp.ne.u32 %p4, %r4, 0;
        @%p4 bra $L4_twice;
    $L5_until:
        setp.gt.u32 %p5, %r1, 100;
        @%p5 bra $L5_until_end;
        add.u32 %r1, %r1, %r1;
        bra.uni $L5_until;
    $L5_until_end:
        ret;
    ");
}

#[test]
fn a_single_trip_needs_no_loop_and_none_no_code() {
    let body = body(|k| {
        k.repeat("once", 1, |k| k.barrier());
        k.repeat("never", 0, |k| k.barrier());
    });
    assert_eq!(body, "\tbar.sync 0;\n\tret;\n");
}

#[test]
fn names_and_ids_follow_the_text_not_the_order_of_creation() {
    let built = built(|k| {
        let (late, unused) = (k.fresh::<B32>(), k.fresh::<B32>());
        let early = k.var::<B32>(7u32);
        k.assign(late, early);
        let _ = unused;
    });
    let module = built.unwrap().module;
    let body = module.functions[0].body.as_ref().unwrap();
    let names: Vec<_> = body.regs.iter().map(|reg| &*reg.name).collect();
    assert_eq!(names, ["%r0", "%r1"]);
    reads_back(&module);
}

#[test]
fn a_sum_over_the_block_meets_at_two_barriers() {
    let sums = |threads: u32| {
        let mut module = ModuleBuilder::new();
        module.entry("kernel", [threads, 1, 1], |k| {
            let scratch = k.sum_scratch("sums");
            let tid = k.tid_x();
            let one = k.var::<F32>(1.0f32);
            k.block_sum(one, tid, scratch.as_ref());
        });
        let built = module.finish(None, None).unwrap();
        reads_back(&built.module);
        print(&built.module, &built.notes)
    };
    let barriers = |threads| sums(threads).matches("bar.sync").count();
    assert_eq!((barriers(32), barriers(64), barriers(96), barriers(1024)), (0, 2, 2, 2));
    // Three warps: the missing values count as nothing.
    assert!(sums(96).contains(".shared .align 16 .f32 sums[3];"));
    assert!(sums(96).contains("setp.lt.u32"));
}

#[test]
fn sums_of_several_values_share_their_shuffles() {
    let shuffles = |count: usize| {
        let body = body(|k| {
            let (value, lane) = (k.var::<F32>(1.0f32), k.tid_x());
            k.warp_sums(&vec![value; count], lane);
        });
        body.matches("shfl").count()
    };
    assert_eq!([1, 2, 4, 8, 32].map(shuffles), [5, 5, 6, 9, 31]);
}

#[test]
fn the_module_asks_for_what_its_instructions_need() {
    let header = |target: Option<&str>, opcode: &'static str| {
        let mut module = ModuleBuilder::new();
        module.entry("kernel", [32, 1, 1], |k| {
            let a = k.var::<B32>(1u32);
            k.op(opcode, [a.into(), a.into()]);
        });
        let target = target.map(|target| target.parse().unwrap());
        let header = module.finish(target, None)?.module.header;
        Ok::<_, BuildError>(format!("{} {}", header.version.unwrap(), header.target.join(" ")))
    };
    assert_eq!(header(None, "add.u32").unwrap(), "6.3 sm_75");
    assert_eq!(header(Some("sm_90"), "add.u32").unwrap(), "7.8 sm_90");
    assert_eq!(header(Some("sm_100a"), "add.u32").unwrap(), "8.6 sm_100a");
    // Half precision minima came with PTX 7.0 and sm_80.
    assert_eq!(header(None, "min.f16x2").unwrap(), "7.0 sm_80");
    let error = header(Some("sm_75"), "min.f16x2").unwrap_err();
    assert_eq!(error.to_string(), "`min.f16x2` needs sm_80, the target is sm_75");
}

#[test]
fn an_old_version_is_refused_and_a_newer_one_taken() {
    let finish = |version: (u8, u8)| {
        let mut module = ModuleBuilder::new();
        module.entry("kernel", [32, 1, 1], |_| {});
        let version = PtxVersion::new(version.0, version.1);
        let built = module.finish(Some(Target::base(90)), Some(version))?;
        Ok::<_, BuildError>(built.module.header.version.unwrap().to_string())
    };
    assert_eq!(finish((8, 5)).unwrap(), "8.5");
    assert_eq!(
        finish((7, 0)).unwrap_err().to_string(),
        "target sm_90 needs PTX 7.8, the version asked for is 7.0"
    );
    assert_eq!(finish((8, 9)).unwrap_err().to_string(), "there is no PTX version 8.9");
}

/// The message of what goes wrong.
fn mistake(build: impl FnOnce(&mut Kernel<'_>)) -> String {
    built(build).unwrap_err().to_string()
}

#[test]
fn mistakes_are_errors_that_say_what_is_wrong() {
    let mut lines = vec![
        mistake(|k| {
            k.op::<B32, 0>("frobnicate.u32", []);
        }),
        mistake(|k| {
            k.op::<B32, 0>("add.u32", []);
        }),
        mistake(|k| {
            k.special::<B32>("%nonsense");
        }),
        mistake(|k| {
            k.param::<B32>("n");
            k.shared::<F32>("n", 4);
        }),
        mistake(|k| {
            k.shared::<F32>("tile", 12289);
        }),
        mistake(|k| {
            let (value, lane) = (k.var::<F32>(1.0f32), k.tid_x());
            k.warp_sums(&[value; 3], lane);
        }),
        mistake(|k| {
            let p = k.fresh::<Pred>();
            k.when(p, |k| k.if_then(p, |_| {}));
        }),
    ];
    let mut module = ModuleBuilder::new();
    let mut stranger = None;
    module.entry("a", [48, 1, 1], |k| stranger = Some(k.var::<B32>(1u32)));
    let mut partial = ModuleBuilder::new();
    partial.entry("a", [48, 1, 1], |k| {
        k.warps();
    });
    lines.push(partial.finish(None, None).unwrap_err().to_string());
    module.entry("b", [32, 1, 1], |k| {
        k.add(stranger.unwrap(), 1u32);
    });
    lines.push(module.finish(None, None).unwrap_err().to_string());
    let mut module = ModuleBuilder::new();
    module.entry("a", [1025, 1, 1], |_| {});
    lines.push(module.finish(None, None).unwrap_err().to_string());
    let mut module = ModuleBuilder::new();
    module.entry("a", [32, 1, 1], |_| {});
    module.entry("a", [32, 1, 1], |_| {});
    lines.push(module.finish(None, None).unwrap_err().to_string());
    insta::assert_snapshot!(lines.join("\n"), @"
    the instruction table has no `frobnicate.u32`
    `add.u32` does not take these operands
    there is no special register `%nonsense`
    `n` is declared twice
    `kernel`: 49156 bytes of static shared memory, 49152 are allowed
    `kernel`: a warp cannot share 3 sums; a power of two up to 32 it can
    `kernel`: control flow inside a guarded region
    `a`: a block of 48 threads is no whole number of warps
    `b` uses a register of another function
    `a`: no device launches blocks of 1025 x 1 x 1 threads
    `a` is declared twice
    ");
}

/// A step of a random program.
#[derive(Clone, Debug)]
enum Step {
    Add(usize, u32),
    Fma(usize, u32),
    Wide(usize),
    Store(usize),
    Sum(usize),
    If(usize, bool, Vec<Step>),
    For(u32, Vec<Step>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        (any::<usize>(), any::<u32>()).prop_map(|(at, value)| Step::Add(at, value)),
        (any::<usize>(), any::<u32>()).prop_map(|(at, bits)| Step::Fma(at, bits)),
        any::<usize>().prop_map(Step::Wide),
        any::<usize>().prop_map(Step::Store),
        any::<usize>().prop_map(Step::Sum),
    ];
    let step = leaf.prop_recursive(3, 40, 6, |inner| {
        let many = || prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            (any::<usize>(), any::<bool>(), many()).prop_map(|(at, not, steps)| Step::If(at, not, steps)),
            (0..9u32, many()).prop_map(|(trips, steps)| Step::For(trips, steps)),
        ]
    });
    prop::collection::vec(step, 0..12)
}

/// Registers that a random program may use.
struct Pool {
    ints: Vec<Reg<B32>>,
    floats: Vec<Reg<F32>>,
    pointers: Vec<Reg<B64>>,
}

fn pick<T: Copy>(from: &[T], at: usize) -> T {
    from[at % from.len()]
}

fn write(k: &mut Kernel<'_>, pool: &mut Pool, steps: &[Step]) {
    for step in steps {
        match step {
            Step::Add(at, value) => {
                let sum = k.add(pick(&pool.ints, *at), *value);
                pool.ints.push(sum);
            }
            Step::Fma(at, bits) => {
                let a = pick(&pool.floats, *at);
                let sum = k.fma(a, f32::from_bits(*bits), a);
                pool.floats.push(sum);
            }
            Step::Wide(at) => {
                let pointer = k.mad_wide(pick(&pool.ints, *at), 4u32, pick(&pool.pointers, *at));
                pool.pointers.push(pointer);
            }
            Step::Store(at) => {
                let (to, value) = (pick(&pool.pointers, *at), pick(&pool.floats, *at));
                k.store_vec(Addr::<Global>::at(to).plus(16), &[value; 4]);
            }
            Step::Sum(at) => {
                let sum = k.warp_sum(pick(&pool.floats, *at));
                pool.floats.push(sum);
            }
            Step::If(at, not, steps) => {
                let small = k.compare(Cmp::Lt, pick(&pool.ints, *at), 9u32);
                let small = if *not { !small } else { small.into() };
                k.if_then(small, |k| write(k, pool, steps));
            }
            Step::For(trips, steps) => {
                k.comment("a loop");
                k.for_range("trips", 0u32, *trips, 1u32, |k, _: Reg<B32>| write(k, pool, steps));
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_built_reads_back_as_the_same_module(first in steps(), second in steps()) {
        let mut module = ModuleBuilder::new();
        let table = module.constant::<F32>("table", &[1.0f32.into(), (-0.5f32).into()]);
        for (name, steps) in [("first", first), ("second", second)] {
            module.entry(name, [64, 1, 1], |k| {
                let pointers = vec![k.param("data")];
                let tile = k.shared::<F32>("tile", 64);
                let tid = k.tid_x();
                let (a, b) = (k.const_element(&table, tid), k.shared_element(&tile, tid));
                let floats = vec![k.load(a), k.load(b)];
                let mut pool = Pool { ints: vec![tid], floats, pointers };
                write(k, &mut pool, &steps);
            });
        }
        let built = module.finish(None, None).unwrap();
        reads_back(&built.module);
        // Comments change nothing.
        let commented = parse(&print(&built.module, &built.notes));
        prop_assert!(commented.module == built.module);
    }
}
