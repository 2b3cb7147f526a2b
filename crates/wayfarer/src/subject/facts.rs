//! The parts of a subject as tables, for `wayfarer info`.

use super::{PropertyFacts, RuleFacts};
use crate::Kind;
use crate::sizes::{count, counted};
use serde_json::{Map, Value, json};

/// The parts of a subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// One sentence without the subject's name: `a state has 12 bits`.
    pub summary: String,
    /// The parts in tables.
    pub tables: Vec<Table>,
    /// The same as fields of a JSON object.
    pub json: Map<String, Value>,
}

/// A table of parts of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The heading.
    pub heading: String,
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<String>>,
}

impl Facts {
    /// The facts that exist for every subject.
    pub fn of_rules(rules: Vec<RuleFacts>, properties: Vec<PropertyFacts>) -> Facts {
        let mut json = Map::new();
        let row = |rule: &RuleFacts| json!({ "name": rule.name, "at": rule.at, "instances": rule.instances });
        json.insert("rules".to_string(), rules.iter().map(row).collect());
        let row = |property: &PropertyFacts| json!({ "name": property.name, "kind": Kind::word_of(property.kind), "at": property.at });
        json.insert("properties".to_string(), properties.iter().map(row).collect());
        Facts {
            summary: counted(rules.len() as u64, "rule"),
            tables: vec![
                Table {
                    heading: "rules".to_string(),
                    columns: vec!["name", "instances", "at"],
                    rows: rules.into_iter().map(|rule| vec![rule.name, count(u64::from(rule.instances)), rule.at]).collect(),
                },
                Table::of_properties(properties),
            ],
            json,
        }
    }
}

impl Table {
    /// The table of properties.
    pub fn of_properties(properties: Vec<PropertyFacts>) -> Table {
        Table {
            heading: "properties".to_string(),
            columns: vec!["name", "kind", "at"],
            rows: properties.into_iter().map(|property| vec![property.name, Kind::word_of(property.kind).to_string(), property.at]).collect(),
        }
    }
}
