//! Sums of money and prices as a person writes them.

use std::str::FromStr;

use artoo_llm::ledger::Price;

/// Dollars, kept in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dollars {
    pub(crate) micro: u64,
}

/// Nobody bounds a run with more than a million dollars; a larger number is a slip.
const DOLLARS_MAX: f64 = 1_000_000.0;

/// Millionths of a dollar.
const MICRO: f64 = 1_000_000.0;

/// No sum of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("give US dollars, such as 0.50 or 2")]
pub(crate) struct NoMoney;

impl FromStr for Dollars {
    type Err = NoMoney;

    fn from_str(text: &str) -> Result<Self, NoMoney> {
        let dollars = number(text.trim_start_matches('$')).filter(|dollars| *dollars <= DOLLARS_MAX).ok_or(NoMoney)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above, never negative")]
        let micro = (dollars * MICRO).floor() as u64;
        Ok(Self { micro })
    }
}

fn number(text: &str) -> Option<f64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| is_plain && number.is_finite())
}

/// Prices by the beginning of a model's name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prices(Vec<(String, Price)>);

/// No list of prices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("give NAME=IN/OUT or NAME=IN/CACHED/OUT in US dollars a million tokens, several divided by commas")]
pub(crate) struct NoPrices;

impl FromStr for Prices {
    type Err = NoPrices;

    fn from_str(text: &str) -> Result<Self, NoPrices> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let price = |entry: &str| {
            let (name, prices) = entry.rsplit_once('=').ok_or(NoPrices)?;
            let numbers: Option<Vec<f64>> = prices.split('/').map(|price| number(price.trim())).collect();
            match numbers.as_deref() {
                Some([prompt, completion]) => {
                    Ok((name.trim().to_owned(), Price { prompt: *prompt, cached: *prompt, completion: *completion }))
                }
                Some([prompt, cached, completion]) => {
                    Ok((name.trim().to_owned(), Price { prompt: *prompt, cached: *cached, completion: *completion }))
                }
                Some(_) | None => Err(NoPrices),
            }
        };
        entries.map(price).collect::<Result<_, _>>().map(Self)
    }
}

impl Prices {
    /// The price of a model: that of the longest name it begins with.
    pub(crate) fn of(&self, model: &str) -> Option<Price> {
        let fitting = self.0.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| *price)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dollars, Prices};

    #[test]
    fn money_is_read_exactly_or_not_at_all() {
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

    #[test]
    fn the_longest_name_that_fits_gives_the_price() {
        let prices: Prices = "gpt=1/8, gpt-mini=0.25/0.02/2".parse().unwrap();
        let check = |model: &str, prompt: Option<f64>| {
            assert_eq!(prices.of(model).map(|price| price.prompt), prompt, "{model}");
        };
        check("gpt-mini-2026", Some(0.25));
        check("gpt-large", Some(1.0));
        check("claude", None);
        assert!("gpt".parse::<Prices>().is_err() && "gpt=1".parse::<Prices>().is_err());
    }
}
