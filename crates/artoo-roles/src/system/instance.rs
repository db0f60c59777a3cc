//! One type for the instances of all roles.

use std::fmt;
use std::sync::Arc;

use artoo_proto::{Address, Role};

use super::SystemConfig;
use crate::agent_validator::AgentValidator;
use crate::dispatcher::Dispatcher;
use crate::executor::{Executor, Toolbox};
use crate::machine::{Context, Incoming, Lifecycle, Machine, Misrouted, RoleEffect};
use crate::memory::Memory;
use crate::meta_validator::MetaValidator;
use crate::perceiver::Perceiver;
use crate::planner::Planner;
use crate::solver::Solver;

/// An instance of any role: one of a task, or the memory.
#[derive(Debug)]
pub(super) enum Instance {
    /// An instance that belongs to a task.
    OfTask(Box<dyn AnyMachine>),
    /// The memory of the process.
    Memory(Box<Memory>),
}

/// A role's machine behind a common interface, so that machines of different roles can be stored together.
pub(super) trait AnyMachine: fmt::Debug + Send {
    /// Processes an input, or refuses one that this role never receives.
    fn take(&mut self, cx: &mut Context<'_>, incoming: Incoming) -> Result<Vec<RoleEffect>, Misrouted>;
}

impl<M: Machine + fmt::Debug + Send> AnyMachine for M {
    fn take(&mut self, cx: &mut Context<'_>, incoming: Incoming) -> Result<Vec<RoleEffect>, Misrouted> {
        let input = M::Input::try_from(incoming)?;
        Ok(self.step(cx, input).into_iter().map(Into::into).collect())
    }
}

impl Instance {
    /// A new instance for an address; `None` for the operator, the auditor, the runtime and memory.
    pub(super) fn for_address(address: &Address, config: &SystemConfig, toolbox: &Arc<Toolbox>) -> Option<Self> {
        let environment = || config.environment.clone();
        Some(Self::OfTask(match address.role {
            Role::Perceiver => Box::new(Lifecycle::<Perceiver>::new(environment())),
            Role::Planner => Box::new(Lifecycle::<Planner>::new((environment(), Arc::clone(&config.tools)))),
            Role::Dispatcher => Box::new(Lifecycle::<Dispatcher>::new(())),
            Role::Executor => Box::new(Lifecycle::<Executor>::new((environment(), Arc::clone(toolbox)))),
            Role::AgentValidator => Box::new(Lifecycle::<AgentValidator>::new(())),
            Role::MetaValidator => Box::new(Lifecycle::<MetaValidator>::new(())),
            Role::Solver => Box::new(Solver::new(
                config.profile.clone(),
                &config.tools,
                &config.environment.cwd,
                address.task_id.clone()?,
            )),
            Role::Memory | Role::Auditor | Role::Operator | Role::Runtime => return None,
        }))
    }

    /// Processes an input and returns the effects it asks for, or refuses an input that this role never receives.
    pub(super) fn step(&mut self, cx: &mut Context<'_>, incoming: Incoming) -> Result<Vec<RoleEffect>, Misrouted> {
        match self {
            Self::OfTask(role) => role.take(cx, incoming),
            Self::Memory(memory) => memory.take(cx, incoming),
        }
    }
}
