//! A tool of the user's own, described by a manifest.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use artoo_proto::{ToolClass, ToolSpec, escape};
use serde_json::{Map, Value};

use crate::custom::manifest::{self, Manifest};
use crate::input;
use crate::limit::Limit;
use crate::process::{Ended, Invocation};
use crate::record::Record;
use crate::tool::{Machine, Request, Tool, UserContext, spec};
use crate::transaction::ConfiguredCall;
use crate::{paths, texts};

/// Place of the user's own tools in the order in which tools are tried: after artoo's own tools, before shell commands.
const PRIORITY: u8 = 5;

impl Tool for Manifest {
    fn spec(&self) -> ToolSpec {
        spec(&self.name, ToolClass::Shell, PRIORITY, &self.description, self.schema(None))
    }

    fn read(&self, machine: &Machine, _: &UserContext<'_>, input: &Value) -> Result<Request, Box<Record>> {
        read(self, machine, input)
    }
}

/// Checks an input against the manifest of the user's own tool and returns the request.
pub(crate) fn read(manifest: &Manifest, machine: &Machine, input: &Value) -> Result<Request, Box<Record>> {
    let class = manifest.class;
    let mut fields: Map<String, Value> = input::parse(input).map_err(|record| record.of_class(class))?;
    let arguments = manifest.arguments(machine, &mut fields).map_err(|record| record.of_class(class))?;
    let program = manifest.program.clone();
    let line = paths::line(&program);
    // The program was checked when artoo started; it may have changed since.
    manifest::check_program(&machine.config, &program)
        .map_err(|reason| Box::new(Record::denied(&format!("{line} {reason}")).class(class)))?;
    let named = arguments.iter().filter(|argument| argument.contains('/') || argument.starts_with('~'));
    // `--file=/a/b` names a path, too.
    let named = named.flat_map(|argument| [Some(argument.as_str()), argument.split_once('=').map(|(_, value)| value)]);
    let sends = manifest.network && !manifest.granted;
    let sending = || sends.then(|| texts::SENDS_INPUT.to_owned());
    let quoted = arguments.iter().map(|argument| format!(" {}", quoted(argument)));
    let call = ConfiguredCall {
        target: escape::one_line(&arguments.join(" ")),
        shown: format!("{}: {line}{}", manifest.name, quoted.collect::<String>()),
        line: format!("runs your own tool {}: {}", manifest.name, manifest.description),
        class,
        network: manifest.network,
        is_granted: manifest.granted,
        reason: manifest.ask.clone().or_else(sending),
        paths: named.flatten().filter_map(|text| paths::absolute(&machine.config.environment, text).ok()).collect(),
        time: manifest.timeout(),
        work: Arc::new(Invocation {
            name: program.clone().into_os_string(),
            program: program.clone(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
        }),
        executable: program,
    };
    let record = move |ended: io::Result<Ended>, machine: &Machine, _: &Limit| match ended {
        Ok(mut ended) => Record::of_program(&mut ended, machine.config.output_max_chars),
        Err(error) => Record { measures: false, ..Record::hindered(format!("{line}: {error}")) },
    };
    call.request(machine, Box::new(record))
}

/// An argument for display, in quotes if it has blanks or special characters.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%');
    if !argument.is_empty() && argument.chars().all(is_plain) { argument.to_owned() } else { format!("{argument:?}") }
}
