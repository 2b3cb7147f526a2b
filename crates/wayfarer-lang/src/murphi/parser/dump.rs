//! Trees as parenthesised text, for tests only: short enough to read, complete enough to tell two trees apart.

use crate::murphi::ast::*;

/// A model, one item per line.
pub(super) fn model(model: &Model) -> String {
    model.items.iter().map(|item| format!("{}\n", dump_item(item))).collect()
}

fn dump_item(item: &Item) -> String {
    match item {
        Item::Decl(decl) => dump_decl(decl),
        Item::Function(function) => {
            let params = function.params.iter().map(|param| {
                let mode = if param.by_reference { "var " } else { "" };
                format!("{mode}{}: {}", names(&param.names), dump_type(&param.ty))
            });
            let result = function.result.as_ref().map_or("none".to_string(), dump_type);
            let params = params.collect::<Vec<_>>().join("; ");
            format!("(function {} ({params}) {result}{})", function.name.text, body(&function.decls, &function.body))
        }
        Item::Rule(rule) => dump_rule(rule),
    }
}

fn dump_decl(decl: &Decl) -> String {
    match decl {
        Decl::Const { name, value } => format!("(const {} {})", name.text, expr(value)),
        Decl::Type { name, ty } => format!("(type {} {})", name.text, dump_type(ty)),
        Decl::Var { names: list, ty } => format!("(var {} {})", names(list), dump_type(ty)),
    }
}

fn names(list: &[Name]) -> String {
    list.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(",")
}

fn dump_type(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Named(name) => name.clone(),
        TypeKind::Range(low, high) => format!("{}..{}", expr(low), expr(high)),
        TypeKind::Enum(members) => format!("(enum {})", names(members)),
        TypeKind::Scalarset(size) => format!("(scalarset {})", expr(size)),
        TypeKind::Union(members) => format!("(union{})", spaced(members, dump_type)),
        TypeKind::Record(fields) => {
            format!("(record{})", spaced(fields, |field| format!("({} {})", names(&field.names), dump_type(&field.ty))))
        }
        TypeKind::Array(index, element) => format!("(array {} {})", dump_type(index), dump_type(element)),
        TypeKind::Multiset(size, element) => format!("(multiset {} {})", expr(size), dump_type(element)),
        TypeKind::Real(digits, exponent) => format!("(real {} {})", expr(digits), expr(exponent)),
    }
}

fn dump_rule(rule: &Rule) -> String {
    match rule {
        Rule::Simple(rule) => {
            let priority = rule.priority.map_or(String::new(), |priority| format!(" priority {}", priority.value));
            let guard = rule.guard.as_ref().map_or(String::new(), |guard| format!(" when {}", expr(guard)));
            format!("(rule{}{priority}{guard}{})", text(&rule.name), body(&rule.decls, &rule.body))
        }
        Rule::Start(start) => format!("(start{}{})", text(&start.name), body(&start.decls, &start.body)),
        Rule::Property(property) => {
            format!("({:?}{} {})", property.kind, text(&property.name), expr(&property.condition))
        }
        Rule::Ruleset { quantifiers, rules, .. } => {
            format!("(ruleset{}{})", spaced(quantifiers, quantifier), spaced(rules, dump_rule))
        }
        Rule::Alias { aliases, rules, .. } => format!("(alias{}{})", spaced(aliases, alias), spaced(rules, dump_rule)),
        Rule::Choose { name, bag, rules, .. } => {
            format!("(choose {} {}{})", name.text, expr(bag), spaced(rules, dump_rule))
        }
        Rule::Decl(decl) => dump_decl(decl),
    }
}

fn text(text: &Option<Text>) -> String {
    text.as_ref().map_or(String::new(), |text| format!(" {:?}", text.text))
}

fn body(decls: &[Decl], statements: &[Stmt]) -> String {
    format!("{}{}", spaced(decls, dump_decl), spaced(statements, stmt))
}

fn alias(alias: &Alias) -> String {
    format!("({} {})", alias.name.text, expr(&alias.target))
}

fn quantifier(quantifier: &Quantifier) -> String {
    let name = &quantifier.name.text;
    match &quantifier.domain {
        Domain::Type(ty) => format!("({name} {})", dump_type(ty)),
        Domain::Range { from, to, by } => {
            let by = by.as_ref().map_or(String::new(), |by| format!(" by {}", expr(by)));
            format!("({name} {} to {}{by})", expr(from), expr(to))
        }
    }
}

fn spaced<T>(list: &[T], one: impl Fn(&T) -> String) -> String {
    list.iter().map(|item| format!(" {}", one(item))).collect()
}

fn block(statements: &[Stmt]) -> String {
    format!("{{{} }}", spaced(statements, stmt))
}

fn stmt(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::Assign { to, value } => format!("(:= {} {})", expr(to), expr(value)),
        StmtKind::If { branches, otherwise } => {
            let branches = spaced(branches, |(condition, body)| format!("{} {}", expr(condition), block(body)));
            format!("(if{branches}{})", otherwise.as_ref().map_or(String::new(), |body| format!(" else {}", block(body))))
        }
        StmtKind::Switch { subject, cases, otherwise } => {
            let cases = spaced(cases, |(values, body)| format!("({}) {}", spaced(values, expr).trim(), block(body)));
            let otherwise = otherwise.as_ref().map_or(String::new(), |body| format!(" else {}", block(body)));
            format!("(switch {}{cases}{otherwise})", expr(subject))
        }
        StmtKind::For { quantifiers, body } => format!("(for{} {})", spaced(quantifiers, quantifier), block(body)),
        StmtKind::While { condition, body } => format!("(while {} {})", expr(condition), block(body)),
        StmtKind::Alias { aliases, body } => format!("(alias{} {})", spaced(aliases, alias), block(body)),
        StmtKind::Call { function, arguments } => format!("(call {}{})", function.text, spaced(arguments, expr)),
        StmtKind::Clear(place) => format!("(clear {})", expr(place)),
        StmtKind::Undefine(place) => format!("(undefine {})", expr(place)),
        StmtKind::Return(value) => format!("(return{})", value.as_ref().map_or(String::new(), |value| format!(" {}", expr(value)))),
        StmtKind::Assert { condition, message } => format!("(assert{} {})", text(message), expr(condition)),
        StmtKind::Assume { condition, message } => format!("(assume{} {})", text(message), expr(condition)),
        StmtKind::Cover { condition, message } => format!("(cover{} {})", text(message), expr(condition)),
        StmtKind::Error(message) => format!("(error{})", text(message)),
        StmtKind::Put(PutArgument::Text(message)) => format!("(put {:?})", message.text),
        StmtKind::Put(PutArgument::Value(value)) => format!("(put {})", expr(value)),
        StmtKind::BagAdd { element, bag } => format!("(bag-add {} {})", expr(element), expr(bag)),
        StmtKind::BagRemove { index, bag } => format!("(bag-remove {} {})", expr(index), expr(bag)),
        StmtKind::BagRemoveIf { name, bag, condition } => {
            format!("(bag-remove-if {} {} {})", name.text, expr(bag), expr(condition))
        }
    }
}

/// An expression; gaps left by errors show as `?`.
pub(super) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Number(value) => value.to_string(),
        ExprKind::HugeNumber(value) => format!("huge:{value}"),
        ExprKind::Name(name) if name.is_empty() => "?".to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Field { base, field } => format!("{}.{}", expr(base), field.text),
        ExprKind::Index { base, index } => format!("{}[{}]", expr(base), expr(index)),
        ExprKind::Call { function, arguments } => format!("(call {}{})", function.text, spaced(arguments, expr)),
        ExprKind::Unary { op, operand } => format!("({op:?} {})", expr(operand)),
        ExprKind::Binary { op, left, right } => format!("({op:?} {} {})", expr(left), expr(right)),
        ExprKind::Chain { op, operands } => format!("({op:?}{})", spaced(operands, expr)),
        ExprKind::Conditional { condition, then, otherwise } => {
            format!("(? {} {} {})", expr(condition), expr(then), expr(otherwise))
        }
        ExprKind::Quantified { universal, quantifiers, body } => {
            let word = if *universal { "forall" } else { "exists" };
            format!("({word}{} {})", spaced(quantifiers, quantifier), expr(body))
        }
        ExprKind::IsUndefined(place) => format!("(isundefined {})", expr(place)),
        ExprKind::IsMember { value, ty } => format!("(ismember {} {})", expr(value), dump_type(ty)),
        ExprKind::BagCount { name, bag, condition } => format!("(bag-count {} {} {})", name.text, expr(bag), expr(condition)),
        ExprKind::Parenthesised(inner) => format!("<{}>", expr(inner)),
        ExprKind::Real(text) => format!("real:{text}"),
    }
}
