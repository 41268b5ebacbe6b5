//! What is known of the addresses of small kernels.

use super::*;
use crate::ptx::analysis::graphs::Graphs;
use crate::ptx::ir::FuncId;
use crate::ptx::parse::parse;

/// The addresses of the stores of a kernel, and the lanes that do them.
fn stores(body: &str, shape: Shape) -> Vec<(Option<Line>, Active)> {
    let regs =
        ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n";
    let text =
        format!(".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{{\n{regs}{body}\nret;\n}}\n");
    let parsed = parse(&text);
    assert_eq!(parsed.diags, Vec::new());
    let body = parsed.module.functions[0].body.as_ref().unwrap();
    let graphs = Graphs::new(&parsed.module, body);
    let is_store = |row: &Inst| row.op.effect == Effect::Store;
    let lanes = Lanes::new(Code::new(&parsed.module, FuncId(0), body, &graphs), shape, is_store);
    let stores = (0..).map(InstId).zip(&body.insts).filter(|(_, row)| is_store(row));
    stores
        .map(|(at, row)| (lanes.address(at, row.as_mem().unwrap().address), lanes.active(at)))
        .collect()
}

fn strides(body: &str, shape: Shape) -> Vec<Option<i64>> {
    let stride = |line: Line| line.lanes[1] - line.lanes[0];
    stores(body, shape)
        .into_iter()
        .map(|(line, _)| line.map(stride))
        .collect()
}

const LINE: Shape = Shape::Line(256);

#[test]
fn strides_of_arithmetic() {
    let body = "mul.wide.u32 %rd2, %r1, 12;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3+8], 1;
        mov.u32 %r2, %ctaid.x;\nmad.lo.s32 %r3, %r2, 256, %r1;\nshl.b32 %r4, %r3, 1;\ncvt.u64.u32 %rd4, %r4;
        sub.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], 1;\nst.global.u32 [%rd1], 1;";
    assert_eq!(strides(body, LINE), [Some(12), Some(-2), Some(0)]);
}

#[test]
fn masks_and_rows_are_exact() {
    let body = "and.b32 %r2, %r1, 3;\nst.shared.u32 [%r2], 1;\nmov.u32 %r3, %tid.y;\nst.shared.u32 [%r3], 1;";
    let found = stores(body, Shape::Exact([16, 4, 1]));
    assert_eq!(found[0].0.unwrap().lanes[..6], [0, 1, 2, 3, 0, 1]);
    assert_eq!(found[1].0.unwrap().lanes[15..17], [0, 1]);
}

#[test]
fn counters_of_loops_keep_the_distance() {
    let body = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r2, 0;
        L: st.global.u32 [%rd3], 1;\nadd.s64 %rd3, %rd3, 128;\nadd.u32 %r2, %r2, 1;
        setp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;";
    assert_eq!(strides(body, LINE), [Some(4)]);
}

#[test]
fn what_lanes_load_or_choose_apart_is_unknown() {
    let body = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u64 %rd4, [%rd3];\nst.global.u32 [%rd4], 1;
        ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5], 1;
        setp.lt.u32 %p1, %r1, 9;\nmov.u64 %rd6, %rd1;\n@%p1 bra J;\nadd.s64 %rd6, %rd1, 64;\nJ: st.global.u32 [%rd6], 1;";
    assert_eq!(strides(body, LINE), [None, Some(0), None]);
}

#[test]
fn conditions_on_the_thread_take_lanes_away() {
    let body = "setp.lt.u32 %p1, %r1, 4;\n@!%p1 bra D;\nst.global.u32 [%rd1], 1;\nsetp.eq.u32 %p2, %r1, 0;
        @%p2 st.global.u32 [%rd1], 1;\nD: st.global.u32 [%rd1], 1;";
    let masks: Vec<u32> = stores(body, LINE).into_iter().map(|(_, active)| active.mask).collect();
    assert_eq!(masks, [15, 1, u32::MAX]);
}
