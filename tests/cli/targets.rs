//! `ptxgen targets`.

use super::json::schema;
use super::run::{err, out, ptxgen, ptxgen_reading, status, transcript};
use super::schema::violations;
use serde_json::Value;

fn fixture(name: &str) -> String {
    format!("tests/fixtures/targets/{name}.ptx")
}

fn targets(name: &str) -> String {
    transcript(&ptxgen(&["targets", &fixture(name)]))
}

#[test]
fn needs_are_shown_with_what_asks_for_them() {
    for name in ["cluster", "attributes", "old", "short", "conflict", "gone", "unknown"] {
        insta::with_settings!({ snapshot_path => "../snapshots" }, {
            insta::assert_snapshot!(format!("targets_{name}"), targets(name));
        });
    }
}

#[test]
fn headers_that_state_less_are_status_1() {
    for (name, wanted) in [
        ("cluster", 0),
        ("old", 0),
        ("short", 1),
        ("conflict", 1),
        ("gone", 0),
        ("unknown", 1),
    ] {
        assert_eq!(status(&ptxgen(&["targets", &fixture(name)])), wanted, "{name}");
    }
    assert_eq!(status(&ptxgen(&["targets", &fixture("none"), &fixture("old")])), 2);
    assert_eq!(status(&ptxgen(&["targets", "-", "-"])), 2);
}

#[test]
fn the_json_keeps_to_its_schema() {
    let files = ["cluster", "short", "conflict", "unknown", "none"].map(fixture);
    let mut args = vec!["targets", "--format", "json"];
    args.extend(files.iter().map(String::as_str));
    let output = ptxgen(&args);
    assert_eq!(status(&output), 2);
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    let schema = schema("targets");
    assert_eq!(violations(&schema, &schema, &report, "$"), Vec::<String>::new());
    let modules = report["modules"].as_array().unwrap();
    assert_eq!(modules.len(), 4);
    assert_eq!(modules[0]["needs"]["target"], "sm_90");
    assert_eq!(modules[0]["needs"]["cuda"], "12.0");
    assert_eq!(modules[2]["needs"]["target"], Value::Null);
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_json_snapshot!("targets_json", modules[1]);
    });
}

#[test]
fn a_fragment_needs_no_header() {
    let output = ptxgen_reading(&["targets", "--target", "sm_90", "-"], b"cp.async.wait_all;\n");
    insta::assert_snapshot!(transcript(&output), @"
    status: 0
    --- stdout
    <stdin>: needs .version 7.0 and .target sm_80
      PTX 7.0 came with CUDA 11.0 and driver r445
      it states .version 9.5 and .target sm_90
      kernel fragment (line 1): needs .version 7.0 and .target sm_80
        7.0 and sm_80: <stdin>:1:1: cp.async.wait_all
    --- stderr
    ");
    let output = ptxgen_reading(&["targets", "-"], b"cp.async.wait_all;\n");
    assert_eq!(status(&output), 2);
    assert!(err(&output).contains("--target sm_80"), "{}", err(&output));
}

#[test]
fn every_module_of_a_listing_is_looked_at() {
    let output = ptxgen(&["targets", "tests/fixtures/dialects/listing.ptx"]);
    insta::assert_snapshot!(transcript(&output), @"
    status: 0
    --- stdout
    tests/fixtures/dialects/listing.ptx: needs .version 2.3 and .target sm_10
      PTX 2.3 came with CUDA 4.0 and driver r270
      it states .version 8.0 and .target sm_80
      2.3: tests/fixtures/dialects/listing.ptx:22:1: .address_size 64
      kernel first (line 24): needs .version 1.0 and .target sm_10
    tests/fixtures/dialects/listing.ptx: needs .version 7.8 and .target sm_90
      PTX 7.8 came with CUDA 11.8 and driver r520
      it states .version 8.0 and .target sm_90
      kernel second (line 42): needs .version 7.8 and .target sm_90
        7.8 and sm_90: tests/fixtures/dialects/listing.ptx:44:2: barrier.cluster.arrive
    --- stderr
    ");
}
