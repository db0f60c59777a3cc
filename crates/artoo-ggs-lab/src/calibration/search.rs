//! The search for a better profile: differential evolution over the ranges of the eight free numbers.

use basin::{BoxBounds, Constrained, ConstraintSet, CostFunction, De, DeMutation, Executor, PopulationProgress};

use super::{Calibration, CalibrationError, TaskPurpose, seed};
use crate::simulation::{Policy, Study};
use artoo_ggs::Profile;
use artoo_ggs::{Hyperparameters, ParameterTable};

/// One of the numbers that the search varies: its range and its field in a parameter table.
struct Free {
    min: f64,
    max: f64,
    of: fn(&mut ParameterTable) -> &mut f64,
}

/// The eight numbers that the search varies, with their ranges, which leave out useless values.
const FREE: [Free; 8] = [
    Free { min: 0.0, max: 1.0, of: |table| &mut table.beta },
    Free { min: 0.0, max: 1.0, of: |table| &mut table.lambda },
    Free { min: 0.0, max: 1.0, of: |table| &mut table.w1 },
    Free { min: 0.0, max: 1.0, of: |table| &mut table.w2 },
    Free { min: 0.001, max: 0.5, of: |table| &mut table.epsilon },
    Free { min: 0.0, max: 0.6, of: |table| &mut table.delta },
    Free { min: 0.0, max: 1.0, of: |table| &mut table.rho },
    Free { min: 0.3, max: 1.0, of: |table| &mut table.theta },
];
/// Number of steps per unit to which candidates' numbers are rounded: thousandths, finer than a trial can measure.
const STEPS: f64 = 1_000.0;

/// The result of a search: the best profile, its gain on the training families, and how many candidates were tried.
pub(super) struct Found {
    pub(super) profile: Profile,
    pub(super) gain: f64,
    pub(super) candidates: u64,
}

/// Searches for a better profile on the training families. The result is never worse on them than the incumbent, which
/// is a member of the first population.
pub(super) fn search(calibration: &Calibration) -> Result<Found, CalibrationError> {
    let failed = |reason: String| CalibrationError::Search { reason };
    let bounds = BoxBounds::new(Some(vec![0.0; FREE.len()]), Some(vec![1.0; FREE.len()]));
    let problem = Constrained::new(Objective { calibration }, ConstraintSet::new().with_bounds(bounds));
    let solver = De::new(calibration.seed)
        .with_pop_size(calibration.population)
        .with_mutation(DeMutation::RandToBest1)
        .with_dither(0.4, 0.9);
    let start = PopulationProgress::from_population(first_population(calibration));
    let result = Executor::new(problem, solver, start)
        .max_iter(calibration.generations)
        .run()
        .map_err(|error| failed(error.to_string()))?;
    let (best, cost) = result.state.best().ok_or_else(|| failed("nothing was tried".to_owned()))?;
    let baseline = mean_utility(calibration, &calibration.incumbent);
    let gain = -cost - baseline;
    let profile = if gain > 0.0 { candidate(calibration, best) } else { calibration.incumbent.clone() };
    Ok(Found { profile, gain, candidates: calibration.population as u64 * (calibration.generations + 1) })
}

/// The cost that the search minimizes: the negative mean utility of a candidate.
struct Objective<'a> {
    calibration: &'a Calibration,
}

impl CostFunction for Objective<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = std::convert::Infallible;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, Self::Error> {
        Ok(-mean_utility(self.calibration, &candidate(self.calibration, point)))
    }
}

/// Mean utility per task of a profile on the training families.
fn mean_utility(calibration: &Calibration, profile: &Profile) -> f64 {
    let study = Study {
        policies: vec![Policy::profile("candidate", profile.clone())],
        families: calibration.train.clone(),
        tasks: calibration.search_tasks,
        seed: seed(calibration, TaskPurpose::Search),
        utility: calibration.utility,
        reference: 0,
        threads: calibration.threads,
    };
    let cells = study.run();
    cells.iter().map(|cell| cell.row.utility).sum::<f64>() / cells.len().max(1) as f64
}

/// The first population: the incumbent, and random points of the unit box.
fn first_population(calibration: &Calibration) -> Vec<Vec<f64>> {
    let mut rng = fastrand::Rng::with_seed(calibration.seed);
    let mut table = ParameterTable::from(*calibration.incumbent.parameters());
    let share = |free: &Free| ((*(free.of)(&mut table) - free.min) / (free.max - free.min)).clamp(0.0, 1.0);
    let mut members = vec![FREE.iter().map(share).collect::<Vec<f64>>()];
    members.resize_with(calibration.population, || FREE.iter().map(|_| rng.f64()).collect());
    members
}

/// The profile at a point of the unit box: each coordinate is the position of a number within its range.
fn candidate(calibration: &Calibration, point: &[f64]) -> Profile {
    let incumbent = &calibration.incumbent;
    let mut table = ParameterTable::from(*incumbent.parameters());
    for (free, share) in FREE.iter().zip(point) {
        let value = free.min + share.clamp(0.0, 1.0) * (free.max - free.min);
        *(free.of)(&mut table) = ((value * STEPS).round() / STEPS).clamp(free.min, free.max);
    }
    let name = format!("{} calibrated", incumbent.name());
    let profile = Hyperparameters::try_from(table).and_then(|table| Profile::new(name, table, *incumbent.rules()));
    // Every point of the box is a valid table; a test checks the corners.
    profile.unwrap_or_else(|_| incumbent.clone())
}

/// Tests of the search's candidates and first population.
#[cfg(test)]
mod tests {
    use super::{FREE, candidate, first_population};
    use crate::calibration::Calibration;
    use artoo_ggs::ParameterTable;

    /// Every corner of the searched ranges is a valid profile, in which α and the other fixed numbers are unchanged.
    #[test]
    fn corner_profiles_are_valid_with_fixed_alpha() {
        let calibration = Calibration::standard();
        for corner in 0..1_u32 << FREE.len() {
            let point: Vec<f64> = (0..FREE.len()).map(|axis| f64::from(corner >> axis & 1)).collect();
            let profile = candidate(&calibration, &point);
            assert_eq!(profile.name(), "v0.8 calibrated", "{point:?}");
            let fixed = ParameterTable::DEFAULT;
            let table = profile.parameters();
            assert_eq!(
                (table.alpha, table.time_budget_ms, table.max_replans, table.kill_after),
                (fixed.alpha, fixed.time_budget_ms, fixed.max_replans, fixed.kill_after)
            );
            assert_eq!(profile.rules(), calibration.incumbent.rules());
        }
    }

    /// The profile in use is a member of the search's first population.
    #[test]
    fn incumbent_is_in_the_first_population() {
        let calibration = Calibration::standard();
        let members = first_population(&calibration);
        assert_eq!(members.len(), calibration.population);
        assert_eq!(candidate(&calibration, &members[0]).parameters(), calibration.incumbent.parameters());
        assert_ne!(members[1], members[2]);
    }
}
