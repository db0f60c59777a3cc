//! `artoo skills`: lists, shows, approves and disables skills, by which artoo answers kinds of requests without a
//! model.

use artoo_proto::{ToolRequest, escape};
use artoo_roles::runtime::{
    Durability, Engine, MemoryError, SkillState, StoredMemory, StoredSkill, Tag, open_memory, stored_skills,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::args::SkillsCommand;
use crate::display::user_format::UserFormat;
use crate::memory::{CommandOutput, MemoryText, delete};
use crate::skill_use::named;
use crate::{Exit, Failure, Line, Screen, Settings, clock};

/// Name of the schema of `artoo skills`'s JSON output, which is not stable yet.
const SCHEMA: &str = "artoo.skills/0";

/// Maximum number of memory records that `artoo skills why` lists.
const RECORDS_MAX: usize = 40;

/// Runs a subcommand of `artoo skills`.
pub(crate) fn run(command: &SkillsCommand, settings: &Settings, screen: &Screen) -> Result<Exit, Failure> {
    let memory = match open_memory(&settings.data_dir, false) {
        Err(MemoryError::Missing { .. }) => None,
        opened => Some(opened?),
    };
    let engine = memory.as_ref().map(StoredMemory::engine).unwrap_or_default();
    let skills = stored_skills(&engine);
    let (lines, value, exit) = match command {
        SkillsCommand::List => list(&skills),
        SkillsCommand::Show { name }
        | SkillsCommand::Why { name }
        | SkillsCommand::Accept { name }
        | SkillsCommand::Disable { name } => match (skills.iter().find(|skill| named(skill) == name), &memory) {
            (Some(found), Some(memory)) => match command {
                SkillsCommand::Why { .. } => why(found, &engine, settings),
                SkillsCommand::Accept { .. } => accept(found, memory)?,
                SkillsCommand::Disable { .. } => disable(found, memory)?,
                SkillsCommand::Show { .. } | SkillsCommand::List => show(found, settings),
            },
            _ => {
                let line = format!("There is no skill {}; artoo skills list names all.", escape::one_line(name));
                (vec![Line::plain(line)], json!({"found": false}), Exit::NotAchieved)
            }
        },
    };
    screen.report(settings.json, SCHEMA, value, &lines);
    Ok(exit)
}

/// The word for a skill's state: offered (waits for approval), used (approved) or set aside.
fn state(skill: &StoredSkill) -> &'static str {
    match skill.state {
        SkillState::Offered => "offered",
        SkillState::Approved => "used",
        SkillState::SetAside => "set aside",
    }
}

/// The output of `artoo skills list`.
fn list(skills: &[StoredSkill]) -> CommandOutput {
    let line = |skill: &StoredSkill| {
        let (name, pattern) = (escape::one_line(named(skill)), escape::one_line(&skill.skill.shown()));
        Line::plain(format!("{name}: “{pattern}”, {}", state(skill)))
    };
    let mut lines: Vec<Line> = skills.iter().map(line).collect();
    let none =
        "No skills yet: one is offered when a model answered six requests of a kind and facts showed each answer.";
    lines.extend(skills.is_empty().then(|| Line::plain(none)));
    (lines, json!({"skills": skills.iter().map(value).collect::<Vec<_>>()}), Exit::Accepted)
}

/// The output of `artoo skills show`: all that a skill does, which is exactly what the user approves.
fn show(found: &StoredSkill, settings: &Settings) -> CommandOutput {
    let user_format = UserFormat::of(&settings.environment, settings.exact);
    let Skill { pattern, folder, examples, calls, readings } = Skill::of(found);
    let mut lines = vec![
        Line::strong(format!("“{}”, {}", escape::one_line(&pattern), state(found))),
        Line::plain(user_format.sentence(&format!("in the folder {}", escape::one_line(&folder)))),
        Line::plain("learned from, among others:"),
    ];
    lines.extend(examples.iter().map(|example| Line::plain(format!("  “{}”", escape::one_line(example)))));
    lines.push(Line::plain("calls:"));
    lines.extend(calls.iter().map(|call| Line::plain(format!("  {}", escape::one_line(call)))));
    if !readings.is_empty() {
        lines.push(Line::plain("the words mean, as you confirmed:"));
        lines.extend(readings.iter().map(|reading| Line::plain(format!("  {}", escape::one_line(reading)))));
    }
    lines.push(Line::faint("Each call is approved as if a model had planned it; facts must show the whole request."));
    (lines, value(found), Exit::Accepted)
}

/// What a skill does, as texts for the user: pattern of requests, folder, examples, calls and readings.
struct Skill {
    pattern: String,
    folder: String,
    examples: Vec<String>,
    calls: Vec<String>,
    readings: Vec<String>,
}

impl Skill {
    /// The texts of a stored skill.
    fn of(found: &StoredSkill) -> Self {
        let body = found.skill.shown_body();
        let calls = items(&body, "parts").flat_map(|part| items(part, "calls"));
        let call = |call: &Value| {
            let request = ToolRequest::deserialize(call).ok()?;
            Some(format!("{} {}", request.tool, request.shown_input()))
        };
        let checks = items(&body, "readings").flat_map(|reading| items(reading, "checks"));
        Self {
            pattern: found.skill.shown(),
            calls: calls.filter_map(call).collect(),
            readings: checks.map(Value::to_string).collect(),
            folder: found.skill.folder.clone(),
            examples: found.skill.examples.clone(),
        }
    }
}

/// The items of the list in a field of a JSON object; none if there is no such list.
fn items<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    object.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The output of `artoo skills why`: the memory records that a skill was learned from, newest first.
fn why(found: &StoredSkill, engine: &Engine, settings: &Settings) -> CommandOutput {
    let teller = MemoryText::new(engine, clock::now(), settings);
    let tag = Tag::new(&found.space, "env:local");
    let shares = engine.why(&tag, clock::now().as_millis());
    let records: Vec<_> = shares.filter_map(|share| engine.get(share.id).ok().flatten()).take(RECORDS_MAX).collect();
    let mut lines: Vec<Line> = records.iter().map(|record| teller.record(record)).collect();
    lines.extend(lines.is_empty().then(|| Line::plain("The records of this skill were deleted.")));
    (lines, json!({"skill": value(found), "records": records}), Exit::Accepted)
}

/// Approves an offered skill.
fn accept(found: &StoredSkill, memory: &StoredMemory) -> Result<CommandOutput, Failure> {
    let name = escape::one_line(named(found));
    if found.state != SkillState::Offered {
        let line = format!("The skill {name} is {} already.", state(found));
        return Ok((vec![Line::plain(line)], value(found), Exit::NotAchieved));
    }
    let mut proposals = memory.engine().thinking_proposals().into_iter();
    let proposal = proposals.find(|proposal| proposal.tag.entity == found.space);
    let proposal = proposal.ok_or_else(|| Failure::NotNoted { problem: "the skill was just replaced".to_owned() })?;
    // One approval stands for one text.
    revoke(found, memory)?;
    memory.adopt_thinking(&proposal, clock::now().as_millis()).map_err(MemoryError::from)?;
    memory.flush(Durability::Synced).map_err(MemoryError::from)?;
    let line = format!("Used from now on; artoo skills disable {name} takes it back.");
    Ok((vec![Line::plain(line)], json!({"accepted": named(found)}), Exit::Accepted))
}

/// Revokes the approval of a skill.
fn disable(found: &StoredSkill, memory: &StoredMemory) -> Result<CommandOutput, Failure> {
    let revoked = revoke(found, memory)?;
    let line = match revoked {
        true => "Disabled: its requests go to the model again.".to_owned(),
        false => format!("The skill {} was not used.", escape::one_line(named(found))),
    };
    let exit = if revoked { Exit::Accepted } else { Exit::NotAchieved };
    Ok((vec![Line::plain(line)], json!({"disabled": revoked}), exit))
}

/// Deletes every record by which the user approved a skill; false if there was none.
fn revoke(found: &StoredSkill, memory: &StoredMemory) -> Result<bool, Failure> {
    let engine = memory.engine();
    let approvals: Vec<_> = engine.thinking().filter(|text| text.entity == found.space).map(|text| text.id).collect();
    if !approvals.is_empty() {
        delete(memory, &approvals)?;
    }
    Ok(!approvals.is_empty())
}

/// A skill as JSON.
fn value(found: &StoredSkill) -> Value {
    let shown = Skill::of(found);
    json!({
        "name": named(found), "pattern": shown.pattern, "state": state(found), "folder": shown.folder,
        "examples": shown.examples, "calls": shown.calls, "readings": shown.readings,
        "evidence": found.evidence.iter().map(ToString::to_string).collect::<Vec<_>>()
    })
}
