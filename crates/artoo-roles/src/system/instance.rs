//! The instances of the roles behind one type.

use std::sync::Arc;

use artoo_proto::{Address, Role};

use super::SystemConfig;
use crate::agent_validator::AgentValidator;
use crate::dispatcher::Dispatcher;
use crate::executor::{Executor, Toolbox};
use crate::machine::{Context, Incoming, Lifecycle, Machine, Misrouted, RoleEffect, Start};
use crate::memory::Memory;
use crate::meta_validator::MetaValidator;
use crate::perceiver::Perceiver;
use crate::planner::Planner;
use crate::solver::Solver;

/// An instance of a role.
#[derive(Debug)]
pub(super) enum Instance {
    Perceiver(Box<Lifecycle<Perceiver>>),
    Planner(Box<Lifecycle<Planner>>),
    Dispatcher(Box<Lifecycle<Dispatcher>>),
    Executor(Box<Lifecycle<Executor>>),
    AgentValidator(Box<Lifecycle<AgentValidator>>),
    MetaValidator(Box<Lifecycle<MetaValidator>>),
    Solver(Box<Solver>),
    Memory(Box<Memory>),
}

impl Instance {
    /// A new instance for an address; `None` for the operator, the auditor, the runtime and memory.
    pub(super) fn for_address(address: &Address, config: &SystemConfig, toolbox: &Arc<Toolbox>) -> Option<Self> {
        fn new<M: Start>(setup: M::Setup) -> Box<Lifecycle<M>> {
            Box::new(Lifecycle::new(setup))
        }
        let environment = || config.environment.clone();
        Some(match address.role {
            Role::Perceiver => Self::Perceiver(new(environment())),
            Role::Planner => Self::Planner(new((environment(), Arc::clone(&config.tools)))),
            Role::Dispatcher => Self::Dispatcher(new(())),
            Role::Executor => Self::Executor(new((environment(), Arc::clone(toolbox)))),
            Role::AgentValidator => Self::AgentValidator(new(())),
            Role::MetaValidator => Self::MetaValidator(new(())),
            Role::Solver => {
                let solver = Solver::new(config.profile.clone(), &config.tools, address.task_id.clone()?);
                Self::Solver(Box::new(solver))
            }
            Role::Memory | Role::Auditor | Role::Operator | Role::Runtime => return None,
        })
    }

    pub(super) fn step(&mut self, cx: &mut Context<'_>, incoming: Incoming) -> Result<Vec<RoleEffect>, Misrouted> {
        match self {
            Self::Perceiver(machine) => run(machine.as_mut(), cx, incoming),
            Self::Planner(machine) => run(machine.as_mut(), cx, incoming),
            Self::Dispatcher(machine) => run(machine.as_mut(), cx, incoming),
            Self::Executor(machine) => run(machine.as_mut(), cx, incoming),
            Self::AgentValidator(machine) => run(machine.as_mut(), cx, incoming),
            Self::MetaValidator(machine) => run(machine.as_mut(), cx, incoming),
            Self::Solver(machine) => run(machine.as_mut(), cx, incoming),
            Self::Memory(machine) => run(machine.as_mut(), cx, incoming),
        }
    }
}

fn run<M: Machine>(machine: &mut M, cx: &mut Context<'_>, incoming: Incoming) -> Result<Vec<RoleEffect>, Misrouted> {
    let input = M::Input::try_from(incoming)?;
    Ok(machine.step(cx, input).into_iter().map(Into::into).collect())
}
