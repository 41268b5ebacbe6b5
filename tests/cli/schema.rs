//! A validator for as much of JSON Schema as the schemas here use.

use serde_json::Value;

/// Words that say nothing about what is valid, or that are for other validators: regular expressions and formats.
const SILENT: [&str; 11] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "format",
    "pattern",
    "required",
    "additionalProperties",
];

/// What in `value` breaks `rule`, one line each.
pub fn violations(root: &Value, rule: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (word, rule) in rule.as_object().into_iter().flatten() {
        problems.extend(word_violations(root, word, rule, value, at));
    }
    for key in rule["required"].as_array().into_iter().flatten() {
        if value.is_object() && value.get(key.as_str().unwrap()).is_none() {
            problems.push(format!("{at}: {key} is required"));
        }
    }
    problems.extend(strangers(root, rule, value, at));
    problems
}

fn word_violations(root: &Value, word: &str, rule: &Value, value: &Value, at: &str) -> Vec<String> {
    let count = |rules: &Value| {
        let fits = |rule: &&Value| violations(root, rule, value, at).is_empty();
        rules.as_array().unwrap().iter().filter(fits).count()
    };
    let holds = match word {
        "$ref" => {
            let rule = root.pointer(rule.as_str().unwrap().trim_start_matches('#'));
            return violations(root, rule.expect("a reference leads somewhere"), value, at);
        }
        "properties" => {
            let members = value.as_object().into_iter().flatten();
            let known = members.filter_map(|(key, member)| Some((key, rule.get(key)?, member)));
            return known
                .flat_map(|(key, rule, member)| violations(root, rule, member, &format!("{at}.{key}")))
                .collect();
        }
        "items" => {
            let items = value.as_array().into_iter().flatten().enumerate();
            return items
                .flat_map(|(index, item)| violations(root, rule, item, &format!("{at}[{index}]")))
                .collect();
        }
        "type" => match rule {
            Value::String(kind) => is(kind, value),
            kinds => kinds
                .as_array()
                .unwrap()
                .iter()
                .any(|kind| is(kind.as_str().unwrap(), value)),
        },
        "const" => rule == value,
        "enum" => rule.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|n| n >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|n| n <= rule.as_f64().unwrap()),
        "minItems" => value
            .as_array()
            .is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "uniqueItems" => value.as_array().is_none_or(|items| {
            let repeated = |at: &usize| items[..*at].contains(&items[*at]);
            rule == &Value::Bool(false) || !(0..items.len()).any(|at| repeated(&at))
        }),
        "anyOf" => count(rule) > 0,
        "oneOf" => count(rule) == 1,
        silent if SILENT.contains(&silent) => true,
        other => panic!("a word that the validator does not know: {other}"),
    };
    match holds {
        true => Vec::new(),
        false => vec![format!("{at}: {word} is {rule}, got {value}")],
    }
}

/// Members that the rule does not name, as far as it forbids them or says what they must be.
fn strangers(root: &Value, rule: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (key, member) in value.as_object().into_iter().flatten() {
        if rule["properties"].get(key).is_some() {
            continue;
        }
        match &rule["additionalProperties"] {
            Value::Null | Value::Bool(true) => {}
            Value::Bool(false) => problems.push(format!("{at}: unknown member {key}")),
            rule => problems.extend(violations(root, rule, member, &format!("{at}.{key}"))),
        }
    }
    problems
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("a type the validator does not know: {other}"),
    }
}

#[test]
fn faults_are_seen() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {
            "a": { "type": ["integer", "null"], "minimum": 1 },
            "b": { "type": "array", "minItems": 1, "uniqueItems": true, "items": { "$ref": "#/$defs/word" } },
        },
        "$defs": { "word": { "enum": ["x", "y"] } },
    });
    let faults = |value: Value| violations(&schema, &schema, &value, "$").len();
    assert_eq!(faults(serde_json::json!({ "a": 1, "b": ["x", "y"] })), 0);
    assert_eq!(faults(serde_json::json!({ "a": null })), 0);
    for value in [
        serde_json::json!([]),
        serde_json::json!({}),
        serde_json::json!({ "a": 0 }),
        serde_json::json!({ "a": 1, "b": [] }),
        serde_json::json!({ "a": 1, "b": ["x", "x"] }),
        serde_json::json!({ "a": 1, "b": ["z"] }),
        serde_json::json!({ "a": 1, "c": 1 }),
    ] {
        assert_eq!(faults(value.clone()), 1, "{value}");
    }
}
