//! Tests that the English of a random query or act parses back to the same query or act.

#![expect(clippy::wildcard_enum_match_arm, reason = "a generator names the forms it treats apart")]

mod machine;

use artoo_proto::Timestamp;
use proptest::prelude::*;

use super::read;
use artoo_reflex::algebra::{
    Act, Depth, Fact, Field, Function, GroupKey, Key, Kind, NameChange, NamePart, NameTest, Order, Part, Pred, Query,
    Relation, Rewrite, Separator, SortKey, Step, Target,
};
use artoo_reflex::{english, english_act, english_steps};

/// Text a person could put between quotation marks.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_ .,;:()+&%$#@!äöé文*?{}\\\\\\[\\]-]{0,10}[a-zA-Z0-9_ß文]"
}

/// A random condition on the extension of files.
pub(super) fn extension() -> impl Strategy<Value = Pred> {
    "(pdf|txt|jpg|png|rs|py|tar\\.gz|[a-z][a-z0-9]{0,5})".prop_map(Pred::Extension)
}

/// A random condition on the name of files.
fn name() -> impl Strategy<Value = Pred> {
    name_test().prop_map(Pred::Name)
}

/// A random test of a file name.
fn name_test() -> impl Strategy<Value = NameTest> {
    prop_oneof![
        text().prop_map(NameTest::Is),
        text().prop_map(NameTest::Starts),
        text().prop_map(NameTest::Ends),
        text().prop_map(NameTest::Has),
        "[a-z]{0,4}\\*[a-z.]{0,4}[a-z?]".prop_map(NameTest::Glob),
    ]
}

/// A random time, in whole seconds or not.
fn moment() -> impl Strategy<Value = Timestamp> {
    (0i64..4_000_000_000_000).prop_map(Timestamp::from_millis)
}

/// A random single condition on entries of a kind.
fn atom(kind: Kind) -> BoxedStrategy<Pred> {
    let any_kind = prop_oneof![
        3 => name(),
        1 => moment().prop_map(Pred::ModifiedFrom),
        1 => moment().prop_map(Pred::ModifiedBefore),
        1 => name_test().prop_map(Pred::Below),
        1 => name_test().prop_map(Pred::NameIgnoringCase),
        1 => root().prop_map(Pred::Inside),
        1 => moment().prop_map(Pred::AccessedFrom),
        1 => moment().prop_map(Pred::AccessedBefore),
        1 => (1u32..0o7777).prop_map(Pred::ModeAll),
        1 => "[a-z]{3,6}".prop_map(Pred::Group),
        1 => (0u32..0o7777).prop_map(Pred::Mode),
        1 => "[a-z]{3,6}".prop_map(Pred::Owner),
    ];
    match kind {
        Kind::File => prop_oneof![
            4 => any_kind,
            1 => extension(),
            1 => (0u64..1 << 40).prop_map(Pred::MinBytes),
            1 => (0u64..1 << 40).prop_map(Pred::MaxBytes),
            1 => Just(Pred::Executable),
            1 => text().prop_map(|text| Pred::Contains { text, ignore_case: false }),
            1 => text().prop_map(|text| Pred::Word { text, ignore_case: false }),
        ]
        .boxed(),
        Kind::Folder => prop_oneof![4 => any_kind, 1 => Just(Pred::EmptyFolder)].boxed(),
        Kind::Link | Kind::Any => any_kind.boxed(),
    }
}

/// Random conditions combined by "and", "or" and "not".
fn condition(atom: BoxedStrategy<Pred>) -> BoxedStrategy<Pred> {
    let not = atom.clone().prop_map(|pred| Pred::Not(Box::new(pred)));
    let leaf = prop_oneof![3 => atom, 1 => not].boxed();
    // "ending in .a and ending in .b" is understood as either of them.
    let one_kind = |parts: &Vec<Pred>| parts.iter().filter(|part| matches!(part, Pred::Extension(_))).count() < 2;
    let both = proptest::collection::vec(leaf.clone(), 1..3).prop_filter("one kind", one_kind).prop_map(Pred::All);
    let either = proptest::collection::vec(both, 2..4).prop_map(Pred::Any);
    prop_oneof![3 => leaf, 1 => either].boxed()
}

/// A random path of a folder.
fn root() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(/[a-zA-Z0-9_-]{1,6}){1,3}",
        2 => "(/[a-zA-Z0-9_ .'äé文-]{1,6}[a-z]){1,3}",
        1 => Just("/".to_owned()),
        1 => Just("/srv/data.d/v1.2".to_owned()),
    ]
}

/// A random path of a file.
fn file() -> impl Strategy<Value = String> {
    "(/[a-zA-Z0-9_ äé文-]{1,6}[a-z]){1,2}/[a-z]{1,6}\\.[a-z]{1,3}"
}

/// A random sort direction.
fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
}

/// The query on the heap, as an operand of another query.
fn boxed(of: Query) -> Box<Query> {
    Box::new(of)
}

/// A random query for entries of one kind with conditions.
fn tree(kind: Kind) -> BoxedStrategy<Query> {
    let roots = proptest::collection::vec(root(), 1..3);
    let is_kind = |pred: &Pred| match pred {
        Pred::Extension(_) => true,
        Pred::Any(parts) => parts.iter().all(|part| matches!(part, Pred::Extension(_) | Pred::All(_))),
        _ => false,
    };
    let keep = proptest::collection::vec(condition(atom(kind)), 0..3)
        .prop_filter("one kind", move |parts| parts.iter().filter(|part| is_kind(part)).count() < 2);
    (roots, any::<bool>(), any::<bool>(), keep)
        .prop_map(move |(roots, direct, hidden, keep)| {
            let depth = if direct { Depth::Direct } else { Depth::Whole };
            let first = roots.first().cloned().unwrap_or_default();
            let keep = keep.into_iter().map(|pred| below(pred, first.trim_end_matches('/'))).collect();
            let tree = Query::Tree { roots, depth, hidden, kind };
            Query::Filter { of: boxed(tree), keep: Pred::All(keep) }
        })
        .boxed()
}

/// The predicate with its folders moved below the root.
fn below(pred: Pred, root: &str) -> Pred {
    let each = |parts: Vec<Pred>| parts.into_iter().map(|part| below(part, root)).collect();
    match pred {
        Pred::Inside(folder) => Pred::Inside(format!("{root}{folder}x")),
        Pred::All(parts) => Pred::All(each(parts)),
        Pred::Any(parts) => Pred::Any(each(parts)),
        Pred::Not(inner) => Pred::Not(Box::new(below(*inner, root))),
        other => other,
    }
}

/// A random query for entries of one kind, sorted and limited or not.
fn selection(kind: Kind) -> BoxedStrategy<Query> {
    let size = if kind == Kind::Folder { Key::TotalSize } else { Key::Size };
    let keys = match kind {
        Kind::File => vec![Key::Size, Key::Modified, Key::Name, Key::Path, Key::Extension],
        Kind::Folder => vec![size, Key::Modified, Key::Name, Key::Path],
        Kind::Link | Kind::Any => vec![Key::Modified, Key::Name, Key::Path],
    };
    let key = (proptest::sample::select(keys), order()).prop_map(|(by, order)| SortKey { by, order });
    let keys = proptest::collection::vec(key, 1..3);
    (tree(kind), keys, 0u8..4, 1u64..200, 1u64..20)
        .prop_map(|(of, keys, form, count, skip)| {
            let sorted = Query::Sort { of: boxed(of.clone()), keys };
            match form {
                0 => of,
                1 => sorted,
                2 => Query::Limit { of: boxed(sorted), skip: 0, count },
                _ => Query::Limit { of: boxed(sorted), skip, count: 1 },
            }
        })
        .boxed()
}

/// The first sort key of a query; `None` if it is not sorted.
fn first_key(query: &Query) -> Option<Key> {
    match query {
        Query::Sort { keys, .. } => keys.first().map(|key| key.by),
        Query::Limit { of, .. } => first_key(of),
        _ => None,
    }
}

/// The query as the parser builds it: with details if it is sorted by size or time, with total sizes if it is sorted by
/// them.
fn shown(of: Query) -> Query {
    match (first_key(&of), of.kind()) {
        (Some(Key::Size | Key::Modified), Kind::File) => Query::Details { of: boxed(of) },
        (Some(Key::TotalSize), _) => Query::Field { of: boxed(of), field: Field::TotalSize },
        _ => of,
    }
}

/// A random query about files: lists, counts, sizes, properties or groups.
fn files() -> BoxedStrategy<Query> {
    let kinds =
        prop_oneof![4 => Just(Kind::File), 1 => Just(Kind::Folder), 1 => Just(Kind::Link), 1 => Just(Kind::Any)];
    let list = kinds.prop_flat_map(selection).prop_map(shown);
    let count = tree(Kind::File).prop_map(|of| Query::Aggregate { of: boxed(of), function: Function::Count });
    let bytes = proptest::sample::select(vec![
        Function::TotalBytes,
        Function::AverageBytes,
        Function::LargestBytes,
        Function::SmallestBytes,
    ]);
    let sum = (tree(Kind::File), bytes).prop_map(|(of, function)| Query::Aggregate { of: boxed(of), function });
    let details = tree(Kind::File).prop_map(|of| Query::Details { of: boxed(of) });
    let fields = proptest::sample::select(vec![
        Field::Sha256,
        Field::Sha1,
        Field::Md5,
        Field::FileType,
        Field::Permissions,
        Field::Owner,
        Field::Lines,
        Field::Words,
    ]);
    let field = (selection(Kind::File), fields).prop_map(|(of, field)| Query::Field { of: boxed(of), field });
    // "the lines of each file containing x" is ambiguous.
    let is_plain = |query: &Query| match query {
        Query::Field { field: Field::Lines | Field::Words, .. } => {
            let said = format!("{query:?}");
            !["Contains", "MaxBytes(0)", "MinBytes(1)"].iter().any(|word| said.contains(word))
        }
        _ => true,
    };
    let field = field.prop_filter("plain", is_plain);
    let named = (proptest::collection::vec(file(), 1..4), any::<bool>()).prop_map(|(paths, hash)| {
        let of = Query::Paths { paths, kind: Kind::File };
        if hash { Query::Field { of: boxed(of), field: Field::Sha256 } } else { of }
    });
    let sizes = selection(Kind::Folder).prop_map(|of| Query::Field { of: boxed(of), field: Field::TotalSize });
    let duplicates = (tree(Kind::File), any::<bool>()).prop_map(|(of, counted)| {
        let of = Query::Duplicates { of: boxed(of) };
        if counted { Query::Aggregate { of: boxed(of), function: Function::Count } } else { of }
    });
    prop_oneof![4 => list, 1 => count, 1 => sum, 1 => details, 1 => field, 1 => named, 1 => sizes, 1 => duplicates, 2 => groups()]
        .boxed()
}

/// A random query for groups of files, sorted and limited or not.
fn groups() -> BoxedStrategy<Query> {
    let keys = proptest::sample::select(vec![
        GroupKey::Extension,
        GroupKey::Folder,
        GroupKey::Day,
        GroupKey::Month,
        GroupKey::Year,
        GroupKey::Kind,
        GroupKey::Owner,
    ]);
    let functions = proptest::sample::select(vec![Function::Count, Function::TotalBytes, Function::AverageBytes]);
    (tree(Kind::File), keys, functions, 0u8..4, 1u64..20)
        .prop_map(|(of, by, function, form, count)| {
            let group = Query::Group { of: boxed(of), by, function };
            let keys = vec![SortKey { by: if form == 1 { Key::Name } else { Key::Value }, order: Order::Ascending }];
            match form {
                0 => group,
                1 | 2 => Query::Sort { of: boxed(group), keys },
                _ => Query::Limit { of: boxed(group), skip: 0, count },
            }
        })
        .boxed()
}

/// A random single condition on lines.
fn line_atom() -> BoxedStrategy<Pred> {
    prop_oneof![
        2 => text().prop_map(|text| Pred::Contains { text, ignore_case: false }),
        1 => text().prop_map(|text| Pred::Line(NameTest::Starts(text))),
        1 => text().prop_map(|text| Pred::Line(NameTest::Ends(text))),
        1 => text().prop_map(|text| Pred::Line(NameTest::Is(text))),
        1 => "\\^?[a-c.][*+?]?[a-c.]\\$?".prop_map(|text| Pred::Line(NameTest::Pattern(text))),
        1 => Just(Pred::Blank),
        1 => (1u64..300).prop_map(Pred::MinLength),
        1 => (1u64..300).prop_map(Pred::MaxLength),
    ]
    .boxed()
}

/// A transformation of a text by its number, with this width for wrapping.
fn rewrite(which: u64, width: u64) -> Rewrite {
    match which % 7 {
        0 => Rewrite::UpperCase,
        1 => Rewrite::LowerCase,
        2 => Rewrite::Mirrored,
        3 => Rewrite::Reversed,
        4 => Rewrite::Wrapped(width + 1),
        5 => Rewrite::Joined(if width.is_multiple_of(2) { String::new() } else { ";".to_owned() }),
        _ => Rewrite::LastField,
    }
}

/// A random query for parts of paths, with or without duplicates and a count.
fn names() -> BoxedStrategy<Query> {
    let part = proptest::sample::select(vec![NamePart::Name, NamePart::Folder, NamePart::Extension]);
    (tree(Kind::File), part, 0u8..4)
        .prop_map(|(of, part, form)| {
            let names = Query::Names { of: boxed(of), part };
            match form {
                0 => names,
                1 => Query::Unique { of: boxed(names) },
                2 => Query::Repeated { of: boxed(names) },
                _ => Query::Aggregate { of: boxed(names), function: Function::Count },
            }
        })
        .boxed()
}

/// A random query for lines of one file or many, with operators in the order in which the parser applies them.
fn lines() -> BoxedStrategy<Query> {
    let plain_tree = (root(), any::<bool>(), extension()).prop_map(|(root, direct, extension)| {
        let depth = if direct { Depth::Direct } else { Depth::Whole };
        let tree = Query::Tree { roots: vec![root], depth, hidden: false, kind: Kind::File };
        Query::TextOf { of: boxed(Query::Filter { of: boxed(tree), keep: extension }) }
    });
    let source = prop_oneof![4 => file().prop_map(|path| Query::TextFile { path }), 1 => plain_tree];
    let separator = prop_oneof![Just(Separator::Whitespace), "[,;:|]".prop_map(Separator::Text)];
    let keep = proptest::collection::vec(condition(line_atom()), 0..3);
    let middle = (1u64..20, separator, text(), text(), file());
    (source, keep, middle, 0u8..10, 0u8..8, order(), 1u64..5000, 0u64..5000)
        .prop_map(|(source, keep, (number, separator, find, with, path), middle, end, order, a, b)| {
            let is_bare = keep.is_empty();
            let text = Query::Filter { of: boxed(source), keep: Pred::All(keep) };
            let text = match middle {
                0 => Query::Column { of: boxed(text), number, separator },
                1 => Query::Words { of: boxed(text) },
                2 => Query::Replace { of: boxed(text), find, with },
                3 => Query::Compare {
                    of: boxed(text),
                    with: boxed(Query::TextFile { path }),
                    relation: if a % 2 == 0 { Relation::Common } else { Relation::OnlyFirst },
                },
                4 => Query::Matches { of: boxed(text), text: find, ignore_case: false, whole_word: a % 2 == 0 },
                5 => Query::Rewritten { of: boxed(text), how: rewrite(a, b) },
                _ => text,
            };
            let plain = middle > 5;
            let sort = |of, by| Query::Sort { of: boxed(of), keys: vec![SortKey { by, order }] };
            match end {
                0 => Query::Unique { of: boxed(text) },
                1 => Query::Repeated { of: boxed(text) },
                2 if plain => sort(text, [Key::Text, Key::Numeric, Key::Length][usize::try_from(a % 3).unwrap()]),
                3 if plain => {
                    Query::Part { of: boxed(text), part: if b % 2 == 0 { Part::First(a) } else { Part::Last(a) } }
                }
                4 if plain && is_bare => {
                    let part = if b % 3 == 0 { Part::From(a) } else { Part::Range { from: a, to: a + b } };
                    Query::Part { of: boxed(text), part }
                }
                5 if plain => Query::Numbered { of: boxed(text) },
                6 if middle != 1 && middle != 3 && middle != 4 && middle != 5 => {
                    let functions = [Function::Count, Function::Words, Function::Characters];
                    let numbers = [Function::Sum, Function::Average, Function::Minimum, Function::Maximum];
                    let at = usize::try_from(b).unwrap();
                    let function = if plain { functions[at % 3] } else { numbers[at % 4] };
                    Query::Aggregate { of: boxed(text), function }
                }
                7 if middle == 1 || plain => {
                    let group = Query::Group { of: boxed(text), by: GroupKey::Text, function: Function::Count };
                    if b % 2 == 0 { group } else { Query::Limit { of: boxed(group), skip: 0, count: a } }
                }
                _ => text,
            }
        })
        .prop_filter("one file", |query| {
            !(format!("{query:?}").contains("TextOf") && matches!(query, Query::Part { .. }))
        })
        .boxed()
}

/// A random query, limited to combinations that the parser builds.
pub(super) fn query() -> BoxedStrategy<Query> {
    prop_oneof![3 => files(), 2 => lines(), 1 => machine::machine(), 1 => names()]
        .prop_map(Query::normalise)
        .prop_filter("has a meaning", |query| query.ty().is_ok())
        .boxed()
}

/// A random act that can be carried out.
fn act() -> BoxedStrategy<Act> {
    let several = proptest::collection::vec(file(), 1..3).prop_map(|paths| Query::Paths { paths, kind: Kind::File });
    let of = prop_oneof![2 => selection(Kind::File), 1 => selection(Kind::Folder), 2 => several].boxed();
    let target = root().prop_map(Target::Into).boxed();
    let change = prop_oneof![
        extension().prop_map(|pred| match pred {
            Pred::Extension(extension) => NameChange::Extension(extension),
            _ => NameChange::LowerCase,
        }),
        text().prop_map(NameChange::Prefix),
        text().prop_map(NameChange::Suffix),
        Just(NameChange::LowerCase),
        Just(NameChange::UpperCase),
        Just(NameChange::Template("photo {n:3}.{ext}".to_owned())),
        (text(), text()).prop_map(|(find, with)| NameChange::Replace { find, with }),
    ];
    let ending = proptest::sample::select(vec![".zip", ".tar", ".tgz", ".tar.gz"]);
    let archive = (root(), ending).prop_map(|(path, ending)| format!("{}/a{ending}", path.trim_end_matches('/')));
    prop_oneof![
        proptest::collection::vec(root(), 1..3).prop_map(|paths| Act::CreateFolder { paths }),
        (file(), proptest::option::of(text())).prop_map(|(path, text)| Act::CreateFile {
            path,
            text: text.map_or_else(String::new, |text| format!("{text}\n")),
        }),
        (of.clone(), target.clone()).prop_map(|(of, to)| Act::Copy { of, to }),
        (of.clone(), target).prop_map(|(of, to)| Act::Move { of, to }),
        (file(), file()).prop_map(|(from, to)| Act::Copy {
            of: Query::Paths { paths: vec![from], kind: Kind::File },
            to: Target::As(to),
        }),
        (of.clone(), change).prop_map(|(of, change)| Act::Rename { of, change }),
        (of.clone(), archive).prop_map(|(of, to)| Act::Archive { of, to }),
        (of.clone(), root()).prop_map(|(of, to)| Act::Extract { of, to }),
        of.prop_map(|of| Act::Delete { of }),
        (file(), text(), text(), file()).prop_map(|(path, find, with, to)| Act::Replace { path, find, with, to }),
    ]
    .prop_map(Act::normalise)
    // An act on files newer than a file is not supported.
    .prop_filter("carried out", |act| !format!("{act:?}").contains("NewerThan"))
    .boxed()
}

/// Whether an English sentence is short and clear enough to be parsed as a request.
fn fits(reading: &str) -> bool {
    // Some sentences are ambiguous and declined: whether a line or a file contains a word, or whether lines or files
    // are duplicates.
    let is_open = (reading.contains("of each of") && reading.contains("the whole word"))
        || (reading.contains("duplicates of") && reading.contains("named \""))
        // A suffix of punctuation alone is not a new name.
        || reading.ends_with("suffix \"_\"");
    !is_open && artoo_reflex::testing::token_count(reading) <= 48 && reading.len() <= 2_000
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[doc = "holds: law 0.15"]
    #[test]
    fn english_query_parses_back(query in query()) {
        let reading = english(&query);
        prop_assume!(fits(&reading));
        match read(&reading) {
            Ok(parsed) => prop_assert_eq!(parsed.steps, vec![Step::Ask(query)], "{}", reading),
            Err(refusal) => prop_assert!(false, "{}: refused, {:?}", reading, refusal),
        }
    }

    #[test]
    fn english_act_parses_back(act in act()) {
        let reading = english_act(&act);
        prop_assume!(fits(&reading));
        match read(&reading) {
            Ok(parsed) => prop_assert_eq!(parsed.steps, vec![Step::Do(act)], "{}", reading),
            Err(refusal) => prop_assert!(false, "{}: refused, {:?}", reading, refusal),
        }
    }

    #[test]
    fn query_round_trips_through_json(query in query()) {
        let value = serde_json::to_value(&query).unwrap();
        prop_assert_eq!(serde_json::from_value::<Query>(value).unwrap(), query);
    }

    #[test]
    fn act_round_trips_through_json(act in act()) {
        let value = serde_json::to_value(&act).unwrap();
        prop_assert_eq!(serde_json::from_value::<Act>(value).unwrap(), act);
    }

    #[test]
    fn normalise_is_idempotent(query in query()) {
        prop_assert_eq!(query.clone().normalise(), query);
    }
}

#[test]
fn english_steps_parse_back_in_order() {
    let steps = vec![
        Step::Do(Act::CreateFolder { paths: vec!["/home/ada/new".to_owned()] }),
        Step::Ask(Query::Aggregate {
            of: boxed(Query::Tree {
                roots: vec!["/srv".to_owned()],
                depth: Depth::Whole,
                hidden: true,
                kind: Kind::File,
            }),
            function: Function::Count,
        }),
        Step::Ask(Query::System { fact: Fact::Uptime }),
    ];
    assert_eq!(read(&english_steps(&steps)).unwrap().steps, steps);
}
