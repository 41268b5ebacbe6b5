//! Which instruction is decoded where; branches and what ends a thread.

use super::decoder::{Decoder, Refused};
use super::floats::Binary;
use super::{Op, Rare};
use crate::ptx::ir::{Inst, Operand, Stmt, TableKind};
use crate::ptx::types::{Kind, Type};

impl Decoder<'_> {
    /// Decodes an instruction that the table knows.
    ///
    /// # Errors
    /// What about it cannot be executed.
    pub(super) fn instruction(&mut self, inst: &Inst) -> Result<(), Refused> {
        let float = inst.op.ty().is_some_and(|ty| ty.kind() == Kind::Float);
        match inst.op.base() {
            "mov" => self.mov(inst),
            "alloca" | "stacksave" | "stackrestore" => self.on_stack(inst),
            "cvt" if inst.op.has("pack") => self.cvt_pack(inst),
            "cvt" => self.cvt(inst),
            "cvta" => self.cvta(inst),
            "isspacep" => self.isspacep(inst),
            "mapa" | "getctarank" => self.cluster_address(inst),
            "ld" | "ldu" => self.load(inst),
            // What goes to global memory asynchronously, with nothing to wait for, is done at once.
            "st" | "red" if inst.op.has("mbarrier::complete_tx::bytes") => self.asynchronous(inst),
            "st" if inst.op.has("bulk") => self.asynchronous(inst),
            "st" => self.store(inst),
            "tensormap" => self.tensor_map(inst),
            "discard" => self.asynchronous(inst),
            "clusterlaunchcontrol" if inst.op.has("query_cancel") => self.query_cancel(inst),
            "clusterlaunchcontrol" => self.asynchronous(inst),
            "atom" | "red" => self.atomic(inst),
            "prefetch" | "prefetchu" | "applypriority" | "nanosleep" | "pmevent" | "brkpt" => self.nothing(),
            // How the cache is to treat data means nothing here.
            "createpolicy" => {
                let (d, zero) = (self.dest(inst, Type::U64)?, self.constant(0, 64));
                self.copy(d, zero)
            }
            "add" | "sub" if inst.op.has("cc") => self.carrying(inst),
            "addc" | "subc" | "madc" => self.carrying(inst),
            "mad" if inst.op.has("cc") => self.carrying(inst),
            "bra" | "brx" | "ret" | "exit" | "trap" | "call" => self.flow(inst),
            "bar" | "barrier" | "membar" | "fence" | "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => {
                self.warp_wide(inst)
            }
            _ if float => self.float(inst),
            _ => self.integer(inst),
        }
    }

    fn float(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = self.ty(inst)?;
        match inst.op.base() {
            "add" => self.float2(inst, ty, Binary::Add),
            "sub" => self.float2(inst, ty, Binary::Sub),
            "mul" => self.float2(inst, ty, Binary::Mul),
            "fma" | "mad" => self.fma(inst, ty),
            "div" if inst.op.has("approx") || inst.op.has("full") => self.approximate_div(inst),
            "rcp" | "sqrt" if inst.op.has("approx") => self.approximate(inst, ty),
            "div" | "rcp" | "sqrt" => self.quotient_float(inst, ty),
            "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => self.approximate(inst, ty),
            "abs" => self.sign_float(inst, ty, false),
            "neg" => self.sign_float(inst, ty, true),
            "min" => self.min_max_float(inst, ty, false),
            "max" => self.min_max_float(inst, ty, true),
            "copysign" => self.copysign(inst, ty),
            _ => self.integer(inst),
        }
    }

    fn integer(&mut self, inst: &Inst) -> Result<(), Refused> {
        let ty = inst.op.ty().unwrap_or(Type::B32);
        match inst.op.base() {
            "add" => self.add_sub(inst, ty, false),
            "sub" => self.add_sub(inst, ty, true),
            "mul" => self.mul(inst, ty),
            "mad" => self.mad(inst, ty),
            "mul24" => self.product24(inst, false),
            "mad24" => self.product24(inst, true),
            "div" | "rem" | "sad" => self.quotient(inst, ty),
            "abs" => self.sign(inst, ty, false),
            "neg" => self.sign(inst, ty, true),
            "min" => self.min_max(inst, ty, false),
            "max" => self.min_max(inst, ty, true),
            "dp4a" | "dp2a" => self.dot(inst),
            "and" => self.logic(inst, [Op::And32, Op::And64, Op::And1], |a, b| a & b),
            "or" => self.logic(inst, [Op::Or32, Op::Or64, Op::Or1], |a, b| a | b),
            "xor" => self.logic(inst, [Op::Xor32, Op::Xor64, Op::Xor1], |a, b| a ^ b),
            "not" => self.not(inst, false),
            "cnot" => self.not(inst, true),
            "shl" => self.shift(inst, true),
            "shr" => self.shift(inst, false),
            "shf" => self.funnel(inst),
            "lop3" => self.lop3(inst),
            "prmt" => self.permute(inst),
            "popc" | "clz" | "brev" | "bfind" => self.count(inst),
            "bfe" | "bfi" => self.field(inst),
            "fns" | "bmsk" | "szext" => self.mask(inst),
            "selp" | "slct" => self.select(inst),
            "setp" => self.setp(inst),
            "set" => self.set(inst),
            "testp" => self.testp(inst),
            "wgmma" => self.warpgroup(inst),
            "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix(inst),
            "cp" | "mbarrier" => self.asynchronous(inst),
            "griddepcontrol" | "setmaxnreg" => self.nothing(),
            base if base.starts_with('v') => self.video(inst),
            // Nothing that has an address is a texture, a sampler or a surface here.
            "istypep" => {
                let (d, never) = (self.dest(inst, Type::Pred)?, self.constant(0, 1));
                self.copy(d, never)
            }
            "tex" | "tld4" | "txq" | "suld" | "sust" | "sured" | "suq" => Err("textures and surfaces".into()),
            "multimem" => Err("memory that several devices share".into()),
            "tcgen05" => self.tensor_core(inst),
            _ => Err("an instruction that the simulator does not know".into()),
        }
    }

    pub(super) fn nothing(&mut self) -> Result<(), Refused> {
        self.rare(Rare::Nothing);
        Ok(())
    }

    fn flow(&mut self, inst: &Inst) -> Result<(), Refused> {
        match inst.op.base() {
            "bra" => {
                let Some(Operand::Label(label)) = inst.operands.first() else {
                    return Err("a branch without a label".into());
                };
                if inst.op.has("uni") && inst.guard.is_some() {
                    let at = self.out.rares.len() as u32;
                    self.out.rares.push(Rare::Uniform(0));
                    return self.branch(Op::Rare(at), *label);
                }
                self.branch(Op::Bra(0), *label)
            }
            "brx" => self.branch_table(inst),
            "call" => self.call(inst),
            "ret" => {
                self.rare(Rare::Return);
                Ok(())
            }
            "exit" => {
                self.rare(Rare::Exit);
                Ok(())
            }
            _ => {
                self.rare(Rare::Trap);
                Ok(())
            }
        }
    }

    fn branch_table(&mut self, inst: &Inst) -> Result<(), Refused> {
        let index = self.arg(inst, 0, Type::U32)?;
        let Some(Operand::Label(label)) = inst.operands.get(1) else {
            return Err("a branch without a table".into());
        };
        let tables = self.body.stmts.iter().filter_map(|stmt| match stmt {
            Stmt::Table(table) => Some(table),
            _ => None,
        });
        let table = { tables }.find(|table| table.label == *label);
        let Some(TableKind::Branch(targets)) = table.map(|table| &table.kind) else {
            return Err("a branch whose table is missing".into());
        };
        let first = *targets.first().ok_or("an empty table")?;
        let at = self.out.rares.len() as u32;
        let targets = targets.iter().map(|label| label.0).collect();
        self.out.rares.push(Rare::Table(index, targets));
        self.branch(Op::Rare(at), first)
    }
}
