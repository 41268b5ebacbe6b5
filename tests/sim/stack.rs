//! The stack as kernels see it.

use super::launch::launch;

/// The sum of an array that each call has of its own, and that calls below write through a pointer: each call fills its array
/// with its depth, calls itself, and adds what is in it afterwards; every call adds one to its caller's first element.
const RECURSIVE: &str = "
    .version 7.3
    .target sm_70
    .address_size 64
    .func (.reg .b32 sum) deep (.reg .b32 depth, .reg .b64 above)
    {
        .local .align 8 .b8 mine[16];
        .local .align 4 .b32 other;
        .reg .b64 %rd<3>;
        .reg .b32 %r<8>;
        .reg .pred %p;
        mov.u64 %rd1, mine;
        cvta.local.u64 %rd2, %rd1;
        st.local.b32 [%rd1], depth;
        st.local.b32 [mine+4], depth;
        st.local.b32 [other], depth;
        ld.b32 %r1, [above];
        add.u32 %r1, %r1, 1;
        st.b32 [above], %r1;
        mov.b32 sum, 0;
        setp.eq.u32 %p, depth, 0;
        @%p bra DONE;
        sub.u32 %r2, depth, 1;
        call (%r3), deep, (%r2, %rd2);
        ld.local.b32 %r4, [mine];
        ld.local.b32 %r5, [%rd1+4];
        ld.local.b32 %r6, [other];
        add.u32 sum, %r3, %r4;
        add.u32 sum, sum, %r5;
        add.u32 sum, sum, %r6;
    DONE:
        ret;
    }
    .visible .entry k(.param .u64 out)
    {
        .local .align 4 .b32 first;
        .reg .b64 %rd<4>;
        .reg .b32 %r<5>;
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 8;
        add.u64 %rd1, %rd1, %rd2;
        mov.u64 %rd3, first;
        cvta.local.u64 %rd3, %rd3;
        st.local.b32 [first], 40;
        and.b32 %r2, %r1, 3;
        call (%r3), deep, (%r2, %rd3);
        ld.local.b32 %r4, [first];
        st.global.v2.b32 [%rd1], {%r3, %r4};
        ret;
    }";

#[test]
fn every_call_has_its_own_arrays() {
    let after = launch(RECURSIVE, 64, vec![vec![0; 512]]).unwrap();
    for (thread, pair) in after[0].as_chunks::<8>().0.iter().enumerate() {
        let depth = thread as u32 & 3;
        // Each call but the last adds its depth three times, and the one that the call below it added.
        let sum: u32 = (1..=depth).map(|depth| 3 * depth + 1).sum();
        assert_eq!(u64::from_le_bytes(*pair), u64::from(sum) | 41 << 32, "thread {thread}");
    }
}

/// A call does not see what an earlier one left in its array.
#[test]
fn arrays_begin_unwritten() {
    let text = RECURSIVE.replace("st.local.b32 [mine+4], depth;", "");
    assert!(launch(&text, 1, vec![vec![0; 512]]).is_ok(), "depth 0 reads nothing");
    assert!(
        launch(&text, 2, vec![vec![0; 512]])
            .unwrap_err()
            .contains("nothing has written")
    );
}

fn with_stack(body: &str) -> String {
    format!(
        ".version 7.3\n.target sm_70\n.address_size 64\n\
         .func (.reg .b32 got) inner (.reg .b32 size)\n{{\n.reg .b64 %rd<3>;\ncvt.u64.u32 %rd1, size;\nalloca.u64 %rd2, %rd1;\n\
         st.local.b32 [%rd2], size;\nld.local.b32 got, [%rd2];\nret;\n}}\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<10>;\n.reg .b32 %r<10>;\n.reg .pred %p;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 8;\nadd.u64 %rd1, %rd1, %rd2;\n\
         add.u32 %r2, %r1, 1;\nmul.wide.u32 %rd3, %r2, 4;\n{body}\nst.global.b64 [%rd1], %rd9;\nret;\n}}"
    )
}

fn run(body: &str) -> Result<Vec<u64>, String> {
    let after = launch(&with_stack(body), 32, vec![vec![0; 256]])?;
    Ok(after[0]
        .as_chunks::<8>()
        .0
        .iter()
        .map(|long| u64::from_le_bytes(*long))
        .collect())
}

#[test]
fn memory_is_taken_and_given_back() {
    // What is taken is aligned; what was saved is where the stack ends again; a call gives back what it took.
    let got = run("
        stacksave.u64 %rd4;
        alloca.u64 %rd5, %rd3, 64;
        st.local.b32 [%rd5], %r1;
        call (%r3), inner, (%r2);
        alloca.u64 %rd6, 4;
        st.local.b32 [%rd6], %r3;
        ld.local.b32 %r4, [%rd5];
        and.b64 %rd7, %rd5, 63;
        sub.u64 %rd8, %rd5, %rd6;
        stackrestore.u64 %rd4;
        stacksave.u64 %rd9;
        sub.u64 %rd9, %rd4, %rd9;
        shl.b64 %rd9, %rd9, 8;
        or.b64 %rd9, %rd9, %rd7;
        shl.b64 %rd9, %rd9, 8;
        or.b64 %rd9, %rd9, %rd8;
        mov.b64 %rd8, {%r4, %r3};
        shl.b64 %rd8, %rd8, 16;
        or.b64 %rd9, %rd9, %rd8;");
    for (thread, value) in got.unwrap().into_iter().enumerate() {
        let thread = thread as u64;
        assert_eq!(value, 8 | thread << 16 | (thread + 1) << 48);
    }
}

#[test]
fn what_is_not_taken_is_out_of_bounds() {
    let why = run("stacksave.u64 %rd4;\nmov.b64 %rd9, 0;\nst.local.b32 [%rd4], %r1;").unwrap_err();
    assert!(why.contains("the stack"), "{why}");
    let why = run("alloca.u64 %rd4, 8;\nld.local.b64 %rd9, [%rd4];").unwrap_err();
    assert!(why.contains("nothing has written"), "{why}");
    let why = run("alloca.u64 %rd4, 1000000;\nmov.b64 %rd9, 0;").unwrap_err();
    assert!(why.contains("unsupported") && why.contains("stack"), "{why}");
}
