use super::verify;
use crate::ptx::parse::parse;

const HEAD: &str = ".visible .entry k(.param .u64 p0, .param .u32 n)\n{\n\
    .reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<16>; .reg .f64 %fd<8>;\n\
    .shared .align 16 .b8 smem[64];\n";

/// The findings of a kernel with that body: `CODE@TEXT`, where the text is what the finding points at.
fn findings(version: &str, target: &str, body: &str) -> Vec<String> {
    let text = format!(".version {version}\n.target {target}\n.address_size 64\n{HEAD}{body}\nret;\n}}\n");
    let parsed = parse(&text);
    assert!(parsed.diags.is_empty(), "{body}: {:?}", parsed.diags);
    let found = verify(&parsed, &text);
    found
        .iter()
        .map(|diag| format!("{}@{}", diag.code.id, diag.span.of(&text)))
        .collect()
}

#[test]
fn each_fault_is_found_once_and_in_its_place() {
    let cases = [
        ("frob.s32 %r1, %r2;", "SYN004@frob"),
        ("ld.global.zz.u32 %r1, [%rd1];", "ISA010@.zz"),
        ("mul.s32 %r1, %r2, %r3;", "ISA010@mul.s32"),
        ("add.u8 %r1, %r2, %r3;", "ISA003@.u8"),
        ("add %r1, %r2, %r3;", "ISA003@add"),
        ("cvt.rn.f64.f32 %fd1, %f1;", "ISA006@.rn"),
        ("cvt.s32.f32 %r1, %f1;", "ISA006@cvt.s32.f32"),
        ("ld.relaxed.global.u32 %r1, [%rd1];", "ISA011@ld.relaxed.global.u32"),
        ("ld.volatile.acquire.gpu.u32 %r1, [%rd1];", "ISA011@.volatile"),
        ("ldu.shared.u32 %r1, [%r2];", "ISA012@.shared"),
        ("st.const.u32 [%rd1], %r1;", "ISA017@.const"),
        ("add.s32 %r1, %r2;", "ISA001@add.s32"),
        ("mov.u32 5, %r1;", "ISA002@5"),
        ("add.s32 %r1, %r2, 0f3F800000;", "ISA002@0f3F800000"),
        ("add.u32 %r1, %tid.x, 1;", "ISA002@%tid.x"),
        ("add.u64 %rd1, smem, 1;", "ISA002@smem"),
        ("add.s32 %r1, %f1, %r2;", "ISA004@%f1"),
        ("mul.wide.s32 %r1, %r2, %r3;", "ISA004@%r1"),
        ("selp.b32 %r1, %r2, %r3, %r4;", "ISA005@%r4"),
        ("setp.eq.s32 %r1, %r2, %r3;", "ISA005@%r1"),
        ("add.s32 %r1, -%r2, %r3;", "ISA002@-%r2"),
        ("vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;", "ISA002@-%r4"),
        ("vmad.s32.s32.s32.po %r1, %r2, %r3, -%r4;", "ISA002@-%r4"),
        ("vadd.s32.s32.s32 %r1.b0, %r2, %r3;", "ISA013@%r1.b0"),
        ("vadd.s32.s32.s32.add %r1, %r2, %r3, %r4.b0;", "ISA013@%r4.b0"),
        ("@%r1 mov.u32 %r2, 1;", "ISA005@@%r1"),
        ("ld.global.v4.f32 {%f1, %f2, %f3}, [%rd1];", "ISA013@{%f1, %f2, %f3}"),
        ("cp.async.ca.shared.global [%r1], [%rd1], 12;", "ISA015@12"),
        ("st.param.u32 [n], %r1;", "ISA017@[n]"),
        ("ld.global.u32 %r1, [smem];", "ISA012@[smem]"),
        ("ld.global.u32 %r1, [%r2];", "ISA018@[%r2]"),
        ("mbarrier.inval.b64 [%r1];", "ISA018@[%r1]"),
        (
            "setmaxnreg.inc.sync.aligned.u32 64;",
            "GATE003@setmaxnreg.inc.sync.aligned.u32",
        ),
        ("add.rn.f32x2 %rd1, %rd2, %rd3;", "GATE001@add.rn.f32x2"),
        ("fence.acquire.gpu;", "GATE002@.acquire"),
        ("shfl.idx.b32 %r1, %r2, 0, 31;", "GATE006@shfl.idx.b32"),
        ("mov.u32 %r1, %aggr_smem_size;", "GATE002@%aggr_smem_size"),
    ];
    for (body, wanted) in cases {
        assert_eq!(findings("8.0", "sm_90", body), [wanted], "{body}");
    }
}

#[test]
fn what_ptxas_ignores_is_a_warning() {
    let levels = |pragma: &str| {
        let text = format!(".version 9.0\n.target sm_90\n{pragma}\n.entry k() {{ {pragma} ret; }}\n");
        let found = verify(&parse(&text), &text);
        let told = found
            .iter()
            .map(|diag| format!("{} {}@{}", diag.level, diag.code.id, diag.span.start));
        told.collect::<Vec<_>>()
    };
    assert_eq!(levels(".pragma \"nounroll\";"), [""; 0]);
    assert_eq!(
        levels(".pragma \"nounroll\", \"unroll 4\";"),
        ["error SYN005@27", "warning SYN005@72"]
    );
}

#[test]
fn what_is_legal_gives_nothing() {
    let body = "ld.param.u64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, smem;\n\
        mad.lo.s32 %r3, %r1, 4, %r2; st.shared.f32 [%r3], 0f00000000; bar.sync 0; ld.shared.v2.f32 {%f1, _}, [smem];\n\
        mov.b64 %rd3, {%r1, %r2}; @!%p1 st.global.u8 [%rd2+1], %r1; shfl.sync.idx.b32 %r4|%p2, %r1, 0, 31, -1;";
    assert_eq!(findings("8.0", "sm_90", body), [""; 0]);
}

#[test]
fn the_name_of_a_function_is_no_variable() {
    let found = |line: &str| {
        let text = format!(
            ".version 9.0\n.target sm_90\n.address_size 64\n.visible .func g()\n{{\nret;\n}}\n.visible .entry h()\n{{\n\
             .reg .b64 %rd<4>; .reg .b32 %r<4>;\n{line}\nret;\n}}\n"
        );
        let found = verify(&parse(&text), &text);
        let told = found
            .iter()
            .map(|diag| format!("{}@{}", diag.code.id, diag.span.of(&text)));
        told.collect::<Vec<_>>()
    };
    assert_eq!(found("cvta.global.u64 %rd1, g;"), ["ISA012@g"]);
    assert_eq!(found("cvta.shared.u64 %rd1, h;"), ["ISA012@h"]);
    assert_eq!(found("mov.u64 %rd1, h+4;"), ["ISA002@h+4"]);
    assert_eq!(found("ld.global.u32 %r1, [g+4];"), ["ISA002@[g+4]"]);
    assert_eq!(found("prefetch.global.L2 [g];"), ["ISA002@[g]"]);
    for legal in ["mov.u64 %rd1, g;", "mov.u64 %rd1, h;", "cvta.to.global.u64 %rd1, g;"] {
        assert_eq!(found(legal), [""; 0], "{legal}");
    }
}

#[test]
fn a_policy_is_for_some_of_the_accesses() {
    for (fraction, legal) in [
        ("0.0", false),
        ("0f3FC00000", false),
        ("1.5", false),
        ("0.25", true),
        ("0f3F800000", true),
    ] {
        let body = format!("createpolicy.fractional.L2::evict_last.b64 %rd1, {fraction};");
        let wanted = if legal {
            Vec::new()
        } else {
            vec![format!("ISA015@{fraction}")]
        };
        assert_eq!(findings("9.0", "sm_90", &body), wanted);
    }
}

#[test]
fn a_gate_is_told_once() {
    let body = "add.rn.f32x2 %rd1, %rd2, %rd3; add.rn.f32x2 %rd1, %rd2, %rd3;";
    assert_eq!(findings("8.0", "sm_90", body).len(), 1);
}

#[test]
fn a_policy_belongs_to_its_modifier() {
    assert_eq!(
        findings("8.0", "sm_90", "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;"),
        [""; 0]
    );
    assert_eq!(
        findings("8.0", "sm_90", "ld.global.u32 %r1, [%rd1], %rd2;"),
        ["ISA001@ld.global.u32"]
    );
    assert_eq!(
        findings("8.0", "sm_90", "ld.global.L2::cache_hint.u32 %r1, [%rd1];"),
        ["ISA001@ld.global.L2::cache_hint.u32"]
    );
}

#[test]
fn textures_of_old_modules_are_integers_in_their_own_space() {
    let text = ".version 1.3\n.target sm_10\n.tex .u64 image;\n.entry k\n{\n.reg .s32 %r<2>;\n.reg .f32 %f<5>;\n\
        tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%r1, %r1, %r1, %r1}];\nexit;\n}\n";
    let parsed = parse(text);
    assert_eq!(parsed.diags, []);
    assert!(!verify(&parsed, text).iter().any(|diag| diag.code.id == "ISA002"));
}
