//! Parsing of amounts of money and model prices.

use std::str::FromStr;

use artoo_llm::Protocol;
use artoo_llm::ledger::Price;

/// An amount of US dollars, stored in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dollars {
    pub(crate) micro: u64,
}

/// Largest accepted amount of money, in US dollars.
#[doc(alias = "limit")]
const DOLLARS_MAX: f64 = 1_000_000.0;

/// Number of millionths in a dollar.
const MICRO: f64 = 1_000_000.0;

/// Error for an invalid amount of money.
const INVALID_AMOUNT: &str = "give US dollars, such as 0.50 or 2";

impl FromStr for Dollars {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let dollars =
            number(text.trim_start_matches('$')).filter(|dollars| *dollars <= DOLLARS_MAX).ok_or(INVALID_AMOUNT)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above, never negative")]
        let micro = (dollars * MICRO).floor() as u64;
        Ok(Self { micro })
    }
}

/// Parses a decimal number that has only digits and a dot; `None` for signs, exponents and other text.
fn number(text: &str) -> Option<f64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| is_plain && number.is_finite())
}

/// Model prices, each given for a prefix of model names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prices(Vec<(String, Row)>);

/// The prices given for one prefix of model names, in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    prompt: f64,
    cached: Option<f64>,
    written: Option<f64>,
    completion: f64,
}

/// Error for an invalid list of prices.
const INVALID_PRICES: &str = "give NAME=IN/OUT, NAME=IN/CACHED/OUT or NAME=IN/CACHED/WRITTEN/OUT in US dollars a million tokens, several divided \
     by commas";

impl FromStr for Prices {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let price = |entry: &str| {
            let (name, prices) = entry.rsplit_once('=').ok_or(INVALID_PRICES)?;
            let numbers: Option<Vec<f64>> = prices.split('/').map(|price| number(price.trim())).collect();
            let (prompt, cached, written, completion) = match numbers.as_deref() {
                Some([prompt, completion]) => (*prompt, None, None, *completion),
                Some([prompt, cached, completion]) => (*prompt, Some(*cached), None, *completion),
                Some([prompt, cached, written, completion]) => (*prompt, Some(*cached), Some(*written), *completion),
                Some(_) | None => return Err(INVALID_PRICES),
            };
            Ok((name.trim().to_owned(), Row { prompt, cached, written, completion }))
        };
        entries.map(price).collect::<Result<_, _>>().map(Self)
    }
}

impl Prices {
    /// The price of a model: the one given for the longest matching prefix of its name, `None` if no prefix matches.
    /// Missing cache prices are the protocol's usual ones.
    pub(crate) fn of(&self, model: &str, protocol: Protocol) -> Option<Price> {
        let fitting = self.0.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        let (_, row) = fitting.max_by_key(|(name, _)| name.len())?;
        Some(Price {
            prompt: row.prompt,
            cached: row.cached.unwrap_or(row.prompt),
            written: row.written.unwrap_or(row.prompt * protocol.cache_write_factor()),
            completion: row.completion,
        })
    }
}

/// Tests of parsing amounts and prices.
#[cfg(test)]
mod tests {
    use artoo_llm::Protocol;

    use super::{Dollars, Prices};

    /// Amounts of money are parsed to the exact millionth of a dollar; other texts are errors.
    #[test]
    fn money_is_parsed_exactly_or_refused() {
        let check = |text: &str, micro: Option<u64>| {
            assert_eq!(text.parse::<Dollars>().ok().map(|dollars| dollars.micro), micro, "{text:?}");
        };
        check("0.5", Some(500_000));
        check("$2", Some(2_000_000));
        check("0", Some(0));
        for text in ["", "-1", "1e9", "NaN", "inf", "9999999", "1,5", "two", "."] {
            check(text, None);
        }
    }

    /// Of several prices given for prefixes of model names, the longest matching prefix counts.
    #[test]
    fn longest_matching_model_name_sets_price() {
        let prices: Prices = "gpt=1/8, gpt-mini=0.25/0.02/2, claude=4/0.5/20, claude-x=4/1/7/9".parse().unwrap();
        let check = |model: &str, protocol: Protocol, expected: Option<[f64; 4]>| {
            let found = prices.of(model, protocol);
            let found = found.map(|price| [price.prompt, price.cached, price.written, price.completion]);
            assert_eq!(found, expected, "{model}");
        };
        check("gpt-mini-2026", Protocol::Chat, Some([0.25, 0.02, 0.25, 2.0]));
        check("gpt-large", Protocol::Responses, Some([1.0, 1.0, 1.0, 8.0]));
        check("claude-1", Protocol::Anthropic, Some([4.0, 0.5, 5.0, 20.0]));
        check("claude-1", Protocol::Chat, Some([4.0, 0.5, 4.0, 20.0]));
        check("claude-x", Protocol::Anthropic, Some([4.0, 1.0, 7.0, 9.0]));
        check("qwen", Protocol::Chat, None);
        for text in ["gpt", "gpt=1", "gpt=1/2/3/4/5", "gpt=1/-2"] {
            assert!(text.parse::<Prices>().is_err(), "{text}");
        }
    }
}
