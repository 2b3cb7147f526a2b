//! A value in a form to be shown: its parts with their names, and the differences between two values.

use std::fmt;

/// A value in parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A value without parts, as text.
    Leaf(String),
    /// Named parts: the fields of a struct, or the numbered fields of a tuple.
    Fields(Vec<(String, Shape)>),
    /// Elements in order.
    List(Vec<Shape>),
    /// Values by key, the keys as text.
    Map(Vec<(String, Shape)>),
    /// A variant of an enum with its contents.
    Variant(String, Box<Shape>),
}

/// The text for an element that is absent.
pub const ABSENT: &str = "absent";

/// A part that differs between two values. The path of an element that is added or removed ends in `{}`, and one side
/// is [`ABSENT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The part, as a path such as `inbox[2].from`.
    pub path: String,
    /// The text before.
    pub old: String,
    /// The text after.
    pub new: String,
}

impl Shape {
    /// Every part without parts of its own, with its path.
    pub fn leaves(&self) -> Vec<(String, String)> {
        let mut out = Vec::new();
        self.collect("", &mut out);
        out
    }

    fn collect(&self, path: &str, out: &mut Vec<(String, String)>) {
        match self {
            Shape::Fields(fields) if !fields.is_empty() => fields.iter().for_each(|(name, shape)| shape.collect(&field(path, name), out)),
            // Many small elements are easier to read in one line.
            Shape::List(elements) if !self.is_short() => {
                elements.iter().enumerate().for_each(|(index, shape)| shape.collect(&format!("{path}[{index}]"), out));
            }
            Shape::Map(entries) if !entries.is_empty() => entries.iter().for_each(|(key, shape)| shape.collect(&format!("{path}[{key}]"), out)),
            _ => out.push((whole(path), self.to_string())),
        }
    }

    /// The path at which two shapes of supposedly one value differ, and whether only the order of elements differs.
    pub(crate) fn departure(&self, other: &Shape) -> Option<(String, bool)> {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        self.strictly("", &mut one);
        other.strictly("", &mut two);
        let at = (0..one.len().max(two.len())).find(|index| one.get(*index) != two.get(*index))?;
        let path = one.get(at).or(two.get(at)).map_or_else(String::new, |(path, _)| path.clone());
        let mut values = [one, two].map(|parts| parts.into_iter().map(|(_, value)| value).collect::<Vec<_>>());
        values.iter_mut().for_each(|values| values.sort());
        Some((whole(&path), values[0] == values[1]))
    }

    /// Every part by position, with the keys of maps as parts of their own; a path ends at the list or map that holds
    /// the part.
    fn strictly(&self, path: &str, out: &mut Vec<(String, String)>) {
        match self {
            Shape::Leaf(text) => out.push((path.to_string(), text.clone())),
            Shape::Fields(fields) => fields.iter().for_each(|(name, shape)| shape.strictly(&field(path, name), out)),
            Shape::List(elements) => elements.iter().for_each(|shape| shape.strictly(path, out)),
            Shape::Map(entries) => entries.iter().for_each(|(key, shape)| {
                out.push((path.to_string(), key.clone()));
                shape.strictly(path, out);
            }),
            Shape::Variant(name, inner) => {
                out.push((path.to_string(), name.clone()));
                inner.strictly(path, out);
            }
        }
    }

    fn is_short(&self) -> bool {
        self.to_string().len() <= 60
    }

    /// The differences from `self` to `new`.
    pub fn differences(&self, new: &Shape) -> Vec<Difference> {
        let mut out = Vec::new();
        compare("", self, new, &mut out);
        out
    }
}

fn compare(path: &str, old: &Shape, new: &Shape, out: &mut Vec<Difference>) {
    if old == new {
        return;
    }
    match (old, new) {
        (Shape::Fields(old), Shape::Fields(new)) if same_names(old, new) => {
            old.iter().zip(new).for_each(|((name, old), (_, new))| compare(&field(path, name), old, new, out));
        }
        (Shape::Variant(one, old), Shape::Variant(other, new)) if one == other => compare(path, old, new, out),
        (Shape::List(old), Shape::List(new)) if old.len() == new.len() && !moved(old, new) => {
            old.iter().zip(new).enumerate().for_each(|(index, (old, new))| compare(&format!("{path}[{index}]"), old, new, out));
        }
        (Shape::List(old), Shape::List(new)) => {
            let path = format!("{path}{{}}");
            let texts = |elements: &[Shape]| elements.iter().map(Shape::to_string).collect::<Vec<_>>();
            let (old, new) = (texts(old), texts(new));
            without(&old, &new).for_each(|gone| out.push(Difference { path: path.clone(), old: gone, new: ABSENT.to_string() }));
            without(&new, &old).for_each(|fresh| out.push(Difference { path: path.clone(), old: ABSENT.to_string(), new: fresh }));
        }
        (Shape::Map(old), Shape::Map(new)) => {
            let find = |entries: &[(String, Shape)], wanted: &str| entries.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.clone());
            for (key, value) in old {
                match find(new, key) {
                    Some(other) => compare(&format!("{path}[{key}]"), value, &other, out),
                    None => out.push(Difference { path: format!("{path}{{}}"), old: format!("{key}: {value}"), new: ABSENT.to_string() }),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| find(old, key).is_none()) {
                out.push(Difference { path: format!("{path}{{}}"), old: ABSENT.to_string(), new: format!("{key}: {value}") });
            }
        }
        _ => out.push(Difference { path: whole(path), old: old.to_string(), new: new.to_string() }),
    }
}

/// Whether elements of a list have moved to other places because others were added and removed, as in a sorted set.
fn moved(old: &[Shape], new: &[Shape]) -> bool {
    let texts = |elements: &[Shape]| elements.iter().map(Shape::to_string).collect::<Vec<_>>();
    let replaced = without(&texts(old), &texts(new)).count();
    let differ = old.iter().zip(new).filter(|(old, new)| old != new).count();
    replaced > 0 && replaced < differ
}

/// The elements of the first list that are not in the second, counted with multiplicity.
fn without(list: &[String], other: &[String]) -> impl Iterator<Item = String> {
    let mut other = other.to_vec();
    let mut left = Vec::new();
    for element in list {
        match other.iter().position(|same| same == element) {
            Some(at) => drop(other.swap_remove(at)),
            None => left.push(element.clone()),
        }
    }
    left.into_iter()
}

fn same_names(one: &[(String, Shape)], other: &[(String, Shape)]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|((one, _), (other, _))| one == other)
}

fn field(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// The path of a value that is a whole state.
fn whole(path: &str) -> String {
    if path.is_empty() { "state".to_string() } else { path.to_string() }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let separated = |out: &mut fmt::Formatter, parts: &[(String, Shape)], named: bool| {
            for (index, (name, shape)) in parts.iter().enumerate() {
                out.write_str(if index > 0 { ", " } else { "" })?;
                if named {
                    write!(out, "{name}: ")?;
                }
                write!(out, "{shape}")?;
            }
            Ok(())
        };
        let named = |fields: &[(String, Shape)]| fields.iter().any(|(name, _)| name.parse::<u32>().is_err());
        match self {
            Shape::Leaf(text) => out.write_str(text),
            Shape::Fields(fields) if named(fields) => {
                out.write_str("{")?;
                separated(out, fields, true)?;
                out.write_str("}")
            }
            Shape::Fields(fields) => {
                out.write_str("(")?;
                separated(out, fields, false)?;
                out.write_str(")")
            }
            Shape::List(elements) => {
                out.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(out, "{}{element}", if index > 0 { ", " } else { "" })?;
                }
                out.write_str("]")
            }
            Shape::Map(entries) => {
                out.write_str("{")?;
                separated(out, entries, true)?;
                out.write_str("}")
            }
            Shape::Variant(name, inner) => match &**inner {
                Shape::Fields(fields) if fields.is_empty() => out.write_str(name),
                fields @ Shape::Fields(_) => write!(out, "{name}{fields}"),
                inner => write!(out, "{name}({inner})"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(text: &str) -> Shape {
        Shape::Leaf(text.to_string())
    }

    fn state(flag: &str, inbox: &[&str], votes: &[(&str, &str)]) -> Shape {
        Shape::Fields(vec![
            ("flag".to_string(), leaf(flag)),
            ("inbox".to_string(), Shape::List(inbox.iter().map(|text| leaf(text)).collect())),
            ("votes".to_string(), Shape::Map(votes.iter().map(|(key, value)| (key.to_string(), leaf(value))).collect())),
        ])
    }

    #[test]
    fn what_differs_is_named() {
        let old = state("true", &["a", "b"], &[("1", "x")]);
        let text =
            |new: &Shape| old.differences(new).iter().map(|change| format!("{}: {} → {}", change.path, change.old, change.new)).collect::<Vec<_>>();
        assert!(text(&old).is_empty());
        assert_eq!(text(&state("false", &["a", "c"], &[("1", "x")])), ["flag: true → false", "inbox[1]: b → c"]);
        assert_eq!(text(&state("true", &["b"], &[("2", "y")])), ["inbox{}: a → absent", "votes{}: 1: x → absent", "votes{}: absent → 2: y"]);
        // A set of the same size whose elements move up.
        let old = state("true", &["1", "3", "5"], &[]);
        let text =
            |new: &Shape| old.differences(new).iter().map(|change| format!("{}: {} → {}", change.path, change.old, change.new)).collect::<Vec<_>>();
        assert_eq!(text(&state("true", &["3", "5", "7"], &[])), ["inbox{}: 1 → absent", "inbox{}: absent → 7"]);
        assert_eq!(text(&state("true", &["5", "3", "1"], &[])), ["inbox[0]: 1 → 5", "inbox[2]: 5 → 1"]);
    }

    #[test]
    fn shapes_are_shown_in_one_line_or_in_parts() {
        let old = state("true", &["a", "b"], &[("1", "x")]);
        assert_eq!(old.to_string(), "{flag: true, inbox: [a, b], votes: {1: x}}");
        let leaves: Vec<String> = old.leaves().iter().map(|(path, value)| format!("{path}: {value}")).collect();
        assert_eq!(leaves, ["flag: true", "inbox: [a, b]", "votes[1]: x"]);
        let variant = Shape::Variant("Vote".to_string(), Box::new(Shape::Fields(vec![("0".to_string(), leaf("7"))])));
        assert_eq!(variant.to_string(), "Vote(7)");
        assert_eq!(leaf("5").leaves(), [("state".to_string(), "5".to_string())]);
    }
}
