//! Random questions about the machine, about archives, and about two files.

use proptest::prelude::*;

use super::{boxed, file, name_test, order, root};
use artoo_reflex::algebra::{Fact, Function, Key, Pred, Query, Relation, SortKey};

/// A random question about the machine, an archive or two files.
#[expect(clippy::too_many_lines, reason = "one table: a kind of fact a line")]
pub(super) fn machine() -> BoxedStrategy<Query> {
    let fact = proptest::sample::select(vec![
        Fact::Date,
        Fact::Time,
        Fact::MemoryFree,
        Fact::MemoryUsed,
        Fact::MemoryTotal,
        Fact::Processors,
        Fact::ProcessorModel,
        Fact::Load,
        Fact::Uptime,
        Fact::User,
        Fact::Groups,
        Fact::Host,
        Fact::System,
        Fact::Kernel,
        Fact::Architecture,
        Fact::Home,
        Fact::CurrentFolder,
        Fact::Shell,
        Fact::Addresses,
        Fact::Ports,
        Fact::Variables,
        Fact::SearchPath,
        Fact::Disks,
        Fact::Year,
        Fact::DateTime,
        Fact::Month,
        Fact::Week,
        Fact::UnixTime,
        Fact::TimeZone,
        Fact::BootTime,
        Fact::SwapTotal,
        Fact::SwapUsed,
        Fact::SwapFree,
        Fact::ProcessorDetails,
        Fact::WordSize,
        Fact::KernelName,
        Fact::SystemDetails,
        Fact::KernelModules,
        Fact::UserId,
        Fact::GroupId,
        Fact::GroupName,
        Fact::AllUsers,
        Fact::AllGroups,
        Fact::LoggedIn,
        Fact::Shells,
        Fact::NameServers,
        Fact::Gateway,
        Fact::Routes,
        Fact::Interfaces,
        Fact::Locale,
        Fact::ProcessLimit,
        Fact::OpenFilesLimit,
        Fact::Umask,
    ]);
    let with_argument = prop_oneof![
        root().prop_map(|path| Fact::DiskFree { path }),
        root().prop_map(|path| Fact::DiskUsed { path }),
        root().prop_map(|path| Fact::DiskTotal { path }),
        root().prop_map(|path| Fact::DiskShare { path }),
        root().prop_map(|path| Fact::DiskUsage { path }),
        "[A-Z_]{1,8}".prop_map(|name| Fact::Variable { name }),
        "[a-z0-9-]{0,6}[a-z]".prop_map(|name| Fact::Program { name }),
        "[a-z]{1,6}\\.[a-z_]{1,6}".prop_map(|name| Fact::KernelParameter { name }),
        "[a-z]{1,6}".prop_map(|user| Fact::GroupsOf { user }),
        "[a-z]{1,6}".prop_map(|user| Fact::UserIdOf { user }),
        prop_oneof![-900i32..0, 1i32..900].prop_map(|days| Fact::DateInDays { days }),
        (1970i16..2100, 1i8..13, 1i8..29)
            .prop_map(|(year, month, day)| Fact::DayOfWeek { date: format!("{year:04}-{month:02}-{day:02}") }),
    ];
    let lines =
        proptest::sample::select(vec![Fact::Groups, Fact::Addresses, Fact::Ports, Fact::Variables, Fact::SearchPath])
            .prop_map(|fact| Query::Aggregate { of: boxed(Query::System { fact }), function: Function::Count });
    let key = proptest::sample::select(vec![Key::Memory, Key::Cpu]);
    let processes = (proptest::option::of(name_test()), key, order(), 0u8..4, 1u64..30).prop_map(
        |(named, by, order, form, count)| {
            let keep = Pred::All(named.into_iter().map(Pred::Name).collect());
            let of = Query::Filter { of: boxed(Query::Processes), keep };
            let sorted = Query::Sort { of: boxed(of.clone()), keys: vec![SortKey { by, order }] };
            match form {
                0 => of,
                1 => Query::Aggregate { of: boxed(of), function: Function::Count },
                2 => sorted,
                _ => Query::Limit { of: boxed(sorted), skip: 0, count },
            }
        },
    );
    let archive = (file(), any::<bool>()).prop_map(|(path, counted)| {
        let path = format!("{path}.zip");
        let of = Query::ArchiveEntries { path };
        if counted { Query::Aggregate { of: boxed(of), function: Function::Count } } else { of }
    });
    let same = (file(), file(), any::<bool>()).prop_map(|(a, b, identical)| Query::Compare {
        of: boxed(Query::TextFile { path: a }),
        with: boxed(Query::TextFile { path: b }),
        relation: if identical { Relation::Identical } else { Relation::Difference },
    });
    prop_oneof![
        3 => prop_oneof![3 => fact, 1 => with_argument].prop_map(|fact| Query::System { fact }),
        1 => lines,
        2 => processes,
        1 => archive,
        1 => same,
    ]
    .boxed()
}
