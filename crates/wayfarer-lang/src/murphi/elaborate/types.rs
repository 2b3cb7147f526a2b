//! Types: their table, their compatibility, and the conversion of values from one to another.
//!
//! Values of a boolean are 0 and 1, of an enum or scalarset the positions of its members, of a union the positions in
//! the list of all its members' values. So converting between a union and a member adds a constant.

use super::interval::Interval;
use std::collections::HashMap;
use wayfarer_ir::{Elements, Names, RealFormat, Type, TypeId, layout};

/// A type in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ty(u32);

impl Ty {
    /// The type of an expression with a reported error; compatible with every other.
    pub(super) const ERROR: Ty = Ty(0);
    /// The type of numbers that no declaration bounds.
    pub(super) const NUMBER: Ty = Ty(1);
    pub(super) const BOOLEAN: Ty = Ty(2);
    /// The type of computed real numbers.
    pub(super) const REAL: Ty = Ty(3);
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    Error,
    Number,
    Boolean,
    Range,
    /// Real numbers: of the format, or computed and not rounded.
    Real(Option<RealFormat>),
    Enum,
    Scalarset,
    /// The members, unions among them flattened, with the value at which each begins.
    Union(Vec<Member>),
    Record(Vec<Field>),
    Array {
        index: Ty,
        element: Ty,
        stride: u32,
        count: u32,
    },
    Bag(Bag),
    /// The position of an element in a bag of the given type.
    Slot(Ty),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) ty: Ty,
    pub(super) base: i64,
    pub(super) count: i64,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) offset: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bag {
    pub(super) element: Ty,
    pub(super) capacity: u32,
    pub(super) stride: u32,
    pub(super) element_at: u32,
    pub(super) slot_bits: u32,
}

/// The values of a scalar type and the width of their stored form, which is the value minus `base` plus one; zero is
/// undefined. A range of all numbers of 64 bits leaves no room for undefined: its stored form is the value minus `base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) low: i128,
    pub(super) high: i128,
    base: i64,
    pub(super) bits: u8,
    /// Whether it has no undefined value.
    pub(super) total: bool,
}

impl Simple {
    pub(super) fn range(self) -> Interval {
        Interval { low: self.low, high: self.high }
    }

    /// The number to add to a value for its stored form.
    pub(super) fn to_stored(self) -> i64 {
        self.least().wrapping_sub(self.base)
    }

    /// The stored form of the base.
    fn least(self) -> i64 {
        i64::from(!self.total)
    }

    /// The stored form of the least value, which is what `clear` writes.
    pub(super) fn cleared(self) -> i64 {
        (self.low as i64).wrapping_add(self.to_stored())
    }
}

struct Info {
    shape: Shape,
    name: Option<String>,
    simple: Option<Simple>,
    ir: TypeId,
    /// Its nesting depth, for the limit.
    depth: u32,
    /// Whether it contains a bag.
    has_bag: bool,
}

/// All types of a model. Those that have values in memory have a counterpart in the program.
pub(super) struct Types {
    list: Vec<Info>,
    ir: Vec<Type>,
    any: HashMap<&'static str, Ty>,
    slots: HashMap<Ty, Ty>,
    /// For each size, the number of the scalarset without a name.
    nameless_sets: HashMap<u64, u32>,
}

impl Types {
    pub(super) fn new() -> Self {
        let mut types = Types { list: Vec::new(), ir: Vec::new(), any: HashMap::new(), slots: HashMap::new(), nameless_sets: HashMap::new() };
        let names = Names::Names(vec!["false".to_string(), "true".to_string()]);
        let boolean = layout::scalar(Some("boolean".to_string()), 0, 2, true, names);
        let simple = Simple { low: 0, high: 1, base: 0, bits: boolean.bits, total: false };
        types.ir.push(Type::Scalar(boolean));
        let first = [
            ("unknown", Shape::Error, None),
            ("integer", Shape::Number, None),
            ("boolean", Shape::Boolean, Some(simple)),
            ("real", Shape::Real(None), None),
        ];
        for (name, shape, simple) in first {
            types.list.push(Info { shape, name: Some(name.to_string()), simple, ir: TypeId(0), depth: 1, has_bag: false });
        }
        types
    }

    /// The program's types so far.
    pub(super) fn laid_out(&self) -> &[Type] {
        &self.ir
    }

    /// The program's types.
    pub(super) fn into_ir(self) -> Vec<Type> {
        self.ir
    }

    pub(super) fn shape(&self, ty: Ty) -> &Shape {
        &self.list[ty.0 as usize].shape
    }

    pub(super) fn ir(&self, ty: Ty) -> TypeId {
        self.list[ty.0 as usize].ir
    }

    pub(super) fn bits(&self, ty: Ty) -> u32 {
        self.ir[self.ir(ty).0 as usize].bits()
    }

    pub(super) fn ir_bits(&self, ty: TypeId) -> u32 {
        self.ir[ty.0 as usize].bits()
    }

    /// The values, for types that have single values in memory.
    pub(super) fn simple(&self, ty: Ty) -> Option<Simple> {
        self.list[ty.0 as usize].simple
    }

    /// The values of a type that can be counted through: those of all scalars except real numbers.
    pub(super) fn ordinal(&self, ty: Ty) -> Option<Simple> {
        self.simple(ty).filter(|_| !self.is_real(ty))
    }

    pub(super) fn is_real(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), Shape::Real(_))
    }

    /// The format of a declared type of real numbers.
    pub(super) fn real_format(&self, ty: Ty) -> Option<RealFormat> {
        match self.shape(ty) {
            Shape::Real(format) => *format,
            _ => None,
        }
    }

    /// Whether values of the type are whole numbers.
    pub(super) fn is_number(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), Shape::Number | Shape::Range)
    }

    /// Whether values of the type can be used in expressions.
    pub(super) fn is_value(&self, ty: Ty) -> bool {
        !matches!(self.shape(ty), Shape::Record(_) | Shape::Array { .. } | Shape::Bag(_))
    }

    /// The number to add to a value of `from` for the same value of `to`; `None` if the types are incompatible. This
    /// does not check whether the value exists in `to`.
    pub(super) fn shift(&self, from: Ty, to: Ty) -> Option<i64> {
        if from == to || (self.is_number(from) && self.is_number(to)) {
            return Some(0);
        }
        match (self.shape(from), self.shape(to)) {
            (Shape::Union(members), Shape::Union(others)) => {
                let shift = self.member(others, members.first()?.ty)?.base;
                members.iter().all(|member| self.member(others, member.ty).is_some_and(|other| other.base == member.base + shift)).then_some(shift)
            }
            (_, Shape::Union(members)) => Some(self.member(members, from)?.base),
            (Shape::Union(members), _) => Some(-self.member(members, to)?.base),
            // Scalarsets without a name can be told apart only by their size.
            (Shape::Scalarset, Shape::Scalarset) => {
                let anonymous = self.list[from.0 as usize].name.is_none() && self.list[to.0 as usize].name.is_none();
                (anonymous && self.simple(from) == self.simple(to)).then_some(0)
            }
            _ => None,
        }
    }

    /// The member of a union.
    pub(super) fn member(&self, members: &[Member], ty: Ty) -> Option<Member> {
        members.iter().copied().find(|member| member.ty == ty)
    }

    /// Whether two types of objects have the same layout, so that one can be copied onto the other bit by bit.
    pub(super) fn same(&self, a: Ty, b: Ty) -> bool {
        if a == b {
            return true;
        }
        match (self.shape(a), self.shape(b)) {
            (Shape::Error, _) | (_, Shape::Error) => true,
            (Shape::Range, Shape::Range) => self.simple(a) == self.simple(b),
            (Shape::Real(format), Shape::Real(other)) => format == other,
            (Shape::Scalarset, Shape::Scalarset) => self.shift(a, b) == Some(0),
            (Shape::Union(members), Shape::Union(others)) => members == others,
            (Shape::Record(fields), Shape::Record(others)) => {
                fields.len() == others.len()
                    && fields.iter().zip(others).all(|(field, other)| field.name == other.name && self.same(field.ty, other.ty))
            }
            (Shape::Array { index, element, .. }, Shape::Array { index: other, element: others, .. }) => {
                self.same(*index, *other) && self.same(*element, *others)
            }
            (Shape::Bag(bag), Shape::Bag(other)) => bag.capacity == other.capacity && self.same(bag.element, other.element),
            _ => false,
        }
    }

    /// The type for a message: its name, or its text.
    pub(super) fn describe(&self, ty: Ty) -> String {
        format!("`{}`", self.written(ty, 3))
    }

    /// The type as it could be written, down to some depth.
    fn written(&self, ty: Ty, depth: u32) -> String {
        let info = &self.list[ty.0 as usize];
        if let Some(name) = &info.name {
            return name.clone();
        }
        if depth == 0 {
            return "…".to_string();
        }
        let inner = |ty: Ty| self.written(ty, depth - 1);
        match &info.shape {
            Shape::Range => info.simple.map_or(String::new(), |simple| format!("{}..{}", simple.low, simple.high)),
            Shape::Enum => format!("enum {{{}}}", shortened(self.names(ty).unwrap_or_default())),
            Shape::Scalarset => info.simple.map_or(String::new(), |simple| format!("scalarset({})", simple.high + 1)),
            Shape::Union(members) => format!("union {{{}}}", shortened(members.iter().map(|member| inner(member.ty)).collect())),
            Shape::Record(fields) => format!("record {{{}}}", shortened(fields.iter().map(|field| field.name.clone()).collect())),
            Shape::Array { index, element, .. } => format!("array [{}] of {}", inner(*index), inner(*element)),
            Shape::Bag(bag) => format!("multiset [{}] of {}", bag.capacity, inner(bag.element)),
            Shape::Slot(bag) => format!("position in {}", inner(*bag)),
            Shape::Real(Some(format)) => format!("real({}, {})", format.digits, format.exponent),
            Shape::Error | Shape::Number | Shape::Boolean | Shape::Real(None) => String::new(),
        }
    }

    /// A type of `count` numbers or names from `low` on.
    pub(super) fn simple_type(&mut self, shape: Shape, name: Option<String>, low: i64, count: u64, names: Names) -> Ty {
        let scalar = layout::scalar(name.clone(), low, count, true, names);
        let simple = Simple { low: low.into(), high: i128::from(low) + i128::from(count) - 1, base: low, bits: scalar.bits, total: false };
        self.push(shape, name, Some(simple), Type::Scalar(scalar), 1)
    }

    /// A type of real numbers. A value is its stored form, so that types of other formats are converted by the operators.
    pub(super) fn real_type(&mut self, name: Option<&str>, format: RealFormat) -> Ty {
        self.simple_type(Shape::Real(Some(format)), name.map(str::to_string), 1, format.count(), Names::Real(format))
    }

    pub(super) fn scalarset_type(&mut self, name: Option<String>, count: u64, names: Names) -> Ty {
        let nameless = name.is_none();
        let ty = self.simple_type(Shape::Scalarset, name, 0, count, names);
        let own = self.ir(ty).0;
        // Values of scalarsets without a name pass from one to another of the same size, so these are one set.
        let set = if nameless { *self.nameless_sets.entry(count).or_insert(own) } else { own };
        self.mark_elements(ty, vec![Elements { set, first: 0, count }]);
        ty
    }

    /// A union of `total` values; `members` give the first value of each type.
    pub(super) fn union_type(&mut self, name: Option<String>, members: Vec<Member>, total: u64, names: Names) -> Ty {
        let own = |member: &Member| self.ir[self.ir(member.ty).0 as usize].scalar().map_or(&[][..], |scalar| &scalar.elements);
        let elements = members.iter().flat_map(|member| own(member).iter().map(|part| Elements { first: member.base as u64, ..*part })).collect();
        let ty = self.simple_type(Shape::Union(members), name, 0, total, names);
        self.mark_elements(ty, elements);
        ty
    }

    /// Whether values of a scalar type can be permuted: those of a scalarset of two elements or more, or of a union
    /// with one.
    pub(super) fn has_elements(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), Shape::Scalarset | Shape::Union(_))
            && self.ir[self.ir(ty).0 as usize].scalar().is_some_and(|scalar| scalar.elements.iter().any(|part| part.count > 1))
    }

    /// The numbers of the scalarsets whose elements are values of a scalar type.
    pub(super) fn sets(&self, ty: Ty) -> Vec<u32> {
        let scalar = self.ir[self.ir(ty).0 as usize].scalar();
        scalar.map_or(Vec::new(), |scalar| scalar.elements.iter().map(|part| part.set).collect())
    }

    /// Whether clearing an object makes some part of it an element of a scalarset.
    pub(super) fn clears_to_element(&self, ty: Ty) -> bool {
        match self.shape(ty) {
            Shape::Record(fields) => fields.iter().any(|field| self.clears_to_element(field.ty)),
            Shape::Array { element, .. } => self.clears_to_element(*element),
            Shape::Scalarset | Shape::Union(_) => {
                let scalar = self.ir[self.ir(ty).0 as usize].scalar();
                scalar.is_some_and(|scalar| scalar.elements.iter().any(|part| part.first == 0 && part.count > 1))
            }
            _ => false,
        }
    }

    fn mark_elements(&mut self, ty: Ty, elements: Vec<Elements>) {
        let ir = self.ir(ty).0 as usize;
        if let Type::Scalar(scalar) = &mut self.ir[ir] {
            scalar.elements = elements;
        }
    }

    /// A type of whole numbers that fit a register, all with a sign or all without.
    pub(super) fn range_type(&mut self, name: Option<&str>, low: i128, high: i128) -> Ty {
        // A range that begins beyond the numbers with a sign is laid out from the last of them on.
        let base = i64::try_from(low).unwrap_or(i64::MAX);
        let count = high - i128::from(base) + 1;
        let total = count > u64::MAX.into();
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let shown = name.map(str::to_string).or_else(|| (low > base.into() || total).then(|| format!("{low}..{high}")));
        let scalar = layout::scalar(shown, base, count, !total, Names::Numbers);
        let simple = Simple { low, high, base, bits: scalar.bits, total };
        self.push(Shape::Range, name.map(str::to_string), Some(simple), Type::Scalar(scalar), 1)
    }

    /// A type in which computed numbers of an interval are shown.
    pub(super) fn any_number(&mut self, range: Interval) -> Ty {
        if range.is_unsigned() {
            return self.any("unsigned", |types| types.range_type(None, 0, u64::MAX.into()));
        }
        self.any("signed", |types| types.range_type(None, i128::from(i64::MIN) + 1, i64::MAX.into()))
    }

    /// A type in which computed real numbers are shown, and its format.
    pub(super) fn any_real(&mut self) -> Option<(Ty, RealFormat)> {
        let format = RealFormat::new(15, 308)?;
        Some((self.any("real", |types| types.real_type(None, format)), format))
    }

    fn any(&mut self, kind: &'static str, make: impl FnOnce(&mut Self) -> Ty) -> Ty {
        if let Some(ty) = self.any.get(kind) {
            return *ty;
        }
        let ty = make(self);
        self.any.insert(kind, ty);
        ty
    }

    /// The type of positions in bags of a type.
    pub(super) fn slot_type(&mut self, bag: Ty, capacity: u32) -> Ty {
        if let Some(ty) = self.slots.get(&bag) {
            return *ty;
        }
        let ty = self.simple_type(Shape::Slot(bag), None, 0, capacity.into(), Names::Numbers);
        self.slots.insert(bag, ty);
        ty
    }

    pub(super) fn push(&mut self, shape: Shape, name: Option<String>, simple: Option<Simple>, ir: Type, depth: u32) -> Ty {
        let has_bag = match &shape {
            Shape::Record(fields) => fields.iter().any(|field| self.has_bag(field.ty)),
            Shape::Array { element, .. } => self.has_bag(*element),
            Shape::Bag(_) => true,
            _ => false,
        };
        self.ir.push(ir);
        self.list.push(Info { shape, name, simple, ir: TypeId(self.ir.len() as u32 - 1), depth, has_bag });
        Ty(self.list.len() as u32 - 1)
    }

    pub(super) fn names(&self, ty: Ty) -> Option<Vec<String>> {
        match &self.ir[self.ir(ty).0 as usize].scalar()?.names {
            Names::Names(names) => Some(names.clone()),
            Names::Numbers | Names::Real(_) => None,
        }
    }

    pub(super) fn has_bag(&self, ty: Ty) -> bool {
        self.list[ty.0 as usize].has_bag
    }

    pub(super) fn depth(&self, ty: Ty) -> u32 {
        self.list[ty.0 as usize].depth
    }
}

/// The first few of a list of names.
fn shortened(mut names: Vec<String>) -> String {
    const SHOWN: usize = 3;
    if names.len() > SHOWN {
        names.truncate(SHOWN - 1);
        names.push("…".to_string());
    }
    names.join(", ")
}
