//! Is this PTX at all? Bytes to text, with a helpful line where they are something else.

/// Directives that open a line in PTX and hardly anywhere else.
const DIRECTIVES: [&str; 11] = [
    "version",
    "target",
    "address_size",
    "visible",
    "extern",
    "entry",
    "func",
    "const",
    "shared",
    "param",
    "reg",
];

/// First bytes of files that people take for PTX.
const MAGIC: [(&[u8], &str); 15] = [
    (
        b"\x7fELF",
        "an ELF file, not PTX text; if it is a cubin or a program, `cuobjdump -ptx` extracts the PTX in it",
    ),
    (
        b"\x50\xed\x55\xba",
        "a fat binary, not PTX text; `cuobjdump -ptx` extracts the PTX in it",
    ),
    (
        b"!<arch>\n",
        "a library, not PTX text; `cuobjdump -ptx` extracts the PTX in it",
    ),
    (
        b"MZ",
        "a Windows program, not PTX text; `cuobjdump -ptx` extracts the PTX in it",
    ),
    (
        b"BC\xc0\xde",
        "LLVM bitcode, not PTX text; `llc -march=nvptx64` compiles it to PTX",
    ),
    (b"\x03\x02\x23\x07", "SPIR-V, not PTX"),
    (b"ML\xefR", "MLIR bytecode, not PTX"),
    (b"\x89PNG", "a picture"),
    (b"%PDF-", "a PDF document"),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (
        b"version https://git-lfs",
        "a Git LFS pointer; `git lfs pull` fetches the file",
    ),
];

/// Beginnings of lines (blanks aside) that tell other languages, and what to say then.
const LANGUAGES: [(&[&str], &str); 9] = [
    (&["<"], "markup (XML or HTML), not PTX"),
    (
        &[
            "#include",
            "#define",
            "#pragma",
            "#ifdef",
            "#ifndef",
            "#if ",
            "extern \"C\"",
            "__global__",
            "__device__",
            "__host__",
            "__kernel",
            "template",
            "namespace ",
            "using ",
            "typedef ",
            "struct ",
            "static ",
            "int ",
            "void ",
        ],
        "C, C++ or CUDA source, not PTX; `nvcc -ptx` compiles it to PTX",
    ),
    (
        &[
            "; ModuleID",
            "source_filename",
            "target triple",
            "target datalayout",
            "define ",
        ],
        "LLVM IR, not PTX; `llc -march=nvptx64` compiles it to PTX",
    ),
    (
        &["module {", "module attributes", "tt.func", "#loc", "#blocked"],
        "MLIR, not PTX",
    ),
    (
        &["Fatbin "],
        "a listing of `cuobjdump` without PTX; `cuobjdump -ptx` shows the PTX of programs that have it",
    ),
    (
        &[".headerflags", ".elftype", "/*0000*/", "code for sm_", "Function :"],
        "disassembled machine code (SASS), not PTX",
    ),
    (
        &[".file\t", ".text", ".globl", ".amdgcn_target", ".section"],
        "assembly for another processor, not PTX",
    ),
    (&["#!/", "import ", "from ", "def "], "a script, not PTX"),
    (&["{\"", "[{", "[\"", "\""], "data (JSON), not PTX"),
];

/// The text of a PTX file, or what the bytes are instead. With `fragment`, a text without directives will do.
///
/// A byte-order mark and trailing NULs (strings dumped from programs have one) are dropped. Each byte that is not
/// UTF-8 becomes one U+FFFD, so that a comment in Latin-1 is no obstacle and columns still count what an editor
/// shows; offsets refer to the text so converted.
pub fn ptx_text(bytes: Vec<u8>, fragment: bool) -> Result<String, String> {
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(format!("is {what}"));
    }
    let text = decode(bytes);
    if text.trim().is_empty() {
        return Err("is empty".into());
    }
    if let Some(at) = text.find('\0') {
        return Err(format!("is binary (a NUL byte at offset {at}), not PTX text"));
    }
    if let Some(what) = host(&text) {
        return Err(format!("looks like {what}"));
    }
    if fragment || is_ptx(&text) {
        Ok(text)
    } else {
        Err(guess(&text))
    }
}

/// The language of a text that may hold PTX in its strings: its first line that is no comment tells.
fn host(text: &str) -> Option<&'static str> {
    const FIRST: [&str; 12] = [
        "#include",
        "#define",
        "#pragma",
        "#ifndef",
        "#ifdef",
        "#!/",
        "import ",
        "from ",
        "<?xml",
        "<!DOCTYPE",
        "<html",
        "; ModuleID",
    ];
    let mut in_comment = false;
    let first = text.lines().map(str::trim_start).find(|line| {
        let skipped = in_comment || line.is_empty() || line.starts_with("//") || line.starts_with("/*");
        in_comment = (in_comment || line.starts_with("/*")) && !line.contains("*/");
        !skipped
    })?;
    let is_host = FIRST.iter().any(|start| first.starts_with(start));
    is_host.then(|| language(first)).flatten()
}

fn decode(mut bytes: Vec<u8>) -> String {
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let mut text = String::with_capacity(error.as_bytes().len());
            for chunk in error.as_bytes().utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
            }
            text
        }
    }
}

/// Whether some line starts with a directive of PTX. One good line is enough: a file that is otherwise broken is
/// for the parser to judge.
pub fn is_ptx(text: &str) -> bool {
    let starts_statement = |piece: &str| {
        let Some(word) = piece.trim_start().strip_prefix('.') else {
            return false;
        };
        let end = word
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(word.len());
        // `.shared` opens a declaration, `.shared.u32` is part of an opcode or of some other language.
        DIRECTIVES.contains(&&word[..end]) && !word[end..].starts_with(['.', '(', '='])
    };
    // A directive may follow a comment that ends on its line.
    text.lines().any(|line| line.split("*/").any(starts_statement))
}

/// What a text without directives of PTX may be instead.
pub fn guess(text: &str) -> String {
    match text.lines().find_map(language) {
        Some(what) => format!("looks like {what}"),
        None if text.contains(';') => {
            "no PTX in it: a module starts with `.version` and `.target`; for a part of one, say `--target sm_80`"
                .into()
        }
        None => "no PTX in it: a module starts with `.version` and `.target`".into(),
    }
}

/// The language that a line tells.
fn language(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let fits = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    LANGUAGES.iter().find(|(starts, _)| fits(starts)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> String {
        ptx_text(bytes.to_vec(), false).unwrap_err()
    }

    #[test]
    fn ptx_is_taken_as_it_is() {
        for text in [
            ".version 8.0\r\n.target sm_80\n",
            "/* x */ .entry k() { ret; }",
            "garbage\n\t.func f;",
        ] {
            assert_eq!(ptx_text(text.into(), false).unwrap(), text);
        }
    }

    #[test]
    fn marks_and_trailing_nuls_are_dropped() {
        assert_eq!(
            ptx_text(b"\xef\xbb\xbf.version 8.0\n\0".to_vec(), false).unwrap(),
            ".version 8.0\n"
        );
    }

    #[test]
    fn every_bad_byte_becomes_one_character() {
        let text = ptx_text(b"// \xe9t\xe9\n.version 8.0 // \xe2\x82".to_vec(), false).unwrap();
        assert_eq!(text, "// \u{fffd}t\u{fffd}\n.version 8.0 // \u{fffd}\u{fffd}");
    }

    #[test]
    fn other_files_are_named() {
        assert_eq!(error(b""), "is empty");
        assert_eq!(error(b" \n\t\n"), "is empty");
        assert!(error(b"\x7fELF\x02").contains("cuobjdump"));
        assert!(error(b"\xff\xfe.\0v\0").contains("is UTF-16"));
        assert!(error(b".version 8.0\n\0\x01.entry").contains("NUL byte at offset 13"));
        assert!(error(b"<?xml version=\"1.0\"?>").contains("markup"));
        assert!(error(b"// saxpy\n#include <cuda.h>\nint main() {}").contains("nvcc -ptx"));
        assert!(error(b"; ModuleID = 'x'\ntarget triple = \"nvptx64\"\n").contains("LLVM IR"));
        assert!(error(b"\xff\xfa\xfb\x90").contains("no PTX in it"));
        assert!(error(b"promise\n  .shared.then(x)\n").contains("no PTX in it"));
    }
    #[test]
    fn a_source_that_holds_ptx_in_strings_is_no_ptx() {
        let text = b"// kernels\n/* of\n ours */\n#include <cuda.h>\nconst char *k = R\"(\n.version 8.0\n.target sm_80\n)\";\n";
        assert!(error(text).contains("CUDA source"));
        assert!(error(b"#!/usr/bin/env python\nK = \"\"\"\n.version 8.0\n\"\"\"\n").contains("a script"));
    }

    #[test]
    fn a_fragment_needs_no_directive() {
        let text = "add.u32 %r1, %r2, %r3;\n";
        assert!(error(text.as_bytes()).contains("--target"));
        assert_eq!(ptx_text(text.into(), true).unwrap(), text);
        assert!(ptx_text(b"#include <a.h>\n".to_vec(), true).is_err());
    }

    #[test]
    fn more_files_are_named() {
        for (bytes, what) in [
            (&b"!<arch>\nfoo.o/ "[..], "a library"),
            (b"MZ\x90\0", "a Windows program"),
            (b"\x03\x02\x23\x07\0", "SPIR-V"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
            (b"\n\tcode for sm_80\n\t\tFunction : k\n", "SASS"),
            (b"\t.headerflags\t@\"EF_CUDA_SM80\"\n", "SASS"),
            (b"Fatbin elf code:\n====\narch = sm_80\n", "without PTX"),
            (b"\t.text\n\t.globl main\n", "another processor"),
            (b"module {\n  tt.func public @k() {\n", "MLIR"),
            (b"{\"kernels\": []}\n", "JSON"),
            (b"__global__ void k() {}\n", "CUDA source"),
        ] {
            assert!(error(bytes).contains(what), "{what}: {}", error(bytes));
        }
    }
}
