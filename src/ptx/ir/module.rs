//! Modules: header, variables, functions.

use super::{Body, Imm};
use crate::ptx::types::{Space, Type};

/// A name with module-wide identity: index into [`Module::symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// A function: index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FuncId(pub u32);

impl SymbolId {
    /// The id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FuncId {
    /// The id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A translation unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version`, `.target`, `.address_size`.
    pub header: Header,
    /// What follows the header, in textual order.
    pub items: Vec<Item>,
    /// Functions, prototypes included, in textual order.
    pub functions: Vec<Function>,
    /// Every named variable, parameter and function, those inside functions included.
    pub symbols: Vec<Symbol>,
}

/// The directives that open a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// `.version major.minor` as written; `None` where it is missing.
    pub version: Option<Box<str>>,
    /// The words of `.target`: `sm_90a`, `debug`, `texmode_unified`, ...
    pub target: Vec<Box<str>>,
    /// `.address_size` in bits; `None` where it is not stated (then 32 before PTX 2.3, else as the target).
    pub address_size: Option<u32>,
}

/// Something at module scope.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A variable.
    Variable(SymbolId),
    /// A function, kernel or prototype.
    Function(FuncId),
    /// `.file` with its arguments as written.
    File(Box<str>),
    /// `.section` with its whole body, kept to the letter.
    Section(Box<str>),
    /// `.pragma` with its string, without quotes.
    Pragma(Box<str>),
    /// `.alias name, aliasee;`
    Alias(SymbolId, SymbolId),
    /// A directive kept as it was written.
    Raw(Box<str>),
}

/// Something with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// The name as written.
    pub name: Box<str>,
    /// What it names.
    pub kind: SymbolKind,
}

/// What a [`Symbol`] names.
#[derive(Clone, Debug, PartialEq)]
pub enum SymbolKind {
    /// A variable or parameter.
    Variable(Box<Variable>),
    /// A function.
    Function(FuncId),
    /// Nothing that is declared.
    Undefined,
}

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Visibility.
    pub linkage: Linkage,
    /// Where it lives; `.reg` for register parameters of functions.
    pub space: Space,
    /// The constant bank of `.const[n]`.
    pub bank: Option<u32>,
    /// `.align`, in bytes.
    pub align: Option<u32>,
    /// `.v2`, `.v4`, `.v8`; 1 for scalars.
    pub lanes: u8,
    /// Element type.
    pub ty: Type,
    /// Array lengths, outermost first; `None` for `[]`. Empty for scalars.
    pub dims: Vec<Option<u64>>,
    /// Initialiser.
    pub init: Option<Init>,
    /// Whether it is a parameter or result of a function.
    pub is_param: bool,
    /// `.ptr` of a kernel parameter and `.attribute(...)`, as written, in order.
    pub attributes: Vec<Box<str>>,
}

impl Variable {
    /// A plain scalar variable.
    pub fn scalar(space: Space, ty: Type) -> Self {
        Self {
            linkage: Linkage::None,
            space,
            bank: None,
            align: None,
            lanes: 1,
            ty,
            dims: Vec::new(),
            init: None,
            is_param: false,
            attributes: Vec::new(),
        }
    }

    /// Size of an element in bytes, all its components together.
    pub fn element_size(&self) -> u32 {
        self.ty.bytes() * u32::from(self.lanes)
    }

    /// Size in bytes; `None` where a dimension is open or the product does not fit.
    ///
    /// An open first dimension takes its length from the initialiser.
    pub fn size(&self) -> Option<u64> {
        let element = u64::from(self.element_size());
        let given = self.init.as_ref().map(|init| init.values.len() as u64);
        self.dims.iter().enumerate().try_fold(element, |size, (at, dim)| {
            let open = if at == 0 { given } else { None };
            dim.or(open).and_then(|count| size.checked_mul(count))
        })
    }

    /// Alignment in bytes: `.align`, or the size of an element.
    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or_else(|| self.element_size())
    }
}

/// `= ...` of a variable. Nested braces are kept, so that the text prints as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Init {
    /// The values; a scalar has one.
    pub values: Vec<InitValue>,
    /// Whether the values stand in braces.
    pub braced: bool,
}

/// One value of an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum InitValue {
    /// A number.
    Imm(Imm),
    /// The address of a symbol.
    Symbol(Box<InitSymbol>),
    /// A field of a texture, sampler or surface, as written: `filter_mode = nearest`.
    Field(Box<str>),
    /// A nested row.
    Row(Box<[InitValue]>),
}

/// The address of a symbol in an initialiser: `name+4`, `generic(name)`, `0xFF00(name)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitSymbol {
    /// Whose address.
    pub symbol: SymbolId,
    /// Bytes added.
    pub offset: i64,
    /// Whether the generic address is meant.
    pub generic: bool,
    /// The byte selected by a mask operator.
    pub mask: Option<u64>,
}

/// Visibility of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Local to the module.
    #[default]
    None,
    /// `.visible`.
    Visible,
    /// `.extern`.
    Extern,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

impl Linkage {
    /// The directive without the dot; empty for none.
    pub const fn name(self) -> &'static str {
        match self {
            Linkage::None => "",
            Linkage::Visible => "visible",
            Linkage::Extern => "extern",
            Linkage::Weak => "weak",
            Linkage::Common => "common",
        }
    }
}

/// Kernel or device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`.
    Entry,
    /// `.func`.
    Func,
}

/// A kernel, a device function, or the prototype of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Kernel or function.
    pub kind: FunctionKind,
    /// Visibility.
    pub linkage: Linkage,
    /// Its name.
    pub symbol: SymbolId,
    /// Result parameters.
    pub results: Vec<SymbolId>,
    /// Parameters.
    pub params: Vec<SymbolId>,
    /// `.noreturn`, `.maxntid`, ... in textual order.
    pub attrs: Vec<Attr>,
    /// The body; `None` for a prototype.
    pub body: Option<Body>,
}

/// A directive between a function's parameters and its body: `.maxntid 256, 1, 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Name without the dot.
    pub name: Box<str>,
    /// Integer arguments; empty where there are none.
    pub args: Vec<u64>,
    /// Arguments that are not integers, as written (`.pragma "..."`, `.abi_preserve`, `.attribute(...)`).
    pub text: Box<str>,
}

/// Parameters and results of an indirect call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prototype {
    /// Result parameters.
    pub results: Vec<SymbolId>,
    /// Parameters.
    pub params: Vec<SymbolId>,
    /// What follows the parameters, as written: `.noreturn`, `.abi_preserve 5`, ...
    pub attributes: Vec<Box<str>>,
}

impl Module {
    /// The symbol of an id.
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    /// The name of a symbol.
    pub fn name(&self, id: SymbolId) -> &str {
        &self.symbol(id).name
    }

    /// The variable a symbol names.
    pub fn variable(&self, id: SymbolId) -> Option<&Variable> {
        match &self.symbol(id).kind {
            SymbolKind::Variable(variable) => Some(variable),
            _ => None,
        }
    }

    /// The function an id names.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The function of that name that has a body, else its first prototype.
    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        let named = |(_, function): &(usize, &Function)| self.name(function.symbol) == name;
        let mut found = self.functions.iter().enumerate().filter(named);
        let first = found.next()?;
        let best = std::iter::once(first)
            .chain(found)
            .find(|(_, function)| function.body.is_some())
            .unwrap_or(first);
        Some(FuncId(best.0 as u32))
    }
}

impl Function {
    /// The arguments of the first attribute of that name (without the dot).
    pub fn attr(&self, name: &str) -> Option<&[u64]> {
        let attr = self.attrs.iter().find(|attr| &*attr.name == name)?;
        Some(&attr.args)
    }

    /// The exact block shape that `.reqntid` states; dimensions left out are 1.
    pub fn required_block(&self) -> Option<[u32; 3]> {
        let args = self.attr("reqntid")?;
        let dim = |at: usize| args.get(at).map_or(Some(1), |n| u32::try_from(*n).ok());
        Some([dim(0)?, dim(1)?, dim(2)?])
    }
}
