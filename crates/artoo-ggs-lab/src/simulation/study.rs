//! A study: runs every policy on the same tasks of every family, on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::draws::Draws;
use super::episode::{Episode, run};
use super::family::Family;
use super::policy::{EXECUTIONS_MAX, Policy};
use super::tally::Tally;
use super::utility::Utility;
use super::world::World;

/// Number of tasks that a thread takes at once: enough to hide the cost of synchronization, few enough to balance the
/// load.
const TASKS_AT_A_TIME: u32 = 250;
/// Maximum number of threads of a study; with more, distributing the work costs more than doing it.
const THREADS_MAX: usize = 64;

/// A simulation to run: every policy on the same tasks of every family.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// The policies to compare, each on the same tasks.
    pub policies: Vec<Policy>,
    /// The families whose tasks are simulated.
    pub families: Vec<Family>,
    /// Number of tasks per family.
    pub tasks: u32,
    /// Seed of all random numbers; the result does not depend on the number of threads.
    pub seed: u64,
    /// The values of endings and costs.
    pub utility: Utility,
    /// Index in `policies` of the policy the others are compared with.
    pub reference: usize,
    /// Number of threads; 0 uses all processors, and more than 64 are never used.
    pub threads: usize,
}

/// The result of one policy on one family.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Counts and mean utility of the policy on the family.
    pub row: Row,
    /// Mean difference in utility per task from the reference policy on the same tasks.
    pub difference: f64,
    /// Standard error of the mean difference in utility.
    pub difference_se: f64,
    /// Mean loss (specification v0.8) after each execution; a task that has ended counts with its last loss.
    pub losses: Vec<f64>,
}

/// Counts and mean utility of one policy on one family, as written to JSON.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Row {
    /// The policy's name.
    pub policy: String,
    /// The family's name.
    pub family: String,
    /// Number of tasks run.
    pub tasks: u64,
    /// Number of tasks that ended with [`super::Ending::Full`].
    pub full: u64,
    /// Number of tasks that ended with [`super::Ending::Partial`].
    pub partial: u64,
    /// Number of tasks that ended with [`super::Ending::FalseDelivery`].
    pub false_delivery: u64,
    /// Number of executions of plans, over all tasks.
    pub executions: u64,
    /// Number of executions, other than first ones, that met no more criteria than the best one before.
    pub wasted: u64,
    /// Number of tasks ended by a kill switch.
    pub kills: u64,
    /// Number of kills after which D had not risen in every round that the kill switch counted.
    pub kills_without_worsening: u64,
    /// Mean utility per task.
    pub utility: f64,
    /// Standard error of the mean utility.
    pub utility_se: f64,
}

impl Study {
    /// Creates a study of every policy on every family, compared with `v08`, with this number of tasks per family.
    #[must_use]
    pub fn full(tasks: u32) -> Self {
        let policies = Policy::all();
        let reference = policies.iter().position(|policy| *policy == Policy::v08()).unwrap_or(0);
        Self {
            policies,
            families: Family::ALL.to_vec(),
            tasks,
            seed: 1,
            utility: Utility::DEFAULT,
            reference,
            threads: 0,
        }
    }

    /// Runs the study; returns one cell per family and policy, ordered by family and then by policy.
    #[must_use]
    pub fn run(&self) -> Vec<Cell> {
        let tallies = self.tally();
        let names = self.families.iter().flat_map(|family| self.policies.iter().map(move |policy| (family, policy)));
        names.zip(&tallies).map(|((family, policy), tally)| self.cell(family, policy, tally)).collect()
    }

    /// Simulates all tasks on several threads; returns the sums for each family and policy.
    fn tally(&self) -> Vec<Tally> {
        let chunks = self.tasks.div_ceil(TASKS_AT_A_TIME) as usize;
        let (next, total) = (AtomicUsize::new(0), self.families.len() * chunks);
        let sums = Mutex::new(vec![Tally::default(); self.families.len() * self.policies.len()]);
        let work = || {
            loop {
                let turn = next.fetch_add(1, Ordering::Relaxed);
                if turn >= total {
                    return;
                }
                let (family, chunk) = (turn / chunks, (turn % chunks) as u32);
                let first = chunk * TASKS_AT_A_TIME;
                let part = self.chunk(family, first..self.tasks.min(first.saturating_add(TASKS_AT_A_TIME)));
                // The sums are added under the lock without a panic in between, so a poisoned lock still holds
                // complete sums.
                let mut sums = sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                for (sum, part) in sums.iter_mut().skip(family * self.policies.len()).zip(&part) {
                    sum.merge(part);
                }
            }
        };
        let available = || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let threads = if self.threads == 0 { available() } else { self.threads }.min(THREADS_MAX);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        sums.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Simulates a range of tasks of one family under every policy; returns the sums for each policy.
    fn chunk(&self, family: usize, tasks: std::ops::Range<u32>) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); self.policies.len()];
        let Some(family) = self.families.get(family) else { return tallies };
        for task in tasks {
            let episodes = episodes(family, &self.policies, task, self.seed, &self.utility);
            let reference = episodes.get(self.reference).map(|episode| episode.utility_micros(&self.utility));
            for (tally, episode) in tallies.iter_mut().zip(&episodes) {
                tally.add(episode, &self.utility, reference);
            }
        }
        tallies
    }

    /// Converts the sums of one policy on one family to means and differences.
    fn cell(&self, family: &Family, policy: &Policy, tally: &Tally) -> Cell {
        let tasks = u64::from(self.tasks);
        let mean_loss = |sum: i64| sum as f64 / tasks.max(1) as f64 / 1e6;
        Cell {
            row: Row {
                policy: policy.name().to_owned(),
                family: family.name.to_owned(),
                tasks,
                full: tally.full,
                partial: tally.partial,
                false_delivery: tally.false_delivery,
                executions: tally.executions,
                wasted: tally.wasted,
                kills: tally.kills,
                kills_without_worsening: tally.kills_without_worsening,
                utility: tally.utility.mean(),
                utility_se: tally.utility.standard_error(),
            },
            difference: tally.difference.mean(),
            difference_se: tally.difference.standard_error(),
            losses: tally.losses.iter().take(EXECUTIONS_MAX).map(|sum| mean_loss(*sum)).collect(),
        }
    }
}

/// Simulates one task of a family under every policy.
fn episodes(family: &Family, policies: &[Policy], task: u32, seed: u64, utility: &Utility) -> Vec<Episode> {
    // Tasks depend on the family's name, not on its index: every selection of families gets the same tasks.
    let address = family.name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(257).wrapping_add(u64::from(byte)));
    let world = World::new(*family, Draws::of_task(seed, address, u64::from(task)));
    policies.iter().map(|policy| run(&world, policy, utility)).collect()
}

/// Runs these tasks of a family; returns for each task the utility of each policy, in micro-units.
pub(crate) fn task_utilities(
    family: &Family,
    policies: &[Policy],
    tasks: std::ops::Range<u32>,
    seed: u64,
    utility: &Utility,
) -> Vec<Vec<i64>> {
    let of = |task| episodes(family, policies, task, seed, utility);
    let utilities = |episodes: Vec<Episode>| episodes.iter().map(|episode| episode.utility_micros(utility)).collect();
    tasks.map(of).map(utilities).collect()
}
