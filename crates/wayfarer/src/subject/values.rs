//! The variables of a program's state as values of the Informal Trace Format.

use serde_json::{Map, Value, json};
use wayfarer_ir::{Names, Program, Scalar, Type, TypeId};
use wayfarer_space::Word;

/// The variables of a state as ITF values.
pub(crate) fn values(program: &Program, state: &[Word]) -> Map<String, Value> {
    program.variables.iter().map(|variable| (variable.name.clone(), value(program, variable.ty, state, variable.offset))).collect()
}

fn value(program: &Program, ty: TypeId, state: &[Word], at: u32) -> Value {
    match &program.types[ty.0 as usize] {
        Type::Scalar(scalar) => scalar_value(scalar, bits(state, at, scalar.bits)),
        Type::Record { fields, .. } => {
            Value::Object(fields.iter().map(|field| (field.name.clone(), value(program, field.ty, state, at + field.offset))).collect())
        }
        Type::Array { index, element, stride, count, .. } => {
            let names = program.types[index.0 as usize].scalar();
            let pairs = (0..*count).map(|number| {
                let key = names.map_or(json!(number), |scalar| scalar_value(scalar, u64::from(number) + u64::from(scalar.undefinable)));
                json!([key, value(program, *element, state, at + number * stride)])
            });
            json!({ "#map": pairs.collect::<Vec<_>>() })
        }
        Type::Bag { element, stride, capacity, element_at, .. } => {
            let taken = (0..*capacity).map(|slot| at + slot * stride).filter(|slot| bits(state, *slot, 1) == 1);
            Value::Array(taken.map(|slot| value(program, *element, state, slot + element_at)).collect())
        }
    }
}

fn scalar_value(scalar: &Scalar, stored: u64) -> Value {
    match (scalar.value(stored), &scalar.names) {
        (None, _) => json!({ "#unserializable": "undefined" }),
        // A number without sign may be negative as a word; its text is not.
        (Some(number), Names::Numbers) if number.unsigned_abs() >= 1 << 53 || scalar.low >= 0 && number < 0 => {
            json!({ "#bigint": scalar.show(stored) })
        }
        (Some(number), Names::Numbers) => json!(number),
        (Some(_), Names::Real(_)) => json!({ "#unserializable": scalar.show(stored) }),
        (Some(_), Names::Names(names)) if names == &["false", "true"] => json!(scalar.show(stored) == "true"),
        (Some(_), Names::Names(_)) => json!(scalar.show(stored)),
    }
}

fn bits(state: &[Word], at: u32, width: u8) -> u64 {
    let word = state.get(at as usize / 64).copied().unwrap_or(0) >> (at % 64);
    if width >= 64 { word } else { word & ((1 << width) - 1) }
}
