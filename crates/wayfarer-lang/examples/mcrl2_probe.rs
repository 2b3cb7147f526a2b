//! Scratch.
use wayfarer_lang::{mcrl2, source::Source};
fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let source = Source::from_bytes(&path, &bytes);
        let (_, diagnostics) = mcrl2::load(&source);
        print!("{}", diagnostics.render(&source, false));
    }
}
