//! A random query, in English, read back: the same query.

use artoo_proto::Timestamp;
use proptest::prelude::*;

use super::read;
use crate::algebra::{Depth, Function, Key, Kind, NameTest, Order, Part, Pred, Query};
use crate::english::english;
use crate::lower::lower;

/// Text a person could put between quotation marks.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_ .,;:()+&%$#@!äöé文*?{}\\\\\\[\\]-]{0,10}[a-zA-Z0-9_ß文]"
}

pub(super) fn extension() -> impl Strategy<Value = Pred> {
    "(pdf|txt|jpg|png|rs|py|tar\\.gz|[a-z][a-z0-9]{0,5})".prop_map(Pred::Extension)
}

fn name() -> impl Strategy<Value = Pred> {
    prop_oneof![
        text().prop_map(NameTest::Is),
        text().prop_map(NameTest::Starts),
        text().prop_map(NameTest::Ends),
        text().prop_map(NameTest::Has),
        "[a-z]{0,4}\\*[a-z.]{0,4}[a-z?]".prop_map(NameTest::Glob),
    ]
    .prop_map(Pred::Name)
}

fn moment() -> impl Strategy<Value = Timestamp> {
    (0i64..4_000_000_000_000).prop_map(Timestamp::from_millis)
}

fn pred_of_files(kind: Kind) -> BoxedStrategy<Pred> {
    let any_kind = prop_oneof![
        name(),
        moment().prop_map(Pred::ModifiedFrom),
        moment().prop_map(Pred::ModifiedBefore),
        name().prop_map(|name| Pred::Not(Box::new(name))),
        proptest::collection::vec(text().prop_map(|text| Pred::Name(NameTest::Is(text))), 2..4).prop_map(Pred::Any),
    ];
    if kind != Kind::File {
        return any_kind.boxed();
    }
    prop_oneof![
        3 => any_kind,
        1 => extension(),
        1 => extension().prop_map(|extension| Pred::Not(Box::new(extension))),
        1 => proptest::collection::vec(extension(), 2..4).prop_map(Pred::Any),
        1 => (0u64..1 << 40).prop_map(Pred::MinBytes),
        1 => (0u64..1 << 40).prop_map(Pred::MaxBytes),
        1 => (text(), any::<bool>()).prop_map(|(text, ignore_case)| Pred::Contains { text, ignore_case }),
    ]
    .boxed()
}

fn root() -> impl Strategy<Value = String> {
    prop_oneof![
        "(/[a-zA-Z0-9_-]{1,6}){1,3}",
        "(/[a-zA-Z0-9_ .'äé文-]{1,6}[a-z]){1,3}",
        Just("/".to_owned()),
        Just("/srv/data.d/v1.2".to_owned()),
    ]
}

fn files() -> impl Strategy<Value = Query> {
    let kinds = prop_oneof![3 => Just(Kind::File), 1 => Just(Kind::Folder), 1 => Just(Kind::Any)];
    (root(), any::<bool>(), any::<bool>(), kinds)
        .prop_flat_map(|(root, direct, hidden, kind)| {
            let depth = if direct { Depth::Direct } else { Depth::Whole };
            let tree = Query::Tree { root, depth, hidden, kind };
            (
                Just(tree),
                Just(kind),
                proptest::collection::vec(pred_of_files(kind), 0..3),
                0u8..7,
                1u64..200,
                any::<bool>(),
            )
        })
        .prop_map(|(tree, kind, keep, form, count, ascending)| {
            let of = Box::new(Query::Filter { of: Box::new(tree), keep: Pred::All(keep) });
            let order = if ascending { Order::Ascending } else { Order::Descending };
            let key = match (form, kind) {
                (2 | 4, Kind::File) => Key::Size,
                (2 | 4, Kind::Folder | Kind::Any) => Key::Modified,
                (3, _) => Key::Name,
                _ => Key::Path,
            };
            let measured = matches!(key, Key::Size | Key::Modified) && kind == Kind::File;
            let sorted = Query::Sort { of: of.clone(), by: key, order };
            let shown = |of: Query| if measured { Query::Details { of: Box::new(of) } } else { of };
            match form {
                0 => *of,
                1 => Query::Aggregate { of, function: Function::Count },
                2 | 3 => shown(sorted),
                4 | 5 => shown(Query::Limit { of: Box::new(sorted), count }),
                _ if kind == Kind::File => Query::Aggregate { of, function: Function::TotalBytes },
                _ => *of,
            }
        })
}

fn lines() -> impl Strategy<Value = Query> {
    let file = "(/[a-zA-Z0-9_ äé文-]{1,6}[a-z]){1,2}/[a-z]{1,6}(\\.[a-z]{1,3})?";
    (file, text(), any::<bool>(), 0u8..6, 1u64..5000, 0u64..5000).prop_map(|(path, text, ignore_case, form, a, b)| {
        let of = Box::new(Query::TextFile { path });
        let matching = Query::Filter { of: of.clone(), keep: Pred::Contains { text, ignore_case } };
        match form {
            0 => *of,
            1 => Query::Part { of, part: Part::First(a) },
            2 => Query::Part { of, part: Part::Last(a) },
            3 => Query::Part { of, part: Part::Range { from: a, to: a + b } },
            4 => matching,
            _ => Query::Aggregate { of: Box::new(matching), function: Function::Count },
        }
    })
}

/// Random queries that a single call can answer.
pub(super) fn query() -> impl Strategy<Value = Query> {
    prop_oneof![3 => files(), 1 => lines()]
        .prop_map(Query::normalise)
        .prop_filter("has a meaning and a call", |query| query.ty().is_ok() && lower(query).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_reading_is_read_back_as_the_same_query(query in query()) {
        let reading = english(&query);
        match read(&reading) {
            Ok(parsed) => prop_assert_eq!(parsed.query, query, "{}", reading),
            Err(refusal) => prop_assert!(false, "{}: refused, {:?}", reading, refusal),
        }
    }

    #[test]
    fn a_query_survives_json(query in query()) {
        let value = serde_json::to_value(&query).unwrap();
        prop_assert_eq!(serde_json::from_value::<Query>(value).unwrap(), query);
    }

    #[test]
    fn normal_form_is_stable(query in query()) {
        prop_assert_eq!(query.clone().normalise(), query);
    }
}
