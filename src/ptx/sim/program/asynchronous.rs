//! Asynchronous copies, mbarriers and cluster barriers.

use super::super::lanes::Slot;
use super::atomics::update;
use super::decoder::{Decoder, Refused};
use super::memory::order;
use super::tensor::{Replace, Tensor};
use super::tensor_memory::{TensorCopy, TensorProduct};
use super::{Order, Rare, Reduction};
use crate::ptx::ir::{Inst, Operand};
use crate::ptx::types::{Space, Type};
use smallvec::SmallVec;

/// An address operand.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its space.
    pub space: Space,
    /// Its base.
    pub base: Slot,
    /// Added to it.
    pub offset: u64,
}

/// What an mbarrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mbarrier {
    Init {
        count: Slot,
    },
    Inval,
    ExpectTx {
        tx: Slot,
    },
    CompleteTx {
        tx: Slot,
    },
    /// `arrive` and `arrive_drop`; `expect` is added to the bytes first.
    Arrive {
        state: Option<Slot>,
        count: Option<Slot>,
        expect: Option<Slot>,
        drop: bool,
    },
    /// `test_wait` and `try_wait`; the latter waits.
    Wait {
        done: Slot,
        token: Slot,
        parity: bool,
        waits: bool,
    },
}

/// What a copy tells when it is done.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// The group it was committed to.
    Group,
    /// The bytes at an mbarrier.
    Bytes(Place),
}

/// An asynchronous operation.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Async {
    /// `cp.async`: of `used` bytes, the rest zeros, or nothing but zeros.
    Copy {
        to: Place,
        from: Place,
        size: u32,
        used: Option<Slot>,
        skip: Option<Slot>,
    },
    Commit,
    /// Waits until at most that many groups are under way.
    Wait(u32),
    WaitAll,
    /// Arrives at an mbarrier when the thread's copies so far are done.
    CopyArrive {
        at: Place,
        counted: bool,
    },
    Mbarrier {
        what: Mbarrier,
        at: Place,
        order: Order,
    },
    PendingCount {
        d: Slot,
        state: Slot,
    },
    /// `cp.async.bulk`, `cp.reduce.async.bulk`.
    Bulk {
        to: Place,
        from: Place,
        size: Slot,
        signal: Signal,
        multicast: Option<Slot>,
        /// Which bytes of each sixteen are copied.
        bytes: Option<Slot>,
        /// An index into `Program::reductions`.
        reduce: Option<u32>,
    },
    BulkCommit,
    BulkWait {
        most: u32,
        read: bool,
    },
    /// `st.async`, `red.async`: what is stored, and bytes of each.
    Store {
        to: Place,
        values: SmallVec<[Slot; 4]>,
        bytes: u32,
        bar: Place,
        /// An index into `Program::reductions`.
        reduce: Option<u32>,
    },
    /// `st.bulk`: zeros.
    Fill {
        to: Place,
        size: Slot,
    },
    /// `discard`: the bytes there hold nothing any more.
    Discard {
        at: Place,
        size: u32,
    },
    /// `clusterlaunchcontrol.try_cancel`: where the answer goes, and to all CTAs of the cluster or only here.
    TryCancel {
        to: Place,
        bar: Place,
        all: bool,
    },
    /// A copy of a box of a tensor.
    Tensor(Box<Tensor>),
    /// `tensormap.replace`.
    ReplaceMap(Replace),
    /// `tensormap.cp_fenceproxy`.
    CopyMap {
        to: Place,
        from: Place,
    },
    /// `tcgen05.mma`.
    TensorProduct(Box<TensorProduct>),
    /// `tcgen05.cp`.
    TensorCopy(Box<TensorCopy>),
    /// `tcgen05.commit`.
    TensorCommit {
        bar: Place,
        multicast: Option<Slot>,
    },
    /// `barrier.cluster.arrive`, or the wait; `.aligned` asks for the whole warp.
    ClusterBarrier {
        arrive: bool,
        aligned: bool,
    },
}

impl Decoder<'_> {
    /// `cp.async`, `mbarrier` and the like.
    pub(super) fn asynchronous(&mut self, inst: &Inst) -> Result<(), Refused> {
        let has = |name| inst.op.has(name);
        let what = match inst.op.base() {
            "mbarrier" if has("pending_count") => Async::PendingCount {
                d: self.dest(inst, Type::U32)?,
                state: self.arg(inst, 1, Type::U64)?,
            },
            "mbarrier" => self.mbarrier(inst)?,
            "st" if has("bulk") => Async::Fill {
                to: self.place(inst, 0, Space::Shared)?,
                size: self.arg(inst, 1, Type::U64)?,
            },
            "st" | "red" if has("mbarrier::complete_tx::bytes") => self.async_store(inst)?,
            "discard" => Async::Discard {
                at: self.place(inst, 0, inst.op.space)?,
                size: self.number(inst, 1)?,
            },
            "clusterlaunchcontrol" => Async::TryCancel {
                to: self.place(inst, 0, inst.op.space)?,
                bar: self.place(inst, 1, inst.op.space)?,
                all: has("multicast::cluster::all"),
            },
            "cp" if has("tensor") => self.tensor(inst)?,
            "cp" if has("bulk") => self.bulk(inst)?,
            "cp" => self.cp_async(inst)?,
            _ => return Err("an asynchronous operation of this kind".into()),
        };
        self.rare(Rare::Async(what));
        Ok(())
    }

    pub(super) fn place(&mut self, inst: &Inst, at: usize, space: Space) -> Result<Place, Refused> {
        let Operand::Address(address) = self.operand(inst, at)? else {
            return Err("an address of this kind".into());
        };
        let (base, offset) = self.address(address)?;
        Ok(Place { space, base, offset })
    }

    pub(super) fn number(&self, inst: &Inst, at: usize) -> Result<u32, Refused> {
        let value = self.operand(inst, at)?.as_int();
        value
            .and_then(|value| u32::try_from(value).ok())
            .ok_or_else(|| "a number that is no constant".to_owned())
    }

    fn cp_async(&mut self, inst: &Inst) -> Result<Async, Refused> {
        let has = |name| inst.op.has(name);
        if has("commit_group") {
            return Ok(Async::Commit);
        }
        if has("wait_all") {
            return Ok(Async::WaitAll);
        }
        if has("wait_group") {
            return Ok(Async::Wait(self.number(inst, 0)?));
        }
        if has("arrive") {
            let at = self.place(inst, 0, inst.op.space)?;
            return Ok(Async::CopyArrive {
                at,
                counted: !has("noinc"),
            });
        }
        let (to, from) = (self.place(inst, 0, Space::Shared)?, self.place(inst, 1, Space::Global)?);
        let size = self.number(inst, 2)?;
        let (mut used, mut skip) = (None, None);
        let hinted = has("L2::cache_hint");
        let extra = inst.operands.len() - usize::from(hinted);
        if extra > 3 {
            let operand = self.operand(inst, 3)?;
            let is_pred = matches!(operand, Operand::Not(_)) || self.declared(operand) == Some(Type::Pred);
            match is_pred {
                true => skip = Some(self.source(operand, Type::Pred)?),
                false => used = Some(self.source(operand, Type::U32)?),
            }
        }
        Ok(Async::Copy {
            to,
            from,
            size,
            used,
            skip,
        })
    }

    fn mbarrier(&mut self, inst: &Inst) -> Result<Async, Refused> {
        let has = |name| inst.op.has(name);
        let space = inst.op.space;
        let what_at = |at: usize, decoder: &mut Self| decoder.place(inst, at, space);
        let (what, at) = if has("init") {
            let count = self.arg(inst, 1, Type::U32)?;
            (Mbarrier::Init { count }, what_at(0, self)?)
        } else if has("inval") {
            (Mbarrier::Inval, what_at(0, self)?)
        } else if has("test_wait") || has("try_wait") {
            let parity = has("parity");
            let token = self.arg(inst, 2, if parity { Type::U32 } else { Type::U64 })?;
            let done = self.dest(inst, Type::Pred)?;
            let waits = has("try_wait");
            (
                Mbarrier::Wait {
                    done,
                    token,
                    parity,
                    waits,
                },
                what_at(1, self)?,
            )
        } else if has("arrive") || has("arrive_drop") {
            self.arrive(inst)?
        } else if has("expect_tx") {
            let tx = self.arg(inst, 1, Type::U32)?;
            (Mbarrier::ExpectTx { tx }, what_at(0, self)?)
        } else {
            let tx = self.arg(inst, 1, Type::U32)?;
            (Mbarrier::CompleteTx { tx }, what_at(0, self)?)
        };
        let mut order = order(inst);
        order.strong = true;
        // Without a word on it, arriving releases and waiting acquires.
        if !has("relaxed") {
            order.release = matches!(what, Mbarrier::Arrive { .. });
            order.acquire = matches!(what, Mbarrier::Wait { .. });
        }
        Ok(Async::Mbarrier { what, at, order })
    }

    fn arrive(&mut self, inst: &Inst) -> Result<(Mbarrier, Place), Refused> {
        let has = |name| inst.op.has(name);
        let state = match self.operand(inst, 0)? {
            Operand::Sink => None,
            operand => Some(self.target(operand, Type::U64)?),
        };
        let third = match inst.operands.len() {
            3.. => Some(self.arg(inst, 2, Type::U32)?),
            _ => None,
        };
        let expects = has("expect_tx");
        let what = Mbarrier::Arrive {
            state,
            count: third.filter(|_| !expects),
            expect: third.filter(|_| expects),
            drop: has("arrive_drop"),
        };
        Ok((what, self.place(inst, 1, inst.op.space)?))
    }

    fn bulk(&mut self, inst: &Inst) -> Result<Async, Refused> {
        let has = |name| inst.op.has(name);
        if has("commit_group") {
            return Ok(Async::BulkCommit);
        }
        if has("wait_group") {
            return Ok(Async::BulkWait {
                most: self.number(inst, 0)?,
                read: has("read"),
            });
        }
        let spaces: Vec<Space> = inst.op.mods().filter_map(Space::from_name).collect();
        if has("prefetch") {
            let from = self.place(inst, 0, Space::Global)?;
            let (zero, size) = (self.constant(0, 32), self.constant(0, 32));
            let to = Place {
                space: Space::Shared,
                base: zero,
                offset: 0,
            };
            return Ok(Async::Bulk {
                to,
                from,
                size,
                signal: Signal::Group,
                multicast: None,
                bytes: None,
                reduce: None,
            });
        }
        let [to, from] = spaces.as_slice() else {
            return Err("its spaces".into());
        };
        let (to, from) = (self.place(inst, 0, *to)?, self.place(inst, 1, *from)?);
        let size = self.arg(inst, 2, Type::U32)?;
        let signal = match has("bulk_group") {
            true => Signal::Group,
            false => Signal::Bytes(self.place(inst, 3, to.space)?),
        };
        let multicast = match has("multicast::cluster") {
            true => Some(self.arg(inst, 4, Type::U16)?),
            false => None,
        };
        let bytes = match has("cp_mask") {
            true => Some(self.arg(inst, inst.operands.len().saturating_sub(1), Type::U16)?),
            false => None,
        };
        let reduce = match has("reduce") {
            true => Some(self.combination(inst)?),
            false => None,
        };
        Ok(Async::Bulk {
            to,
            from,
            size,
            signal,
            multicast,
            bytes,
            reduce,
        })
    }

    fn async_store(&mut self, inst: &Inst) -> Result<Async, Refused> {
        let ty = self.ty(inst)?;
        let to = self.place(inst, 0, Space::SharedCluster)?;
        let operand = self.operand(inst, 1)?;
        let values = self.parts(operand, inst.op.lanes.into(), ty, false)?;
        let values: Option<SmallVec<[Slot; 4]>> = values.into_iter().collect();
        let reduce = match inst.op.base() {
            "red" => Some(self.combination(inst)?),
            _ => None,
        };
        Ok(Async::Store {
            to,
            values: values.ok_or("`_` as a value")?,
            bytes: ty.bytes(),
            bar: self.place(inst, 2, Space::SharedCluster)?,
            reduce,
        })
    }

    /// Adds what an asynchronous reduction does to each element.
    fn combination(&mut self, inst: &Inst) -> Result<u32, Refused> {
        let ty = self.ty(inst)?;
        let update = update(inst, ty)?;
        self.out.reductions.push(Reduction {
            bytes: ty.bytes(),
            update,
        });
        Ok(self.out.reductions.len() as u32 - 1)
    }

    /// `clusterlaunchcontrol.query_cancel`. An answer's lowest bit says whether a cluster was cancelled; its first CTA stands in
    /// the upper words.
    pub(super) fn query_cancel(&mut self, inst: &Inst) -> Result<(), Refused> {
        let Slot::Quad(low) = self.arg(inst, 1, Type::B128)? else {
            return Err("a handle of this kind".into());
        };
        if inst.op.has("is_canceled") {
            let d = self.dest(inst, Type::Pred)?;
            self.lanewise1(d, Slot::Long(low), |handle| handle & 1);
            return Ok(());
        }
        let axis = |name: &str| {
            ["get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"]
                .iter()
                .position(|axis| *axis == name)
        };
        let first = inst.op.mods().find_map(axis);
        let operand = self.operand(inst, 0)?;
        let parts = match first {
            Some(_) => vec![Some(self.dest(inst, Type::B32)?)],
            None => self.parts(operand, 4, Type::B32, true)?,
        };
        for (nth, d) in parts.into_iter().enumerate() {
            let Some(d) = d else { continue };
            // The first word says whether there is one; the fourth component means nothing.
            let word = 1 + first.unwrap_or(nth) as u32;
            if word > 3 {
                let zero = self.constant(0, 32);
                self.copy(d, zero)?;
                continue;
            }
            let (from, shift) = (Slot::Long(low + word / 2), 32 * (word % 2));
            self.lanewise1(d, from, move |handle| handle >> shift & 0xffff_ffff);
        }
        Ok(())
    }

    /// `barrier.cluster`.
    pub(super) fn cluster_barrier(&mut self, inst: &Inst) -> Result<(), Refused> {
        self.rare(Rare::Async(Async::ClusterBarrier {
            arrive: inst.op.has("arrive"),
            aligned: inst.op.has("aligned"),
        }));
        Ok(())
    }
}
