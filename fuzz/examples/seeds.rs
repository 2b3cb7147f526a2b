//! Fills the corpora from our own models: `cargo run --example seeds`. Large models teach a fuzzer little and cost it time, so they are left out.

use std::path::Path;
use wayfarer_ir::text;
use wayfarer_lang::murphi::{self, Options};
use wayfarer_lang::source::Source;

/// Larger seeds are left out.
const MOST_BYTES: usize = 8000;

/// Small models that use the features missing from the collection.
const SNIPPETS: [&str; 5] = [
    "const N: 2; type S: scalarset(N); E: enum { a, b }; U: union { S, enum { c } }; R: record x: boolean; y: array [S] of 0 .. 3; end;\n\
     var u: U; r: R; m: multiset [3] of E; n: -2 .. 2;\n\
     function f(var x: R; i: S): boolean; var z: boolean; begin z := x.y[i] = 0; return z & !x.x -> z; end;\n\
     startstate \"s\" begin clear r; clear n; for i: S do r.y[i] := 1; u := i; end; end;\n\
     ruleset i: S; j := 0 to 2 by 2 do rule \"go\" f(r, i) ==> begin r.y[i] := j; multisetadd(a, m); end; end;\n\
     choose i: m do rule \"take\" m[i] = a ==> begin multisetremove(i, m); end; end;\n\
     invariant \"few\" multisetcount(i: m, m[i] = a) < 3;\n",
    "var x: 0 .. 9; y: boolean; startstate begin x := 0; undefine y; end;\n\
     rule \"a\" x < 9 & isundefined(y) ==> var t: 0 .. 9; begin t := x; while t > 0 do t := t - 1; end; x := x + 1; y := x % 2 = 0; end;\n\
     rule \"b\" !isundefined(y) ==> begin switch x case 1, 2: undefine y; case 3: clear y; else y := y ? false : true; end; end;\n\
     cover x = 5; assume x < 8; invariant exists i := 0 to 9 do x = i end;\n",
    "type T: array [boolean] of record a, b: 0 .. 1000000; end; var t: T; q: T;\n\
     procedure swap(var a: T; var b: T); var c: T; begin c := a; a := b; b := c; end;\n\
     startstate begin clear t; clear q; t[true].a := 7; end;\n\
     rule begin alias v: t[true] do v.b := v.a / 2; end; swap(t, q); assert t != q \"same\"; end;\n",
    "var x: 0 .. 0xff; startstate x ≔ 8 × 2 ÷ 1 − 3; end rule “q” x ≥ 1 ∧ ¬(x ≠ 13) ⇒ x := ~x & 0xff ^ 1 << 2 >> 1; end",
    "var x: boolean; ruleset i: boolean do startstate begin x := i; end; end; alias z: x do rule z ==> begin z := !z; if z then error \"no\"; elsif x then return; else put \"hi\"; put x; end; end; end;\n",
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["parse", "elaborate", "ir_text", "pnml", "promela", "mcrl2", "aut"] {
        std::fs::create_dir_all(root.join("corpus").join(folder)).expect("the corpus folder can be made");
    }
    let mut texts: Vec<(String, String)> = SNIPPETS.iter().enumerate().map(|(number, text)| (format!("snippet{number}"), text.to_string())).collect();
    let models = std::fs::read_dir(root.join("../models/murphi")).expect("the models are there");
    for path in models.map(|entry| entry.expect("readable").path()) {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        texts.push((name, std::fs::read_to_string(&path).expect("a model is text")));
    }
    let mut written = 0;
    let mut write = |folder: &str, name: &str, text: &str| {
        if text.len() <= MOST_BYTES {
            std::fs::write(root.join("corpus").join(folder).join(name), text).expect("the seed can be written");
            written += 1;
        }
    };
    for (name, text) in &texts {
        write("parse", name, text);
        write("elaborate", name, text);
        let (program, diagnostics) = murphi::load(&Source::new(name, text.as_str()), &Options::default());
        match program {
            Some(program) => write("ir_text", name, &text::print(&program)),
            None => panic!("{name} is refused: {}", diagnostics.render(&Source::new(name, text.as_str()), false)),
        }
    }
    for folder in ["pnml", "promela", "mcrl2"] {
        let models = std::fs::read_dir(root.join("../models").join(folder)).expect("the models are there");
        for path in models.map(|entry| entry.expect("readable").path()) {
            let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
            write(folder, &name, &std::fs::read_to_string(&path).expect("a model is text"));
        }
    }
    write("aut", "small", "des (0,3,2)\n(0,\"a\",1)\n(1,\"b c\",0)\n(0,tau,1)\n");
    println!("{written} seeds");
}
