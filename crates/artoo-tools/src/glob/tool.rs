//! The tool `glob`.

use artoo_proto::{EffectClass, ToolClass, ToolSpec, escape};
use serde_json::Value;

use crate::effects::CallEffects;
use crate::glob::{self, Search};
use crate::paths;
use crate::record::Record;
use crate::tool::{Machine, Request, Tool, UserContext, spec, work};

/// The tool `glob`, which finds files and folders.
#[derive(Debug)]
pub(crate) struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        let description = "find files and folders by pattern, size, time, content; count or sum them";
        spec("glob", ToolClass::Files, 2, description, glob::schema())
    }

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        let search = Search::parse(&machine.config.environment, input);
        let search = search.map_err(|record| record.of_class(EffectClass::ReadOnly))?;
        let effects = CallEffects::of_reading(vec![search.root.clone()]);
        let target = search.target();
        let job = work(move |machine, _, limit| glob::run(search, &machine.protected, limit));
        Ok(Request { target, effects, question: None, job })
    }
}

impl Search {
    /// The target of a search as shown to the user: its folder and pattern joined.
    fn target(&self) -> String {
        let root = paths::line(&self.root);
        let root = root.trim_end_matches('/');
        let rest = match self.spelled.as_slice() {
            [] if self.filter.recursive => "**".to_owned(),
            [] => "*".to_owned(),
            [one] if !self.filter.recursive || one.contains('/') => {
                one.trim_start_matches("./").trim_start_matches('/').to_owned()
            }
            [one] => format!("**/{one}"),
            many if self.filter.recursive => format!("**/{{{}}}", many.join(",")),
            many => format!("{{{}}}", many.join(",")),
        };
        format!("{root}/{}", escape::one_line(&rest))
    }
}
