//! Tests of the parser: what the grammar allows, and what is said where it does not.

use super::parse;
use crate::ptx::ir::{Address, Base, Component, Imm, Item, Linkage, Module, Operand, Stmt, TableKind};
use crate::ptx::print::{Notes, inst, print};
use crate::ptx::source::Source;
use crate::ptx::types::Type;

/// A kernel around some statements.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b32 arr[16];\n.entry k(.param .u64 p)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n{body}\n}}\n"
    )
}

/// The module of a text that must be free of errors.
fn clean(text: &str) -> Module {
    let parsed = parse(text);
    assert!(parsed.diags.is_empty(), "{:?}\n{text}", parsed.diags);
    let printed = print(&parsed.module, &Notes::default());
    assert!(parse(&printed).module == parsed.module, "{printed}");
    parsed.module
}

/// The operands of each instruction of the statements.
fn operands(body: &str) -> Vec<Vec<Operand>> {
    let module = clean(&kernel(body));
    let body = module.functions[0].body.as_ref().unwrap();
    body.insts.iter().map(|inst| inst.operands.to_vec()).collect()
}

/// The instructions of the statements, as they are printed.
fn printed(body: &str) -> Vec<String> {
    let module = clean(&kernel(body));
    let body = module.functions[0].body.as_ref().unwrap();
    body.insts.iter().map(|one| inst(&module, body, one)).collect()
}

/// Code and position of each finding, with the lines counted from the first statement of the body.
fn findings(body: &str) -> Vec<String> {
    let text = kernel(body);
    let parsed = parse(&text);
    let source = Source::new("t", text).unwrap();
    let told = parsed.diags.iter().map(|diag| {
        let at = source.position(diag.span.start);
        format!("{} {}:{}", diag.code.id, at.line as i64 - 10, at.column)
    });
    told.collect()
}

#[test]
fn addresses_take_every_form() {
    let found = operands(
        "ld.shared.b32 %r1, [arr+8];\nld.global.b32 %r1, [%rd1+-4];\nld.global.b32 %r1, [ %rd1 + (4 - 8) ];\n\
         ld.shared.b32 %r1, [256];\nld.param.u64 %rd1, [p];",
    );
    let offsets: Vec<_> = found
        .iter()
        .map(|operands| match operands[1] {
            Operand::Address(Address { base, offset }) => (matches!(base, Base::Absolute), offset),
            _ => panic!("{operands:?}"),
        })
        .collect();
    assert_eq!(offsets, [(false, 8), (false, -4), (false, -4), (true, 256), (false, 0)]);
}

#[test]
fn operands_take_every_form() {
    assert_eq!(
        printed(
            "setp.eq.and.u32 %p1|%p2, %r1, 0x10, !%p3;\nmov.b64 {%r1,%r2}, %rd1;\nmov.b64 {_, %r2}, %rd1;\n\
             @!%p1 mov.u32 %r1, %tid.x;\nmov.u64 %rd1, arr+4;\nadd.f32 %f1, %f2, 0f3F800000;\nadd.f32 %f1, %f2, 1.5;\n\
             mov.u32 %r1, (1 << 4) | 3;\nmov.u32 %r1, -2147483648;\nmov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;\n\
             vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;\nmov.u32 %r1, WARP_SZ;\n\
             vmad.u32.u32.u32 %r1, -%r2, - %r3.h1, -%r3;\nmov.u32 %r1, WARP_SZ - 1;\nmov.u32 %r1, -WARP_SZ;\n\
             mov.u32 %r1, !WARP_SZ;\nmov.u32 %r1, WARP_SZ == 32 ? 2 : 3;"
        ),
        [
            "setp.eq.and.u32 %p1|%p2, %r1, 16, !%p3",
            "mov.b64 {%r1, %r2}, %rd1",
            "mov.b64 {_, %r2}, %rd1",
            "@!%p1 mov.u32 %r1, %tid.x",
            "mov.u64 %rd1, arr+4",
            "add.f32 %f1, %f2, 0f3F800000",
            "add.f32 %f1, %f2, 0d3FF8000000000000",
            "mov.u32 %r1, 19",
            "mov.u32 %r1, -2147483648",
            "mov.u64 %rd1, 18446744073709551615",
            "vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1",
            "mov.u32 %r1, WARP_SZ",
            "vmad.u32.u32.u32 %r1, -%r2, -%r3.h1, -%r3",
            "mov.u32 %r1, 31",
            "mov.u32 %r1, -32",
            "mov.u32 %r1, 0",
            "mov.u32 %r1, 2",
        ]
    );
    assert_eq!(
        printed(
            "mov.u64 %rd1, arr[2];\nld.shared.b32 %r1, arr[2];\nmov.u64 %rd1, arr[%r1];\nadd.s32 %r1, %r2+4, %r3 + -1;\n\
             ld.global.b32 %r1, [%rd1+4+4];\nmov.u64 %rd1, arr + -4;"
        ),
        [
            "mov.u64 %rd1, arr+8",
            "ld.shared.b32 %r1, [arr+8]",
            "mov.u64 %rd1, arr[%r1]",
            "add.s32 %r1, %r2+4, %r3+-1",
            "ld.global.b32 %r1, [%rd1+8]",
            "mov.u64 %rd1, arr+-4",
        ]
    );
}

#[test]
fn comments_and_brackets_in_odd_places_are_no_part_of_the_text() {
    assert_eq!(printed("mov // c\n.u32 %r1, %r2;"), ["mov.u32 %r1, %r2"]);
    assert_eq!(
        printed("ld.global.v2.u64 {%rd2, [%rd1+8]}, [%rd1];"),
        ["ld.global.v2.u64 {%rd2, [%rd1+8]}, [%rd1]"]
    );
    let module = clean(&kernel(".loc 1 /* c */ 2   3 // d\nret;"));
    let body = module.functions[0].body.as_ref().unwrap();
    assert!(body.stmts.contains(&Stmt::Loc("1 2 3".into())), "{:?}", body.stmts);
}

#[test]
fn constant_expressions_follow_c() {
    let value = |expression: &str| match operands(&format!("mov.u64 %rd1, {expression};"))[0][1] {
        Operand::Imm(imm) => imm,
        _ => panic!("{expression}"),
    };
    for (expression, expected) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("1 << 2 | 1", 5),
        ("-7 / 2", -3),
        ("7 % 4", 3),
        ("~0", -1),
        ("!5", 0),
        ("3 > 2 && 2 >= 2", 1),
        ("0 || 0 != 0", 0),
        ("1 == 2 ? 3 : 4", 4),
        ("0xF ^ 0b1 & 1", 14),
        ("-1 < 0", 1),
        ("(.s64) 0xFFFFFFFFFFFFFFFF", -1),
    ] {
        assert_eq!(value(expression), Imm::Int(expected), "{expression}");
    }
    assert_eq!(value("-1 < 0U"), Imm::Int(0));
    assert_eq!(value("0xFFFFFFFFFFFFFFFF >> 63"), Imm::Unsigned(1));
    assert_eq!(value("(.u64) 3"), Imm::Unsigned(3));
}

#[test]
fn layout_is_free() {
    assert_eq!(printed("add.s32 %r1,%r2,\r\n\t 3 ; sub.s32 %r1,%r1,1;").len(), 2);
    assert_eq!(
        printed("ld .global\n.b32 %r1 , [ %rd1 ] ;"),
        ["ld.global.b32 %r1, [%rd1]"]
    );
    assert_eq!(printed("add: bra add;"), ["bra add"]);
    assert_eq!(printed("/* a */ ret /* b */ ; // c"), ["ret"]);
    assert_eq!(printed("{ { ret; } }"), ["ret"]);
}

#[test]
fn labels_belong_to_their_scopes() {
    let found = operands("bra L;\n{\nbra L;\nL: ret;\n}\nL: ret;\n{ bra L; }");
    let target = |at: usize| match found[at][..] {
        [Operand::Label(label)] => label,
        _ => panic!(),
    };
    assert_eq!(target(0), target(4));
    assert_ne!(target(0), target(1));
    let module = clean(&kernel("{\nL: ret;\n}\n{\nL: ret;\n}"));
    let body = module.functions[0].body.as_ref().unwrap();
    assert_eq!(body.labels.len(), 2);
}

#[test]
fn registers_belong_to_their_scopes() {
    let found = operands("mov.u32 %r1, 0;\n{ .reg .f32 %r<2>; mov.f32 %r1, 0f00000000; }\nmov.u32 %r1, 0;");
    assert_eq!(found[0][0], found[2][0]);
    assert_ne!(found[0][0], found[1][0]);
    let module = clean(&kernel(
        "{ .reg .f32 %r<2>; mov.f32 %r1, 0f00000000; }\nmov.u32 %r1, 0;",
    ));
    let regs = &module.functions[0].body.as_ref().unwrap().regs;
    assert_eq!((regs[0].ty, regs[1].ty), (Type::F32, Type::B32));
}

#[test]
fn tables_and_indirect_calls() {
    let module = clean(&kernel(
        "T: .branchtargets A, B;\nP: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;\n\
         brx.idx %r1, T;\nA: ret;\nB: ret;",
    ));
    let body = module.functions[0].body.as_ref().unwrap();
    let tables: Vec<_> = body
        .stmts
        .iter()
        .filter(|stmt| matches!(stmt, Stmt::Table(_)))
        .collect();
    let Stmt::Table(first) = tables[0] else { panic!() };
    let TableKind::Branch(targets) = &first.kind else {
        panic!()
    };
    assert_eq!(
        targets
            .iter()
            .map(|label| &*body.labels[label.index()].name)
            .collect::<Vec<_>>(),
        ["A", "B"]
    );
    assert_eq!(tables.len(), 2);
}

#[test]
fn module_scope() {
    let module = clean(
        ".version 8.0\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a b.cu\"\n.pragma \"x\", \"y\";\n\
         .extern .func (.param .b32 r) f(.param .b64 a, .param .align 8 .b8 b[16]);\n.func g() { ret; }\n.func h();\n\
         .alias h, g;\n.visible .const .align 4 .b8 c[4] = {1, 2, 3, 4};\n\
         .weak .global .attribute(.managed) .align 8 .u64 t[] = {generic(c), c+4, 0xFF00(c), {1, 2}};\n.section .debug_str\n{\nL0:\n.b8 1,2\n}\n.visible .entry k .reqntid 4, 2 { ret; }",
    );
    assert_eq!(module.items.len(), 10);
    assert!(matches!(&module.items[8], Item::Section(text) if text.starts_with(".section .debug_str\n{")));
    let k = module.function(module.function_named("k").unwrap());
    assert_eq!((k.linkage, k.required_block()), (Linkage::Visible, Some([4, 2, 1])));
}

#[test]
fn errors_are_told_where_they_are_and_the_rest_is_read() {
    assert_eq!(
        findings("add.s32 %r1, %r2, %r3\nret;\nbra NOWHERE;"),
        ["SYN001 2:1", "SYN007 3:5"]
    );
    assert_eq!(
        findings("mov.u32 %q7, 1;\nmov.u32 %q7, 1;\nmov.u32 %r1, none;"),
        ["SYN006 1:9", "SYN008 3:14"]
    );
    assert_eq!(findings("mov.u32 %r9, 1;"), ["SYN006 1:9"]);
    assert_eq!(
        findings(".pragma \"x\",;\nshfl.sync.idx.b32 arr[2]|%p1, %r2, 1, 2, 3;"),
        ["SYN001 1:13", "SYN001 2:25"]
    );
    assert_eq!(
        findings("ld.global.b32 %r1, [%rd1-4];\nret;;\nmov.u32 %r1, 1 / 0;"),
        ["SYN001 1:25", "SYN001 2:5", "SYN001 3:16"]
    );
    assert_eq!(
        findings(".reg .b32 %r<4>;\n.reg .b32 a;\n.reg .b64 a;"),
        ["SYN009 1:11", "SYN009 3:11"]
    );
    assert_eq!(
        findings("add.s32 %r1, [, 3;\nret;\n)\nret; ? ret;"),
        ["SYN001 1:15", "SYN001 3:1", "SYN001 4:6"]
    );
    assert_eq!(findings("mov.u32 %r1, 0x;\n.wibble 3;\nmov.u32 %r1, 1 << 99;").len(), 3);
    assert_eq!(findings(&format!("mov.u32 %r1, {}1;", "-(".repeat(100_000))).len(), 1);
}

#[test]
fn a_broken_function_does_not_hide_the_next() {
    let text = ".version 8.0\n.target sm_90\n.entry a( { ret; }\n.entry b() { ret; }\n.entry c() { ret;";
    let parsed = parse(text);
    let names: Vec<_> = parsed
        .module
        .functions
        .iter()
        .map(|f| parsed.module.name(f.symbol))
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(parsed.diags.len(), 2);
}

#[test]
fn attributes_of_functions_stand_in_front_of_their_names() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n\n\
        .visible .func .attribute(.unified(1, 2)) (.reg .u32 r) f()\n.noreturn;\n";
    let module = clean(text);
    assert!(
        crate::ptx::print::print(&module, &crate::ptx::ir::Notes::default())
            .contains(".func .attribute(.unified(1, 2)) (.reg .u32 r) f()\n.noreturn")
    );
}

#[test]
fn components_and_numbers() {
    assert_eq!(
        operands("vadd.u32.u32.u32 %r1, %r2.b3, 0b101;")[0][1..],
        [
            Operand::Part(crate::ptx::ir::RegId(1), Component::B3),
            Operand::Imm(Imm::Int(5))
        ]
    );
    assert_eq!(
        operands("mov.u32 %r1, 017;\nmov.u32 %r1, 7U;\nmov.u32 %r1, ~0;")[1][1],
        Operand::Imm(Imm::Unsigned(7))
    );
}

#[test]
fn what_is_no_ptx_is_told_briefly() {
    for text in [
        "",
        "\u{feff}",
        "<?xml version=\"1.0\"?><a/>",
        "int main() { return 0; }",
        "}}}}",
        "\0\0\0",
        "@@DWARF x",
    ] {
        let parsed = parse(text);
        assert!(
            !parsed.diags.is_empty() && parsed.diags.len() < 20,
            "{text}: {:?}",
            parsed.diags
        );
    }
    assert!(parse(&"? ".repeat(10_000)).diags.len() <= super::MOST_ERRORS + 1);
}
