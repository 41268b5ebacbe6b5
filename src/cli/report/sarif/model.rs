//! The objects of SARIF that the report uses, by their names in the standard.

use crate::cli::report::{launches, witness::Object};
use serde::Serialize;

/// Where the standard's own schema is.
pub(super) const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Serialize)]
pub(super) struct Log<'a> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [OneRun<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneRun<'a> {
    pub(super) tool: Tool,
    pub(super) invocations: [Invocation<'a>; 1],
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<ResultObject<'a>>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub(super) driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) short_description: Text,
    pub(super) help: Help,
    pub(super) default_configuration: Configuration,
    pub(super) properties: Properties,
}

#[derive(Serialize)]
pub(super) struct Help {
    pub(super) text: String,
    pub(super) markdown: String,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub(super) enabled: bool,
    pub(super) level: &'static str,
}

#[derive(Serialize)]
pub(super) struct Properties {
    pub(super) tags: [&'static str; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation<'a> {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) properties: Option<InvocationProperties<'a>>,
}

#[derive(Serialize)]
pub(super) struct InvocationProperties<'a> {
    pub(super) launches: Vec<launches::Object<'a>>,
}

#[derive(Serialize)]
pub(super) struct Notification<'a> {
    pub(super) level: &'static str,
    pub(super) message: Text,
    pub(super) locations: Vec<Location<'a>>,
}

/// `result` in the standard.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultObject<'a> {
    pub(super) rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: &'static str,
    pub(super) message: Text,
    pub(super) locations: [Location<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location<'a>>,
    pub(super) partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fixes: Option<[Fix<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) properties: Option<ResultProperties<'a>>,
}

/// What the standard leaves to each tool.
#[derive(Serialize)]
pub(super) struct ResultProperties<'a> {
    /// As in the JSON report.
    pub(super) witness: Object<'a>,
}

#[derive(Serialize)]
pub(super) struct Fingerprints {
    #[serde(rename = "ptxgenStatement/v1")]
    pub(super) statement: String,
}

#[derive(Serialize)]
pub(super) struct Text {
    pub(super) text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u32>,
    pub(super) physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logical_locations: Option<[Logical<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Physical {
    pub(super) artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

#[derive(Serialize)]
pub(super) struct Artifact {
    pub(super) uri: String,
}

/// Lines and columns start at 1; the end is just past the last character.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct Logical<'a> {
    pub(super) name: &'a str,
    pub(super) kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fix<'a> {
    pub(super) description: Text,
    pub(super) artifact_changes: [Change<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Change<'a> {
    pub(super) artifact_location: Artifact,
    pub(super) replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement<'a> {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: Content<'a>,
}

#[derive(Serialize)]
pub(super) struct Content<'a> {
    pub(super) text: &'a str,
}
