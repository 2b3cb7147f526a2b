//! The MCS queuing lock with four processes (Mellor-Crummey and Scott, 1991), in the form that the Murphi front end
//! produces: a model whose numbers of states and firings have been known since 1993.

use std::sync::Arc;
use wayfarer_ir::*;
use wayfarer_space::FaultClass;

const PROCESSES: u32 = 4;
const LOCK: u32 = 64 + 16;
const UNDEFINED: FaultId = FaultId(0);
const INDEX: FaultId = FaultId(1);
const FUEL: FaultId = FaultId(2);

fn reg(number: u32) -> Expr {
    Expr::Reg(Reg(number))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn equal(left: Expr, right: i64) -> Expr {
    binary(BinaryOp::Eq, left, Expr::Const(right))
}

/// The element of an array for a process, numbered from 1.
fn of(start: u32, stride: u32, process: Expr, offset: u32) -> Place {
    let value = binary(BinaryOp::Sub, process, Expr::Const(1));
    Place { root: Root::State, offset: start + offset, indices: vec![Index { value, stride, count: PROCESSES, fault: INDEX }] }
}

fn at(offset: u32) -> Place {
    Place { root: Root::State, offset, indices: Vec::new() }
}

/// The value of a place: stored forms are one more, and 0 is undefined.
fn get(place: Place, bits: u8, low: i64) -> Expr {
    let stored = Expr::Require { value: Box::new(Expr::Load { place, bits }), test: Test::NonZero, fault: UNDEFINED };
    binary(BinaryOp::Add, stored, Expr::Const(low - 1))
}

fn put(place: Place, bits: u8, value: Expr, low: i64) -> Stmt {
    Stmt::Store { place, bits, value: binary(BinaryOp::Sub, value, Expr::Const(low - 1)) }
}

fn undefine(place: Place, bits: u32) -> Stmt {
    Stmt::Zero { place, bits }
}

// Words: R at 0 (next.nil, next.p, locked; 8 bits apart), localpred at 32 (nil, p; 8 bits apart), P at 64 (4 bits apart), lock at 80 (nil, p).
fn label(process: Expr) -> Place {
    of(64, 4, process, 0)
}

fn next_nil(process: Expr) -> Place {
    of(0, 8, process, 0)
}

fn next(process: Expr) -> Place {
    of(0, 8, process, 2)
}

fn locked(process: Expr) -> Place {
    of(0, 8, process, 5)
}

fn predecessor_nil(process: Expr) -> Place {
    of(32, 8, process, 0)
}

fn predecessor(process: Expr) -> Place {
    of(32, 8, process, 2)
}

fn go(to: i64) -> Stmt {
    put(label(reg(0)), 4, Expr::Const(to), 0)
}

fn when(condition: Expr, then: Block, otherwise: Block) -> Stmt {
    Stmt::If { branches: vec![(condition, then)], otherwise }
}

fn call(function: u32, arguments: Vec<Expr>) -> Stmt {
    let arguments = arguments.into_iter().map(Argument::Value).collect();
    Stmt::Do(Expr::Call { function: FunctionId(function), arguments, fuel: FUEL })
}

fn procedure(name: &str, parameters: usize, block: Block) -> Function {
    Function {
        name: name.into(),
        parameters: vec![Parameter::Value; parameters],
        result: false,
        no_result: FaultId(0),
        body: Body { registers: parameters as u32, frame: 0, block },
        at: At::default(),
    }
}

/// The program, for four processes.
pub(crate) fn program() -> Arc<Program> {
    let yes = || Expr::Const(1);
    let no = || Expr::Const(0);
    let functions = vec![
        procedure("setNextNil", 1, vec![put(next_nil(reg(0)), 2, yes(), 0), undefine(next(reg(0)), 3)]),
        procedure("setNext", 2, vec![put(next_nil(reg(0)), 2, no(), 0), put(next(reg(0)), 3, reg(1), 1)]),
        procedure("setPredNil", 1, vec![put(predecessor_nil(reg(0)), 2, yes(), 0), undefine(predecessor(reg(0)), 3)]),
        procedure("setPred", 2, vec![put(predecessor_nil(reg(0)), 2, no(), 0), put(predecessor(reg(0)), 3, reg(1), 1)]),
        procedure("setLockNil", 0, vec![put(at(LOCK), 2, yes(), 0), undefine(at(LOCK + 2), 3)]),
        procedure("setLock", 1, vec![put(at(LOCK), 2, no(), 0), put(at(LOCK + 2), 3, reg(0), 1)]),
    ];
    let i = || reg(0);
    let commands: Vec<Block> = vec![
        vec![call(0, vec![i()]), go(1)],
        vec![when(get(at(LOCK), 2, 0), vec![call(2, vec![i()])], vec![call(3, vec![i(), get(at(LOCK + 2), 3, 1)])]), call(5, vec![i()]), go(2)],
        vec![when(get(predecessor_nil(i()), 2, 0), vec![go(6)], vec![go(3)])],
        vec![put(locked(i()), 2, yes(), 0), go(4)],
        vec![call(1, vec![get(predecessor(i()), 3, 1), i()]), go(5)],
        vec![when(Expr::Unary(UnaryOp::Not, Box::new(get(locked(i()), 2, 0))), vec![go(6)], vec![])],
        vec![when(get(next_nil(i()), 2, 0), vec![go(7)], vec![go(9)])],
        vec![when(binary(BinaryOp::Eq, get(at(LOCK + 2), 3, 1), i()), vec![call(4, vec![]), go(0)], vec![go(8)])],
        vec![when(Expr::Unary(UnaryOp::Not, Box::new(get(next_nil(i()), 2, 0))), vec![go(9)], vec![])],
        vec![put(locked(get(next(i()), 3, 1)), 2, no(), 0), go(0)],
    ];
    let rules = commands
        .into_iter()
        .enumerate()
        .map(|(number, block)| Rule {
            name: format!("L{number}"),
            parameters: vec![RuleParameter { name: "i".into(), ty: TypeId(0), from: 1, by: 1, count: PROCESSES }],
            guard: Formula { registers: 1, value: equal(get(label(reg(0)), 4, 0), number as i64) },
            command: Body { registers: 1, frame: 0, block },
            at: At::default(),
        })
        .collect();
    let each = |register: u32, kind: LoopKind, body: Expr| {
        let (from, to) = (Expr::Const(1), Expr::Const(i64::from(PROCESSES)));
        Expr::Loop(Box::new(LoopExpr { kind, register: Reg(register), from, to, by: 1, body, fuel: FUEL }))
    };
    let critical = |process: u32| equal(get(label(reg(process)), 4, 0), 6);
    let both = Expr::All(vec![binary(BinaryOp::Ne, reg(0), reg(1)), critical(0), critical(1)]);
    let exclusive = Expr::Unary(UnaryOp::Not, Box::new(each(0, LoopKind::Any, each(1, LoopKind::Any, both))));
    let start = vec![
        Stmt::For {
            register: Reg(0),
            from: Expr::Const(1),
            to: Expr::Const(i64::from(PROCESSES)),
            by: 1,
            body: vec![go(0), call(0, vec![i()]), put(locked(i()), 2, no(), 0), call(2, vec![i()])],
            fuel: FUEL,
        },
        call(4, vec![]),
    ];
    let scalar = |low, count| Type::Scalar(layout::scalar(None, low, count, true, Names::Numbers));
    let mut types = vec![scalar(1, 4), scalar(0, 10), scalar(0, 2)];
    let pointer = layout::record(&types, vec![("nil".into(), TypeId(2)), ("p".into(), TypeId(0))]).expect("small");
    types.push(pointer);
    let node = layout::record(&types, vec![("next".into(), TypeId(3)), ("locked".into(), TypeId(2))]).expect("small");
    types.push(node);
    for element in [1, 4, 3] {
        let array = layout::array(&types, TypeId(0), TypeId(element)).expect("small");
        types.push(array);
    }
    let variable = |name: &str, ty, offset| Variable { name: name.into(), ty: TypeId(ty), offset, at: At::default() };
    let site = |kind, message: &str| FaultSite { class: FaultClass::Violation, kind, message: message.into(), at: At::default() };
    Arc::new(Program {
        asymmetries: Vec::new(),
        levels: Vec::new(),
        passing: None,
        ends: None,
        unjudged: Vec::new(),
        source: "mcslock1".into(),
        types,
        variables: vec![variable("P", 5, 64), variable("R", 6, 0), variable("localpred", 7, 32), variable("lock", 3, LOCK)],
        words: 2,
        functions,
        starts: vec![Rule {
            name: "start".into(),
            parameters: Vec::new(),
            guard: Formula::default(),
            command: Body { registers: 1, frame: 0, block: start },
            at: At::default(),
        }],
        rules,
        properties: vec![Property {
            name: "exclusive".into(),
            kind: PropertyKind::Always,
            registers: 2,
            conjuncts: vec![(At::default(), exclusive)],
            at: At::default(),
        }],
        faults: vec![
            site(FaultKind::Undefined, "undefined"),
            site(FaultKind::Index, "index"),
            FaultSite { class: FaultClass::Limit, ..site(FaultKind::Endless, "endless") },
        ],
    })
}
