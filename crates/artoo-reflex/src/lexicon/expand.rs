//! Expands alternatives in the phrases of `lexicon.toml`; also compiled by the build script.

/// All phrases that a pattern with alternatives `{a|b|}` expands to.
pub(crate) fn expand(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(next) = open.pop() {
        let parts = next.split_once('{').and_then(|(head, rest)| {
            let (choices, tail) = rest.split_once('}')?;
            Some((head.to_owned(), choices.to_owned(), tail.to_owned()))
        });
        match parts {
            None => done.push(next.split_whitespace().collect::<Vec<_>>().join(" ")),
            Some((head, choices, tail)) => {
                open.extend(choices.split('|').map(|choice| format!("{head}{choice}{tail}")));
            }
        }
    }
    done
}
