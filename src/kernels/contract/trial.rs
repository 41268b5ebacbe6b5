//! Runs one case of a contract in the simulator.

use super::Contract;
use super::Role;
use super::family::{Family, Random};
use super::plan::{Arg, Buffer, Launch, Plan};
use super::reference::{Kind, Named, Problem, Shape};
use crate::ptx::diag::Level;
use crate::ptx::ir::Module;
use crate::ptx::num::convert::Convert;
use crate::ptx::sim::program::Program;
use crate::ptx::sim::{self, Bytes, Fault, Options, Stop, Stopped};
use crate::ptx::types::{Kind as TypeKind, Type};

/// A module, decoded for the launches of a plan.
pub struct Bench<'m> {
    /// The module.
    module: &'m Module,
    /// What is launched.
    pub plan: Plan,
    /// One for each launch.
    programs: Vec<Program>,
}

/// What a case came to.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The buffers afterwards.
    pub buffers: Vec<Bytes>,
    /// How often each of their bytes was stored to.
    pub stores: Vec<Vec<u8>>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// Thread instructions.
    pub instructions: u64,
}

/// Inputs: the values as the kernel reads them, and the bytes of each buffer that has some.
pub struct Inputs {
    /// By operand.
    pub named: Named,
    /// By buffer.
    pub bytes: Vec<Option<Bytes>>,
}

impl<'m> Bench<'m> {
    /// Decodes the kernels that the plan launches.
    ///
    /// # Errors
    /// If one is not there, or does not take the arguments.
    pub fn new(module: &'m Module, plan: Plan) -> Result<Self, Stop> {
        let mut programs = Vec::new();
        for launch in &plan.launches {
            let program = sim::prepare(module, &launch.entry, launch.dynamic_shared)?;
            let (wanted, given) = (sim::params(&program).count(), launch.args.len());
            if wanted != given {
                let message = format!("`{}` takes {wanted} arguments, not {given}", launch.entry);
                return Err(Stop::Launch(message));
            }
            programs.push(program);
        }
        Ok(Self { module, plan, programs })
    }

    /// The module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Runs all launches in order.
    ///
    /// # Errors
    /// If one of them stops.
    pub fn run(&self, inputs: &[Option<Bytes>], options: &Options) -> Result<Trial, Stopped> {
        let buffers = self.plan.buffers.iter().zip(inputs);
        let mut trial = Trial {
            // What nobody writes is not a number.
            buffers: buffers
                .map(|(buffer, bytes)| bytes.clone().unwrap_or_else(|| vec![0xff; buffer.bytes()].into()))
                .collect(),
            stores: self.plan.buffers.iter().map(|buffer| vec![0; buffer.bytes()]).collect(),
            faults: Vec::new(),
            instructions: 0,
        };
        for (launch, program) in self.plan.launches.iter().zip(&self.programs) {
            self.launch(launch, program, inputs, options, &mut trial)?;
        }
        Ok(trial)
    }

    fn launch(
        &self,
        launch: &Launch,
        program: &Program,
        inputs: &[Option<Bytes>],
        options: &Options,
        trial: &mut Trial,
    ) -> Result<(), Stopped> {
        let params = sim::params(program).map(|(_, ty, size)| (ty, size));
        let buffer = |at: usize| sim::Buffer {
            name: self.plan.buffers[at].name.clone(),
            bytes: trial.buffers[at].clone(),
            unwritten: inputs[at].is_none() && trial.stores[at].iter().all(|count| *count == 0),
        };
        let args = launch
            .args
            .iter()
            .enumerate()
            .zip(params)
            .map(|((nth, arg), (ty, size))| match arg {
                Arg::Number(value) => sim::Arg::Bytes(number(*value, ty, size)),
                Arg::Buffer(at) => sim::Arg::Buffer(buffer(*at)),
                Arg::Tensor(at) => {
                    let tensor = &self.plan.tensors[*at];
                    let data = match self.plan.bringer(launch, tensor.buffer) {
                        Some(other) if other != nth => sim::Data::Of(other),
                        _ => sim::Data::Own(buffer(tensor.buffer)),
                    };
                    sim::Arg::TensorMap(tensor.map.clone(), data)
                }
            });
        let launched = sim::Launch {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            args: args.collect(),
            options: Options {
                cluster: launch.cluster,
                count_stores: true,
                ..options.clone()
            },
        };
        let outcome = sim::run_prepared(self.module, &launch.entry, program, &launched)?;
        for (arg, written) in launch.args.iter().zip(outcome.buffers) {
            if let (Some(at), Some(written)) = (self.plan.buffer_of(*arg), written) {
                self.take(at, &written, trial);
            }
        }
        trial
            .faults
            .extend(outcome.faults.into_iter().filter(|fault| fault.level != Level::Info));
        trial.instructions += outcome.stats.thread_instructions;
        Ok(())
    }

    /// Takes over what was stored.
    fn take(&self, at: usize, written: &sim::Written, trial: &mut Trial) {
        if written.stores.iter().all(|more| *more == 0) {
            return;
        }
        let stores = trial.stores[at].iter_mut().zip(&written.stores);
        let bytes = trial.buffers[at].iter_mut().zip(&*written.bytes);
        for ((stores, more), (byte, now)) in stores.zip(bytes) {
            if *more > 0 {
                *byte = *now;
                *stores = stores.saturating_add(*more);
            }
        }
        let bytes = std::mem::take(&mut trial.buffers[at]);
        trial.buffers[at] = bytes.into_common();
    }
}

/// The bytes of a number as a parameter of that type.
fn number(value: f64, ty: Type, size: u64) -> Vec<u8> {
    let bits = match ty.kind() {
        TypeKind::Float => Convert::new(ty, Type::F64).apply(value.to_bits()).unwrap_or(0),
        _ if value < 0.0 => value as i64 as u64,
        _ => value as u64,
    };
    let mut bytes = bits.to_le_bytes().to_vec();
    bytes.resize(size as usize, 0);
    bytes
}

/// Values as elements of a buffer.
pub fn encode(values: &[f64], ty: Type) -> Vec<u8> {
    let convert = Convert::new(ty, Type::F64);
    let len = ty.bytes() as usize;
    let mut out = Vec::with_capacity(values.len() * len);
    for value in values {
        let bits = plain_bits(*value, ty).or_else(|| convert.apply(value.to_bits()));
        let bytes = bits.unwrap_or(0).to_le_bytes();
        out.extend_from_slice(bytes.get(..len).unwrap_or(&bytes));
    }
    out
}

/// The bits of a value as an element, where the machine's own conversion gives what any gives: inputs have millions.
fn plain_bits(value: f64, ty: Type) -> Option<u64> {
    match (ty, ty.kind()) {
        (Type::F32, _) if !value.is_nan() => Some(u64::from((value as f32).to_bits())),
        (_, TypeKind::Unsigned) => {
            let whole = value as u32;
            let fits = f64::from(whole) == value && u64::from(whole) < 1 << ty.bits().min(32);
            fits.then_some(u64::from(whole))
        }
        _ => None,
    }
}

/// Elements of a buffer as values.
pub fn decode(bytes: &[u8], ty: Type) -> Vec<f64> {
    let convert = Convert::new(Type::F64, ty);
    let element = |bytes: &[u8]| {
        let bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
        match (ty, ty.kind()) {
            (Type::F32, _) => f64::from(f32::from_bits(bits as u32)),
            (_, TypeKind::Unsigned) => bits as f64,
            _ => f64::from_bits(convert.apply(bits).unwrap_or(0)),
        }
    };
    bytes.chunks_exact((ty.bytes() as usize).max(1)).map(element).collect()
}

/// The inputs of a case.
pub fn inputs(contract: &Contract, shape: &Shape, plan: &Plan, family: Family, seed: u64) -> Inputs {
    let mut inputs = Inputs {
        named: Named::new(),
        bytes: vec![None; plan.buffers.len()],
    };
    let read = plan.buffers.iter().enumerate();
    let read = read.filter(|(_, buffer)| matches!(buffer.role, Role::In | Role::InOut));
    let mut random = Random::new(seed);
    let mut is_first = true;
    let mut derived = Vec::new();
    for (at, buffer) in read {
        match kind(contract, &buffer.operand) {
            Kind::Derived => derived.push((at, buffer)),
            kind => {
                let first = kind == Kind::Data && is_first;
                is_first &= !first;
                let mut values = family.values(kind, first, buffer.len(), buffer.row(), &mut random);
                if kind == Kind::Data && buffer.ty.is_integral() {
                    // Rounded to whole numbers, normal ones would nearly all be -1, 0 and 1.
                    values.iter_mut().for_each(|value| *value *= 100.0);
                }
                inputs.put(at, buffer, &values);
            }
        }
    }
    for (at, buffer) in derived {
        let problem = Problem {
            shape,
            inputs: &inputs.named,
            expression: contract.expression.as_ref(),
        };
        let values = contract
            .reference
            .derive
            .map(|derive| derive(&problem, &buffer.operand));
        inputs.put(at, buffer, &values.unwrap_or_default());
    }
    inputs
}

impl Inputs {
    fn put(&mut self, at: usize, buffer: &Buffer, values: &[f64]) {
        let bytes = encode(values, buffer.ty);
        self.named.insert(buffer.operand.clone(), decode(&bytes, buffer.ty));
        self.bytes[at] = Some(bytes.into());
    }
}

fn kind(contract: &Contract, operand: &str) -> Kind {
    let known = contract.reference.inputs.iter().find(|known| known.name == operand);
    known.map_or(Kind::Data, |known| known.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_gives_what_the_long_one_does() {
        let values = [
            0.0,
            -0.0,
            1.0,
            255.0,
            256.0,
            0.5,
            2.5,
            -3.0,
            65535.0,
            65536.0,
            4294967295.0,
            4294967296.0,
            1e-45,
            1e-46,
            3.4028235677973366e38,
            1e39,
            1.0000000596046448,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for ty in [
            Type::U8,
            Type::U16,
            Type::U32,
            Type::U64,
            Type::S8,
            Type::S32,
            Type::F16,
            Type::F32,
            Type::F64,
        ] {
            let (to, from) = (Convert::new(ty, Type::F64), Convert::new(Type::F64, ty));
            let len = ty.bytes() as usize;
            for value in values {
                let bits = to.apply(value.to_bits()).unwrap();
                let bytes = encode(&[value], ty);
                assert_eq!(bytes, bits.to_le_bytes()[..len], "{value} as {}", ty.name());
                let back = f64::from_bits(from.apply(bits).unwrap());
                let got = decode(&bytes, ty)[0];
                assert!(
                    got == back || (got.is_nan() && back.is_nan()),
                    "{value} as {}",
                    ty.name()
                );
            }
        }
    }
}
