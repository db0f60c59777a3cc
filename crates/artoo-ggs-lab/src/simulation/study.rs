//! A study: every policy on the same tasks of every family, on as many threads as there are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::draws::Draws;
use super::episode::{Episode, run};
use super::family::Family;
use super::policy::{EXECUTIONS_MAX, Policy};
use super::tally::Tally;
use super::utility::Utility;
use super::world::World;

/// Tasks a thread takes at a time: enough to hide the hand-over, few enough to share the last ones out.
const TASKS_AT_A_TIME: u32 = 250;
/// Most threads: beyond it, handing out work costs more than doing it.
const THREADS_MAX: usize = 64;

/// What is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Compared on the same tasks.
    pub policies: Vec<Policy>,
    /// The kinds of task.
    pub families: Vec<Family>,
    /// Tasks of each family.
    pub tasks: u32,
    /// Two studies of one seed are the same to the last bit, whatever the number of threads.
    pub seed: u64,
    /// What endings are worth.
    pub utility: Utility,
    /// The policy others are compared with, as a position in `policies`.
    pub reference: usize,
    /// 0 = as many as the machine runs at once.
    pub threads: usize,
}

/// One policy on one family.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The counts.
    pub row: Row,
    /// Mean of the utility's difference from the reference policy, task by task.
    pub difference: f64,
    /// Its standard error.
    pub difference_se: f64,
    /// Mean of version 0.8's loss after each execution; a task that ended keeps its last.
    pub losses: Vec<f64>,
}

/// One policy on one family, as a line of JSON has it. All but the last two are counts over all tasks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Row {
    /// The policy's name.
    pub policy: String,
    /// The family's name.
    pub family: String,
    /// Tasks run.
    pub tasks: u64,
    /// Ended [`super::Ending::Full`].
    pub full: u64,
    /// Ended [`super::Ending::Partial`].
    pub partial: u64,
    /// Ended [`super::Ending::FalseDelivery`].
    pub false_delivery: u64,
    /// Plans executed.
    pub executions: u64,
    /// Executions after the first that met no more than the best before.
    pub wasted: u64,
    /// Ended by a kill switch.
    pub kills: u64,
    /// Of these: the measured distance did not rise in each of the rounds the switch counted.
    pub kills_without_worsening: u64,
    /// Mean utility of a task.
    pub utility: f64,
    /// Its standard error.
    pub utility_se: f64,
}

impl Study {
    /// Every policy on every family, compared with v08.
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

    /// Runs it; cells by family, then policy.
    #[must_use]
    pub fn run(&self) -> Vec<Cell> {
        let tallies = self.tally();
        let names = self.families.iter().flat_map(|family| self.policies.iter().map(move |policy| (family, policy)));
        names.zip(&tallies).map(|((family, policy), tally)| self.cell(family, policy, tally)).collect()
    }

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
                // A thread that panicked left whole sums behind: they are added in one go.
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

/// One task under every policy.
fn episodes(family: &Family, policies: &[Policy], task: u32, seed: u64, utility: &Utility) -> Vec<Episode> {
    // A family's tasks depend on its name, not on its place in a list: any selection meets the same ones.
    let address = family.name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(257).wrapping_add(u64::from(byte)));
    let world = World::new(*family, Draws::of_task(seed, address, u64::from(task)));
    policies.iter().map(|policy| run(&world, policy, utility)).collect()
}

/// Each policy's utility in each task, in micro-units.
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
