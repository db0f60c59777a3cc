//! Generates random queries over a tree of files whose root is filled in later.

use artoo_proto::Timestamp;
use proptest::prelude::*;

use artoo_reflex::algebra::{
    Depth, Field, Function, GroupKey, Key, Kind, NamePart, NameTest, Order, Part, Pred, Query, Relation, Rewrite,
    Separator, SortKey,
};

/// The placeholder for the root in generated queries.
const ROOT: &str = "/ROOT";

/// The same query in normal form, with the placeholder replaced by a real root.
pub(super) fn rooted(query: &Query, root: &str) -> Query {
    let text = serde_json::to_string(query).unwrap().replace(ROOT, root);
    serde_json::from_str::<Query>(&text).unwrap().normalise()
}

/// A random short text, with special characters of shells and patterns.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{1,2}", Just("txt".to_owned()), "[a*?\\[.'\\\\$ é]{1,3}"]
}

/// A random extended regular expression.
fn expression() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\^?[a-c.é][*+?]?[a-c.]\\$?",
        "\\[\\^?[a-cé0-9]{1,3}\\][+*]?[a-c]",
        "[a-c]\\|[a-c.]{1,2}",
        "\\([ab]\\|c\\)\\{1,2\\}",
        Just("\\ba\\w*".to_owned()),
        Just("[[:alpha:]]{2}\\s".to_owned()),
        Just("\\.|\\$|\\*".to_owned()),
    ]
}

/// A random test of a file name.
fn name_test() -> impl Strategy<Value = NameTest> {
    prop_oneof![
        word().prop_map(NameTest::Is),
        word().prop_map(NameTest::Starts),
        word().prop_map(NameTest::Ends),
        word().prop_map(NameTest::Has),
        "[a-c]?\\*[a-c.]?\\*?(txt)?".prop_map(NameTest::Glob),
    ]
}

/// A random time, often one that files of the tree have.
fn moment() -> impl Strategy<Value = Timestamp> {
    prop_oneof![Just(1_700_000_000_000), Just(1_700_000_000_001), 1_600_000_000_000..1_750_000_000_000i64]
        .prop_map(Timestamp::from_millis)
}

/// A random single condition on entries of a kind.
fn of_file(kind: Kind) -> BoxedStrategy<Pred> {
    let any = prop_oneof![
        3 => name_test().prop_map(Pred::Name),
        1 => name_test().prop_map(Pred::Below),
        1 => moment().prop_map(Pred::ModifiedFrom),
        1 => moment().prop_map(Pred::ModifiedBefore),
        1 => name_test().prop_map(Pred::NameIgnoringCase),
        1 => prop_oneof![Just("one"), Just("two"), Just("one/deep")].prop_map(|below| Pred::Inside(format!("{ROOT}/{below}"))),
        1 => prop_oneof![Just(0o444u32), Just(0o100), Just(0o22)].prop_map(Pred::ModeAll),
        1 => prop_oneof![Just(0o644u32), Just(0o755), Just(0o600)].prop_map(Pred::Mode),
    ];
    match kind {
        Kind::File => prop_oneof![
            3 => any,
            2 => prop_oneof![Just("txt"), Just("md"), Just("tar.gz")].prop_map(|e| Pred::Extension(e.to_owned())),
            2 => (0u64..12).prop_map(Pred::MinBytes),
            2 => (0u64..12).prop_map(Pred::MaxBytes),
            1 => Just(Pred::Executable),
        ]
        .boxed(),
        Kind::Folder => prop_oneof![3 => any, 1 => Just(Pred::EmptyFolder)].boxed(),
        Kind::Link | Kind::Any => any.boxed(),
    }
}

/// Random conditions combined by "all", "any" and "not" of these leaves.
fn nested(leaf: BoxedStrategy<Pred>) -> BoxedStrategy<Pred> {
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Pred::All),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(Pred::Any),
            inner.prop_map(|pred| Pred::Not(Box::new(pred))),
        ]
    })
    .boxed()
}

/// A random condition that a file contains, or doesn't contain, a text or word.
fn contains() -> impl Strategy<Value = Pred> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (prop_oneof!["[ab]{1,2}", "[A-B.*]{1,2}"], flags).prop_map(|(text, (ignore_case, not, whole))| {
        let pred = if whole { Pred::Word { text, ignore_case } } else { Pred::Contains { text, ignore_case } };
        if not { Pred::Not(Box::new(pred)) } else { pred }
    })
}

/// A random query for entries of a kind below one or two folders.
fn tree(kind: Kind) -> impl Strategy<Value = Query> {
    let root = |below: &str| format!("{ROOT}{below}");
    let roots = prop_oneof![
        4 => Just(vec![root("")]),
        1 => Just(vec![root("/one")]),
        1 => Just(vec![root("/one"), root("/two")]),
        1 => Just(vec![root(""), root("/one")]),
    ];
    (roots, any::<bool>(), any::<bool>()).prop_map(move |(roots, direct, hidden)| {
        let depth = if direct { Depth::Direct } else { Depth::Whole };
        Query::Tree { roots, depth, hidden, kind }
    })
}

/// A random query for entries of a kind with conditions.
pub(super) fn selection(kind: Kind) -> BoxedStrategy<Query> {
    let content =
        if kind == Kind::File { proptest::option::weighted(0.25, contains()).boxed() } else { Just(None).boxed() };
    (tree(kind), proptest::collection::vec(nested(of_file(kind)), 0..2), content)
        .prop_map(|(tree, mut keep, content)| {
            keep.extend(content);
            Query::Filter { of: Box::new(tree), keep: Pred::All(keep) }
        })
        .boxed()
}

/// A random sort direction.
fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
}

/// The query, sorted at random by some of these keys and limited at random.
fn sorted(of: BoxedStrategy<Query>, keys: Vec<Key>) -> BoxedStrategy<Query> {
    let key = (proptest::sample::select(keys), order()).prop_map(|(by, order)| SortKey { by, order });
    let keys = proptest::collection::vec(key, 1..3);
    (of, proptest::option::of(keys), proptest::option::of((0u64..3, 0u64..6)))
        .prop_map(|(of, keys, stretch)| {
            let of = match keys {
                Some(keys) => Query::Sort { of: Box::new(of), keys },
                None => of,
            };
            match stretch {
                Some((skip, count)) => Query::Limit { of: Box::new(of), skip, count },
                None => of,
            }
        })
        .boxed()
}

/// A random kind of entries, mostly files.
fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![4 => Just(Kind::File), 1 => Just(Kind::Folder), 1 => Just(Kind::Any)]
}

/// A random selection of entries, sorted and limited at random.
fn ordered() -> BoxedStrategy<Query> {
    kinds()
        .prop_flat_map(|kind| {
            let mut keys = vec![Key::Modified, Key::Name, Key::Path];
            if kind == Kind::File {
                keys.push(Key::Size);
            }
            sorted(selection(kind), keys)
        })
        .boxed()
}

/// A random query about files.
pub(super) fn of_files() -> BoxedStrategy<Query> {
    let files = || selection(Kind::File);
    let boxed = Box::new;
    let fields =
        vec![Field::Sha256, Field::Sha1, Field::Md5, Field::Permissions, Field::Modified, Field::Lines, Field::Words];
    let functions = vec![Function::TotalBytes, Function::AverageBytes, Function::LargestBytes, Function::SmallestBytes];
    let by =
        vec![GroupKey::Extension, GroupKey::Folder, GroupKey::Day, GroupKey::Month, GroupKey::Year, GroupKey::Kind];
    let groups = (kinds().prop_flat_map(selection), proptest::sample::select(by))
        .prop_map(move |(of, by)| Query::Group { of: boxed(of), by, function: Function::Count });
    prop_oneof![
        3 => ordered(),
        2 => ordered().prop_map(move |of| Query::Aggregate { of: boxed(of), function: Function::Count }),
        2 => ordered().prop_map(move |of| Query::Details { of: boxed(of) }),
        2 => (ordered(), proptest::sample::select(fields)).prop_map(move |(of, field)| Query::Field { of: boxed(of), field }),
        2 => (files(), proptest::sample::select(functions)).prop_map(move |(of, function)| Query::Aggregate { of: boxed(of), function }),
        1 => sorted(files(), vec![Key::Size]).prop_map(move |of| Query::Aggregate { of: boxed(of), function: Function::TotalBytes }),
        1 => files().prop_map(move |of| Query::Duplicates { of: boxed(of) }),
        1 => files().prop_map(move |of| Query::Aggregate { of: boxed(Query::Duplicates { of: boxed(of) }), function: Function::Count }),
        2 => sorted(groups.boxed(), vec![Key::Value, Key::Name]),
    ]
    .boxed()
}

/// A random condition on lines.
fn of_line() -> BoxedStrategy<Pred> {
    let text = || prop_oneof!["[ab]{1,2}", "[.*\\[(^$\\\\a]{1,2}"];
    let contains = (text(), any::<bool>()).prop_map(|(text, ignore_case)| Pred::Contains { text, ignore_case });
    let leaf = prop_oneof![
        3 => contains,
        1 => (text(), any::<bool>()).prop_map(|(text, ignore_case)| Pred::Word { text, ignore_case }),
        1 => text().prop_map(|text| Pred::Line(NameTest::Is(text))),
        1 => text().prop_map(|text| Pred::Line(NameTest::Starts(text))),
        1 => text().prop_map(|text| Pred::Line(NameTest::Ends(text))),
        1 => expression().prop_map(|text| Pred::Line(NameTest::Pattern(text))),
        1 => Just(Pred::Blank),
        1 => (0u64..5).prop_map(Pred::MinLength),
        1 => (0u64..5).prop_map(Pred::MaxLength),
    ];
    nested(leaf.boxed())
}

/// A random transformation of a text, or a search for occurrences.
fn rewrite() -> impl Strategy<Value = Result<Rewrite, (String, bool, bool)>> {
    prop_oneof![
        Just(Ok(Rewrite::UpperCase)),
        Just(Ok(Rewrite::LowerCase)),
        Just(Ok(Rewrite::Mirrored)),
        Just(Ok(Rewrite::Reversed)),
        (1u64..12).prop_map(|width| Ok(Rewrite::Wrapped(width))),
        "[,; |]?".prop_map(|between| Ok(Rewrite::Joined(between))),
        Just(Ok(Rewrite::LastField)),
        ("[abA.]{1,2}", any::<bool>(), any::<bool>()).prop_map(Err),
    ]
}

/// A random query about the lines of one file or many.
#[expect(clippy::too_many_lines, reason = "one table: a form of question a line")]
pub(super) fn of_text() -> BoxedStrategy<Query> {
    let part = proptest::sample::select(vec![NamePart::Name, NamePart::Folder, NamePart::Extension]);
    let names = (selection(Kind::File), part).prop_map(|(of, part)| Query::Names { of: Box::new(of), part });
    let source = prop_oneof![
        1 => names,
        3 => Just(Query::TextFile { path: format!("{ROOT}/first.txt") }),
        1 => selection(Kind::File).prop_map(|of| Query::TextOf { of: Box::new(of) }),
    ];
    let filtered = (source, proptest::option::of(of_line())).prop_map(|(of, keep)| match keep {
        Some(keep) => Query::Filter { of: Box::new(of), keep },
        None => of,
    });
    let part = prop_oneof![
        (0u64..6).prop_map(Part::First),
        (0u64..6).prop_map(Part::Last),
        (1u64..4, 0u64..4).prop_map(|(from, more)| Part::Range { from, to: from + more }),
        (1u64..4).prop_map(Part::From),
    ];
    let separator = prop_oneof![Just(Separator::Whitespace), "[,;: ab]".prop_map(Separator::Text),];
    let functions = vec![
        Function::Count,
        Function::Words,
        Function::Characters,
        Function::Minimum,
        Function::Maximum,
        Function::Sum,
        Function::Average,
    ];
    let key = (prop_oneof![Just(Key::Text), Just(Key::Numeric)], order()).prop_map(|(by, order)| SortKey { by, order });
    (
        filtered,
        proptest::option::weighted(0.2, (1u64..4, separator)),
        proptest::option::weighted(0.3, proptest::option::of(("[ab.*&/\\\\$]{1,2}", "[xy&/\\\\]{0,2}"))),
        proptest::option::weighted(0.4, 0u8..4),
        proptest::option::weighted(0.4, key),
        proptest::option::weighted(0.4, part),
        prop_oneof![3 => Just(None), 1 => Just(Some(None)), 2 => proptest::sample::select(functions).prop_map(|f| Some(Some(f)))],
        (any::<bool>(), proptest::option::weighted(0.4, rewrite())),
    )
        .prop_map(|(of, column, words, set, key, part, number, (numbered, rewrite))| {
            let b = Box::new;
            let of = column.map_or(of.clone(), |(number, separator)| Query::Column { of: b(of), number, separator });
            let of = match words {
                Some(None) => Query::Words { of: b(of) },
                Some(Some((find, with))) => Query::Replace { of: b(of), find, with },
                None => of,
            };
            let second = || Box::new(Query::TextFile { path: format!("{ROOT}/second.txt") });
            let of = match rewrite {
                Some(Ok(how)) => Query::Rewritten { of: b(of), how },
                Some(Err((text, ignore_case, whole_word))) => {
                    Query::Matches { of: b(of), text, ignore_case, whole_word }
                }
                None => of,
            };
            let of = match set {
                Some(0) => Query::Unique { of: b(of) },
                Some(1) => Query::Repeated { of: b(of) },
                Some(2) => Query::Compare { of: b(of), with: second(), relation: Relation::Common },
                Some(_) => Query::Compare { of: b(of), with: second(), relation: Relation::OnlyFirst },
                None => of,
            };
            let of = key.map_or(of.clone(), |key| Query::Sort { of: b(of), keys: vec![key] });
            let of = part.map_or(of.clone(), |part| Query::Part { of: b(of), part });
            match number {
                None if numbered => Query::Numbered { of: b(of) },
                None => of,
                Some(None) => Query::Group { of: b(of), by: GroupKey::Text, function: Function::Count },
                Some(Some(function)) => Query::Aggregate { of: b(of), function },
            }
        })
        .prop_filter("has a meaning", |query| query.ty().is_ok())
        .boxed()
}
