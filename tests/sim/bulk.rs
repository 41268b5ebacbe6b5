//! Bulk operations as kernels: reductions of every type, against plain arithmetic on the elements.

use super::launch::launch;

/// Bytes that are reduced.
const LEN: usize = 256;

/// Instructions, element bytes, and what they make of an old element and an operand.
type Case = (&'static str, usize, fn(u64, u64) -> u64);

fn f32s(f: impl Fn(f32, f32) -> f32, a: u64, b: u64) -> u64 {
    f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into()
}

/// The number that a half stands for, and back: only for numbers that have an exact half.
fn half(bits: u64) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15 & 1, bits >> 10 & 31, bits & 1023);
    let value = match exponent {
        0 => fraction as f32 / 1024.0 * 2f32.powi(-14),
        _ => (1.0 + fraction as f32 / 1024.0) * 2f32.powi(exponent as i32 - 15),
    };
    if sign == 1 { -value } else { value }
}

/// The half of a small integer.
fn to_half(value: f32) -> u64 {
    let single = u64::from(value.to_bits());
    let magnitude = match value == 0.0 {
        true => 0,
        false => (single >> 13 & 0x3_ffff) - ((127 - 15) << 10),
    };
    single >> 16 & 0x8000 | magnitude
}

fn brain(bits: u64) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

const GLOBAL: [Case; 23] = [
    ("and.b32", 4, |a, b| a & b),
    ("or.b32", 4, |a, b| a | b),
    ("xor.b64", 8, |a, b| a ^ b),
    ("and.b64", 8, |a, b| a & b),
    ("inc.u32", 4, |a, b| if a >= b { 0 } else { a + 1 }),
    ("dec.u32", 4, |a, b| if a == 0 || a > b { b } else { a - 1 }),
    ("min.u32", 4, |a, b| a.min(b)),
    ("max.u32", 4, |a, b| a.max(b)),
    ("min.s32", 4, |a, b| u64::from((a as i32).min(b as i32).cast_unsigned())),
    ("max.s32", 4, |a, b| u64::from((a as i32).max(b as i32).cast_unsigned())),
    ("min.u64", 8, |a, b| a.min(b)),
    ("max.u64", 8, |a, b| a.max(b)),
    ("min.s64", 8, |a, b| (a as i64).min(b as i64).cast_unsigned()),
    ("max.s64", 8, |a, b| (a as i64).max(b as i64).cast_unsigned()),
    ("add.u32", 4, |a, b| u64::from((a as u32).wrapping_add(b as u32))),
    ("add.s32", 4, |a, b| u64::from((a as u32).wrapping_add(b as u32))),
    ("add.u64", 8, u64::wrapping_add),
    ("add.f32", 4, |a, b| f32s(|a, b| a + b, a, b)),
    ("add.f64", 8, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits()),
    ("add.noftz.f16", 2, |a, b| to_half(half(a) + half(b))),
    ("min.f16", 2, |a, b| to_half(half(a).min(half(b)))),
    ("add.noftz.bf16", 2, |a, b| {
        u64::from((brain(a) + brain(b)).to_bits() >> 16)
    }),
    ("max.bf16", 2, |a, b| u64::from(brain(a).max(brain(b)).to_bits() >> 16)),
];

/// Elements that every type can add without rounding.
fn elements(name: &str, bytes: usize, salt: u64) -> Vec<u8> {
    let one = |at: u64| {
        let small = (at * 7 + salt * 5) % 13;
        let number = if at % 3 == salt % 2 {
            -(small as f32)
        } else {
            small as f32 + 1.0
        };
        match name.rsplit('.').next().unwrap() {
            "f32" => number.to_bits().into(),
            "f64" => f64::from(number).to_bits(),
            "f16" => to_half(number),
            "bf16" => u64::from(number.to_bits() >> 16),
            _ if name.starts_with("inc") || name.starts_with("dec") => small,
            _ => (at + 1)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(salt as u32 * 9),
        }
    };
    let all =
        (0..(LEN / bytes) as u64).flat_map(|at| one(at).to_le_bytes().into_iter().take(bytes).collect::<Vec<_>>());
    all.collect()
}

fn reduced(case: &Case, target: &[u8], source: &[u8]) -> Vec<u8> {
    let (_, bytes, f) = *case;
    let read = |element: &[u8]| {
        element
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let pairs = target.chunks(bytes).zip(source.chunks(bytes));
    pairs
        .flat_map(|(a, b)| {
            f(read(a), read(b))
                .to_le_bytes()
                .into_iter()
                .take(bytes)
                .collect::<Vec<_>>()
        })
        .collect()
}

const HEAD: &str = "
    .version 9.0
    .target sm_100a
    .address_size 64
    .visible .entry k(.param .u64 in, .param .u64 out)
    {
        .reg .b64 %rd<6>;
        .reg .b32 %r<12>;
        .reg .b16 %h<4>;
        .reg .b128 %q;
        .reg .pred %p<3>;
        .shared .align 128 .b8 from[256];
        .shared .align 128 .b8 to[256];
        .shared .align 16 .b8 answer[16];
        .shared .align 8 .b64 bar;
        ld.param.u64 %rd0, [in];
        ld.param.u64 %rd1, [out];
        mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd2, %r0, 8;
        add.u64 %rd3, %rd0, %rd2;
        add.u64 %rd4, %rd1, %rd2;
        mov.u32 %r1, from;
        mov.u32 %r2, to;
        mov.u32 %r3, bar;
        mov.u32 %r7, answer;
        shl.b32 %r4, %r0, 3;
        add.u32 %r5, %r1, %r4;
        add.u32 %r6, %r2, %r4;
        ld.global.b64 %rd5, [%rd3];
        st.shared.b64 [%r5], %rd5;
        ld.global.b64 %rd5, [%rd4];
        st.shared.b64 [%r6], %rd5;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        mbarrier.init.shared.b64 [%r3], 1;
    READY:
        fence.proxy.async;
        bar.sync 0;
    ";

const TO_BAR: &str = "
        @%p0 bra WAIT;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r3], BYTES;
        OPERATION
    WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;
        @!%p1 bra WAIT;
        ld.shared.b64 %rd5, [%r6];
        st.global.b64 [%rd4], %rd5;
        ret;
    }";

const TO_GROUP: &str = "
        @%p0 bra DONE;
        OPERATION
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
    DONE:
        ret;
    }";

/// What the target is after an operation in the middle of those texts.
fn after(tail: &str, bytes: usize, operation: &str, source: &[u8], target: &[u8]) -> Result<Vec<u8>, String> {
    let tail = tail
        .replace("BYTES", &bytes.to_string())
        .replace("OPERATION", operation);
    let text = format!("{HEAD}{tail}");
    launch(&text, 32, vec![source.to_vec(), target.to_vec()]).map(|mut buffers| buffers.remove(1))
}

#[test]
fn reductions_of_every_type_in_global_memory() {
    for case in &GLOBAL {
        let (name, bytes, _) = *case;
        let (source, target) = (elements(name, bytes, 1), elements(name, bytes, 2));
        let operation = format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{name} [%rd1], [%r1], {LEN};");
        let got = after(TO_GROUP, 0, &operation, &source, &target).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(got, reduced(case, &target, &source), "{name}");
    }
}

#[test]
fn reductions_in_shared_memory() {
    let words = |case: &&Case| case.1 == 4 && !case.0.ends_with("f32") || case.0 == "add.u64";
    for case in GLOBAL.iter().filter(words) {
        let (name, bytes, _) = *case;
        let (source, target) = (elements(name, bytes, 1), elements(name, bytes, 2));
        let bulk = format!(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{name} [%r2], [%r1], {LEN}, [%r3];"
        );
        let got = after(TO_BAR, LEN, &bulk, &source, &target).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(got, reduced(case, &target, &source), "{name}");
        // One element by `red.async`.
        let register = if bytes == 8 { "%rd5" } else { "%r8" };
        let red = format!(
            "ld.shared.b{} {register}, [%r1];\n\
             red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{name} [%r2], {register}, [%r3];",
            8 * bytes
        );
        let got = after(TO_BAR, bytes, &red, &source, &target).unwrap_or_else(|why| panic!("{name}: {why}"));
        let mut expected = target.clone();
        expected[..bytes].copy_from_slice(&reduced(case, &target[..bytes], &source[..bytes]));
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn some_bytes_of_each_sixteen() {
    let (source, target) = (elements("u8", 1, 1), elements("u8", 1, 2));
    let operation =
        "mov.b16 %h0, 0x8421;\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 256, %h0;";
    let got = after(TO_GROUP, 0, operation, &source, &target).unwrap();
    let expected: Vec<u8> = (0..LEN)
        .map(|at| {
            if 0x8421 >> (at % 16) & 1 == 1 {
                source[at]
            } else {
                target[at]
            }
        })
        .collect();
    assert_eq!(got, expected);
}

#[test]
fn zeros_in_bulk() {
    let target = elements("u8", 1, 2);
    let tail = "
        @%p0 bra JOIN;
        add.u32 %r8, %r2, 8;
        st.bulk.weak.shared::cta [%r8], 240, 0;
    JOIN:
        bar.sync 0;
        ld.shared.b64 %rd5, [%r6];
        st.global.b64 [%rd4], %rd5;
        ret;
    }";
    let got = after(tail, 0, "", &target, &target).unwrap();
    let expected: Vec<u8> = (0..LEN)
        .map(|at| if (8..248).contains(&at) { 0 } else { target[at] })
        .collect();
    assert_eq!(got, expected);
}

/// All clusters count as launched, so none can be cancelled any more.
#[test]
fn no_cluster_is_cancelled() {
    let target = vec![1; LEN];
    let tail = "
        @%p0 bra WAIT;
        mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r7], [%r3];
    WAIT:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;
        @!%p1 bra WAIT;
        ld.shared.b128 %q, [%r7];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;
        clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r8, %r9, %r10, %r11}, %q;
        selp.b64 %rd5, 7, 9, %p1;
        st.global.b64 [%rd4], %rd5;
        ret;
    }";
    let got = after(tail, 0, "", &target, &target).unwrap();
    assert!(got.as_chunks::<8>().0.iter().all(|long| u64::from_le_bytes(*long) == 9));
}

/// What is reduced into, and read before it is waited for.
#[test]
fn waiting_is_asked_for() {
    let target = elements("u32", 4, 2);
    let tail = TO_GROUP.replace("cp.async.bulk.wait_group 0;", "ld.global.u32 %r8, [%rd1+4];");
    let operation = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 256;";
    let why = after(&tail, 0, operation, &target, &target).unwrap_err();
    assert!(why.contains("has not been waited for"), "{why}");
    // Atomics take turns with it.
    let tail = TO_GROUP.replace(
        "cp.async.bulk.wait_group 0;",
        "red.global.add.u32 [%rd1+4], 0;\ncp.async.bulk.wait_group 0;",
    );
    assert!(after(&tail, 0, operation, &target, &target).is_ok());
}

#[test]
fn what_is_discarded_holds_nothing() {
    let target = elements("u32", 4, 2);
    let tail = "
        @%p0 bra DONE;
        discard.global.L2 [%rd1], 128;
        ld.global.u32 %r8, [%rd1+PLACE];
    DONE:
        ret;
    }";
    let run = |place: &str| after(&tail.replace("PLACE", place), 0, "", &target, &target);
    assert!(run("124").unwrap_err().contains("nothing has written"));
    assert!(run("128").is_ok());
}
