//! Global items: variables, types, processes that run at the start, claims.

use super::{Resolved, Resolver};
use crate::promela::ast::{ClaimKind, Unit};

/// As many processes as there can be.
pub(in crate::promela) const MOST_PROCESSES: usize = 255;

impl Resolver<'_> {
    pub(super) fn unit(&mut self, unit: &Unit) -> Resolved<()> {
        match unit {
            Unit::Declaration(declaration) => {
                self.at_start = true;
                let mut nodes = Vec::new();
                self.declare(declaration, &mut nodes)
            }
            Unit::Mtype { .. } => Ok(()),
            Unit::Typedef { name, fields } => {
                if self.typedefs.insert(name.text.clone(), fields.clone()).is_some() {
                    return Err(self.error(name.span, format!("the type `{}` is declared twice", name.text)));
                }
                Ok(())
            }
            Unit::Proctype(proctype) => {
                let number = self.proctypes[&proctype.name.text];
                let count = match &proctype.active {
                    Some(count) => self.constant_of(count)?,
                    None => i64::from(proctype.is_init),
                };
                let at = self.at(proctype.name.span);
                if count < 0 || self.model.active.len() as i64 + count > MOST_PROCESSES as i64 {
                    return Err(self.error(proctype.name.span, format!("more than {MOST_PROCESSES} processes")));
                }
                self.model.active.extend((0..count).map(|_| (number, at)));
                Ok(())
            }
            Unit::Claim { kind, name, .. } => {
                let word = match kind {
                    ClaimKind::Ltl => "ltl",
                    ClaimKind::Never => "never",
                    ClaimKind::Trace => "trace",
                    ClaimKind::Notrace => "notrace",
                };
                let claim = name.as_ref().map_or_else(|| word.to_string(), |name| format!("{word} {}", name.text));
                self.model.claims.push(claim);
                Ok(())
            }
        }
    }
}
