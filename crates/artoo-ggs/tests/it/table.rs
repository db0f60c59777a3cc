//! The decision table, the constants and the quantization matrix, compared with those of the specification.

use artoo_ggs::*;

#[doc = "holds: invariant 23"]
#[test]
fn constants_equal_specification_v0_8() {
    for profile in [Profile::default(), Profile::strict_spec()] {
        let t = profile.parameters();
        assert_eq!((t.alpha, t.beta, t.lambda, t.w1, t.w2), (0.6, 0.3, 0.4, 0.6, 0.4));
        assert_eq!((t.epsilon, t.delta, t.rho, t.theta), (0.1, 0.3, 0.5, 0.8));
        assert_eq!((t.time_budget_ms, t.max_replans, t.kill_after), (300_000, 3, 2));
    }
    assert_eq!(Hyperparameters::try_from(ParameterTable::DEFAULT), Ok(Hyperparameters::default()));
    let matrix: Vec<_> = MacroState::ALL
        .iter()
        .map(|state| {
            let row = state.quantization();
            (state.name(), row.f, row.sigma, row.k)
        })
        .collect();
    assert_eq!(
        matrix,
        [
            ("abandon", 0.95, -1.0, 0.05),
            ("accept", 0.90, 1.0, 0.05),
            ("change_approach", 0.85, -1.0, 0.05),
            ("success", 0.80, 1.0, 0.05),
            ("break_symmetry", 0.75, 1.0, 0.05),
            ("change_path", 0.30, 0.0, 0.2),
            ("refine", 0.10, 0.5, 0.5),
        ]
    );
}

#[doc = "holds: invariant 10, 11"]
#[test]
fn all_24_cells_equal_the_specification() {
    let parameters = Hyperparameters::DEFAULT;
    let mut table = String::from("| # | ∇L | D | P | Ω | Macro-state |\n|---|---|---|---|---|---|\n");
    for (gradient, gradient_shown) in [(-0.2, "< −ε"), (0.0, r"\|·\|< ε"), (0.2, "> ε")] {
        for (d, d_shown) in [(0.2, "≤ δ"), (0.4, "> δ")] {
            for (omega, omega_shown) in [(0.5, "< θ"), (0.9, "≥ θ")] {
                for (p, p_shown) in [(0.4, "≤ ρ"), (0.6, "> ρ")] {
                    let [d, p, omega] = [d, p, omega].map(|x| Unit::try_new(x).unwrap());
                    let cell =
                        TableCell::look_up(&TableInputs::new(d, p, omega, gradient, false).unwrap(), &parameters);
                    table += &format!(
                        "| {} | {gradient_shown} | {d_shown} | {p_shown} | {omega_shown} | {} |\n",
                        cell.number,
                        cell.state()
                    );
                }
            }
        }
    }
    insta::assert_snapshot!(table);
}

#[doc = "holds: design G5"]
#[test]
fn default_thresholds_are_exact_to_micro_units() {
    let step = 0.000_001;
    let state = |d: f64, p: f64, omega: f64, gradient: f64| {
        let [d, p, omega] = [d, p, omega].map(|x| Unit::try_new(x).unwrap());
        let cell =
            TableCell::look_up(&TableInputs::new(d, p, omega, gradient, false).unwrap(), &Hyperparameters::DEFAULT);
        (cell.state(), cell.trend)
    };
    use MacroState::*;
    use Trend::*;
    let table = [
        // δ: exactly at it is close enough, however the number came about
        ((0.3, 0.0, 0.0, 0.0), (Success, Plateau)),
        ((0.1 + 0.2, 0.0, 0.0, 0.0), (Success, Plateau)),
        ((0.3 + step, 0.0, 0.0, 0.0), (ChangePath, Plateau)),
        // ρ: exactly at it is still the environment
        ((0.5, 0.5, 0.0, 0.0), (ChangePath, Plateau)),
        ((0.5, 0.5 + step, 0.0, 0.0), (BreakSymmetry, Plateau)),
        // θ: exactly at it is spent
        ((0.0, 0.0, 0.8 - step, 0.0), (Success, Plateau)),
        ((0.0, 0.0, 0.8, 0.0), (Abandon, Plateau)),
        ((0.0, 0.0, 0.6 + 0.2, 0.0), (Abandon, Plateau)),
        // ε: exactly at it is a signal, both ways
        ((0.5, 0.0, 0.0, 0.1 - step), (ChangePath, Plateau)),
        ((0.5, 0.0, 0.0, 0.1), (Refine, Worsening)),
        ((0.5, 0.0, 0.0, 0.3 - 0.2), (Refine, Worsening)),
        ((0.5, 0.0, 0.0, step - 0.1), (ChangePath, Plateau)),
        ((0.5, 1.0, 0.0, -0.1), (ChangeApproach, Improving)),
    ];
    for ((d, p, omega, gradient), expected) in table {
        assert_eq!(state(d, p, omega, gradient), expected, "D {d} P {p} Ω {omega} ∇L {gradient}");
    }
}

#[test]
fn out_of_range_number_names_its_field() {
    /// A change of one number.
    type Change = fn(&mut ParameterTable);
    let table: [(Change, &str); 14] = [
        (|t| t.alpha = 0.0, "alpha is 0, expected 0.000001 to 1"),
        (|t| t.alpha = f64::NAN, "alpha is NaN, not a finite number"),
        (|t| t.beta = -0.1, "beta is -0.1, expected 0 to 1"),
        (|t| t.lambda = f64::INFINITY, "lambda is inf, not a finite number"),
        (|t| t.w1 = 1.1, "w1 is 1.1, expected 0 to 1"),
        (|t| t.w2 = -1.0, "w2 is -1, expected 0 to 1"),
        (|t| t.epsilon = 0.0, "epsilon is 0, expected 0.000001 to 1"),
        (|t| t.delta = 1.0, "delta is 1, expected 0 to 0.999999"),
        (|t| t.rho = 2.0, "rho is 2, expected 0 to 1"),
        (|t| t.theta = 0.0, "theta is 0, expected 0.000001 to 1"),
        (|t| t.time_budget_ms = 0, "time_budget_ms is 0, expected 1 to 18446744073709551615"),
        (|t| t.max_replans = 0, "max_replans is 0, expected 1 to 1000"),
        (|t| t.max_replans = 1001, "max_replans is 1001, expected 1 to 1000"),
        (|t| t.kill_after = 0, "kill_after is 0, expected 1 to 4294967295"),
    ];
    for (change, message) in table {
        let mut given = ParameterTable::DEFAULT;
        change(&mut given);
        assert_eq!(Hyperparameters::try_from(given).unwrap_err().to_string(), message);
    }
    assert_eq!(Profile::new(" ", Hyperparameters::DEFAULT, Rules::DEFAULT), Err(ParameterError::EmptyName));
    let endless = TableInputs::new(Unit::ONE, Unit::ONE, Unit::ONE, f64::NAN, false);
    assert_eq!(endless.unwrap_err().to_string(), "gradient is NaN, not a finite number");
}
