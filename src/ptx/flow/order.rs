//! An order of blocks in which lanes that part come together again: whoever is earlier in it runs first.

use super::{Cfg, Loops};

/// The blocks of a function, each behind those that lead to it, but for the ways back in loops; what follows a loop comes
/// behind all of the loop, wherever it stands in the text. Blocks that cannot be reached are last.
pub fn in_order(cfg: &Cfg, loops: &Loops) -> Vec<u32> {
    let blocks = cfg.blocks();
    let mut seen = vec![false; blocks as usize];
    let mut done = Vec::with_capacity(blocks as usize);
    // Blocks that are open, each with the ways that are left to take.
    let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut enter = |block: u32| {
        let new = seen
            .get_mut(block as usize)
            .is_some_and(|seen| !std::mem::replace(seen, true));
        new.then(|| (block, ways(cfg, loops, block)))
    };
    open.extend(enter(0));
    while let Some((block, left)) = open.last_mut() {
        match left.pop() {
            Some(next) => open.extend(enter(next)),
            None => {
                done.push(*block);
                open.pop();
            }
        }
    }
    done.reverse();
    done.extend((0..blocks).filter(|block| !seen[*block as usize]));
    done
}

/// The ways out of a block, the last one to be taken first: what is left first comes behind all that is met later. So ways out
/// of loops go first, and else what stands further down.
fn ways(cfg: &Cfg, loops: &Loops, block: u32) -> Vec<u32> {
    let mut ways = cfg.succs().next(block).to_vec();
    let common = |to: u32| loops.around(block).filter(|id| loops.contains(*id, to)).count();
    ways.sort_by_key(|to| (std::cmp::Reverse(common(*to)), *to));
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse::parse;

    fn order(body: &str) -> Vec<u32> {
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<4>;\n{body}\n}}\n"
        );
        let parsed = parse(&text);
        assert!(parsed.diags.is_empty(), "{:?}", parsed.diags);
        let cfg = Cfg::new(&parsed.module, parsed.module.functions[0].body.as_ref().unwrap());
        in_order(&cfg, &Loops::of_cfg(&cfg))
    }

    #[test]
    fn what_is_in_order_stays() {
        let arms = "@%p1 bra E;\nmov.u32 %r1, 1;\nbra J;\nE: mov.u32 %r1, 2;\nJ: ret;";
        assert_eq!(order(arms), [0, 1, 2, 3]);
        let turns = "mov.u32 %r1, 0;\nL: mov.u32 %r1, 1;\n@%p1 bra N;\nmov.u32 %r1, 2;\nN: @%p2 bra L;\nret;";
        assert_eq!(order(turns), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_block_behind_its_loop_comes_where_it_is_met() {
        // The end of the round stands above its start.
        let above = "bra H;\nN: @%p2 bra D;\nH: @%p1 bra N;\nmov.u32 %r1, 2;\nbra N;\nD: ret;";
        assert_eq!(order(above), [0, 2, 3, 1, 4]);
        // An arm stands behind the end.
        let far = "@%p1 bra C;\nmov.u32 %r1, 1;\nJ: mov.u32 %r2, 1;\nret;\nC: mov.u32 %r1, 2;\nbra J;";
        assert_eq!(order(far), [0, 1, 3, 2]);
    }

    #[test]
    fn loops_stay_together() {
        // The way out of the inner loop stands between its blocks.
        let text = "mov.u32 %r1, 0;\nL: mov.u32 %r1, 1;\nI: @%p1 bra B;\nX: @%p2 bra L;\nret;\nB: @%p3 bra X;\nbra I;";
        let found = order(text);
        let at = |block: u32| found.iter().position(|other| *other == block).unwrap();
        assert!(at(5) < at(3) && at(6) < at(3) && at(3) < at(4), "{found:?}");
    }
}
