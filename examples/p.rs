fn main() {
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let t = std::time::Instant::now();
        let p = ptxgen::ptx::parse::parse(&text);
        let el = t.elapsed();
        let src = ptxgen::ptx::source::Source::new(path.clone(), text.clone()).unwrap();
        println!(
            "{} {} insts {} diags {:?}",
            path,
            p.module
                .functions
                .iter()
                .filter_map(|f| f.body.as_ref())
                .map(|b| b.insts.len())
                .sum::<usize>(),
            p.diags.len(),
            el
        );
        for d in p.diags.iter().take(4) {
            println!("   {} {} {}", src.position(d.span.start), d.code.id, d.message);
        }
    }
}
