//! Asks the engines one after the other until one answers.

use artoo_proto::escape;

use crate::limit::Stopped;
use crate::record::Record;
use crate::tool::Call;
use crate::web::client::Network;
use crate::web::config::{Engine, EngineKind};
use crate::web::engine::{self, Hit};

/// Asks the search engines one after the other until one answers; returns the record and the URLs of the results.
pub(crate) async fn ask(
    network: &Network,
    engines: &[Engine],
    query: &str,
    limit: usize,
    call: &Call,
) -> Result<(Record, Vec<String>), Stopped> {
    let mut silent: Vec<String> = Vec::new();
    for engine in engines {
        match one(network, engine, query, limit, call).await? {
            Ok(mut hits) => {
                hits.truncate(limit);
                let urls = hits.iter().map(|hit| hit.url.clone()).collect();
                return Ok((Record::read(listed(engine, query, &hits, &silent)), urls));
            }
            Err(why) => silent.push(format!("{}: {why}", engine.name())),
        }
    }
    let text = format!("no engine answered, so nothing is known of what there is: {}", silent.join("; "));
    Ok((Record::hindered(text), Vec::new()))
}

/// Asks one search engine and returns its results, or the reason why it gave no answer.
async fn one(
    network: &Network,
    engine: &Engine,
    query: &str,
    limit: usize,
    call: &Call,
) -> Result<Result<Vec<Hit>, String>, Stopped> {
    let asked = async {
        let request = engine::request(engine, query, limit)?;
        let is_named = matches!(engine.kind, EngineKind::Searxng);
        if is_named { network.ask_chosen(request).await } else { network.ask_public(request).await }
    };
    let answer = match asked.await {
        Ok(answer) => answer,
        Err(problem) => return Ok(Err(problem)),
    };
    let engine = engine.clone();
    call.deadline.blocking(move |limit| engine::hits(&engine, &answer, limit)).await
}

/// The search results as text for a record, with the engines that gave no answer.
fn listed(engine: &Engine, query: &str, hits: &[Hit], silent: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (number, hit) in (1..).zip(hits) {
        lines.push(format!("{number}. {}\n   {}", hit.title, hit.url));
        if !hit.snippet.is_empty() {
            lines.push(format!("   {}", hit.snippet));
        }
    }
    let silent = if silent.is_empty() { String::new() } else { format!("; no answer from {}", silent.join("; ")) };
    let found = match hits.len() {
        0 => "it looked and found nothing".to_owned(),
        1 => "1 result".to_owned(),
        many => format!("{many} results"),
    };
    lines.push(format!("[{} on {:?}: {found}{silent}]", engine.name(), escape::one_line(query)));
    lines.join("\n")
}
