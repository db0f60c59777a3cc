//! Calibration: fits the eight free numbers of a controller's profile on simulated tasks, and says how far the fit can
//! be trusted.
//!
//! A calibration recommends a profile and changes nothing: a person reviews the [`Profile`] in a [`Recommendation`]
//! and puts it into use. The four rules, the budget, `max_replans` and `kill_after` stay as they are in the incumbent
//! (the profile in use), and so does α: only ratios of the loss's weights matter, so one of them sets the scale.
//!
//! Three checks show how far the result can be trusted:
//! - **Held-out families.** The search uses neither these families nor the tasks of the trial.
//! - **A confidence bound.** The gain is measured task by task with the same random numbers; [`Evidence::lower`] is
//!   the 5 % quantile of a bootstrap within families. [`Recommendation::is_better`] requires more than 0.
//! - **A null test.** The incumbent is compared with itself: with the same random numbers the gain is exactly 0; with
//!   other random numbers the same bound is computed many times, and [`Null::alarms`] counts how often it rates the
//!   incumbent better than itself.
//!
//! The result holds for the simulator's tasks and for the given [`Utility`]. For logged tasks see [`log`] and
//! [`off_policy`].

mod bootstrap;
pub mod log;
pub mod off_policy;
mod search;
#[cfg(test)]
mod tests;

use crate::simulation::{Family, Policy, Utility, task_utilities};
use artoo_ggs::Profile;
use bootstrap::{LEVEL, mean_of_means, quantile};

/// Minimum number of candidates in a generation of the search: each new candidate combines one with three others.
pub const POPULATION_MIN: usize = 5;
/// Minimum number of tasks per family in the trial of a candidate, and of bootstrap resamples; with fewer, a quantile
/// means nothing.
pub const TRIAL_TASKS_MIN: u32 = 20;

/// A calibration to run: the profile to improve, the families, and the effort.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The profile in use, to be improved.
    pub incumbent: Profile,
    /// Families of tasks that the search uses.
    pub train: Vec<Family>,
    /// Families of the trial; none of them is in `train`.
    pub held_out: Vec<Family>,
    /// Number of tasks per training family on which each candidate is tried; at least 1.
    pub search_tasks: u32,
    /// Number of profiles in the search's population; at least [`POPULATION_MIN`].
    pub population: usize,
    /// Number of generations of the search after the first population.
    pub generations: u64,
    /// Number of tasks per held-out family in the trial; at least [`TRIAL_TASKS_MIN`].
    pub trial_tasks: u32,
    /// Number of bootstrap resamples for each confidence bound; at least [`TRIAL_TASKS_MIN`].
    pub resamples: u32,
    /// Number of null trials, in which the incumbent is compared with itself.
    pub null_trials: u32,
    /// The values and costs whose sum, the utility of a task, is maximized.
    pub utility: Utility,
    /// Seed of all random numbers of the calibration.
    pub seed: u64,
    /// Number of threads of the search; 0 uses all processors.
    pub threads: usize,
}

impl Calibration {
    /// The published calibration: it searches on seven families and tries the result on four others, chosen before any
    /// search was run.
    #[must_use]
    pub fn standard() -> Self {
        let held_out = ["blocked_targets", "noisy_verifier", "mislabelled", "rotting"];
        let (held_out, train) = Family::ALL.into_iter().partition(|family| held_out.contains(&family.name));
        Self {
            incumbent: Profile::default(),
            train,
            held_out,
            search_tasks: 1_500,
            population: 32,
            generations: 60,
            trial_tasks: 10_000,
            resamples: 1_000,
            null_trials: 200,
            utility: Utility::DEFAULT,
            seed: 1,
            threads: 0,
        }
    }
}

/// The error of a calibration that can't be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// One of the two lists of families is empty.
    #[error("{field} is empty")]
    Empty {
        /// Name of the empty field: `train` or `held_out`.
        field: &'static str,
    },
    /// A family is both in `train` and in `held_out`.
    #[error("family {family:?} is in train and in held_out")]
    NotHeldOut {
        /// Name of the family that is in both lists.
        family: &'static str,
    },
    /// A number is too small for a meaningful result.
    #[error("{field} is {value}, expected at least {min}")]
    TooSmall {
        /// Name of the field whose number is too small.
        field: &'static str,
        /// The rejected number.
        value: u64,
        /// Smallest allowed number.
        min: u64,
    },
    /// The optimizer of the search failed.
    #[error("the search failed: {reason}")]
    Search {
        /// The optimizer's message.
        reason: String,
    },
}

/// A gain in utility per task, with its confidence bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Mean gain in utility per task; all families have the same weight.
    pub gain: f64,
    /// Lower bound of the gain, with 95 % confidence.
    pub lower: f64,
    /// Upper bound of the gain, with 95 % confidence.
    pub upper: f64,
}

/// The null test: the outcome of comparing the incumbent profile with itself, which must show no gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Null {
    /// Gain of the incumbent over itself with the same random numbers; must be 0.
    pub same_luck: f64,
    /// Number of comparisons with other random numbers.
    pub trials: u32,
    /// Number of comparisons whose lower bound was above 0; about one in twenty is expected.
    pub alarms: u32,
}

/// The result of a calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// The best profile found; the incumbent if the search found nothing better.
    pub profile: Profile,
    /// The profile's gain in the search; too optimistic, since the profile was selected by this gain.
    pub search_gain: f64,
    /// The profile's gain over all held-out families.
    pub evidence: Evidence,
    /// The profile's gain on each held-out family, by the family's name.
    pub by_family: Vec<(&'static str, Evidence)>,
    /// The comparison of the incumbent with itself.
    pub null: Null,
    /// Number of profiles that the search tried.
    pub candidates: u64,
}

impl Recommendation {
    /// Whether the recommended profile's gain on the held-out families is above 0 with 95 % confidence.
    #[must_use]
    pub fn is_better(&self) -> bool {
        self.evidence.lower > 0.0
    }
}

/// Searches for a better profile, tries it on the held-out families, and compares the incumbent with itself.
///
/// # Errors
/// [`CalibrationError`] if the calibration can't be run or the optimizer fails.
pub fn calibrate(calibration: &Calibration) -> Result<Recommendation, CalibrationError> {
    check(calibration)?;
    let found = search::search(calibration)?;
    let gains = gains(calibration, &found.profile);
    let mut rng = fastrand::Rng::with_seed(calibration.seed);
    let by_family = calibration.held_out.iter().zip(gains.chunks(1));
    let by_family = by_family.map(|(family, gains)| (family.name, evidence(calibration, gains, &mut rng))).collect();
    Ok(Recommendation {
        evidence: evidence(calibration, &gains, &mut rng),
        by_family,
        null: null(calibration, &mut rng),
        profile: found.profile,
        search_gain: found.gain,
        candidates: found.candidates,
    })
}

/// An error if the families or numbers of a calibration can't give a meaningful result.
fn check(calibration: &Calibration) -> Result<(), CalibrationError> {
    let too_small = |field, value: u64, min: u64| {
        if value < min { Err(CalibrationError::TooSmall { field, value, min }) } else { Ok(()) }
    };
    if calibration.train.is_empty() {
        return Err(CalibrationError::Empty { field: "train" });
    }
    if calibration.held_out.is_empty() {
        return Err(CalibrationError::Empty { field: "held_out" });
    }
    let trained = |family: &&Family| calibration.train.iter().any(|other| other.name == family.name);
    if let Some(family) = calibration.held_out.iter().find(trained) {
        return Err(CalibrationError::NotHeldOut { family: family.name });
    }
    too_small("search_tasks", u64::from(calibration.search_tasks), 1)?;
    too_small("population", calibration.population as u64, POPULATION_MIN as u64)?;
    too_small("trial_tasks", u64::from(calibration.trial_tasks), u64::from(TRIAL_TASKS_MIN))?;
    too_small("resamples", u64::from(calibration.resamples), u64::from(TRIAL_TASKS_MIN))
}

/// The purpose of a set of simulated tasks; each purpose has its own seed, so that no tasks are shared.
#[derive(Debug, Clone, Copy)]
enum TaskPurpose {
    Search,
    Trial,
    Null(u64),
}

/// The seed of the simulated tasks for one purpose.
fn seed(calibration: &Calibration, luck: TaskPurpose) -> u64 {
    let place = match luck {
        TaskPurpose::Search => 0,
        TaskPurpose::Trial => 1,
        TaskPurpose::Null(which) => 2 + which,
    };
    fastrand::Rng::with_seed(calibration.seed).u64(..).wrapping_add(place)
}

/// Gain of a candidate over the incumbent in each task of each held-out family, in micro-units of utility.
fn gains(calibration: &Calibration, candidate: &Profile) -> Vec<Vec<i64>> {
    let policies = [Policy::profile("candidate", candidate.clone()), incumbent(calibration)];
    let of = |family: &Family| {
        let seed = seed(calibration, TaskPurpose::Trial);
        let tasks = task_utilities(family, &policies, 0..calibration.trial_tasks, seed, &calibration.utility);
        tasks.iter().map(|task| difference(task)).collect()
    };
    calibration.held_out.iter().map(of).collect()
}

/// The profile in use, which a calibration tries to improve, as a policy.
fn incumbent(calibration: &Calibration) -> Policy {
    Policy::profile("incumbent", calibration.incumbent.clone())
}

/// Utility of the candidate minus that of the incumbent in one task, in micro-units; `pair` holds the two.
fn difference(pair: &[i64]) -> i64 {
    if let [candidate, incumbent] = pair { candidate - incumbent } else { 0 }
}

/// The mean of the gains of each family's tasks (micro-units), with confidence bounds from a bootstrap.
fn evidence(calibration: &Calibration, gains: &[Vec<i64>], rng: &mut fastrand::Rng) -> Evidence {
    let means = bootstrap::resample(gains, calibration.resamples, rng);
    Evidence { gain: mean_of_means(gains), lower: quantile(&means, LEVEL), upper: quantile(&means, 1.0 - LEVEL) }
}

/// Runs the null test: compares the incumbent with itself, once with the same random numbers and often with others.
fn null(calibration: &Calibration, rng: &mut fastrand::Rng) -> Null {
    let policy = [incumbent(calibration)];
    let utilities = |luck: TaskPurpose| -> Vec<Vec<i64>> {
        let of = |family: &Family| {
            let seed = seed(calibration, luck);
            let tasks = task_utilities(family, &policy, 0..TRIAL_TASKS_MIN * 5, seed, &calibration.utility);
            tasks.into_iter().flatten().collect()
        };
        calibration.held_out.iter().map(of).collect()
    };
    let alarms = (0..calibration.null_trials).filter(|trial| {
        let (first, second) = (
            utilities(TaskPurpose::Null(2 * u64::from(*trial))),
            utilities(TaskPurpose::Null(2 * u64::from(*trial) + 1)),
        );
        let differences = |(a, b): (&Vec<i64>, &Vec<i64>)| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let gains: Vec<Vec<i64>> = first.iter().zip(&second).map(differences).collect();
        evidence(calibration, &gains, rng).lower > 0.0
    });
    let alarms = alarms.count() as u32;
    Null {
        same_luck: mean_of_means(&gains(calibration, &calibration.incumbent)),
        trials: calibration.null_trials,
        alarms,
    }
}
