//! A request read by its tool: the job with its target, or the record that ends it.

use artoo_proto::{EffectClass, escape};
use serde_json::Value;

use crate::blocked::Touched;
use crate::consent::Footprint;
use crate::record::Record;
use crate::tool::{Job, Machine, Tool};

/// A request after reading.
pub(super) struct Prepared {
    target: String,
    job: Result<Box<dyn Job>, Box<Record>>,
    looks: String,
}

impl Prepared {
    pub(super) fn new(tool: &dyn Tool, machine: &Machine, input: &Value) -> Self {
        let job = tool.read(machine, input);
        let target = job.as_ref().map_or_else(|_| spelled(input), |job| job.target());
        Self { target, job, looks: String::new() }
    }

    pub(super) fn target(&self) -> &str {
        &self.target
    }

    pub(super) fn into_job(self) -> Result<Box<dyn Job>, Box<Record>> {
        self.job
    }

    /// What the job would act on, if there is one.
    pub(super) fn touched(&self) -> Option<Touched> {
        let job = self.job.as_ref().ok()?;
        Some(Touched { target: self.target.clone(), paths: job.paths(), commands: job.commands() })
    }

    /// The same request, with what the places it names look like now.
    pub(super) fn looked_at(self, looks: String) -> Self {
        Self { looks, ..self }
    }

    /// What it changes, as far as is known, and what its places look like before it.
    pub(super) fn known(&self) -> (Option<Footprint>, String) {
        (self.job.as_ref().ok().and_then(|job| job.footprint()), self.looks.clone())
    }

    /// The same request, refused.
    pub(super) fn refused(self, reason: &str) -> Self {
        let class = self.job.as_ref().map_or(EffectClass::Unproven, |job| job.class());
        Self { job: Err(Box::new(Record::denied(reason).class(class))), ..self }
    }
}

/// The target of an input that could not be read: what it names, as it is spelled.
fn spelled(input: &Value) -> String {
    let named = ["path", "root", "command", "query", "to"].iter().find_map(|field| input.get(field)?.as_str());
    escape::one_line(&escape::shorten(named.unwrap_or_default(), 200))
}
