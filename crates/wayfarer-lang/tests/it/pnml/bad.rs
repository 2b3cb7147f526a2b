//! Nets that are wrong, damaged, deep or long: they are refused at their place or read in time.

use super::{coloured, load, net, refused};
use expect_test::expect;
use std::path::PathBuf;
use wayfarer_ir::{Interpreter, Limits, verify};
use wayfarer_lang::pnml;
use wayfarer_lang::source::Source;
use wayfarer_space::{Rng, Space, Steps};

#[test]
fn bad_nets_are_refused_where_they_are_wrong() {
    refused(
        "",
        expect![[r#"
        1:1: this is not well-formed XML: the document does not have a root node
    "#]],
    );
    refused(
        "<pnml><net></pnml>",
        expect![[r#"
        1:12: this is not well-formed XML: expected 'net' tag, not 'pnml'
    "#]],
    );
    refused(
        "<!DOCTYPE x [<!ENTITY a 'b'>]><pnml>&a;</pnml>",
        expect![[r#"
        1:1: this is not well-formed XML: XML with DTD detected
    "#]],
    );
    refused(
        "<html/>",
        expect![[r#"
        1:1: a Petri net begins with the element `pnml`, and this with `html`
    "#]],
    );
    refused(
        "<pnml/>",
        expect![[r#"
        1:1: there is no net in this file
    "#]],
    );
    refused(
        "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/hlpnng'/></pnml>",
        expect![[r#"
        1:25: the net type `http://www.pnml.org/version-2009/grammar/hlpnng` is not known
    "#]],
    );
    refused(
        &net("<place id='p'/><place id='p'/>"),
        expect![[r#"
        2:27: `p` is the identifier of two nodes
    "#]],
    );
    refused(
        &net("<place id='p'/><place id='q'/><arc id='a' source='p' target='q'/>"),
        expect![[r#"
        2:31: an arc between two places: it must join a place and a transition
    "#]],
    );
    refused(
        &net("<transition id='t'/><arc id='a' source='p' target='t'/>"),
        expect![[r#"
        2:41: no node is called `p`
    "#]],
    );
    refused(
        &net("<referencePlace id='r' ref='p'/>"),
        expect![[r#"
        2:21: a reference to `p`, and no node is called so
    "#]],
    );
    refused(
        &net("<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/><transition id='t'/><arc id='a' source='r' target='t'/>"),
        expect![[r#"
        2:105: the reference `s` refers to itself
    "#]],
    );
    refused(
        &net("<place id='p'><initialMarking><text>-1</text></initialMarking></place>"),
        expect![[r#"
        2:37: -1 is too small: at least 0 is wanted
    "#]],
    );
    let weight = |text: &str| {
        net(&format!("<place id='p'/><transition id='t'/>\n<arc id='a' source='p' target='t'><inscription><text>{text}</text></inscription></arc>"))
    };
    refused(
        &weight("-3"),
        expect![[r#"
        3:54: -3 is too small: at least 1 is wanted
    "#]],
    );
    refused(
        &weight("1000000000000000000"),
        expect![[r#"
        3:54: 1000000000000000000 is too large: at most 2147483647 tokens are supported
    "#]],
    );
    refused(
        &weight("1 000"),
        expect![[r#"
        3:54: a number of tokens is wanted here, and not `1 000`
    "#]],
    );
    for kind in ["inhibitor", "reset"] {
        let text = net(&format!("<place id='p'/><transition id='t'/><arc id='a' source='p' target='t'><type value='{kind}'/></arc>"));
        let (loaded, diagnostics) = pnml::load(&Source::new("net.pnml", text));
        assert!(loaded.is_none());
        assert_eq!(diagnostics.iter().next().map(|found| found.message.clone()), Some(format!("arcs of the kind `{kind}` are not supported")));
    }
    refused(
        &net("<inhibitorArc id='a'/>"),
        expect![[r#"
        2:1: `inhibitorArc` is not part of a net
    "#]],
    );
}

#[test]
fn bad_colours_are_refused_where_they_are_wrong() {
    let place = "<place id='p'><type><structure><usersort declaration='s'/></structure></type></place>";
    refused(
        &coloured("", place),
        expect![[r#"
        2:55: no sort is called `s`
    "#]],
    );
    refused(
        &coloured("<namedsort id='s' name='s'><usersort declaration='s'/></namedsort>", place),
        expect![[r#"
        1:168: no sort is called `s`, or it is defined by itself
        2:55: no sort is called `s`
    "#]],
    );
    refused(
        &coloured("<namedsort id='s' name='s'><finiteintrange start='1' end='99999999999'/></namedsort>", place),
        expect![[r#"
        1:145: a range of 99999999999 values: it must have 1 to 2147483648
        2:55: no sort is called `s`
    "#]],
    );
    let sort = "<namedsort id='s' name='s'><finiteintrange start='1' end='3'/></namedsort>";
    let arc = |term: &str| {
        format!("{place}<transition id='t'/>\n<arc id='a' source='p' target='t'><hlinscription><structure>{term}</structure></hlinscription></arc>")
    };
    refused(
        &coloured(sort, &arc("<variable refvariable='x'/>")),
        expect![[r#"
        3:84: no variable is called `x`
    "#]],
    );
    refused(
        &coloured(sort, &arc("<dotconstant/>")),
        expect![[r#"
        3:61: this has the sort `dot`, and `s` is wanted
    "#]],
    );
    refused(
        &coloured(sort, &arc("<string/>")),
        expect![[r#"
        3:61: `string` is no term of a symmetric net that is supported here
    "#]],
    );
    // Ten variables of a thousand values each, of which no arc says anything.
    let variables: String =
        (0..10).map(|number| format!("<variabledecl id='x{number}' name='x{number}'><usersort declaration='s'/></variabledecl>")).collect();
    let large = format!("<namedsort id='s' name='s'><finiteintrange start='1' end='1000'/></namedsort>{variables}");
    let guard: String = (0..10).map(|number| format!("<subterm><equality><subterm><variable refvariable='x{number}'/></subterm><subterm><variable refvariable='x{number}'/></subterm></equality></subterm>")).collect();
    refused(
        &coloured(&large, &format!("<transition id='t'><condition><structure><and>{guard}</and></structure></condition></transition>")),
        expect![[r#"
        2:1: transition `t`: the variables of `t` have 1.00e30 values together, more than can be tried
    "#]],
    );
}

#[test]
fn deep_and_long_texts_are_refused_or_read_in_time() {
    let deep = format!("{}{}", "<page id='g'>".repeat(100_000), "</page>".repeat(100_000));
    refused(
        &deep,
        expect![[r#"
        1:13001: elements are nested more than 1000 levels deep
    "#]],
    );
    // Many places on one line: positions must not be counted from the beginning for each.
    let places: String = (0..20_000).map(|number| format!("<place id='p{number}'/>")).collect();
    assert_eq!(load(&net(&places)).flat.places.len(), 20_000);
}

/// Pieces that are put in or left out of damaged nets.
const PIECES: [&str; 24] = [
    "<place id='x'/>",
    "<transition id='x'/>",
    "<arc id='x' source='p' target='t'/>",
    "<page id='y'>",
    "</page>",
    "<subterm>",
    "</subterm>",
    "<tuple>",
    "<all>",
    "<variable refvariable='p'/>",
    "<successor>",
    "<numberof>",
    "<subtract>",
    "value=\"-1\"",
    "value=\"99999999999999999999\"",
    "<dot/>",
    "<text>3</text>",
    "<!--",
    "]]>",
    "&amp;",
    "é",
    "\"",
    ">",
    "",
];

/// `WAYFARER_MUTATIONS` asks for more than every day's number.
#[test]
fn damaged_nets_are_refused_or_run_and_never_panic() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/pnml");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("the nets are there").map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).expect("readable")).collect();
    let mut rng = Rng::new(11, "mutations");
    let number = std::env::var("WAYFARER_MUTATIONS").ok().and_then(|number| number.parse().ok()).unwrap_or(3_000);
    let mut loaded = 0;
    for _ in 0..number {
        let mut text = texts[rng.below(texts.len() as u64) as usize].clone();
        for _ in 0..1 + rng.below(3) {
            let place =
                |rng: &mut Rng, text: &str| (0..=rng.below(text.len() as u64) as usize).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let from = place(&mut rng, &text);
            let to = if rng.below(2) == 0 { from } else { place(&mut rng, &text).clamp(from, (from + 60).min(text.len())) };
            let to = (from..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(from);
            // Whole attribute values and tags are exchanged as well: most other damage is no XML.
            let piece = match rng.below(3) {
                0 => PIECES[rng.below(PIECES.len() as u64) as usize].to_string(),
                1 => {
                    let start = place(&mut rng, &text);
                    let piece: String = text[start..].chars().skip_while(|letter| *letter != '<').take(80).collect();
                    piece.split_inclusive('>').next().unwrap_or("").to_string()
                }
                _ => rng.below(10).to_string(),
            };
            text.replace_range(from..to, &piece);
        }
        let source = Source::new("net.pnml", text.as_str());
        let (net, diagnostics) = pnml::load(&source);
        assert_eq!(net.is_none(), diagnostics.has_errors());
        diagnostics.render(&source, true);
        for found in &diagnostics {
            assert!(found.span.start <= found.span.end && found.span.start as usize <= text.len());
        }
        if let Some(net) = net {
            assert_eq!(verify(&net.lowered.program), vec![]);
            let space = Interpreter::new(net.lowered.program.clone(), Limits::default());
            let mut steps = Steps::new(space.width());
            space.initial(&mut steps);
            loaded += 1;
        }
    }
    assert!(loaded * 20 > number, "{loaded} of {number} are still nets");
}
