//! Petri nets in PNML: place/transition nets and symmetric (coloured) nets, as the Model Checking Contest writes them.
//!
//! [`read`] gives the net as it was written; [`load`] removes its colours, finds out how many tokens its places can have, and makes a program of it. What
//! no invariant bounds gets a guessed width, and a [`Loaded`] net can be lowered again with a larger one.

mod bounds;
mod declarations;
mod encoding;
mod expressions;
mod find;
mod flat;
mod formula;
mod lower;
mod net;
mod properties;
mod read;
mod semiflows;
mod terms;
mod unfold;
mod widths;
mod xml;

pub use bounds::{Bounds, OneToken};
pub use encoding::{Encoding, Field, Holds, Kept, TooWide};
pub use find::find;
pub use flat::{Flat, FlatPlace, FlatTransition};
pub use formula::{Comparison, Formula, Predicate, Sum};
pub use lower::{Guess, Lowered};
pub use net::{Net, Place, Sort, SortId, SortKind, Transition, Variable};
pub use properties::properties;
pub use read::read;
pub use semiflows::{Semiflow, semiflows};
pub use terms::{Bag, Colour, Condition, Part};
pub use unfold::{MOST_PLACES, MOST_TRANSITIONS};
pub use widths::Widths;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Span};
use std::sync::Arc;
use wayfarer_space::Fault;

/// A net that is ready to be explored.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The net without colours.
    pub flat: Arc<Flat>,
    /// The proved bounds on its tokens.
    pub bounds: Arc<Bounds>,
    /// The guessed bounds.
    pub widths: Widths,
    /// The questions about its markings: properties of the program, in this order.
    pub formulas: Arc<Vec<Formula>>,
    /// The program and the key to its states.
    pub lowered: Lowered,
}

/// Reads a net and makes a program of it. There is one exactly when the diagnostics have no errors.
///
/// ```
/// use wayfarer_lang::{pnml, source::Source};
/// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
///   <place id="p"><initialMarking><text>2</text></initialMarking></place><transition id="t"/><arc id="a" source="p" target="t"/>
/// </page></net></pnml>"#;
/// let (net, diagnostics) = pnml::load(&Source::new("two.pnml", text));
/// assert!(diagnostics.is_empty());
/// assert_eq!(net.unwrap().lowered.encoding.bits, 2);
/// ```
pub fn load(source: &Source) -> (Option<Loaded>, Diagnostics) {
    let (net, diagnostics) = read(source);
    let Some(net) = net else { return (None, diagnostics) };
    let mut findings = xml::Findings::new(source, diagnostics);
    let flat = unfold::unfold(net, &mut findings);
    let mut diagnostics = findings.diagnostics;
    let Some(flat) = flat else { return (None, diagnostics) };
    let bounds = Bounds::of(&flat, true);
    let widths = Widths::guess(&flat, &bounds);
    match lower::lower(&flat, &bounds, &widths, source.name()) {
        Ok(lowered) => (Some(Loaded { flat: Arc::new(flat), bounds: Arc::new(bounds), widths, formulas: Arc::default(), lowered }), diagnostics),
        Err(TooWide { bits }) => {
            let most = wayfarer_ir::layout::MAX_BITS;
            diagnostics.push(Diagnostic::error(Span::new(0, 1), format!("a marking of this net has {bits} bits, and at most {most} are supported")));
            (None, diagnostics)
        }
    }
}

impl Loaded {
    /// The same net with more room where a fault showed that a guess was wrong; none where there can be no more.
    pub fn widened(&self, fault: Fault, source: &str) -> Option<Loaded> {
        let guess = self.lowered.wrong.get(fault.0 as usize)?;
        let (mut bounds, mut widths) = (self.bounds.clone(), self.widths.clone());
        match guess {
            Guess::Unit => {
                bounds = Arc::new(Bounds::of(&self.flat, false));
                widths = Widths { trusts_units: false, ..Widths::guess(&self.flat, &bounds) };
            }
            Guess::Width(place) => {
                let place = *place as usize;
                if widths.bits[place] >= widths::WIDEST {
                    return None;
                }
                widths.widen(place);
            }
        }
        let mut lowered = lower::lower(&self.flat, &bounds, &widths, source).ok()?;
        formula::add(&mut lowered.program, &self.flat, &lowered.encoding, &self.formulas);
        Some(Loaded { flat: self.flat.clone(), bounds, widths, formulas: self.formulas.clone(), lowered })
    }

    /// The same net with more questions about its markings.
    pub fn asking(mut self, formulas: Vec<Formula>) -> Loaded {
        formula::add(&mut self.lowered.program, &self.flat, &self.lowered.encoding, &formulas);
        Arc::make_mut(&mut self.formulas).extend(formulas);
        self
    }

    /// Whether anything was guessed that may turn out to be wrong.
    pub fn is_guessed(&self) -> bool {
        !self.lowered.wrong.is_empty()
    }
}
