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
const MAGIC: [(&[u8], &str); 8] = [
    (
        b"\x7fELF",
        "an ELF file, not PTX text; if it is a cubin or a program, `cuobjdump -ptx` extracts the PTX in it",
    ),
    (
        b"\x50\xed\x55\xba",
        "a fat binary, not PTX text; `cuobjdump -ptx` extracts the PTX in it",
    ),
    (
        b"BC\xc0\xde",
        "LLVM bitcode, not PTX text; `llc -march=nvptx64` compiles it to PTX",
    ),
    (b"\xff\xfe", "UTF-16 text; convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text; convert it to UTF-8"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
];

/// Beginnings of lines (blanks aside) that tell other languages, and what to say then.
const LANGUAGES: [(&[&str], &str); 5] = [
    (&["<"], "markup (XML or HTML), not PTX"),
    (
        &[
            "#include",
            "#define",
            "#pragma",
            "#ifdef",
            "#ifndef",
            "extern \"C\"",
            "__global__",
            "__device__",
            "template",
            "int ",
            "void ",
        ],
        "C or CUDA source, not PTX; `nvcc -ptx` compiles it to PTX",
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
        &[".headerflags", ".section", "/*0000*/"],
        "disassembled machine code (SASS), not PTX",
    ),
    (&["#!/", "import ", "from ", "def "], "a script, not PTX"),
];

/// The text of a PTX file, or what the bytes are instead.
///
/// A byte-order mark and trailing NULs (strings dumped from programs have one) are dropped. Each byte that is not
/// UTF-8 becomes one U+FFFD, so that a comment in Latin-1 is no obstacle and columns still count what an editor
/// shows; offsets refer to the text so converted.
pub fn ptx_text(bytes: Vec<u8>) -> Result<String, String> {
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
    if is_ptx(&text) { Ok(text) } else { Err(guess(&text)) }
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
fn is_ptx(text: &str) -> bool {
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

fn guess(text: &str) -> String {
    let known = text.lines().find_map(|line| {
        let line = line.trim_start();
        let fits = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        LANGUAGES.iter().find(|(starts, _)| fits(starts)).map(|(_, what)| *what)
    });
    match known {
        Some(what) => format!("looks like {what}"),
        None => "no PTX in it: a module starts with `.version` and `.target`".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> String {
        ptx_text(bytes.to_vec()).unwrap_err()
    }

    #[test]
    fn ptx_is_taken_as_it_is() {
        for text in [
            ".version 8.0\r\n.target sm_80\n",
            "/* x */ .entry k() { ret; }",
            "garbage\n\t.func f;",
        ] {
            assert_eq!(ptx_text(text.into()).unwrap(), text);
        }
    }

    #[test]
    fn marks_and_trailing_nuls_are_dropped() {
        assert_eq!(
            ptx_text(b"\xef\xbb\xbf.version 8.0\n\0".to_vec()).unwrap(),
            ".version 8.0\n"
        );
    }

    #[test]
    fn every_bad_byte_becomes_one_character() {
        let text = ptx_text(b"// \xe9t\xe9\n.version 8.0 // \xe2\x82".to_vec()).unwrap();
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
}
