//! The instances of the roles behind one type.

use std::sync::Arc;

use artoo_proto::{Address, Role};

use super::SystemConfig;
use crate::agent_validator::AgentValidator;
use crate::dispatcher::Dispatcher;
use crate::executor::{Executor, Toolbox};
use crate::machine::{Context, Incoming, Machine, Misrouted, RoleEffect};
use crate::memory::Memory;
use crate::meta_validator::MetaValidator;
use crate::perceiver::Perceiver;
use crate::planner::Planner;
use crate::solver::Solver;

/// One machine of one role.
#[derive(Debug)]
pub(super) enum Instance {
    Perceiver(Box<Perceiver>),
    Planner(Box<Planner>),
    Dispatcher(Box<Dispatcher>),
    Executor(Box<Executor>),
    AgentValidator(Box<AgentValidator>),
    MetaValidator(Box<MetaValidator>),
    Solver(Box<Solver>),
    Memory(Box<Memory>),
}

impl Instance {
    /// A fresh instance for an address; the operator, the auditor, the runtime and memory are not made here.
    pub(super) fn for_role(address: &Address, config: &SystemConfig, toolbox: &Arc<Toolbox>) -> Option<Self> {
        let environment = || config.environment.clone();
        Some(match address.role {
            Role::Perceiver => Self::Perceiver(Box::new(Perceiver::new(environment()))),
            Role::Planner => Self::Planner(Box::new(Planner::new(environment(), Arc::clone(&config.tools)))),
            Role::Dispatcher => Self::Dispatcher(Box::new(Dispatcher::new())),
            Role::Executor => Self::Executor(Box::new(Executor::new(environment(), Arc::clone(toolbox)))),
            Role::AgentValidator => Self::AgentValidator(Box::new(AgentValidator::new())),
            Role::MetaValidator => Self::MetaValidator(Box::new(MetaValidator::new())),
            Role::Solver => Self::Solver(Box::new(Solver::new(config.profile.clone(), &config.tools))),
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
