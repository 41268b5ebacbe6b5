//! Operands against the forms that an opcode's modifiers fit.

use super::gates::Failure;
use super::{Scope, classes};
use crate::ptx::ir::{Address, Base, Inst, Operand, RegId, SymbolKind, shape};
use crate::ptx::isa::{Count, Match, OperandKind, OperandSpec, OperandType, Range, Role};
use crate::ptx::types::{Kind, Type};
use smallvec::SmallVec;

/// What keeps operands from fitting a form.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Issue {
    /// Which operand; the number of operands for a wrong number.
    pub(super) at: usize,
    /// What is wrong with it.
    pub(super) kind: Complaint,
}

/// What is wrong with an operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Complaint {
    /// Least and most operands.
    Number(usize, usize),
    /// Something of that kind is needed.
    Kind(&'static str),
    /// A register of another type, with what is wanted.
    Class(Type, Type),
    /// The register is no predicate.
    Predicate(Type),
    /// Elements wanted, elements found.
    Elements(usize, usize),
    /// A constant out of its range.
    Outside(i64, Range),
    /// A special register, where only general ones may stand.
    Special,
    /// The address of a variable, where only registers may stand.
    Address,
    /// A constant of another class.
    Constant(Type),
}

/// The form that the operands fit: one that the module has, if there is one.
///
/// # Errors
/// What keeps them from fitting the form that comes furthest.
pub(super) fn choose(scope: &Scope, inst: &Inst, failures: &[Option<Failure>]) -> Result<usize, Issue> {
    let mut fitting = None;
    let mut worst: Option<Issue> = None;
    for (index, found) in inst.op.matches.iter().enumerate() {
        match check(scope, inst, found) {
            Ok(()) if failures.get(index).is_none_or(Option::is_none) => return Ok(index),
            Ok(()) => fitting = fitting.or(Some(index)),
            Err(issue) => {
                if worst.as_ref().is_none_or(|old| progress(&issue) > progress(old)) {
                    worst = Some(issue);
                }
            }
        }
    }
    match (fitting, worst) {
        (Some(index), _) => Ok(index),
        (None, Some(issue)) => Err(issue),
        (None, None) => Ok(0),
    }
}

/// How far a form came before it failed: a wrong number of operands is nothing.
fn progress(issue: &Issue) -> usize {
    match issue.kind {
        Complaint::Number(..) => 0,
        Complaint::Kind(_) => 1 + 2 * issue.at,
        _ => 2 + 2 * issue.at,
    }
}

fn check(scope: &Scope, inst: &Inst, found: &Match) -> Result<(), Issue> {
    let specs = &found.form.operands;
    let places: SmallVec<[Place; 8]> = specs.iter().filter_map(|spec| Place::of(spec, found)).collect();
    let least = places.iter().filter(|place| !place.optional).count();
    let given = inst.operands.len();
    if !(least..=places.len()).contains(&given) {
        let kind = Complaint::Number(least, places.len());
        return Err(Issue { at: given, kind });
    }
    let fit = Fit { scope, inst, found };
    let mut spare = given - least;
    let mut places = places.iter();
    for (at, operand) in inst.operands.iter().enumerate() {
        let place = places.by_ref().find(|place| {
            let take = !place.optional || (spare > 0 && shape::fits_one(place.spec, operand));
            spare -= usize::from(take && place.optional);
            take
        });
        let result = match place {
            Some(place) => fit.operand(place.spec, operand),
            None => Err(Complaint::Kind("nothing more")),
        };
        result.map_err(|kind| Issue { at, kind })?;
    }
    Ok(())
}

/// A place for an operand, given the modifiers.
struct Place<'a> {
    spec: &'a OperandSpec,
    optional: bool,
}

impl<'a> Place<'a> {
    /// An operand that is tied to a modifier must be there with it, and has no place without.
    fn of(spec: &'a OperandSpec, found: &Match) -> Option<Self> {
        let optional = spec.optional && spec.tied.is_none();
        let absent = spec.tied.is_some_and(|slot| found.chosen(slot).is_none());
        (!absent).then_some(Self { spec, optional })
    }
}

/// One instruction against one form.
struct Fit<'a> {
    scope: &'a Scope<'a>,
    inst: &'a Inst,
    found: &'a Match,
}

impl Fit<'_> {
    fn operand(&self, spec: &OperandSpec, operand: &Operand) -> Result<(), Complaint> {
        if let (Operand::Pair(pair), Some((second, _))) = (operand, &spec.pair) {
            self.destination(spec, &pair.0)?;
            return self.destination(second, &pair.1);
        }
        if !shape::fits_one(spec, operand) {
            return Err(self.misshapen(spec, operand));
        }
        self.inner(spec, operand)
    }

    /// Half of a pair: `_` may always stand there.
    fn destination(&self, spec: &OperandSpec, operand: &Operand) -> Result<(), Complaint> {
        if *operand == Operand::Sink {
            return Ok(());
        }
        self.inner(spec, operand)
    }

    /// An operand whose shape fits.
    fn inner(&self, spec: &OperandSpec, operand: &Operand) -> Result<(), Complaint> {
        match (spec.kind, operand) {
            (OperandKind::Label | OperandKind::Func | OperandKind::Symbol | OperandKind::List, _) => Ok(()),
            (OperandKind::Imm, _) => self.range(spec, operand),
            (OperandKind::Address, Operand::Bracket(parts)) | (OperandKind::Tuple, Operand::Vector(parts)) => {
                let mut pairs = spec.parts.iter().zip(parts);
                pairs.try_for_each(|(spec, part)| self.inner(spec, part))
            }
            (OperandKind::Address, Operand::Address(address)) => self.address(spec, address),
            (OperandKind::Address, _) => Ok(()),
            (OperandKind::Pack, Operand::Vector(parts)) => self.pack(spec, parts),
            (OperandKind::Pack, Operand::Reg(reg)) if self.lanes(*reg) > 1 => self.pack_register(spec, *reg),
            (OperandKind::Vec | OperandKind::Frag, Operand::Vector(parts)) => self.elements(spec, parts),
            (OperandKind::Vec | OperandKind::Frag, _) => self.single(spec, operand),
            _ => self.value(spec, operand),
        }
    }

    /// An address whose register must have a type of its own: tensor memory has 32-bit addresses.
    fn address(&self, spec: &OperandSpec, address: &Address) -> Result<(), Complaint> {
        let [part] = &spec.parts[..] else { return Ok(()) };
        let Some(want) = self.type_of(part) else { return Ok(()) };
        match address.base {
            Base::Reg(reg) => match self.scope.reg_type(reg) {
                Some(ty) => self.register(part, Some(want), ty),
                None => Ok(()),
            },
            Base::Symbol(_) | Base::Absolute => Err(Complaint::Kind("an address in a register")),
        }
    }

    /// `{a, b}` that fill a wider value.
    fn pack(&self, spec: &OperandSpec, parts: &[Operand]) -> Result<(), Complaint> {
        let Some(whole) = self.type_of(spec) else { return Ok(()) };
        let count = parts.len().max(1) as u32;
        let width = whole.bits() / count;
        if !matches!(parts.len(), 2 | 4 | 8) || width < 8 {
            return Err(Complaint::Elements(2, parts.len()));
        }
        if parts.iter().all(|part| *part == Operand::Sink) {
            return Err(Complaint::Kind("a register in the vector"));
        }
        for part in parts {
            if *part == Operand::Sink && spec.role == Role::Use {
                return Err(Complaint::Kind("a register"));
            }
            let is_target = matches!(part, Operand::Reg(_) | Operand::Part(..) | Operand::Sink);
            if spec.role == Role::Def && !is_target {
                return Err(Complaint::Kind("a register in the vector"));
            }
            if let Operand::Reg(reg) | Operand::Part(reg, _) = part
                && let Some(ty) = self.scope.reg_type(*reg)
                && ty.bits() != width
            {
                let want = match width {
                    8 => Type::B8,
                    16 => Type::B16,
                    32 => Type::B32,
                    _ => Type::B64,
                };
                return Err(Complaint::Class(want, ty));
            }
        }
        Ok(())
    }

    /// A vector register whose elements fill a wider value.
    fn pack_register(&self, spec: &OperandSpec, reg: RegId) -> Result<(), Complaint> {
        let (Some(whole), Some(ty)) = (self.type_of(spec), self.scope.reg_type(reg)) else {
            return Ok(());
        };
        if ty.bits() * self.lanes(reg) as u32 == whole.bits() {
            return Ok(());
        }
        Err(Complaint::Class(whole, ty))
    }

    /// Elements of a register: more than one only for vector registers.
    fn lanes(&self, reg: RegId) -> usize {
        let decl = self.scope.body.regs.get(reg.index());
        decl.map_or(1, |decl| usize::from(decl.lanes))
    }

    /// `{a, b, ...}` of a vector access or a matrix fragment.
    fn elements(&self, spec: &OperandSpec, parts: &[Operand]) -> Result<(), Complaint> {
        let want = self.wanted(spec);
        if want.is_some_and(|want| want != parts.len()) {
            return Err(Complaint::Elements(want.unwrap_or(1), parts.len()));
        }
        let unused = |part: &Operand| *part == Operand::Sink;
        if spec.kind == OperandKind::Vec && spec.role == Role::Def && parts.iter().all(unused) {
            return Err(Complaint::Kind("a register in the vector"));
        }
        self.alike(spec, parts)?;
        for part in parts {
            // ptxas looks at the registers among the sources; what it makes of the rest depends on the instruction.
            let skipped = match part {
                Operand::Sink => spec.role == Role::Def,
                Operand::Special(_) => spec.role == Role::Use && spec.count.is_none(),
                _ => false,
            };
            if skipped {
                continue;
            }
            let whole = spec.kind == OperandKind::Frag && spec.count.is_some() && spec.name.len() == 1;
            if whole && !matches!(part, Operand::Reg(_) | Operand::Sink) {
                return Err(Complaint::Kind("a register in the vector"));
            }
            if matches!(
                part,
                Operand::Vector(_) | Operand::List(_) | Operand::Bracket(_) | Operand::Address(_)
            ) {
                return Err(Complaint::Kind("a register in the vector"));
            }
            self.value(spec, part)?;
        }
        Ok(())
    }

    /// Registers in the vector of a memory access may be wider than the type, but all alike.
    fn alike(&self, spec: &OperandSpec, parts: &[Operand]) -> Result<(), Complaint> {
        let types = parts.iter().filter_map(|part| match part {
            Operand::Reg(reg) => self.scope.reg_type(*reg),
            _ => None,
        });
        let mut types = types.filter(|_| spec.kind == OperandKind::Vec);
        let Some(first) = types.next() else { return Ok(()) };
        match types.find(|ty| ty.bits() != first.bits()) {
            Some(other) => Err(Complaint::Class(first, other)),
            None => Ok(()),
        }
    }

    /// One name where a vector may stand: a scalar, or a vector register.
    fn single(&self, spec: &OperandSpec, operand: &Operand) -> Result<(), Complaint> {
        let lanes = match operand {
            Operand::Reg(reg) => self.lanes(*reg),
            Operand::Special(special) if !special.name().contains('.') && self.inst.op.lanes > 1 => {
                usize::from(self.inst.op.lanes)
            }
            _ => 1,
        };
        let want = self.wanted(spec);
        if want.is_some_and(|want| want != lanes) {
            return Err(Complaint::Elements(want.unwrap_or(1), lanes));
        }
        if lanes == 1 && spec.count.is_some_and(|count| count != Count::Lone) {
            return Err(Complaint::Kind("a vector of one register, in braces"));
        }
        self.value(spec, operand)
    }

    /// How many elements a vector must have.
    fn wanted(&self, spec: &OperandSpec) -> Option<usize> {
        match (spec.kind, spec.count) {
            (OperandKind::Vec, _) => Some(usize::from(self.inst.op.lanes)),
            (_, Some(Count::Fixed(count))) => Some(usize::from(count)),
            (_, Some(Count::Lone)) => Some(1),
            (_, Some(Count::Times(factor, slot))) => {
                Some(usize::from(factor) * usize::from(Count::number(self.found.chosen(slot)?)?))
            }
            (_, Some(Count::Shape(divisor))) => {
                let shape = self.inst.op.mods().find(|name| name.starts_with("m64n"))?;
                let n: usize = shape.strip_prefix("m64n")?.split('k').next()?.parse().ok()?;
                Some(n / usize::from(divisor.max(1)))
            }
            (_, Some(Count::Dimension(less))) => {
                let dimension = |name: &str| name.strip_suffix('d')?.parse::<usize>().ok();
                let number = self.inst.op.mods().find_map(dimension)?;
                number.checked_sub(usize::from(less))
            }
            (_, None) => None,
        }
    }

    /// A scalar.
    fn value(&self, spec: &OperandSpec, operand: &Operand) -> Result<(), Complaint> {
        let want = self.type_of(spec);
        if spec.only_sink && *operand != Operand::Sink {
            return Err(Complaint::Kind("`_`"));
        }
        match operand {
            Operand::Reg(reg) | Operand::Not(reg) | Operand::Part(reg, _) | Operand::Neg(reg, _) => {
                let Some(ty) = self.scope.reg_type(*reg) else {
                    return Ok(());
                };
                if spec.kind == OperandKind::Value && matches!(operand, Operand::Reg(_)) && self.lanes(*reg) > 1 {
                    return Err(Complaint::Elements(1, self.lanes(*reg)));
                }
                self.register(spec, want, ty)
            }
            Operand::Imm(imm) => {
                if spec.role != Role::Use || spec.kind == OperandKind::Reg {
                    return Err(Complaint::Kind("a register"));
                }
                if let Some(want) = want
                    && !classes::takes_constant(want, *imm)
                {
                    return Err(Complaint::Constant(want));
                }
                self.range(spec, operand)
            }
            Operand::Special(special) if special.name() == "WARP_SZ" => match want {
                _ if spec.role != Role::Use => Err(Complaint::Kind("a register")),
                Some(want) if !want.is_integral() => Err(Complaint::Constant(want)),
                _ => Ok(()),
            },
            Operand::Special(special) => match want {
                _ if !spec.src || spec.role != Role::Use => Err(Complaint::Special),
                _ if special.is_vector() && spec.kind == OperandKind::Value => Err(Complaint::Elements(1, 4)),
                Some(want) if !classes::takes_special(want, spec.loose, *special) => {
                    Err(Complaint::Class(want, special.info().ty))
                }
                _ => Ok(()),
            },
            // The name has been reported.
            Operand::Symbol(symbol, _) if self.scope.module.symbol(*symbol).kind == SymbolKind::Undefined => Ok(()),
            Operand::Symbol(_, offset) => match spec.role {
                Role::Use if want == Some(Type::Pred) => Err(Complaint::Address),
                Role::Use if want.is_some_and(|want| want.kind() == Kind::Float) => Err(Complaint::Address),
                Role::Use if spec.src || *offset != 0 => Ok(()),
                _ => Err(Complaint::Address),
            },
            Operand::Sink if !spec.sink => Err(Complaint::Kind("a register")),
            _ => Ok(()),
        }
    }

    fn register(&self, spec: &OperandSpec, want: Option<Type>, ty: Type) -> Result<(), Complaint> {
        if spec.ty == OperandType::Address {
            let fits = ty.is_integral() && matches!(ty.bits(), 32 | 64);
            return if fits {
                Ok(())
            } else {
                Err(Complaint::Class(Type::U64, ty))
            };
        }
        match want {
            Some(Type::Pred) if ty != Type::Pred => Err(Complaint::Predicate(ty)),
            Some(want) if spec.exact && (ty.kind(), ty.bits()) != (Kind::Bits, want.bits()) => {
                Err(Complaint::Class(want, ty))
            }
            Some(want) if !classes::takes_register(want, spec.loose, ty) => Err(Complaint::Class(want, ty)),
            _ => Ok(()),
        }
    }

    fn range(&self, spec: &OperandSpec, operand: &Operand) -> Result<(), Complaint> {
        let value = match operand {
            Operand::Special(special) if special.name() == "WARP_SZ" => return Ok(()),
            _ => operand.as_int(),
        };
        let Some(value) = value else {
            return if spec.kind == OperandKind::Imm {
                Err(Complaint::Kind("an integer constant"))
            } else {
                Ok(())
            };
        };
        let outside = |range: &&Range| match range {
            Range::Within(low, high) => !(*low..=*high).contains(&value),
            Range::Multiple(of) => value.checked_rem(*of) != Some(0),
            Range::OneOf(members) => !members.contains(&value),
        };
        match spec.ranges.iter().find(outside) {
            Some(range) => Err(Complaint::Outside(value, range.clone())),
            None => Ok(()),
        }
    }

    /// The type wanted; `None` where anything goes.
    fn type_of(&self, spec: &OperandSpec) -> Option<Type> {
        match spec.ty {
            OperandType::Inst => self.inst.op.ty(),
            OperandType::Slot(slot) => self.found.slot_type(slot),
            OperandType::Fixed(ty) => Some(ty),
            OperandType::Wide => wide(self.inst.op.ty()?),
            OperandType::Address | OperandType::Any => None,
        }
    }

    /// What to say of an operand whose shape does not fit.
    fn misshapen(&self, spec: &OperandSpec, operand: &Operand) -> Complaint {
        if let (OperandKind::Value | OperandKind::Reg, Operand::Not(reg)) = (spec.kind, operand) {
            let is_predicate = self.scope.reg_type(*reg).is_none_or(|ty| ty == Type::Pred);
            let wants_predicate = self.type_of(spec) == Some(Type::Pred);
            return match (wants_predicate, is_predicate) {
                (true, true) => Complaint::Kind("a predicate without `!`"),
                _ => Complaint::Kind("a register without `!`"),
            };
        }
        Complaint::Kind(match spec.kind {
            OperandKind::Value | OperandKind::Reg if matches!(operand, Operand::Neg(..)) => "a register without `-`",
            _ if spec.pair.as_ref().is_some_and(|(_, absent)| !absent) => "a pair of destinations, `d|p`,",
            OperandKind::Value if spec.role == Role::Use => "a register or a constant",
            OperandKind::Value | OperandKind::Reg => "a register",
            OperandKind::Imm => "an integer constant",
            OperandKind::Address => "an address in brackets",
            OperandKind::Vec | OperandKind::Pack | OperandKind::Frag | OperandKind::Tuple => "a vector in braces",
            OperandKind::Label => "a label",
            OperandKind::Func => "a function",
            OperandKind::Symbol => "the name of a variable",
            OperandKind::List => "a list in parentheses",
        })
    }
}

/// The type of twice the width.
fn wide(ty: Type) -> Option<Type> {
    Some(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        _ => return None,
    })
}
