//! Bulk copies of tensors as kernels, element by element against what the manual says of boxes.

use ptxgen::ptx::parse::parse;
use ptxgen::ptx::sim::{self, Arg, Buffer, Data, Launch, Options, TensorMap};

/// Runs a kernel of one CTA; the buffers afterwards, or what is wrong.
fn run(text: &str, args: Vec<Arg>) -> Result<Vec<Vec<u8>>, String> {
    let parsed = parse(text);
    assert!(parsed.diags.is_empty(), "{:?}\n{text}", parsed.diags);
    let launch = Launch {
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        args,
        options: Options::default(),
    };
    let outcome = sim::run(&parsed.module, "k", &launch).map_err(|stopped| stopped.stop.to_string())?;
    match outcome.faults.first() {
        Some(fault) => Err(format!("{} {}", fault.code.id, fault.message)),
        None => Ok(outcome
            .buffers
            .into_iter()
            .flatten()
            .map(|buffer| buffer.bytes.into_vec())
            .collect()),
    }
}

fn buffer(bytes: Vec<u8>) -> Buffer {
    Buffer {
        name: String::new(),
        bytes: bytes.into(),
        unwritten: false,
    }
}

fn map(element: &str, dims: &[u32], size: &[u32]) -> TensorMap {
    let element = sim::tensormap::ELEMENTS
        .iter()
        .position(|name| *name == element)
        .unwrap() as u8;
    let mut map = TensorMap {
        element,
        dims: dims.to_vec(),
        strides: Vec::new(),
        size: size.to_vec(),
        steps: vec![1; dims.len()],
        swizzle: 0,
        nan: false,
    };
    map.strides = TensorMap::dense_strides(map.element_bits(), dims);
    map
}

/// Bytes of an element.
fn width(map: &TensorMap) -> usize {
    map.element_bits() as usize / 8
}

/// Bytes of the whole tensor.
fn extent(map: &TensorMap) -> usize {
    match map.strides.last() {
        Some(stride) => *stride as usize * *map.dims.last().unwrap() as usize,
        None => map.dims[0] as usize * width(map),
    }
}

/// Where an element of the tensor is, if it is inside.
fn place(map: &TensorMap, coords: &[i64]) -> Option<usize> {
    let inside = coords
        .iter()
        .zip(&map.dims)
        .all(|(at, dim)| (0..i64::from(*dim)).contains(at));
    let outer = coords
        .iter()
        .skip(1)
        .zip(&map.strides)
        .map(|(at, stride)| *at as usize * *stride as usize);
    inside.then(|| coords[0] as usize * width(map) + outer.sum::<usize>())
}

/// The elements of a box in the order of shared memory: where each is there, and its coordinates.
fn elements(map: &TensorMap, start: &[i64]) -> Vec<(usize, Vec<i64>)> {
    let counts: Vec<i64> = (map.size.iter().zip(&map.steps).enumerate())
        .map(|(at, (size, step))| i64::from(if at == 0 { *size } else { size.div_ceil(*step) }))
        .collect();
    let row = map.size[0] as usize * width(map);
    let mut out = Vec::new();
    for nth in 0..counts.iter().product::<i64>() {
        let mut left = nth;
        let coords: Vec<i64> = (counts.iter().enumerate())
            .map(|(at, count)| {
                let within = left % count;
                left /= count;
                start[at] + within * if at == 0 { 1 } else { i64::from(map.steps[at]) }
            })
            .collect();
        out.push((swizzle(map, nth as usize * width(map), row), coords));
    }
    out
}

/// Pieces of 16 bytes change places within their row, as the row's number says.
fn swizzle(map: &TensorMap, at: usize, row: usize) -> usize {
    if map.swizzle == 0 {
        return at;
    }
    let (line, piece) = (at / row, at % row / 16);
    let mixed = match row {
        128 => piece ^ (line % 8),
        64 => piece ^ (line / 2 % 4),
        _ => piece ^ (line / 4 % 2),
    };
    line * row + mixed * 16 + at % 16
}

fn noise(len: usize, salt: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at * 167 + at / 251 * 31 + salt * 89 + 7) as u8)
        .collect()
}

/// A kernel with a box of `len` bytes in shared memory. `before` and `after` run in all threads, `work` in one; `%rd1` is the
/// map, `%rd2` a buffer of the box's size, `%r1` the box, `%r2` the mbarrier.
fn kernel(len: usize, before: &str, work: &str, after: &str) -> String {
    format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128], .param .u64 p)\n{{\n\
         .reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<4>;\n.shared .align 1024 .b8 box[{len}];\n.shared .align 8 .b64 bar;\n\
         mov.b64 %rd1, map;\ncvta.param.u64 %rd1, %rd1;\nld.param.u64 %rd2, [p];\nmov.u32 %r1, box;\nmov.u32 %r2, bar;\n\
         mov.u32 %r3, %tid.x;\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 bra READY;\nmbarrier.init.shared.b64 [%r2], 1;\nREADY:\n{before}\n\
         fence.proxy.async;\nbar.sync 0;\n@%p0 bra JOIN;\n{work}\nJOIN:\n{after}\nret;\n}}"
    )
}

/// Copies the buffer to the box, or the box to the buffer, word by word.
fn copied(len: usize, label: &str, to_box: bool) -> String {
    let step = match to_box {
        true => "ld.global.b32 %r7, [%rd4];\nst.shared.b32 [%r6], %r7;",
        false => "ld.shared.b32 %r7, [%r6];\nst.global.b32 [%rd4], %r7;",
    };
    format!(
        "shl.b32 %r5, %r3, 2;\n{label}:\nadd.u32 %r6, %r1, %r5;\ncvt.u64.u32 %rd3, %r5;\nadd.u64 %rd4, %rd2, %rd3;\nsetp.lt.u32 %p1, %r5, {len};\n\
         @!%p1 bra {label}_END;\n{step}\nadd.u32 %r5, %r5, 128;\nbra {label};\n{label}_END:"
    )
}

const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;";

fn list(start: &[i64]) -> String {
    let numbers: Vec<_> = start.iter().map(i64::to_string).collect();
    format!("{{{}}}", numbers.join(", "))
}

fn box_len(map: &TensorMap) -> usize {
    elements(map, &vec![0; map.dims.len()]).len() * width(map)
}

/// Maps and where boxes begin: inside, across each edge, outside.
fn cases() -> Vec<(TensorMap, Vec<i64>)> {
    let mut out = Vec::new();
    for start in [0, 5, -3, 60, 200] {
        out.push((map("f32", &[64], &[16]), vec![start]));
    }
    for swizzle in 0..4u8 {
        let inner = if swizzle == 0 { 24 } else { 8 << swizzle };
        for start in [[0, 0], [7, 3], [-9, -2], [90, 30]] {
            let mut map = map("f16", &[100, 37], &[inner, 20]);
            map.strides = vec![208];
            map.swizzle = swizzle;
            map.nan = start[0] == 7;
            out.push((map, start.to_vec()));
        }
    }
    let mut thin = map("u8", &[48, 9, 5], &[32, 6, 4]);
    thin.steps = vec![1, 2, 3];
    out.push((thin.clone(), vec![0, 1, 0]));
    out.push((thin, vec![20, 4, -3]));
    out.push((map("f64", &[6, 3, 3, 3, 2], &[2, 2, 1, 3, 2]), vec![4, 2, 1, -1, 0]));
    out.push((map("u64", &[8, 4, 4, 2], &[4, 4, 2, 1]), vec![2, -1, 3, 1]));
    out
}

#[test]
fn boxes_come_to_shared_memory() {
    for (map, start) in cases() {
        let (len, rank) = (box_len(&map), map.dims.len());
        let work = format!(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {len};\n\
             cp.async.bulk.tensor.{rank}d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {}], [%r2];",
            list(&start)
        );
        let text = kernel(len, "", &work, &format!("{WAIT}\n{}", copied(len, "OUT", false)));
        let tensor = noise(extent(&map), 1);
        let args = vec![
            Arg::TensorMap(map.clone(), Data::Own(buffer(tensor.clone()))),
            Arg::Buffer(buffer(vec![0; len])),
        ];
        let after = run(&text, args).unwrap_or_else(|why| panic!("{map:?} {start:?}: {why}\n{text}"));
        let mut expected = vec![0; len];
        for (at, coords) in elements(&map, &start) {
            let size = width(&map);
            match place(&map, &coords) {
                Some(from) => expected[at..at + size].copy_from_slice(&tensor[from..from + size]),
                None if map.nan => expected[at..at + 2].copy_from_slice(&[0xff, 0x7f]),
                None => {}
            }
        }
        assert!(after[1] == expected, "{map:?} {start:?}");
        assert_eq!(after[0], tensor);
    }
}

#[test]
fn boxes_go_to_global_memory() {
    for (map, start) in cases() {
        let (len, rank) = (box_len(&map), map.dims.len());
        let work = format!(
            "cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%rd1, {}], [%r1];\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
            list(&start)
        );
        let text = kernel(len, &copied(len, "IN", true), &work, "");
        let (tensor, contents) = (noise(extent(&map), 1), noise(len, 2));
        let args = vec![
            Arg::TensorMap(map.clone(), Data::Own(buffer(tensor.clone()))),
            Arg::Buffer(buffer(contents.clone())),
        ];
        let after = run(&text, args).unwrap_or_else(|why| panic!("{map:?} {start:?}: {why}\n{text}"));
        let mut expected = tensor;
        for (at, coords) in elements(&map, &start) {
            if let Some(to) = place(&map, &coords) {
                expected[to..to + width(&map)].copy_from_slice(&contents[at..at + width(&map)]);
            }
        }
        assert!(after[0] == expected, "{map:?} {start:?}");
    }
}

/// What becomes of two elements.
type Combine = fn(i32, i32) -> i32;

#[test]
fn boxes_are_reduced() {
    let map = map("s32", &[40, 6], &[8, 4]);
    let words = |bytes: &[u8]| {
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| i32::from_le_bytes(*word))
            .collect::<Vec<_>>()
    };
    let cases: [(&str, Combine); 4] = [
        ("add", i32::wrapping_add),
        ("min", i32::min),
        ("xor", |a, b| a ^ b),
        ("or", |a, b| a | b),
    ];
    for (name, f) in cases {
        let start = [-3, 4];
        let work = format!(
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.{name}.tile.bulk_group [%rd1, {}], [%r1];\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
            list(&start)
        );
        let text = kernel(128, &copied(128, "IN", true), &work, "");
        let (tensor, contents) = (noise(extent(&map), 1), noise(128, 2));
        let args = vec![
            Arg::TensorMap(map.clone(), Data::Own(buffer(tensor.clone()))),
            Arg::Buffer(buffer(contents.clone())),
        ];
        let after = run(&text, args).unwrap();
        let (mut expected, operands) = (words(&tensor), words(&contents));
        for (at, coords) in elements(&map, &start) {
            if let Some(to) = place(&map, &coords) {
                expected[to / 4] = f(expected[to / 4], operands[at / 4]);
            }
        }
        assert_eq!(words(&after[0]), expected, "{name}");
    }
}

#[test]
fn four_rows_are_gathered_and_scattered() {
    let mut map = map("f16", &[100, 37], &[64, 1]);
    map.strides = vec![208];
    map.swizzle = 3;
    let rows = [30i64, 2, -1, 36];
    let at = |line: usize, col: usize| swizzle(&map, line * 128 + col * 2, 128);
    let gather = "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;\n\
        cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%rd1, {50, 30, 2, -1, 36}], [%r2];";
    let text = kernel(512, "", gather, &format!("{WAIT}\n{}", copied(512, "OUT", false)));
    let tensor = noise(extent(&map), 1);
    let arg = || Arg::TensorMap(map.clone(), Data::Own(buffer(tensor.clone())));
    let after = run(&text, vec![arg(), Arg::Buffer(buffer(vec![1; 512]))]).unwrap();
    let mut expected = vec![0; 512];
    for (line, row) in rows.iter().enumerate() {
        for col in 0..64 {
            if let Some(from) = place(&map, &[50 + col as i64, *row]) {
                expected[at(line, col)..at(line, col) + 2].copy_from_slice(&tensor[from..from + 2]);
            }
        }
    }
    assert!(after[1] == expected);
    let scatter = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {50, 30, 2, -1, 36}], [%r1];\n\
        cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
    let text = kernel(512, &copied(512, "IN", true), scatter, "");
    let contents = noise(512, 2);
    let after = run(&text, vec![arg(), Arg::Buffer(buffer(contents.clone()))]).unwrap();
    let mut expected = tensor.clone();
    for (line, row) in rows.iter().enumerate() {
        for col in 0..64 {
            if let Some(to) = place(&map, &[50 + col as i64, *row]) {
                expected[to..to + 2].copy_from_slice(&contents[at(line, col)..at(line, col) + 2]);
            }
        }
    }
    assert!(after[0] == expected);
}

/// A kernel takes the map it is given for a template: it replaces dimensions and address, publishes the new one, and uses it.
#[test]
fn maps_are_changed_and_published() {
    let text = "
        .version 8.6
        .target sm_90a
        .address_size 64
        .visible .entry k(.param .u64 map, .param .u64 made, .param .u64 data, .param .u64 out)
        {
            .reg .b64 %rd<8>;
            .reg .b32 %r<8>;
            .reg .pred %p<3>;
            .shared .align 128 .b8 s[128];
            .shared .align 128 .b8 box[64];
            .shared .align 8 .b64 bar;
            ld.param.u64 %rd1, [map];
            ld.param.u64 %rd2, [made];
            ld.param.u64 %rd3, [data];
            ld.param.u64 %rd4, [out];
            mov.u32 %r1, s;
            mov.u32 %r2, box;
            mov.u32 %r3, bar;
            mov.u32 %r4, %tid.x;
            setp.ne.u32 %p0, %r4, 0;
            shl.b32 %r5, %r4, 2;
            cvt.u64.u32 %rd5, %r5;
            add.u64 %rd6, %rd1, %rd5;
            ld.global.b32 %r6, [%rd6];
            add.u32 %r7, %r1, %r5;
            st.shared.b32 [%r7], %r6;
            bar.warp.sync -1;
            @%p0 bra CHANGED;
            tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd3;
            tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 0, 12;
            tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 1, 3;
            tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 0, 64;
            mbarrier.init.shared.b64 [%r3], 1;
        CHANGED:
            bar.warp.sync -1;
            tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r1], 128;
            fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
            fence.proxy.async;
            bar.sync 0;
            @%p0 bra WAIT;
            mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 64;
            cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd2, {8, 1}], [%r3];
        WAIT:
            mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;
            @!%p1 bra WAIT;
            setp.gt.u32 %p1, %r4, 15;
            @%p1 bra DONE;
            add.u32 %r7, %r2, %r5;
            ld.shared.b32 %r6, [%r7];
            add.u64 %rd6, %rd4, %rd5;
            st.global.b32 [%rd6], %r6;
        DONE:
            ret;
        }";
    let data: Vec<u8> = (0..48u32).flat_map(u32::to_le_bytes).collect();
    let args = vec![
        Arg::TensorMap(map("u32", &[4, 4], &[8, 2]), Data::Own(buffer(vec![0; 64]))),
        Arg::Buffer(buffer(vec![0; 128])),
        Arg::Buffer(buffer(data)),
        Arg::Buffer(buffer(vec![9; 64])),
    ];
    let after = run(text, args).unwrap();
    let words: Vec<u32> = after[3]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    // Rows 1 and 2 of sixteen, columns 8 to 15 of twelve.
    assert_eq!(words, [24, 25, 26, 27, 0, 0, 0, 0, 40, 41, 42, 43, 0, 0, 0, 0]);
}

#[test]
fn what_is_wrong_is_found() {
    let load = |start: &str, dims: usize, address: &str| {
        let work = format!(
            "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;\n{address}\n\
             cp.async.bulk.tensor.{dims}d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {start}], [%r2];"
        );
        kernel(256, "", &work, WAIT)
    };
    let good = map("f32", &[64, 4], &[8, 4]);
    let data = || Data::Own(buffer(noise(extent(&good), 1)));
    let out = || Arg::Buffer(buffer(vec![0; 256]));
    let go = |text: &str, arg| run(text, vec![arg, out()]);
    assert!(go(&load("{0, 0}", 2, ""), Arg::TensorMap(good.clone(), data())).is_ok());
    let why = go(&load("{0, 0, 0}", 3, ""), Arg::TensorMap(good.clone(), data())).unwrap_err();
    assert!(why.starts_with("ASYNC012") && why.contains("3 dimensions"), "{why}");
    let why = go(
        &load("{0, 0}", 2, "add.u32 %r1, %r1, 16;"),
        Arg::TensorMap(good.clone(), data()),
    )
    .unwrap_err();
    assert!(why.starts_with("ASYNC012") && why.contains("128"), "{why}");
    let why = go(&load("{0, 0}", 2, ""), Arg::Bytes(vec![0; 128])).unwrap_err();
    assert!(why.contains("unsupported") && why.contains("tensormap:"), "{why}");
    // The tensor is larger than the buffer it lies in.
    let why = go(
        &load("{0, 2}", 2, ""),
        Arg::TensorMap(good.clone(), Data::Own(buffer(vec![0; 600]))),
    )
    .unwrap_err();
    assert!(why.starts_with("MEM002"), "{why}");
    let why = go(&load("{0, 0}", 2, ""), Arg::TensorMap(good.clone(), Data::Of(0))).unwrap_err();
    assert!(why.contains("argument 0"), "{why}");
    assert!(
        go(&load("{0, 0}", 2, ""), Arg::TensorMap(good.clone(), Data::Of(1))).is_err(),
        "256 bytes are too few"
    );
    // A box is stored that ordinary stores wrote, without a proxy fence.
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, 0}], [%r1];\n\
        cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
    let text = kernel(128, &copied(128, "IN", true), store, "").replace("fence.proxy.async;", "");
    let why = go(&text, Arg::TensorMap(good.clone(), data())).unwrap_err();
    assert!(why.starts_with("ASYNC010"), "{why}");
}
