//! Loads and stores: where the addresses of a warp lead, whether they may, and the data.

use super::super::lanes::{LANES, Longs, Slot, lanes, map1, put};
use super::super::memory::Visit;
use super::super::program::{Access, Extend};
use super::locate::View;
use super::shape::Shape;
use super::state::{BlockId, Ctx};

/// An access that was found in order, for one lane.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// Which block.
    pub block: BlockId,
    /// First byte.
    pub at: usize,
}

/// The addresses of all lanes.
#[inline(always)]
pub fn addresses(ctx: &Ctx, access: &Access) -> Longs {
    let file = &ctx.warp.file;
    match access.address {
        Slot::Long(at) | Slot::Quad(at) => map1(&file.longs[at as usize], |base| base.wrapping_add(access.offset)),
        Slot::Word(at) => map1(&file.words[at as usize], |base| {
            u64::from(base.wrapping_add(access.offset as u32))
        }),
        Slot::Pred(..) => [0; LANES],
    }
}

/// The address of a lane.
#[inline(always)]
fn address(ctx: &Ctx, access: &Access, lane: usize) -> u64 {
    let base = ctx.warp.file.read(access.address, lane);
    match access.address {
        Slot::Word(_) => u64::from((base as u32).wrapping_add(access.offset as u32)),
        Slot::Pred(..) => 0,
        _ => base.wrapping_add(access.offset),
    }
}

/// Whether accesses side by side lie in the view, aligned.
#[inline(always)]
fn is_inside(address: u64, view: &View, size: u64, count: usize) -> bool {
    let len = size * count as u64;
    (view.size >= len) & (address.wrapping_sub(view.base) <= view.size.wrapping_sub(len)) & (address & (size - 1) == 0)
}

/// Whether all lanes of the mask lie in the view, aligned.
#[inline(always)]
fn all_inside(addresses: &Longs, mask: u32, view: &View, size: u64) -> bool {
    if view.size < size {
        return false;
    }
    let (last, low) = (view.size - size, size - 1);
    let mut bad = false;
    for (lane, address) in addresses.iter().enumerate() {
        let outside = (address.wrapping_sub(view.base) > last) | (address & low != 0);
        bad |= outside & (mask >> lane & 1 != 0);
    }
    !bad
}

/// A load from an address that is the same for all lanes, whatever happens.
#[inline(always)]
pub fn load_fixed(ctx: &mut Ctx, at: u32, mask: u32, pc: u32) {
    let program = ctx.program;
    let access = &program.accesses[at as usize];
    let (address, size) = (
        address(ctx, access, 0),
        u64::from(access.bytes) * access.regs.len() as u64,
    );
    if !ctx.world.stats.is_profiled()
        && let Some(view) = ctx.locate(access.space, address)
        && is_plain(access, &view)
        && is_inside(address, &view, size, 1)
    {
        return load_same(ctx, access, address, mask, pc, &view);
    }
    load(ctx, at, mask, pc);
}

/// A load.
#[inline(always)]
pub fn load(ctx: &mut Ctx, at: u32, mask: u32, pc: u32) {
    let program = ctx.program;
    let access = &program.accesses[at as usize];
    let size = u64::from(access.bytes) * access.regs.len() as u64;
    if ctx.world.stats.is_profiled() {
        ctx.measure(access.space, &addresses(ctx, access), mask, size, pc);
    }
    let first = address(ctx, access, mask.trailing_zeros() as usize & 31);
    let view = ctx.locate(access.space, first);
    if let Some(view) = view
        && is_plain(access, &view)
    {
        match ctx.shape(access, mask, size) {
            Shape::Same if is_inside(first, &view, size, 1) => {
                return load_same(ctx, access, first, mask, pc, &view);
            }
            Shape::Run(lane, count) if is_inside(first, &view, size, count) => {
                return load_run(ctx, access, first, mask, pc, &view, (lane, count));
            }
            _ => {}
        }
    }
    let addresses = addresses(ctx, access);
    match view {
        Some(view) if view.owner.is_none() && all_inside(&addresses, mask, &view, size) => {
            load_each(ctx, access, &addresses, mask, pc, &view, size);
        }
        _ => load_odd(ctx, access, &addresses, mask, pc, size),
    }
}

/// Whether all lanes see the same memory there, and nothing is ordered by the access.
#[inline(always)]
fn is_plain(access: &Access, view: &View) -> bool {
    view.owner.is_none() & (view.stride == 0) & !access.order.strong
}

/// Lanes side by side read bytes side by side.
#[inline(always)]
fn load_run(ctx: &mut Ctx, access: &Access, first: u64, mask: u32, pc: u32, view: &View, run: (usize, usize)) {
    let (lane, count) = run;
    let size = access.bytes as usize * access.regs.len();
    let from = (view.at + (first - view.base)) as usize;
    let tag = ctx.tag(lane);
    let checks = ctx.world.options.checks;
    let Some(block) = ctx.block(view.block) else { return };
    let written = !checks.memory || block.is_written(from, size * count);
    let suspects = match checks.races {
        true => block.shadow.visit(Visit::Read, from, size, count, tag, pc),
        false => Vec::new(),
    };
    let stale = access.read_only && checks.races && block.shadow.is_stored(from, size * count);
    if stale {
        ctx.stale(lane, first, pc);
    }
    if !written {
        for lane in lanes(mask) {
            let address = address(ctx, access, lane);
            let at = (view.at + (address - view.base)) as usize;
            ctx.check_written(access, view.block, at, size, lane, address, pc);
        }
    }
    if !suspects.is_empty() {
        ctx.judge(&suspects, view.block, Visit::Read, pc, false);
    }
    if access.bytes == 4 || access.bytes == 8 {
        gather_run(ctx, access, view.block, from, run);
    } else {
        let addresses = addresses(ctx, access);
        gather(ctx, access, mask, view, &addresses);
    }
}

/// Puts bytes side by side into the registers of lanes side by side.
#[inline(always)]
fn gather_run(ctx: &mut Ctx, access: &Access, block: BlockId, from: usize, (lane, count): (usize, usize)) {
    let file = &mut ctx.warp.file;
    let block = match block {
        BlockId::Buffer(at) => ctx.world.buffers.get(at as usize),
        BlockId::Shared(at) => ctx.world.shared.get(at as usize),
        BlockId::Params => Some(&ctx.world.params),
        BlockId::Arena | BlockId::Local => None,
    };
    let size = access.bytes as usize * access.regs.len();
    let Some(bytes) = block.and_then(|block| block.bytes.get(from..from + size * count)) else {
        return;
    };
    for (element, slot) in access.regs.iter().enumerate() {
        let offset = element * access.bytes as usize;
        match slot {
            Some(Slot::Word(d)) => {
                if let Some(row) = file.words[*d as usize].get_mut(lane..lane + count) {
                    words_from(row, bytes.get(offset..).unwrap_or_default(), size);
                }
            }
            Some(Slot::Long(d)) => {
                if let Some(row) = file.longs[*d as usize].get_mut(lane..lane + count) {
                    for (nth, to) in row.iter_mut().enumerate() {
                        let at = nth * size + offset;
                        *to = match access.bytes {
                            8 => u64::from(word_at(bytes, at)) | u64::from(word_at(bytes, at + 4)) << 32,
                            _ => fill(access, u128::from(word_at(bytes, at)), Slot::Long(*d)) as u64,
                        };
                    }
                }
            }
            Some(slot) => {
                for (nth, chunk) in bytes.chunks_exact(size).enumerate() {
                    file.write(*slot, lane + nth, u64::from(word_at(chunk, offset)));
                }
            }
            None => {}
        }
    }
}

/// Fills a row with words that lie so many bytes apart.
#[inline(always)]
fn words_from(row: &mut [u32], bytes: &[u8], stride: usize) {
    if stride == 4 {
        for (to, word) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *to = u32::from_le_bytes(*word);
        }
        return;
    }
    for (to, chunk) in row.iter_mut().zip(bytes.chunks(stride)) {
        *to = chunk.first_chunk::<4>().map_or(0, |word| u32::from_le_bytes(*word));
    }
}

/// Writes a row to words that lie so many bytes apart.
#[inline(always)]
fn words_to(row: &[u32], bytes: &mut [u8], stride: usize) {
    if stride == 4 {
        for (from, word) in row.iter().zip(bytes.as_chunks_mut::<4>().0) {
            *word = from.to_le_bytes();
        }
        return;
    }
    for (from, chunk) in row.iter().zip(bytes.chunks_mut(stride)) {
        if let Some(word) = chunk.first_chunk_mut::<4>() {
            *word = from.to_le_bytes();
        }
    }
}

/// Four bytes of a chunk, little end first.
#[inline(always)]
fn word_at(chunk: &[u8], offset: usize) -> u32 {
    match chunk.get(offset..offset + 4).map(<[u8; 4]>::try_from) {
        Some(Ok(bytes)) => u32::from_le_bytes(bytes),
        _ => 0,
    }
}

/// All lanes read one place.
#[inline(always)]
fn load_same(ctx: &mut Ctx, access: &Access, address: u64, mask: u32, pc: u32, view: &View) {
    let (first, last) = (
        mask.trailing_zeros() as usize & 31,
        31 - (mask.leading_zeros() as usize & 31),
    );
    let size = access.bytes as usize * access.regs.len();
    let at = (view.at + (address - view.base)) as usize;
    let spot = Spot { block: view.block, at };
    // Parameters are written before the launch, and by nobody later.
    if view.block != BlockId::Params {
        // Two readers stand for all: whoever writes is another thread than one of them.
        ctx.visit(access, spot, size, first, address, pc, Visit::Read);
        if last != first && matches!(view.block, BlockId::Buffer(_) | BlockId::Shared(_)) {
            ctx.visit(access, spot, size, last, address, pc, Visit::Read);
        }
    }
    for (element, slot) in access.regs.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let place = at + element * access.bytes as usize;
        let value = ctx
            .block(view.block)
            .map_or(0, |block| block.load(place, access.bytes as usize));
        let value = fill(access, value, *slot);
        match slot {
            Slot::Word(d) => put(&mut ctx.warp.file.words[*d as usize], &[value as u32; LANES], mask),
            Slot::Long(d) => put(&mut ctx.warp.file.longs[*d as usize], &[value as u64; LANES], mask),
            slot => lanes(mask).for_each(|lane| ctx.warp.file.write_wide(*slot, lane, value)),
        }
    }
}

/// Puts what lies at the addresses into the registers.
#[inline(always)]
fn gather(ctx: &mut Ctx, access: &Access, mask: u32, view: &View, addresses: &Longs) {
    let file = &mut ctx.warp.file;
    let block = match view.block {
        BlockId::Buffer(at) => ctx.world.buffers.get(at as usize),
        BlockId::Shared(at) => ctx.world.shared.get(at as usize),
        BlockId::Params => Some(&ctx.world.params),
        BlockId::Arena => Some(&ctx.warp.arena),
        BlockId::Local => Some(&ctx.warp.local),
    };
    let Some(block) = block else { return };
    let bytes = &*block.bytes;
    let place = |lane: usize, element: usize| {
        (view.at + view.stride * lane as u64 + addresses[lane].wrapping_sub(view.base)) as usize
            + element * access.bytes as usize
    };
    for (element, slot) in access.regs.iter().enumerate() {
        match slot {
            None => {}
            Some(Slot::Word(d)) if access.bytes == 4 => {
                let row = &mut file.words[*d as usize];
                for lane in lanes(mask) {
                    let at = place(lane, element);
                    if let Some(Ok(word)) = bytes.get(at..at + 4).map(<[u8; 4]>::try_from) {
                        row[lane] = u32::from_le_bytes(word);
                    }
                }
            }
            Some(Slot::Long(d)) if access.bytes == 8 => {
                let row = &mut file.longs[*d as usize];
                for lane in lanes(mask) {
                    let at = place(lane, element);
                    if let Some(Ok(long)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
                        row[lane] = u64::from_le_bytes(long);
                    }
                }
            }
            Some(slot) => {
                for lane in lanes(mask) {
                    let value = block.load(place(lane, element), access.bytes as usize);
                    file.write_wide(*slot, lane, fill(access, value, *slot));
                }
            }
        }
    }
}

/// Fills a register with a loaded element.
pub fn fill(access: &Access, value: u128, slot: Slot) -> u128 {
    if access.extend == Extend::Zero || access.bytes >= 8 {
        return value;
    }
    let shift = 64 - 8 * access.bytes;
    let value = ((value as u64) << shift) as i64 >> shift;
    match slot {
        Slot::Word(_) => u128::from(value as u32),
        _ => u128::from(value as u64),
    }
}

/// Lanes read wherever they do.
#[inline(never)]
fn load_each(ctx: &mut Ctx, access: &Access, addresses: &Longs, mask: u32, pc: u32, view: &View, size: u64) {
    let kind = if access.order.strong {
        Visit::Atomic
    } else {
        Visit::Read
    };
    if !read_each(ctx, access, addresses, mask, pc, view) {
        for lane in lanes(mask) {
            let at = (view.at + view.stride * lane as u64 + (addresses[lane] - view.base)) as usize;
            let spot = Spot { block: view.block, at };
            ctx.visit(access, spot, size as usize, lane, addresses[lane], pc, kind);
        }
    }
    gather(ctx, access, mask, view, addresses);
}

/// Checks and notes plain reads of all lanes at once. If one of them is not clearly in order, nothing is noted.
#[inline(always)]
fn read_each(ctx: &mut Ctx, access: &Access, addresses: &Longs, mask: u32, pc: u32, view: &View) -> bool {
    let checks = ctx.world.options.checks;
    let tag = ctx.tag(0);
    if !is_plain(access, view) {
        return false;
    }
    let Some(block) = ctx.block(view.block) else {
        return false;
    };
    let size = access.bytes as usize * access.regs.len();
    let places: Longs = std::array::from_fn(|lane| view.at.wrapping_add(addresses[lane].wrapping_sub(view.base)));
    let is_written = |lane: usize| block.is_written(places[lane] as usize, size);
    if checks.memory && !block.is_full() && !lanes(mask).all(is_written) {
        return false;
    }
    if !checks.races || !matches!(view.block, BlockId::Buffer(_) | BlockId::Shared(_)) {
        return true;
    }
    let is_stored = |lane: usize| block.shadow.is_stored(places[lane] as usize, size);
    if access.read_only && !block.shadow.is_all_read() && lanes(mask).any(is_stored) {
        return false;
    }
    block.shadow.read_each(&places, mask, size, tag, pc)
}

/// Lanes that do not all lead to one variable: each is looked at alone.
#[inline(never)]
fn load_odd(ctx: &mut Ctx, access: &Access, addresses: &Longs, mask: u32, pc: u32, size: u64) {
    let kind = if access.order.strong {
        Visit::Atomic
    } else {
        Visit::Read
    };
    for lane in lanes(mask) {
        let spot = ctx.spot(access.space, addresses[lane], size, lane, pc, false);
        if let Some(spot) = spot {
            ctx.visit(access, spot, size as usize, lane, addresses[lane], pc, kind);
        }
        for (element, slot) in access.regs.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let value = spot.and_then(|spot| {
                let at = spot.at + element * access.bytes as usize;
                ctx.block(spot.block).map(|block| block.load(at, access.bytes as usize))
            });
            let value = fill(access, value.unwrap_or(0), *slot);
            ctx.warp.file.write_wide(*slot, lane, value);
        }
    }
}

/// A store.
#[inline(always)]
pub fn store(ctx: &mut Ctx, at: u32, mask: u32, pc: u32) {
    let program = ctx.program;
    let access = &program.accesses[at as usize];
    let size = u64::from(access.bytes) * access.regs.len() as u64;
    if ctx.world.stats.is_profiled() {
        ctx.measure(access.space, &addresses(ctx, access), mask, size, pc);
    }
    let lane = mask.trailing_zeros() as usize & 31;
    let first = address(ctx, access, lane);
    let view = ctx.locate(access.space, first);
    if let Some(view) = view
        && is_plain(access, &view)
        && ctx.may_write(access.space, view.block)
    {
        let run = match ctx.shape(access, mask, size) {
            Shape::Run(lane, count) => Some((lane, count)),
            Shape::Same if mask.is_power_of_two() => Some((lane, 1)),
            _ => None,
        };
        if let Some(run) = run.filter(|run| is_inside(first, &view, size, run.1)) {
            return store_run(ctx, access, first, mask, pc, &view, run);
        }
    }
    let addresses = addresses(ctx, access);
    store_odd(ctx, access, &addresses, mask, pc, size);
}

#[inline(always)]
fn store_run(ctx: &mut Ctx, access: &Access, first: u64, mask: u32, pc: u32, view: &View, run: (usize, usize)) {
    let (lane, count) = run;
    let size = access.bytes as usize * access.regs.len();
    let to = (view.at + (first - view.base)) as usize;
    let tag = ctx.tag(lane);
    let races = ctx.world.options.checks.races;
    let Some(block) = ctx.block(view.block) else { return };
    if races {
        let suspects = block.shadow.visit(Visit::Write, to, size, count, tag, pc);
        if !suspects.is_empty() {
            let same = same_values(ctx, access, mask, view);
            ctx.judge(&suspects, view.block, Visit::Write, pc, same);
        }
    }
    if access.bytes == 4 {
        scatter_run(ctx, access, view.block, to, run);
    } else {
        let addresses = addresses(ctx, access);
        scatter(ctx, access, &addresses, mask, view);
    }
    if let Some(block) = ctx.block(view.block) {
        block.mark(to, size * count);
    }
}

/// Writes the registers of lanes side by side to bytes side by side.
#[inline(always)]
fn scatter_run(ctx: &mut Ctx, access: &Access, block: BlockId, to: usize, (lane, count): (usize, usize)) {
    let file = &ctx.warp.file;
    let block = match block {
        BlockId::Buffer(at) => ctx.world.buffers.get_mut(at as usize),
        BlockId::Shared(at) => ctx.world.shared.get_mut(at as usize),
        _ => None,
    };
    let size = 4 * access.regs.len();
    let Some(bytes) = block.and_then(|block| block.bytes.get_mut(to..to + size * count)) else {
        return;
    };
    for (element, slot) in access.regs.iter().enumerate() {
        let range = element * 4..element * 4 + 4;
        match slot {
            Some(Slot::Word(a)) => {
                let row = file.words[*a as usize].get(lane..lane + count).unwrap_or_default();
                words_to(row, bytes.get_mut(range.start..).unwrap_or_default(), size);
            }
            Some(slot) => {
                for (nth, chunk) in bytes.chunks_exact_mut(size).enumerate() {
                    if let Some(place) = chunk.get_mut(range.clone()) {
                        place.copy_from_slice(&(file.read(*slot, lane + nth) as u32).to_le_bytes());
                    }
                }
            }
            None => {}
        }
    }
}

/// Whether the lanes write what is there already.
#[cold]
fn same_values(ctx: &mut Ctx, access: &Access, mask: u32, view: &View) -> bool {
    lanes(mask).all(|lane| {
        let at = (view.at + (address(ctx, access, lane) - view.base)) as usize;
        ctx.holds_already(access, Spot { block: view.block, at }, lane)
    })
}

#[inline(always)]
fn scatter(ctx: &mut Ctx, access: &Access, addresses: &Longs, mask: u32, view: &View) {
    let file = &ctx.warp.file;
    let block = match view.block {
        BlockId::Buffer(at) => ctx.world.buffers.get_mut(at as usize),
        BlockId::Shared(at) => ctx.world.shared.get_mut(at as usize),
        _ => None,
    };
    let Some(block) = block else { return };
    for (element, slot) in access.regs.iter().enumerate() {
        let offset = element * access.bytes as usize;
        let place = |lane: usize| (view.at + addresses[lane].wrapping_sub(view.base)) as usize + offset;
        match slot {
            None => {}
            Some(Slot::Word(a)) if access.bytes == 4 => {
                let row = &file.words[*a as usize];
                for lane in lanes(mask) {
                    let at = place(lane);
                    if let Some(bytes) = block.bytes.get_mut(at..at + 4) {
                        bytes.copy_from_slice(&row[lane].to_le_bytes());
                    }
                }
            }
            Some(slot) => {
                let size = access.bytes as usize;
                for lane in lanes(mask) {
                    let (at, value) = (place(lane), file.read_wide(*slot, lane).to_le_bytes());
                    if let (Some(to), Some(from)) = (block.bytes.get_mut(at..at + size), value.get(..size)) {
                        to.copy_from_slice(from);
                    }
                }
            }
        }
    }
}

#[inline(never)]
fn store_odd(ctx: &mut Ctx, access: &Access, addresses: &Longs, mask: u32, pc: u32, size: u64) {
    let kind = if access.order.strong {
        Visit::Atomic
    } else {
        Visit::Write
    };
    for lane in lanes(mask) {
        let Some(spot) = ctx.spot(access.space, addresses[lane], size, lane, pc, true) else {
            continue;
        };
        ctx.visit(access, spot, size as usize, lane, addresses[lane], pc, kind);
        for (element, slot) in access.regs.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let value = ctx.warp.file.read_wide(*slot, lane);
            let at = spot.at + element * access.bytes as usize;
            if let Some(block) = ctx.block(spot.block) {
                block.store(at, access.bytes as usize, value);
            }
        }
    }
}
