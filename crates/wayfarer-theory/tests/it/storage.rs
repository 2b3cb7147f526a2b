//! The storage formulas against the paper's table and against counting.

use wayfarer_theory::{StorageModel, TableOne};

#[test]
fn table_1_to_the_byte() {
    // Tokens, bytes without differences, then (δ, bytes, printed percentage).
    let distances = [1, 2, 3, 7, 20];
    let table = [
        (5, 9980, [(9980, 0i64), (5996, 40), (4668, 53), (3148, 68), (2396, 76)]),
        (90, 179_640, [(179_640, 0), (90_996, 49), (61_448, 66), (27_628, 85), (10_896, 94)]),
        (400, 798_400, [(798_400, 0), (400_996, 50), (268_528, 66), (116_908, 85), (41_896, 95)]),
        (700, 1_397_200, [(1_397_200, 0), (700_996, 50), (468_928, 66), (203_308, 85), (71_896, 95)]),
        (1000, 1_996_000, [(1_996_000, 0), (1_000_996, 50), (669_328, 66), (289_708, 85), (101_896, 95)]),
        (2000, 3_992_000, [(3_992_000, 0), (2_000_996, 50), (1_337_328, 67), (577_708, 86), (201_896, 95)]),
    ];
    for (tokens, plain, columns) in table {
        let accounting = TableOne::new(tokens);
        assert_eq!(accounting.bytes(0), plain);
        for (distance, (bytes, percent)) in distances.into_iter().zip(columns) {
            assert_eq!(accounting.bytes(distance), bytes);
            let ours = 100.0 * accounting.saved(distance);
            // The paper rounds some figures down.
            assert!((ours - percent as f64).abs() < 1.0, "{tokens} tokens at {distance}: {ours} %, printed {percent} %");
        }
    }
}

#[test]
fn the_formula_counts_the_states_of_a_tree() {
    for (branching, height, distance) in [(2u64, 7u32, 3u32), (3, 5, 2), (2, 6, 1), (5, 4, 9), (1, 11, 4)] {
        let model = StorageModel::new(branching as f64, height, distance, 0.25).unwrap();
        let at = |depth: u32| branching.pow(depth);
        let whole: u64 = (0..=height).filter(|depth| depth % distance == 0).map(at).sum();
        let total: u64 = (0..=height).map(at).sum();
        let share = whole as f64 / total as f64;
        assert!((model.whole_share() - share).abs() < 1e-14);
        assert!((model.saved() - 0.75 * (1.0 - share)).abs() < 1e-14);
        if branching > 1 {
            // The closed form as printed in equations (1) and (2).
            let k = branching as f64;
            let power = f64::from((height / distance + 1) * distance);
            let closed = (k.powf(power) - 1.0) * (k - 1.0) / ((k.powi(distance as i32) - 1.0) * (k.powi(height as i32 + 1) - 1.0));
            assert!((model.whole_share() - closed).abs() < 1e-12);
        }
    }
}

#[test]
fn time_is_one_comparison_per_level() {
    let model = StorageModel::new(2.0, 3, 2, 0.1).unwrap();
    // Whole shares at heights 0 … 3: 1, 1/3, 5/7, 5/15; a difference costs one step back of half a comparison.
    let right: f64 = [1.0, 1.0 / 3.0, 5.0 / 7.0, 1.0 / 3.0].iter().map(|whole| whole + (1.0 - whole) * 0.5).sum();
    assert!((model.time(0.5) - right).abs() < 1e-14);
    // With every state whole there is nothing to go back.
    assert_eq!(StorageModel::new(3.0, 9, 1, 0.1).unwrap().time(7.0), 10.0);
}

#[test]
fn limits() {
    // A chain saves (1 − x)(1 − 1/δ), and nothing overflows.
    let chain = StorageModel::new(1.0, 1_999_999, 20, 0.1).unwrap();
    assert!((chain.saved() - 0.9 * 0.95).abs() < 1e-9);
    let steep = StorageModel::new(1e9, 1000, 7, 0.0).unwrap();
    assert!(steep.saved().is_finite() && (0.0..=1.0).contains(&steep.saved()));
    let shrinking = StorageModel::new(0.5, 5000, 3, 0.0).unwrap();
    assert!((shrinking.whole_share() - 0.5 / (1.0 - 0.125)).abs() < 1e-12);
    for wrong in [
        StorageModel::new(0.0, 5, 2, 0.5),
        StorageModel::new(f64::NAN, 5, 2, 0.5),
        StorageModel::new(2.0, 5, 0, 0.5),
        StorageModel::new(2.0, 5, 1, 1.5),
    ] {
        assert!(wrong.is_err());
    }
}
