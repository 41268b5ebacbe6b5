//! Special registers (PTX ISA, "Special Registers").

use crate::ptx::types::Type;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// How far apart the values are that threads read from a special register.
///
/// The ladder: what is equal across the grid is equal across each CTA, and so on down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// One value for the whole grid.
    Grid,
    /// One value for each cluster or CTA.
    Cta,
    /// One value for each warp.
    Warp,
    /// Each thread may read its own.
    Thread,
}

/// What the ISA says of a special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialInfo {
    /// Name with the percent sign and the component: `%tid.x`.
    pub name: &'static str,
    /// Type as declared by the ISA.
    pub ty: Type,
    /// How far its value reaches.
    pub extent: Extent,
    /// Least PTX version, as `major.minor`; empty where it has always been there.
    pub ptx: &'static str,
    /// Least `sm_`; 0 for any.
    pub sm: u16,
}

const fn entry(name: &'static str, ty: Type, extent: Extent, ptx: &'static str, sm: u16) -> SpecialInfo {
    SpecialInfo {
        name,
        ty,
        extent,
        ptx,
        sm,
    }
}

macro_rules! specials {
    ($($ty:ident $extent:ident $ptx:literal $sm:literal: $($name:literal)*;)*) => {
        /// Every special register.
        pub const SPECIALS: &[SpecialInfo] = &[$($(entry($name, Type::$ty, Extent::$extent, $ptx, $sm)),*),*];
    };
}

specials! {
    U32 Thread "" 0: "%tid.x" "%tid.y" "%tid.z" "%tid.w" "%tid";
    U32 Thread "1.3" 0: "%laneid";
    U32 Thread "2.0" 20: "%lanemask_eq" "%lanemask_le" "%lanemask_lt" "%lanemask_ge" "%lanemask_gt";
    U32 Grid "" 0: "%ntid.x" "%ntid.y" "%ntid.z" "%ntid.w" "%ntid" "%nctaid.x" "%nctaid.y" "%nctaid.z" "%nctaid.w" "%nctaid"
        "%gridid" "WARP_SZ";
    U32 Grid "2.0" 20: "%nsmid" "%nwarpid";
    U32 Grid "4.1" 20: "%total_smem_size" "%dynamic_smem_size";
    U32 Cta "" 0: "%ctaid.x" "%ctaid.y" "%ctaid.z" "%ctaid.w" "%ctaid";
    U32 Cta "1.3" 0: "%smid";
    U32 Warp "1.3" 0: "%warpid";
    U32 Grid "8.1" 90: "%aggr_smem_size";
    Pred Grid "7.8" 90: "%is_explicit_cluster";
    U32 Grid "7.8" 90: "%nclusterid.x" "%nclusterid.y" "%nclusterid.z" "%nclusterid.w" "%nclusterid"
        "%cluster_nctaid.x" "%cluster_nctaid.y" "%cluster_nctaid.z" "%cluster_nctaid.w" "%cluster_nctaid" "%cluster_nctarank";
    U32 Cta "7.8" 90: "%clusterid.x" "%clusterid.y" "%clusterid.z" "%clusterid.w" "%clusterid"
        "%cluster_ctaid.x" "%cluster_ctaid.y" "%cluster_ctaid.z" "%cluster_ctaid.w" "%cluster_ctaid" "%cluster_ctarank";
    U32 Thread "" 0: "%clock";
    U32 Thread "5.0" 20: "%clock_hi";
    U32 Thread "3.1" 30: "%globaltimer_lo" "%globaltimer_hi";
    U32 Thread "1.3" 0: "%pm0" "%pm1" "%pm2" "%pm3";
    U32 Thread "3.0" 20: "%pm4" "%pm5" "%pm6" "%pm7";
    U64 Thread "2.0" 20: "%clock64";
    U64 Thread "3.1" 30: "%globaltimer";
    U64 Thread "4.0" 50: "%pm0_64" "%pm1_64" "%pm2_64" "%pm3_64" "%pm4_64" "%pm5_64" "%pm6_64" "%pm7_64";
    B32 Grid "" 0: "%envreg0" "%envreg1" "%envreg2" "%envreg3" "%envreg4" "%envreg5" "%envreg6" "%envreg7"
        "%envreg8" "%envreg9" "%envreg10" "%envreg11" "%envreg12" "%envreg13" "%envreg14" "%envreg15"
        "%envreg16" "%envreg17" "%envreg18" "%envreg19" "%envreg20" "%envreg21" "%envreg22" "%envreg23"
        "%envreg24" "%envreg25" "%envreg26" "%envreg27" "%envreg28" "%envreg29" "%envreg30" "%envreg31";
    B32 Grid "7.6" 80: "%reserved_smem_offset_begin" "%reserved_smem_offset_end" "%reserved_smem_offset_cap"
        "%reserved_smem_offset_0" "%reserved_smem_offset_1";
    U64 Grid "8.0" 50: "%current_graph_exec";
}

/// A special register (PTX ISA, "Special Registers"): an index into the ISA's table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Special(u16);

impl Special {
    /// The special register of that name, percent sign and component included.
    pub fn from_name(name: &str) -> Option<Special> {
        static INDEX: OnceLock<FxHashMap<&'static str, u16>> = OnceLock::new();
        let index = INDEX.get_or_init(|| {
            SPECIALS
                .iter()
                .enumerate()
                .map(|(at, info)| (info.name, at as u16))
                .collect()
        });
        index.get(name).map(|at| Special(*at))
    }

    /// What the ISA says of it.
    pub fn info(self) -> &'static SpecialInfo {
        &SPECIALS[usize::from(self.0)]
    }

    /// Its name: `%tid.x`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether it is a vector of four, such as `%tid`, and not one of its components.
    pub fn is_vector(self) -> bool {
        matches!(
            self.name(),
            "%tid"
                | "%ntid"
                | "%ctaid"
                | "%nctaid"
                | "%clusterid"
                | "%nclusterid"
                | "%cluster_ctaid"
                | "%cluster_nctaid"
        )
    }
}
