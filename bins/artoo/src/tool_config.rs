//! Configuration of the tools: limits, custom tools and search engines.

use artoo_proto::Environment;
use artoo_roles::runtime::OUTPUT_CHARS;
use artoo_tools::ToolConfig;

use crate::config::Place;
use crate::{Failure, Variables};

/// Builds the configuration of the tools: limits, folders of custom tools, protected folders and search engines.
pub(crate) fn tools(environment: &Environment, variables: &Variables) -> Result<ToolConfig, Failure> {
    let mut config = ToolConfig::new(environment.clone());
    config.output_max_chars = OUTPUT_CHARS;
    let folder = Place::of(variables).folder;
    config.custom = Some(folder.join("tools"));
    config.shortcuts = Some(folder.join("shortcuts"));
    #[cfg(feature = "mcp")]
    {
        config.mcp = Some(folder.join("mcp"));
    }
    // The configuration folder decides what tools may do, so it is protected from them, wherever it is.
    config.protected.push(folder);
    config.views =
        variables.one_of("ARTOO_VIEWS", &[("true", true), ("false", false)], "give true or false")?.unwrap_or(true);
    let words = [("off", Search::Off), ("duckduckgo", Search::DuckDuckGo)];
    let search = variables.one_of("ARTOO_SEARCH", &words, "give off or duckduckgo, or leave it out")?;
    #[cfg(feature = "web")]
    {
        config.web.engines = web::engines(search, variables)?;
    }
    #[cfg(not(feature = "web"))]
    let _ = search;
    Ok(config)
}

/// The value of the setting `search` (`ARTOO_SEARCH`). If it is not set, the configured engines are used, or if there are
/// none DuckDuckGo with approval for each search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    Off,
    DuckDuckGo,
}

#[cfg(feature = "web")]
mod web {
    //! Builds the list of web search engines in the order of use: the user's own, paid ones, then DuckDuckGo.

    use artoo_tools::{Engine, EngineProblem};

    use super::Search;
    use crate::failure::Failure;
    use crate::variables::Variables;

    /// The configured search engines, in the order of use.
    pub(super) fn engines(search: Option<Search>, variables: &Variables) -> Result<Vec<Engine>, Failure> {
        if search == Some(Search::Off) {
            return Ok(Vec::new());
        }
        let made = |name, engine: Result<Engine, EngineProblem>| engine.map_err(|error| variables.invalid(name, error));
        let mut engines = Vec::new();
        if let Some(url) = variables.text("ARTOO_SEARXNG_URL")? {
            engines.push(made("ARTOO_SEARXNG_URL", Engine::searxng(&url))?);
        }
        if let Some(key) = variables.text("ARTOO_BRAVE_KEY")? {
            engines.push(made("ARTOO_BRAVE_KEY", Engine::brave(&key))?);
        }
        match (variables.text("ARTOO_GOOGLE_KEY")?, variables.text("ARTOO_GOOGLE_ENGINE")?) {
            (Some(key), Some(id)) => engines.push(made("ARTOO_GOOGLE_KEY", Engine::google(&key, &id))?),
            (Some(_), None) => {
                let missing = "it needs the engine's id beside it: google_engine, or ARTOO_GOOGLE_ENGINE";
                return Err(variables.invalid("ARTOO_GOOGLE_KEY", missing));
            }
            (None, _) => {}
        }
        let is_chosen = search == Some(Search::DuckDuckGo);
        // Unless DuckDuckGo was chosen, each of its searches needs approval, so it is not added to configured engines.
        if is_chosen || engines.is_empty() {
            engines.push(made("ARTOO_SEARCH", Engine::duckduckgo(is_chosen))?);
        }
        Ok(engines)
    }
}

/// Tests of the order of search engines.
#[cfg(test)]
#[cfg(feature = "web")]
mod tests {
    use super::tools;
    use crate::variables::Variables;

    /// The user's configured search engines come before DuckDuckGo.
    #[doc = "holds: design D15"]
    #[test]
    fn configured_search_engines_come_first() {
        let environment = artoo_roles::runtime::detect_environment(None).unwrap();
        let check = |pairs: &[(&str, &str)], expected: Result<&[&str], &str>| {
            let config = tools(&environment, &Variables::of(pairs));
            match (config, expected) {
                (Ok(config), Ok(names)) => {
                    let found: Vec<String> = config.web.engines.iter().map(artoo_tools::Engine::name).collect();
                    assert_eq!(found, names, "{pairs:?}");
                }
                (Err(failure), Err(part)) => assert!(failure.message().contains(part), "{failure:?}"),
                (config, expected) => panic!("{pairs:?}: {config:?} instead of {expected:?}"),
            }
        };
        check(&[], Ok(&["DuckDuckGo"]));
        check(&[("ARTOO_SEARCH", "off"), ("ARTOO_BRAVE_KEY", "k")], Ok(&[]));
        let all = [
            ("ARTOO_SEARCH", "duckduckgo"),
            ("ARTOO_GOOGLE_KEY", "g"),
            ("ARTOO_GOOGLE_ENGINE", "cx"),
            ("ARTOO_BRAVE_KEY", "k"),
            ("ARTOO_SEARXNG_URL", "http://localhost:8888"),
        ];
        check(&all, Ok(&["SearXNG at localhost", "Brave", "Google", "DuckDuckGo"]));
        check(&[("ARTOO_BRAVE_KEY", "k")], Ok(&["Brave"]));
        check(&[("ARTOO_VIEWS", "maybe")], Err("ARTOO_VIEWS can't be used: give true or false"));
        check(&[("ARTOO_SEARCH", "on")], Err("ARTOO_SEARCH can't be used: give off or duckduckgo"));
        check(&[("ARTOO_GOOGLE_KEY", "g")], Err("needs the engine's id"));
        check(&[("ARTOO_BRAVE_KEY", "canary key")], Err("contains invalid characters"));
        check(&[("ARTOO_SEARXNG_URL", "localhost:8888")], Err("only http and https are allowed"));
    }
}
