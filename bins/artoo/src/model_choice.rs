//! The choice of models from options and variables.

mod remote;
mod spec;

pub(crate) use remote::{Place, remote};
pub(crate) use spec::ModelKind;

use crate::{Failure, Variables};

/// The models chosen for a run: the first, a worker that carries out and checks subtasks if set, and fallbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelChoice {
    pub(crate) kind: ModelKind,
    /// Which option or variable chose the first model, as text that `doctor` shows.
    pub(crate) why: String,
    /// The model that carries out and checks single steps; `None` if the first model does.
    pub(crate) worker: Option<ModelKind>,
    /// Fallback models that answer if the first model can't, in order.
    pub(crate) fallback: Vec<ModelKind>,
}

impl ModelChoice {
    /// Every model of the choice: the first, the worker and the fallbacks.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ModelKind> {
        std::iter::once(&self.kind).chain(&self.worker).chain(&self.fallback)
    }

    /// Chooses the models. The option wins over `ARTOO_MODEL`, which wins over an endpoint or key; the default is
    /// reflex.
    pub(crate) fn resolve(option: Option<ModelKind>, variables: &Variables) -> Result<Self, Failure> {
        let (kind, why) = Self::first(option, variables)?;
        let worker: Option<ModelKind> = variables.parsed("ARTOO_WORKER")?;
        let fallback = variables.parsed::<spec::ModelList>("ARTOO_FALLBACK")?.unwrap_or_default().0;
        for (name, others) in [("ARTOO_WORKER", worker.as_slice()), ("ARTOO_FALLBACK", fallback.as_slice())] {
            if let Some(other) =
                others.iter().find(|kind| matches!(kind, ModelKind::Reflex | ModelKind::Cassette { .. }))
            {
                let problem = format!("{other} answers every role or none; name an endpoint's model");
                return Err(variables.invalid(name, problem));
            }
        }
        // Reflex and recordings serve all roles, so they can't be combined with other models.
        let is_alone = matches!(kind, ModelKind::Reflex | ModelKind::Cassette { .. });
        let (worker, fallback) = if is_alone { (None, Vec::new()) } else { (worker, fallback) };
        Ok(Self { kind, why, worker, fallback })
    }

    /// Whether files that may hold secrets can be shown to every chosen model without asking: true for reflex, and for
    /// local models that the user trusts.
    pub(crate) fn is_trusted_with_secrets(&self, variables: &Variables) -> Result<bool, Failure> {
        let trusted = variables.one_of("ARTOO_TRUST_LOCAL", &[("yes", true), ("no", false)], "give yes or no")?;
        let is_trusted = trusted.unwrap_or(false);
        let worker = self.worker.iter().map(|kind| (kind, Place::Worker));
        let others = worker.chain(self.fallback.iter().map(|kind| (kind, Place::Fallback)));
        let stays = |(kind, place): (&ModelKind, Place)| match kind {
            ModelKind::Reflex => true,
            ModelKind::File { .. } => is_trusted,
            ModelKind::Remote { .. } => {
                is_trusted && remote(kind, place, variables).is_ok_and(|config| config.is_loopback())
            }
            ModelKind::Cassette { .. } => false,
        };
        Ok(std::iter::once((&self.kind, Place::First)).chain(others).all(stays))
    }

    /// The first model of the choice, and the name of the option or variable that chose it.
    fn first(option: Option<ModelKind>, variables: &Variables) -> Result<(ModelKind, String), Failure> {
        if let Some(kind) = option {
            return Ok((kind, "option --model".to_owned()));
        }
        let origin = |name| variables.origin(name).unwrap_or_default();
        if let Some(kind) = variables.parsed("ARTOO_MODEL")? {
            return Ok((kind, origin("ARTOO_MODEL")));
        }
        for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY"] {
            if variables.text(name)?.is_some() {
                return Ok((ModelKind::openai(None), origin(name)));
            }
        }
        Ok((ModelKind::Reflex, "no language model is set up".to_owned()))
    }
}

#[cfg(test)]
mod tests;
