//! A compiler for seccomp filters: a binary search for the number of the call, then the rules for that call in order.

use std::collections::BTreeMap;

use libc::{c_long, sock_filter};

/// The BPF instruction that loads a 32-bit word; it and the next ones have the names of `linux/bpf_common.h`.
const LOAD_WORD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Offset of the system call's number in `struct seccomp_data`; the next ones are those of the architecture and the
/// first argument.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

/// Number of BPF instructions that test one condition.
const CONDITION_LENGTH: u8 = 3;

/// A rule of a seccomp filter: the action for a call whose arguments meet all conditions.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) call: c_long,
    pub(super) conditions: Vec<Condition>,
    pub(super) action: u32,
}

/// A condition of a filter rule: a comparison of 32 bits of an argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condition {
    /// Offset of the bits in `struct seccomp_data`.
    at: u32,
    mask: u32,
    value: u32,
    is_equal: bool,
}

impl Condition {
    /// The filter condition that the lower half of an argument, masked, has this value. The kernel takes flags and
    /// numbers for an `int`.
    pub(super) fn masked(argument: u8, mask: u32, value: u32) -> Self {
        Self { at: ARGUMENTS_AT + 8 * u32::from(argument), mask, value, is_equal: true }
    }

    /// The filter condition that the lower half of a system call's argument has this value.
    pub(super) fn is(argument: u8, value: u32) -> Self {
        Self::masked(argument, u32::MAX, value)
    }

    /// The filter condition that the lower half of a system call's argument has another value.
    pub(super) fn is_not(argument: u8, value: u32) -> Self {
        Self { is_equal: false, ..Self::is(argument, value) }
    }

    /// The filter condition that the upper half of a system call's argument has another value.
    pub(super) fn upper_is_not(argument: u8, value: u32) -> Self {
        let lower = Self::is_not(argument, value);
        Self { at: lower.at + 4, ..lower }
    }

    /// The filter condition that all of these bits of a system call's argument are set.
    pub(super) fn set(argument: u8, bits: u32) -> Self {
        Self::masked(argument, bits, bits)
    }
}

/// Compiles filter rules to BPF. The first rule that a call meets decides; other calls are allowed, those from
/// `first_unknown` on fail with `ENOSYS`, and a call of another architecture kills the process.
pub(super) fn compile(architecture: u32, first_unknown: u32, rules: &[Rule]) -> Vec<sock_filter> {
    let mut program = vec![
        instruction(LOAD_WORD, ARCHITECTURE_AT),
        sock_filter { jt: 1, ..instruction(JUMP_IF_EQUAL, architecture) },
        instruction(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(LOAD_WORD, NUMBER_AT),
        sock_filter { jf: 1, ..instruction(JUMP_IF_AT_LEAST, first_unknown) },
        instruction(RETURN, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ];
    let mut calls: BTreeMap<u32, Vec<&Rule>> = BTreeMap::new();
    for rule in rules {
        calls.entry(u32::try_from(rule.call).unwrap_or(u32::MAX)).or_default().push(rule);
    }
    let allowed = (0, End::Returns(libc::SECCOMP_RET_ALLOW));
    let (mut ranges, mut tests) = (vec![allowed], Vec::new());
    for (call, rules) in calls {
        let end = match rules.first() {
            Some(rule) if rule.conditions.is_empty() => End::Returns(rule.action),
            _ => End::Tests(tests.len()),
        };
        if let End::Tests(_) = end {
            tests.extend(rules.iter().flat_map(|rule| test(rule)));
            tests.push(instruction(RETURN, libc::SECCOMP_RET_ALLOW));
        }
        // The range of allowed calls before this one may be empty.
        ranges.retain(|(from, _)| *from != call);
        ranges.extend([(call, end), (call + 1, allowed.1)]);
    }
    ranges.dedup_by_key(|(_, end)| *end);
    let search = search(&ranges);
    let length = search.len();
    program.extend(search.into_iter().enumerate().map(|(at, step)| match step {
        Step::Instruction(made) => made,
        Step::ToTests(start) => instruction(JUMP, distance(length - at - 1 + start)),
    }));
    program.extend(tests);
    program
}

/// The BPF instructions of a rule: they return its action if all of its conditions are met, and else go on after it.
fn test(rule: &Rule) -> Vec<sock_filter> {
    let count = rule.conditions.len();
    let test = |(at, condition): (usize, &Condition)| {
        let behind = u8::try_from(count - at).unwrap_or(u8::MAX).saturating_mul(CONDITION_LENGTH) - 2;
        let (jt, jf) = if condition.is_equal { (0, behind) } else { (behind, 0) };
        let compare = sock_filter { jt, jf, ..instruction(JUMP_IF_EQUAL, condition.value) };
        [instruction(LOAD_WORD, condition.at), instruction(AND, condition.mask), compare]
    };
    let tests = rule.conditions.iter().enumerate().flat_map(test);
    tests.chain([instruction(RETURN, rule.action)]).collect()
}

/// What the binary search over system call numbers does in a range: return an action, or run tests of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Returns(u32),
    Tests(usize),
}

/// A step of a filter being compiled: an instruction, or a jump to tests whose distance is not known yet.
enum Step {
    Instruction(sock_filter),
    ToTests(usize),
}

/// Compiles a binary search for the loaded system call number over these ranges, as BPF steps.
fn search(ranges: &[(u32, End)]) -> Vec<Step> {
    let (left, right) = ranges.split_at(ranges.len() / 2);
    let Some((from, end)) = right.first() else { return Vec::new() };
    if left.is_empty() {
        return vec![match end {
            End::Returns(action) => Step::Instruction(instruction(RETURN, *action)),
            End::Tests(start) => Step::ToTests(*start),
        }];
    }
    let (left, right) = (search(left), search(right));
    let mut steps = match u8::try_from(left.len()) {
        Ok(over) => vec![Step::Instruction(sock_filter { jt: over, ..instruction(JUMP_IF_AT_LEAST, *from) })],
        // Too far for a conditional jump.
        Err(_) => vec![
            Step::Instruction(sock_filter { jf: 1, ..instruction(JUMP_IF_AT_LEAST, *from) }),
            Step::Instruction(instruction(JUMP, distance(left.len()))),
        ],
    };
    steps.extend(left);
    steps.extend(right);
    steps
}

/// Makes a BPF instruction with this code and operand, and with distance 0 for both conditional jumps.
fn instruction(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// The distance of a BPF jump; the kernel rejects a program that is long enough to saturate it.
fn distance(instructions: usize) -> u32 {
    u32::try_from(instructions).unwrap_or(u32::MAX)
}

/// Evaluates compiled seccomp filters in tests, without a kernel.
#[cfg(test)]
pub(super) mod testing {
    use super::{AND, Condition, JUMP, JUMP_IF_AT_LEAST, JUMP_IF_EQUAL, LOAD_WORD, RETURN, sock_filter};

    pub(in super::super) const ARCHITECTURE: u32 =
        if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e };

    /// Whether a call whose arguments all have this value meets a condition of a filter rule.
    pub(in super::super) fn is_met(condition: Condition, argument: u64) -> bool {
        let half = if condition.at.is_multiple_of(8) { argument & u64::from(u32::MAX) } else { argument >> 32 };
        (half & u64::from(condition.mask) == u64::from(condition.value)) == condition.is_equal
    }

    /// What the kernel would decide for a call by these BPF instructions, for tests; every argument has the same value.
    pub(in super::super) fn decision(program: &[sock_filter], architecture: u32, call: u32, argument: u64) -> u32 {
        let halves = [argument & u64::from(u32::MAX), argument >> 32].map(|half| u32::try_from(half).unwrap());
        let word = |at: u32| match at {
            0 => call,
            4 => architecture,
            // Behind the address of the call lie six arguments of eight bytes.
            16..64 => halves[at as usize / 4 % 2],
            other => panic!("a word at {other}"),
        };
        let (mut at, mut held) = (0_usize, 0_u32);
        loop {
            let made = &program[at];
            at += 1;
            let over = |holds: bool| usize::from(if holds { made.jt } else { made.jf });
            match made.code {
                LOAD_WORD => held = word(made.k),
                JUMP => at += made.k as usize,
                JUMP_IF_EQUAL => at += over(held == made.k),
                JUMP_IF_AT_LEAST => at += over(held >= made.k),
                AND => held &= made.k,
                RETURN => return made.k,
                other => panic!("an instruction {other:#x}"),
            }
        }
    }
}

/// Tests that compiled seccomp filters decide as their rules say.
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::{ARCHITECTURE, decision, is_met};
    use super::*;

    const FIRST_UNKNOWN: u32 = 463;

    /// Generates a random condition of a filter rule.
    fn condition() -> impl Strategy<Value = Condition> {
        (0..6_u8, any::<bool>(), 0..4_u32, 0..4_u32, any::<bool>()).prop_map(
            |(argument, upper, mask, value, is_equal)| {
                let at = ARGUMENTS_AT + 8 * u32::from(argument) + 4 * u32::from(upper);
                Condition { at, mask, value, is_equal }
            },
        )
    }

    proptest! {
        /// Random filter rules: the compiled filter decides by the first rule whose conditions are met.
        #[test]
        fn first_rule_that_is_met_decides(
            rules in prop::collection::vec((0..FIRST_UNKNOWN, prop::collection::vec(condition(), 0..4)), 0..300),
            argument in prop_oneof![0..4_u64, Just(1 << 32), Just(3 << 32 | 2)],
        ) {
            let rules: Vec<Rule> = rules
                .into_iter()
                .zip(libc::SECCOMP_RET_ERRNO + 1..)
                .map(|((call, conditions), action)| Rule { call: call.into(), conditions, action })
                .collect();
            let program = compile(ARCHITECTURE, FIRST_UNKNOWN, &rules);
            for call in 0..FIRST_UNKNOWN {
                let first = rules.iter().find(|rule| {
                    rule.call == c_long::from(call) && rule.conditions.iter().all(|found| is_met(*found, argument))
                });
                let expected = first.map_or(libc::SECCOMP_RET_ALLOW, |rule| rule.action);
                prop_assert_eq!(decision(&program, ARCHITECTURE, call, argument), expected, "call {}", call);
            }
        }
    }
}
