//! The assembler that every other comparison trusts accepts a good module and rejects a bad one.

mod common;

const GOOD: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 out)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 7;
    ret;
}
";

#[test]
fn accepts_a_good_module() {
    if common::ptxas().is_none() {
        return;
    }
    assert_eq!(common::assemble(GOOD, "sm_80"), Ok(()));
    assert_eq!(common::assemble(GOOD, "sm_90a"), Ok(()));
    assert_eq!(common::assemble(GOOD, "compute_80"), Ok(()));
}

#[test]
fn rejects_a_bad_module_and_says_where() {
    if common::ptxas().is_none() {
        return;
    }
    let bad = GOOD.replace("st.global.u32", "st.global.q32");
    let message = common::assemble(&bad, "sm_80").unwrap_err();
    assert!(message.contains("kernel.ptx, line 8;"), "{message}");
}
