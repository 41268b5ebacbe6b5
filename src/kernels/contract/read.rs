//! Reads contracts from YAML, with the place of everything that is wrong.

use super::expr::Expr;
use super::family::Family;
use super::plan::GRID;
use super::reference::{ELEMENTWISE, REFERENCES, Reference, Shape};
use super::{
    Against, BufferSpec, Check, Claim, Contract, LaunchSpec, Measure, Near, OwnBuffer, Property, Role, TensorSpec,
};
use crate::kernels::spec::yaml::{self, Node, Spanned, YamlError};
use crate::kernels::{KERNELS, KernelInfo, Value};
use crate::ptx::source::Span;
use crate::ptx::types::Type;

type Entries = Vec<(Spanned<String>, Spanned<Node>)>;

/// Reads a contract.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read(text: &str) -> Result<Contract, YamlError> {
    let mut root = yaml::read(text, "a contract")?;
    as_written(&mut root, text);
    let mut map = Map::new("a contract", root, KEYS)?;
    let kernel = map.optional("kernel").map(|node| kernel(&node)).transpose()?;
    let named = map.required("contract")?;
    let (name, reference) = (word(&named)?, map.required("reference")?);
    let reference = find_reference(&reference)?;
    let expression = map.optional("expression").map(|node| expr(&node)).transpose()?;
    match (&expression, reference.name == ELEMENTWISE) {
        (None, true) => return Err(map.error("an elementwise contract has an `expression`")),
        (Some(_), false) => return Err(map.error(format!("`{}` has no `expression`", reference.name))),
        _ => {}
    }
    let shapes = shapes(map.required("shapes")?, kernel, reference)?;
    let own = kernel.is_none();
    let buffers = map.required("buffers")?;
    let buffers: Vec<BufferSpec> = Map::any("`buffers`", buffers)?
        .into_iter()
        .map(|(name, node)| buffer(name, node, reference, own))
        .collect::<Result<_, _>>()?;
    let tensors = match map.optional("tensors") {
        None => Vec::new(),
        Some(node) if own => Map::any("`tensors`", node)?
            .into_iter()
            .map(|(name, node)| tensor(name, node, &buffers))
            .collect::<Result<_, _>>()?,
        Some(node) => {
            let message = "a kernel of ours has no tensor maps";
            return Err(YamlError::new(message, node.referenced));
        }
    };
    let launches = match (map.optional("launches"), own) {
        (Some(node), true) => list(node)?.into_iter().map(launch).collect::<Result<_, _>>()?,
        (None, true) => return Err(map.error("the key `launches` is missing")),
        (Some(node), false) => {
            let message = "a kernel of ours has its own launches";
            return Err(YamlError::new(message, node.referenced));
        }
        (None, false) => Vec::new(),
    };
    let families = match map.optional("inputs") {
        None => Family::ALL
            .iter()
            .copied()
            .filter(|family| family.is_finite())
            .collect(),
        Some(node) => list(node)?
            .iter()
            .map(|node| one_of(node, "kind of input", Family::ALL, Family::word))
            .collect::<Result<_, _>>()?,
    };
    let claims = list(map.required("claims")?)?;
    let claims = claims
        .into_iter()
        .map(|node| claim(node, reference, &shapes))
        .collect::<Result<_, _>>()?;
    let mut contract = Contract {
        name,
        at: span(&named),
        kernel,
        reference,
        expression,
        shapes,
        buffers,
        tensors,
        launches,
        families,
        claims,
    };
    contract.complete();
    Ok(contract)
}

const KEYS: &[&str] = &[
    "contract",
    "kernel",
    "reference",
    "expression",
    "shapes",
    "buffers",
    "tensors",
    "launches",
    "inputs",
    "claims",
];

/// YAML reads `y`, `no` and `on` as true and false; in a contract they are names.
fn as_written(node: &mut Spanned<Node>, text: &str) {
    let at = node.referenced;
    match &mut node.value {
        Node::Scalar(Value::Word(word)) if word == "true" || word == "false" => {
            if let Some(written) = yaml::source(text, at) {
                written.clone_into(word);
            }
        }
        Node::List(items) => items.iter_mut().for_each(|item| as_written(item, text)),
        Node::Map(entries) => entries.iter_mut().for_each(|(_, value)| as_written(value, text)),
        _ => {}
    }
}

/// A mapping whose keys are taken one by one.
struct Map {
    what: &'static str,
    at: yaml::Location,
    entries: Entries,
}

impl Map {
    fn any(what: &str, node: Spanned<Node>) -> Result<Entries, YamlError> {
        match node.value {
            Node::Map(entries) => Ok(entries),
            _ => Err(YamlError::new(format!("{what} is a mapping"), node.referenced)),
        }
    }

    fn new(what: &'static str, node: Spanned<Node>, keys: &[&str]) -> Result<Self, YamlError> {
        let at = node.referenced;
        let entries = Self::any(what, node)?;
        if let Some((key, _)) = entries.iter().find(|(key, _)| !keys.contains(&key.value.as_str())) {
            let message = format!("unknown key `{}`; {what} has {}", key.value, quoted(keys));
            return Err(YamlError::new(message, key.referenced));
        }
        Ok(Self { what, at, entries })
    }

    fn optional(&mut self, key: &str) -> Option<Spanned<Node>> {
        let at = self.entries.iter().position(|(name, _)| name.value == key)?;
        Some(self.entries.remove(at).1)
    }

    fn required(&mut self, key: &str) -> Result<Spanned<Node>, YamlError> {
        self.optional(key)
            .ok_or_else(|| YamlError::new(format!("the key `{key}` is missing in {}", self.what), self.at))
    }

    fn error(&self, message: impl Into<String>) -> YamlError {
        YamlError::new(message, self.at)
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

fn list(node: Spanned<Node>) -> Result<Vec<Spanned<Node>>, YamlError> {
    match node.value {
        Node::List(items) if !items.is_empty() => Ok(items),
        _ => Err(YamlError::new(
            "this is a list, with at least one item",
            node.referenced,
        )),
    }
}

fn word(node: &Spanned<Node>) -> Result<String, YamlError> {
    match &node.value {
        Node::Scalar(Value::Word(word)) => Ok(word.clone()),
        _ => Err(YamlError::new("this is a word or a sentence", node.referenced)),
    }
}

fn expr(node: &Spanned<Node>) -> Result<Expr, YamlError> {
    let text = match &node.value {
        Node::Scalar(value) => value.to_string(),
        _ => return Err(YamlError::new("this is a number or an expression", node.referenced)),
    };
    Expr::read(&text).map_err(|why| YamlError::new(why, node.referenced))
}

fn exprs(node: Spanned<Node>) -> Result<Vec<Expr>, YamlError> {
    list(node)?.iter().map(expr).collect()
}

/// The item of a list of words.
fn one_of<T: Copy>(node: &Spanned<Node>, what: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, YamlError> {
    let given = match &node.value {
        Node::Scalar(value) => value.to_string(),
        _ => String::new(),
    };
    let found = all.iter().copied().find(|item| name(*item) == given);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|item| name(*item)).collect();
        YamlError::new(
            format!("there is no {what} `{given}`; there are {}", quoted(&names)),
            node.referenced,
        )
    })
}

fn kernel(node: &Spanned<Node>) -> Result<&'static KernelInfo, YamlError> {
    let all: Vec<&'static KernelInfo> = KERNELS.iter().collect();
    one_of(node, "kernel", &all, |kernel| kernel.name)
}

fn find_reference(node: &Spanned<Node>) -> Result<&'static Reference, YamlError> {
    let all: Vec<&'static Reference> = REFERENCES.iter().collect();
    one_of(node, "reference", &all, |reference| reference.name)
}

fn shapes(
    node: Spanned<Node>,
    kernel: Option<&'static KernelInfo>,
    reference: &Reference,
) -> Result<Vec<Shape>, YamlError> {
    list(node)?
        .into_iter()
        .map(|node| shape(node, kernel, reference))
        .collect()
}

fn shape(node: Spanned<Node>, kernel: Option<&'static KernelInfo>, reference: &Reference) -> Result<Shape, YamlError> {
    let at = node.referenced;
    let mut shape = Shape::new();
    for (key, node) in Map::any("a shape", node)? {
        let Node::Scalar(value) = node.value else {
            return Err(YamlError::new("this is a number or a word", node.referenced));
        };
        if let Some(kernel) = kernel.filter(|_| key.value != GRID) {
            let Some(param) = kernel.param(&key.value) else {
                let names: Vec<_> = kernel.params.iter().map(|param| param.name).collect();
                let message = format!(
                    "`{}` has no parameter `{}`; it has {}",
                    kernel.name,
                    key.value,
                    quoted(&names)
                );
                return Err(YamlError::new(message, key.referenced));
            };
            param
                .check(&value)
                .map_err(|error| YamlError::new(error.to_string(), node.referenced))?;
        }
        shape.insert(key.value, value);
    }
    for param in kernel.iter().flat_map(|kernel| kernel.params) {
        shape.entry(param.name.to_owned()).or_insert_with(param.default);
    }
    let is_length = |dim: &&&str| {
        let length = super::reference::number(&shape, dim);
        length.is_some_and(|len| len >= 1.0 && len.fract() == 0.0 && len < 1e12)
    };
    match reference.dims.iter().find(|dim| !is_length(dim)) {
        Some(dim) => {
            let message = format!(
                "a shape of `{}` gives `{dim}`, a whole number from 1 on",
                reference.name
            );
            Err(YamlError::new(message, at))
        }
        None => Ok(shape),
    }
}

const ROLES: &[(&str, Role)] = &[
    ("in", Role::In),
    ("out", Role::Out),
    ("inout", Role::InOut),
    ("scratch", Role::Scratch),
];

const TYPES: &[Type] = &[
    Type::F16,
    Type::Bf16,
    Type::F32,
    Type::F64,
    Type::U8,
    Type::S8,
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
];

fn buffer(
    name: Spanned<String>,
    node: Spanned<Node>,
    reference: &Reference,
    own: bool,
) -> Result<BufferSpec, YamlError> {
    let at = node.referenced;
    if !own {
        let operand = word(&node)?;
        known_operand(&operand, reference, at)?;
        return Ok(BufferSpec {
            name: name.value,
            operand,
            own: None,
        });
    }
    let mut map = Map::new("a buffer", node, &["role", "type", "shape", "is"])?;
    let role = one_of(&map.required("role")?, "role", ROLES, |role| role.0)?.1;
    let ty = one_of(&map.required("type")?, "type", TYPES, Type::name)?;
    let shape = exprs(map.required("shape")?)?;
    let operand = match map.optional("is") {
        Some(node) => word(&node)?,
        None if reference.name == ELEMENTWISE && role == Role::Out => "out".to_owned(),
        None => name.value.clone(),
    };
    if role == Role::InOut && reference.name != ELEMENTWISE {
        return Err(YamlError::new("only an elementwise kernel has `inout` buffers", at));
    }
    if role != Role::Scratch && reference.name != ELEMENTWISE {
        known_operand(&operand, reference, at)?;
        let operands = if role == Role::In {
            reference.inputs
        } else {
            reference.outputs
        };
        if !operands.iter().any(|known| known.name == operand) {
            let message = format!("`{operand}` of `{}` goes the other way", reference.name);
            return Err(YamlError::new(message, at));
        }
    }
    Ok(BufferSpec {
        name: name.value,
        operand,
        own: Some(OwnBuffer { role, ty, shape }),
    })
}

/// Swizzling by its bytes.
const SWIZZLES: &[(&str, u32)] = &[("none", 0), ("32", 32), ("64", 64), ("128", 128)];
/// What is outside of a tensor.
const FILLS: &[(&str, bool)] = &[("zero", false), ("nan", true)];

fn tensor(name: Spanned<String>, node: Spanned<Node>, buffers: &[BufferSpec]) -> Result<TensorSpec, YamlError> {
    let mut map = Map::new("a tensor map", node, &["over", "box", "swizzle", "fill"])?;
    let over = map.required("over")?;
    let buffer = word(&over)?;
    if !buffers.iter().any(|known| known.name == buffer) {
        return Err(YamlError::new(
            format!("there is no buffer `{buffer}`"),
            over.referenced,
        ));
    }
    Ok(TensorSpec {
        name: name.value,
        buffer,
        size: exprs(map.required("box")?)?,
        swizzle: match map.optional("swizzle") {
            Some(node) => one_of(&node, "swizzle", SWIZZLES, |swizzle| swizzle.0)?.1,
            None => 0,
        },
        nan: match map.optional("fill") {
            Some(node) => one_of(&node, "fill", FILLS, |fill| fill.0)?.1,
            None => false,
        },
    })
}

fn known_operand(name: &str, reference: &Reference, at: yaml::Location) -> Result<(), YamlError> {
    let operands: Vec<_> = reference
        .inputs
        .iter()
        .chain(reference.outputs)
        .map(|operand| operand.name)
        .collect();
    if operands.contains(&name) || name == "scratch" {
        return Ok(());
    }
    let message = format!(
        "`{}` has no operand `{name}`; it has {}",
        reference.name,
        quoted(&operands)
    );
    Err(YamlError::new(message, at))
}

fn launch(node: Spanned<Node>) -> Result<LaunchSpec, YamlError> {
    let keys = &["entry", "grid", "block", "cluster", "dynamic_shared", "args"];
    let mut map = Map::new("a launch", node, keys)?;
    let sizes = |node: Option<Spanned<Node>>| match node {
        None => Ok(Vec::new()),
        Some(node) => {
            let at = node.referenced;
            let sizes = exprs(node)?;
            match sizes.len() {
                1..=3 => Ok(sizes),
                _ => Err(YamlError::new("these are one to three lengths", at)),
            }
        }
    };
    Ok(LaunchSpec {
        entry: word(&map.required("entry")?)?,
        grid: sizes(Some(map.required("grid")?))?,
        block: sizes(map.optional("block"))?,
        cluster: sizes(map.optional("cluster"))?,
        dynamic_shared: map.optional("dynamic_shared").map(|node| expr(&node)).transpose()?,
        args: exprs(map.required("args")?)?,
    })
}

/// A tolerance: a number that every shape gives, above 0.
fn tolerance(node: &Spanned<Node>, shapes: &[Shape]) -> Result<Expr, YamlError> {
    let tolerance = expr(node)?;
    for shape in shapes {
        let value = super::plan::value(&tolerance, shape).map_err(|why| YamlError::new(why, node.referenced))?;
        if !(value > 0.0 && value.is_finite()) {
            let message = format!("a tolerance is a number above 0; this is {value}");
            return Err(YamlError::new(message, node.referenced));
        }
    }
    Ok(tolerance)
}

/// Where a node stands in the text.
fn span(node: &Spanned<Node>) -> Span {
    let at = node.referenced.span();
    let byte = |at: Option<u64>| at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0);
    let start = byte(at.byte_offset());
    Span::new(start, start + byte(at.byte_len()))
}

fn claim(node: Spanned<Node>, reference: &Reference, shapes: &[Shape]) -> Result<Claim, YamlError> {
    let keys = &[
        "claim",
        "says",
        "holds",
        "output",
        "against",
        "tolerance",
        "relative_to",
    ];
    let mut map = Map::new("a claim", node, keys)?;
    let named = map.required("claim")?;
    let (id, at) = (word(&named)?, span(&named));
    let says = map.optional("says").map(|node| word(&node)).transpose()?;
    if let Some(node) = map.optional("holds") {
        let property = one_of(&node, "property", Property::ALL, Property::word)?;
        if let Some((key, _)) = map.entries.first() {
            let message = format!("a claim that a property `holds` has no `{}`", key.value);
            return Err(YamlError::new(message, key.referenced));
        }
        let says = says.unwrap_or_else(|| property.says().to_owned());
        return Ok(Claim {
            id,
            says,
            at,
            check: Check::Holds(property),
        });
    }
    let output = map.required("output")?;
    let place = output.referenced;
    let output = word(&output)?;
    let is_output = |operand: &super::reference::Operand| operand.name == output;
    let is_known = reference.outputs.iter().any(is_output) || (reference.name == ELEMENTWISE && output == "out");
    if !is_known {
        return Err(YamlError::new(
            format!("`{}` has no output `{output}`", reference.name),
            place,
        ));
    }
    let against = match map.optional("against") {
        None => Against::Exact,
        Some(node) => {
            let against = one_of(&node, "comparison", Against::ALL, Against::word)?;
            let lacks = (against == Against::Differences && reference.differences.is_none())
                || (against == Against::Separate && !super::separate::is_known(reference));
            if lacks {
                let message = format!("`{}` cannot be compared with {}", reference.name, against.word());
                return Err(YamlError::new(message, node.referenced));
            }
            against
        }
    };
    let tolerance = tolerance(&map.required("tolerance")?, shapes)?;
    let relative_to = match map.optional("relative_to") {
        None => Measure::Max,
        Some(node) => one_of(&node, "measure", Measure::ALL, Measure::word)?,
    };
    let says = says.unwrap_or_else(|| format!("{output} is within {tolerance} of {}", against.word()));
    let check = Check::Near(Near {
        output,
        against,
        tolerance,
        relative_to,
    });
    Ok(Claim { id, says, at, check })
}
