//! How many CTAs and warps fit on a multiprocessor, by the limits of each target.
//!
//! Limits and allocation units are those of the CUDA C++ Programming Guide, "Compute Capabilities", and of the occupancy
//! calculator in `cuda_occupancy.h`.

/// What a multiprocessor has to give away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Threads.
    pub threads: u32,
    /// CTAs.
    pub ctas: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Bytes of shared memory that the system takes for each CTA.
    pub reserved: u32,
    /// Whether double precision runs at half or a third of the rate of single precision; else it is a small fraction.
    pub fast_doubles: bool,
}

/// Threads of a warp.
const WARP: u32 = 32;

/// Most registers of a thread.
pub const MOST_REGISTERS: u32 = 255;

/// Registers are given to warps in units of this.
const REGISTER_UNIT: u32 = 256;

/// Shared memory is given to CTAs in units of this, in bytes.
const SHARED_UNIT: u32 = 128;

/// What keeps more CTAs from being resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// The registers of the threads.
    Registers,
    /// Shared memory.
    Shared,
    /// The number of threads.
    Threads,
    /// The number of CTAs.
    Ctas,
}

/// How full a multiprocessor gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident CTAs.
    pub ctas: u32,
    /// Resident warps.
    pub warps: u32,
    /// The most warps it can hold.
    pub of_warps: u32,
    /// What keeps it from more.
    pub limiter: Limiter,
}

impl Limiter {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Limiter::Registers => "registers",
            Limiter::Shared => "shared memory",
            Limiter::Threads => "threads",
            Limiter::Ctas => "resident CTAs",
        }
    }
}

impl Device {
    /// The multiprocessor of a target by its number (`90` of `sm_90a`); none before sm_30, whose registers are given out otherwise.
    pub fn of(sm: u16) -> Option<Device> {
        let row = |threads, ctas, kilobytes: u32, fast_doubles| {
            Some(Device {
                threads,
                ctas,
                registers: if sm == 37 { 131_072 } else { 65_536 },
                shared: kilobytes * 1024,
                reserved: if sm >= 80 { 1024 } else { 0 },
                fast_doubles,
            })
        };
        match sm {
            30 | 32 => row(2048, 16, 48, false),
            35 => row(2048, 16, 48, true),
            37 => row(2048, 16, 112, true),
            50 | 53 | 62 => row(2048, 32, 64, false),
            52 | 61 => row(2048, 32, 96, false),
            60 => row(2048, 32, 64, true),
            70 => row(2048, 32, 96, true),
            72 => row(2048, 32, 96, false),
            75 => row(1024, 16, 64, false),
            80 => row(2048, 32, 164, true),
            86 => row(1536, 16, 100, false),
            87 => row(1536, 16, 164, false),
            89 => row(1536, 24, 100, false),
            90 => row(2048, 32, 228, true),
            100 => row(2048, 32, 228, true),
            103 => row(2048, 32, 228, false),
            101 | 110 => row(1536, 24, 228, false),
            120 | 121 => row(1536, 24, 100, false),
            _ => None,
        }
    }

    /// How full it gets with CTAs of so many threads, registers a thread, and bytes of shared memory; `None` where not one fits.
    pub fn occupancy(&self, threads: u32, registers: u32, shared: u32) -> Option<Occupancy> {
        let warps = threads.div_ceil(WARP).max(1);
        // A warp's registers come in whole units; a multiprocessor's four parts are filled evenly.
        let of_warp = (registers.max(1) * WARP).div_ceil(REGISTER_UNIT) * REGISTER_UNIT;
        let by_registers = self.registers / of_warp / 4 * 4 / warps;
        let of_cta = shared
            .saturating_add(self.reserved)
            .div_ceil(SHARED_UNIT)
            .saturating_mul(SHARED_UNIT);
        let by_shared = if shared == 0 { u32::MAX } else { self.shared / of_cta };
        let limits = [
            // Of equal limits the one that cannot be helped.
            (self.threads / WARP / warps, Limiter::Threads),
            (by_registers, Limiter::Registers),
            (by_shared, Limiter::Shared),
            (self.ctas, Limiter::Ctas),
        ];
        let (ctas, limiter) = limits.into_iter().min_by_key(|limit| limit.0)?;
        (ctas > 0).then_some(Occupancy {
            ctas,
            warps: ctas * warps,
            of_warps: self.threads / WARP,
            limiter,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(sm: u16, threads: u32, registers: u32, shared: u32) -> (u32, u32, Limiter) {
        let found = Device::of(sm).unwrap().occupancy(threads, registers, shared).unwrap();
        (found.ctas, found.warps, found.limiter)
    }

    /// Values of NVIDIA's occupancy calculator.
    #[test]
    fn known_cases() {
        assert_eq!(on(80, 256, 32, 0), (8, 64, Limiter::Threads));
        assert_eq!(on(80, 256, 64, 0), (4, 32, Limiter::Registers));
        assert_eq!(on(80, 128, 255, 0), (2, 8, Limiter::Registers));
        assert_eq!(on(75, 256, 32, 0), (4, 32, Limiter::Threads));
        assert_eq!(on(86, 256, 32, 48 << 10), (2, 16, Limiter::Shared));
        assert_eq!(on(90, 32, 16, 0), (32, 32, Limiter::Ctas));
        assert_eq!(Device::of(90).unwrap().occupancy(1024, 128, 0), None);
    }
}
