//! Type expressions: translates each form to an entry of the type table and checks its limits.

use super::Elaborator;
use super::interval::Interval;
use super::types::{Bag, Field, Member, Shape, Ty};
use crate::diagnostics::Diagnostic;
use crate::murphi::ast::{self, TypeExpr, TypeKind};
use crate::source::Span;
use wayfarer_ir::verify::MAX_SORTED;
use wayfarer_ir::{Names, RealFormat, Type, layout};

/// The depth to which types may nest through names; it bounds the stack of everything that walks them.
const DEEPEST: u32 = 60;

/// Scalarsets larger than this show their values as numbers rather than as names.
const MOST_NAMES: u64 = 1 << 16;

impl<'a> Elaborator<'a> {
    /// The type of a type expression; `name` is the name it is declared under.
    pub(super) fn type_expr(&mut self, ty: &'a TypeExpr, name: Option<&str>) -> Ty {
        match &ty.kind {
            TypeKind::Named(text) => self.named_type(text, ty.span),
            TypeKind::Range(low, high) => match self.range_bounds(low, high, ty.span) {
                Some((low, high)) => self.range_type(name, low, high, ty.span),
                None => Ty::ERROR,
            },
            TypeKind::Enum(members) => self.enum_type(members, name, ty.span),
            TypeKind::Scalarset(count) => self.scalarset_type(count, name),
            TypeKind::Union(members) => self.union_type(members, name, ty.span),
            TypeKind::Record(fields) => self.record_type(fields, name, ty.span),
            TypeKind::Array(index, element) => self.array_type(index, element, name, ty.span),
            TypeKind::Multiset(capacity, element) => self.bag_type(capacity, element, name, ty.span),
            TypeKind::Real(digits, exponent) => self.real_type(digits, exponent, name),
        }
    }

    fn range_type(&mut self, name: Option<&str>, low: i128, high: i128, span: Span) -> Ty {
        let ty = self.types.range_type(name, low, high);
        if self.types.simple(ty).is_some_and(|simple| simple.total) {
            self.warn(
                span,
                "this range has all numbers of 64 bits, so that its variables cannot be undefined: they begin with its least number",
                "leave one number out to have variables that are undefined at first",
            );
        }
        ty
    }

    /// The bounds of `low .. high`, both constant and in order.
    pub(super) fn range_bounds(&mut self, low: &'a ast::Expr, high: &'a ast::Expr, span: Span) -> Option<(i128, i128)> {
        let first = self.constant_number(low, "the lower bound of a range");
        let last = self.constant_number(high, "the upper bound of a range");
        let (first, last) = (first?, last?);
        if last < first {
            self.error(span, format!("this range is empty: its upper bound {last} is less than its lower bound {first}"));
            return None;
        }
        if !(Interval { low: first, high: last }).fits() {
            let limit = i64::MAX;
            self.error(span, format!("this range does not fit 64 bits: it has numbers below 0 and numbers beyond {limit}"));
            return None;
        }
        Some((first, last))
    }

    /// `real(digits, exponent)`, with the limits that CMurphi has.
    fn real_type(&mut self, digits: &'a ast::Expr, exponent: &'a ast::Expr, name: Option<&str>) -> Ty {
        let wanted = [(digits, "the number of digits", 1, 15), (exponent, "the largest exponent", 10, 308)];
        let found = wanted.map(|(expr, what, least, most)| {
            let value = self.constant_number(expr, what)?;
            if !(least..=most).contains(&value) {
                self.error(expr.span, format!("{what} of a real type must be from {least} to {most}; this is {value}"));
                return None;
            }
            i64::try_from(value).ok()
        });
        match found {
            [Some(digits), Some(exponent)] => RealFormat::new(digits, exponent).map_or(Ty::ERROR, |format| self.types.real_type(name, format)),
            _ => Ty::ERROR,
        }
    }

    fn enum_type(&mut self, members: &'a [ast::Name], name: Option<&str>, span: Span) -> Ty {
        if members.is_empty() {
            self.error(span, "an enum needs at least one member");
            return Ty::ERROR;
        }
        let names = members.iter().map(|member| member.text.clone()).collect();
        let ty = self.types.simple_type(Shape::Enum, name.map(str::to_string), 0, members.len() as u64, Names::Names(names));
        for (value, member) in members.iter().enumerate() {
            self.declare_constant(member, value as i64, ty);
        }
        ty
    }

    fn scalarset_type(&mut self, count: &'a ast::Expr, name: Option<&str>) -> Ty {
        let Some(value) = self.constant_number(count, "the size of a scalarset") else { return Ty::ERROR };
        if !(1..i128::from(i64::MAX) - 1).contains(&value) {
            self.error(count.span, format!("a scalarset needs at least one value, and fewer than 2^63 - 1; this one has {value}"));
            return Ty::ERROR;
        }
        let prefix = name.map_or(String::new(), |name| format!("{name}_"));
        let names =
            if value as u64 <= MOST_NAMES { Names::Names((1..=value).map(|number| format!("{prefix}{number}")).collect()) } else { Names::Numbers };
        self.types.scalarset_type(name.map(str::to_string), value as u64, names)
    }

    fn union_type(&mut self, members: &'a [TypeExpr], name: Option<&str>, span: Span) -> Ty {
        let mut flat: Vec<Member> = Vec::new();
        let mut names = Some(Vec::new());
        let mut total = 0i64;
        for member in members {
            let ty = self.type_expr(member, None);
            let inner = match self.types.shape(ty) {
                Shape::Error => return Ty::ERROR,
                Shape::Union(inner) => inner.iter().map(|member| member.ty).collect(),
                Shape::Enum | Shape::Scalarset | Shape::Boolean => vec![ty],
                _ => {
                    let found = self.types.describe(ty);
                    self.error_with_help(
                        member.span,
                        format!("{found} cannot be a member of a union"),
                        "members of unions are enum and scalarset types, and unions of them",
                    );
                    return Ty::ERROR;
                }
            };
            for ty in inner {
                let count = self.types.simple(ty).map_or(0, |simple| simple.high as i64 + 1);
                if flat.iter().any(|other| other.ty == ty) {
                    let found = self.types.describe(ty);
                    self.error(member.span, format!("{found} is in this union more than once"));
                    return Ty::ERROR;
                }
                flat.push(Member { ty, base: total, count });
                let Some(sum) = total.checked_add(count).filter(|sum| *sum < i64::MAX - 1) else {
                    self.error(span, "this union has too many values");
                    return Ty::ERROR;
                };
                total = sum;
                names = names.zip(self.types.names(ty)).map(|(mut all, more)| {
                    all.extend(more);
                    all
                });
            }
        }
        if total == 0 {
            self.error(span, "a union needs at least one member");
            return Ty::ERROR;
        }
        let names = names.map_or(Names::Numbers, Names::Names);
        self.types.union_type(name.map(str::to_string), flat, total as u64, names)
    }

    fn record_type(&mut self, groups: &'a [ast::Field], name: Option<&str>, span: Span) -> Ty {
        let mut fields: Vec<(&ast::Name, Ty)> = Vec::new();
        let mut depth = 0;
        for group in groups {
            let ty = self.type_expr(&group.ty, None);
            depth = depth.max(self.types.depth(ty));
            for field in &group.names {
                if let Some((other, _)) = fields.iter().find(|(other, _)| other.text == field.text) {
                    let diagnostic = Diagnostic::error(field.span, format!("this record already has a field `{}`", field.text));
                    self.report(diagnostic.with_label(other.span, "it was declared here"));
                    continue;
                }
                fields.push((field, ty));
            }
        }
        let laid = layout::record(self.types.laid_out(), fields.iter().map(|(field, ty)| (field.text.clone(), self.types.ir(*ty))).collect());
        let shape = |ir: &Type| match ir {
            Type::Record { fields: laid, .. } => {
                let field =
                    |((name, ty), laid): (&(&ast::Name, Ty), &wayfarer_ir::Field)| Field { name: name.text.clone(), ty: *ty, offset: laid.offset };
                Shape::Record(fields.iter().zip(laid).map(field).collect())
            }
            _ => Shape::Error,
        };
        self.aggregate(laid, shape, name, depth + 1, span)
    }

    fn array_type(&mut self, index: &'a TypeExpr, element: &'a TypeExpr, name: Option<&str>, span: Span) -> Ty {
        let index_ty = self.type_expr(index, None);
        let element_ty = self.type_expr(element, None);
        if index_ty == Ty::ERROR || element_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        if self.types.ordinal(index_ty).is_none_or(|simple| simple.range().is_unsigned()) {
            let found = self.types.describe(index_ty);
            self.error_with_help(
                index.span,
                format!("an array cannot be indexed by {found}"),
                "indices are enums, scalarsets, unions, booleans and ranges of numbers with a sign",
            );
            return Ty::ERROR;
        }
        let laid = layout::array(self.types.laid_out(), self.types.ir(index_ty), self.types.ir(element_ty));
        let shape = |ir: &Type| match ir {
            Type::Array { stride, count, .. } => Shape::Array { index: index_ty, element: element_ty, stride: *stride, count: *count },
            _ => Shape::Error,
        };
        self.aggregate(laid, shape, name, self.types.depth(element_ty) + 1, span)
    }

    fn bag_type(&mut self, capacity: &'a ast::Expr, element: &'a TypeExpr, name: Option<&str>, span: Span) -> Ty {
        let size = self.constant_number(capacity, "the capacity of a multiset");
        let element_ty = self.type_expr(element, None);
        let Some(size) = size else { return Ty::ERROR };
        if element_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        if size < 1 {
            self.error(capacity.span, format!("a multiset needs room for at least one element; this one has room for {size}"));
            return Ty::ERROR;
        }
        if size > MAX_SORTED.into() {
            self.error(capacity.span, format!("this multiset has room for {size} elements: at most {MAX_SORTED} are supported"));
            return Ty::ERROR;
        }
        let laid = u32::try_from(size).ok().and_then(|size| layout::bag(self.types.laid_out(), self.types.ir(element_ty), size));
        let shape = |ir: &Type| match *ir {
            Type::Bag { stride, capacity, element_at, slot_bits, .. } => {
                Shape::Bag(Bag { element: element_ty, capacity, stride, element_at, slot_bits })
            }
            _ => Shape::Error,
        };
        self.aggregate(laid, shape, name, self.types.depth(element_ty) + 1, span)
    }

    /// Enters a type of several parts, unless it is too large or too deep.
    fn aggregate(&mut self, laid: Option<Type>, shape: impl FnOnce(&Type) -> Shape, name: Option<&str>, depth: u32, span: Span) -> Ty {
        let Some(laid) = laid else {
            self.too_large(span);
            return Ty::ERROR;
        };
        if depth > DEEPEST {
            self.error(span, format!("types nest too deeply here: at most {DEEPEST} levels are read"));
            return Ty::ERROR;
        }
        let shape = shape(&laid);
        self.types.push(shape, name.map(str::to_string), None, laid, depth)
    }

    pub(super) fn too_large(&mut self, span: Span) {
        let limit = layout::MAX_BITS;
        self.error_with_help(
            span,
            format!("this is too large: objects of more than {limit} bits are not supported"),
            "reduce the constants it depends on; a state this large leaves no room to explore",
        );
    }
}
