//! The families of simulated tasks: eleven kinds, each a set of probabilities with the reasons for them.

/// A kind of simulated task. Probabilities are in 0..=1 and apply to every subtask unless a field says otherwise.
///
/// The numbers are estimates of what such tasks are like, written down before any policy was run on them. The base is
/// [`Family::ORDINARY`]; every other family states only its differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    /// The family's name in tables of results.
    pub name: &'static str,
    /// A short description of the family for tables of results.
    pub about: &'static str,
    /// Probability that a class of tools can do the work.
    pub sound_class: f64,
    /// Probability that a tool of such a class can do the work.
    pub sound_tool: f64,
    /// How far the planner's preference follows which tools are sound: 0 = not at all, 1 = always.
    pub knowledge: f64,
    /// Probability that no tool can do the work.
    pub infeasible: f64,
    /// Probability that a folder of targets is not accessible in a task.
    pub blocked_folder: f64,
    /// Probability that a single target is not accessible.
    pub blocked_target: f64,
    /// Probability that an attempt fails by the environment and may work the next time.
    pub flaky: f64,
    /// Probability that sound work meets a criterion the first time.
    pub skill: f64,
    /// Share of the missing skill that one refinement of sound work adds.
    pub refinement: f64,
    /// Probability that unsound work meets a criterion; refinement does not change it.
    pub luck: f64,
    /// Increase of the false-pass probability with every attempt of unsound work by the same tool, which learns what
    /// the verifier looks for.
    pub gaming: f64,
    /// Probability that a judging model passes an unmet criterion; for a check in code a fifth of it.
    pub false_pass: f64,
    /// Probability that a judging model fails a met criterion; for a check in code a fifth of it.
    pub false_fail: f64,
    /// Probability that a failure gets the wrong class.
    pub label_noise: f64,
    /// Probability that a failure of sound but unfinished work is blamed on the approach, though neither class fits.
    pub unfinished_is_logical: f64,
    /// Probability, for each combination of tools, that subtasks which are right don't fit together.
    pub misfit: f64,
    /// Share of the skill that every earlier execution destroys, since it leaves the workspace worse than before.
    pub rot: f64,
    /// Median time of an execution, in seconds.
    pub median_s: f64,
    /// Standard deviation of the logarithm of an execution's time.
    pub sigma: f64,
}

impl Family {
    /// Ordinary errands on a desktop, on which the other families are based: most approaches work, and little goes
    /// wrong.
    pub const ORDINARY: Self = Self {
        name: "ordinary",
        about: "most approaches work, little goes wrong",
        sound_class: 0.6,
        sound_tool: 0.8,
        knowledge: 0.5,
        infeasible: 0.02,
        blocked_folder: 0.05,
        blocked_target: 0.05,
        flaky: 0.03,
        skill: 0.85,
        refinement: 0.5,
        luck: 0.2,
        gaming: 0.05,
        false_pass: 0.03,
        false_fail: 0.03,
        label_noise: 0.1,
        unfinished_is_logical: 0.7,
        misfit: 0.05,
        rot: 0.0,
        median_s: 25.0,
        sigma: 0.5,
    };

    /// Every family, in the order of the tables of results.
    pub const ALL: [Self; 11] = [
        Self::ORDINARY,
        // An unfamiliar domain: few tools work, and the planner's preference hardly shows which.
        Self {
            name: "wrong_approach",
            about: "few approaches work, the planner does not know which",
            sound_class: 0.3,
            sound_tool: 0.6,
            knowledge: 0.1,
            ..Self::ORDINARY
        },
        // Permissions and unavailable mounts close whole folders, so that a target's neighbours are closed too.
        Self {
            name: "blocked_targets",
            about: "half of all folders are closed, and some targets in the rest",
            blocked_folder: 0.5,
            blocked_target: 0.3,
            ..Self::ORDINARY
        },
        // A bad connection: a third of all attempts fail, and the same call may work a minute later.
        Self { name: "flaky", about: "a third of all attempts fail by chance", flaky: 0.35, ..Self::ORDINARY },
        // Writing, formatting, extraction: the method is known, and the first draft meets half of the criteria.
        Self {
            name: "refinable",
            about: "the first approach is right and its result half finished",
            sound_class: 0.9,
            sound_tool: 0.95,
            knowledge: 0.8,
            skill: 0.5,
            ..Self::ORDINARY
        },
        // Work that a verifier is inclined to believe: repeated unsound work learns what to show, not what to do.
        Self {
            name: "gamed",
            about: "unsound work learns to pass for met",
            sound_class: 0.35,
            knowledge: 0.1,
            luck: 0.3,
            gaming: 0.25,
            ..Self::ORDINARY
        },
        // A small model judges: about one verdict in seven is wrong, in either direction.
        Self {
            name: "noisy_verifier",
            about: "one verdict in seven is wrong",
            false_pass: 0.15,
            false_fail: 0.15,
            ..Self::ORDINARY
        },
        // The reported cause of a failure is little better than a guess.
        Self {
            name: "mislabelled",
            about: "four classes in ten are wrong",
            sound_class: 0.45,
            knowledge: 0.3,
            blocked_folder: 0.25,
            label_noise: 0.4,
            ..Self::ORDINARY
        },
        // Local models and large inputs: two executions and a half use up the usual five minutes.
        Self { name: "slow", about: "an execution takes two minutes", median_s: 120.0, sigma: 0.8, ..Self::ORDINARY },
        // Half-done writes, exhausted quotas, a conversation that loses its context.
        Self {
            name: "rotting",
            about: "every failed execution leaves things worse",
            sound_class: 0.4,
            knowledge: 0.3,
            rot: 0.3,
            ..Self::ORDINARY
        },
        // Half of the subtasks can't be done with the tools there are.
        Self { name: "infeasible", about: "half of all subtasks can't be done", infeasible: 0.5, ..Self::ORDINARY },
    ];

    /// Names of the families on which a profile may be tuned; figures of all others are reported once, after tuning.
    ///
    /// Written down before the profile `anytime` existed. [`Family::ORDINARY`] is the base of every family; in
    /// `refinable` going on with the same tool pays, in `gamed` it misleads.
    pub const TUNING: [&'static str; 3] = ["ordinary", "refinable", "gamed"];

    /// The family with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name == name)
    }
}
