//! Several filters joined into one, with a search in front that lets calls through that none of them names.
//!
//! The kernel tries every call there is on every filter it is given, to remember which it need not ask about; it does so
//! anew for each command.

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, sock_filter};

/// Instructions by the names of `linux/bpf_common.h`.
const LOAD_WORD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Where a call's data holds its number and its architecture.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// A filter and the calls it names. It lets all others through.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) calls: Vec<u32>,
    pub(super) program: BpfProgram,
}

/// Which calls are judged at all: those of one architecture, below a number. One of another architecture ends the program,
/// and a call from that number on does not exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) architecture: u32,
    pub(super) first_unknown: u32,
}

/// The parts as one program. Where two name a call, the earlier decides, unless it lets the call through.
pub(super) fn joined(known: Known, parts: &[Part]) -> BpfProgram {
    let errno = libc::ENOSYS.unsigned_abs();
    let head = [
        instruction(LOAD_WORD, ARCHITECTURE_AT),
        sock_filter { jt: 1, ..instruction(JUMP_IF_EQUAL, known.architecture) },
        instruction(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        instruction(LOAD_WORD, NUMBER_AT),
        sock_filter { jf: 1, ..instruction(JUMP_IF_AT_LEAST, known.first_unknown) },
        instruction(RETURN, libc::SECCOMP_RET_ERRNO | errno),
    ];
    let search = search(&stretches(parts));
    let mut bodies = Vec::new();
    let mut starts = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        starts.push(bodies.len());
        let is_last = index + 1 == parts.len();
        let length = part.program.len();
        let goes_on = |at: usize| instruction(JUMP, distance(length - at - 1));
        let lets_through = |made: &sock_filter| {
            made.code == RETURN && made.k & libc::SECCOMP_RET_ACTION_FULL == libc::SECCOMP_RET_ALLOW
        };
        bodies.extend(
            part.program
                .iter()
                .enumerate()
                .map(|(at, made)| if lets_through(made) && !is_last { goes_on(at) } else { made.clone() }),
        );
    }
    let length = search.len();
    let found = search.into_iter().enumerate().map(|(at, step)| match step {
        Step::Instruction(made) => made,
        Step::To(part) => instruction(JUMP, distance(length - at - 1 + starts.get(part).copied().unwrap_or_default())),
    });
    head.into_iter().chain(found).chain(bodies).collect()
}

/// Which part is asked first about the calls from one number up to the next stretch's; `None` where no part names them.
fn stretches(parts: &[Part]) -> Vec<(u32, Option<usize>)> {
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for call in &part.calls {
            first.entry(*call).or_insert(index);
        }
    }
    let mut stretches = vec![(0, None)];
    for (call, part) in first {
        // The end of the stretch before it, unless that one ends here anyway.
        stretches.retain(|(from, _)| *from != call);
        stretches.push((call, Some(part)));
        stretches.push((call + 1, None));
    }
    stretches.dedup_by_key(|(_, part)| *part);
    stretches
}

/// An instruction, or a jump whose distance is not known yet.
enum Step {
    Instruction(sock_filter),
    To(usize),
}

/// A binary search for the loaded number.
fn search(stretches: &[(u32, Option<usize>)]) -> Vec<Step> {
    let (left, right) = stretches.split_at(stretches.len() / 2);
    let Some((from, target)) = right.first() else { return Vec::new() };
    if left.is_empty() {
        let allow = || Step::Instruction(instruction(RETURN, libc::SECCOMP_RET_ALLOW));
        return vec![target.map_or_else(allow, Step::To)];
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

fn instruction(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// The kernel takes no program that is nearly as long as this could say.
fn distance(instructions: usize) -> u32 {
    u32::try_from(instructions).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ARCHITECTURE: u32 = if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e };
    const KNOWN: Known = Known { architecture: ARCHITECTURE, first_unknown: 463 };

    /// What a program says of a call: the interpreter of `seccomp(2)` for the instructions that occur.
    fn decision(program: &[sock_filter], architecture: u32, call: u32, argument: u64) -> u32 {
        let word = |at: u32| match at {
            0 => call,
            4 => architecture,
            16 => argument as u32,
            20 => (argument >> 32) as u32,
            _ => 0,
        };
        let (mut at, mut held) = (0_usize, 0_u32);
        loop {
            let made = &program[at];
            at += 1;
            let jump = |holds: bool| usize::from(if holds { made.jt } else { made.jf });
            match made.code {
                LOAD_WORD => held = word(made.k),
                JUMP => at += made.k as usize,
                JUMP_IF_EQUAL => at += jump(held == made.k),
                JUMP_IF_AT_LEAST => at += jump(held >= made.k),
                0x25 => at += jump(held > made.k),
                0x54 => held &= made.k,
                RETURN => return made.k,
                other => panic!("an instruction {other:#x}"),
            }
        }
    }

    fn strictest(decisions: impl Iterator<Item = u32>) -> u32 {
        // The kernel's order of actions is that of their numbers, taken as signed.
        decisions.min_by_key(|made| (made & libc::SECCOMP_RET_ACTION_FULL) as i32).unwrap()
    }

    /// Over the real filters: whatever one of them says, the joined one says.
    #[test]
    fn law1_the_joined_filter_says_what_the_strictest_of_its_parts_says() {
        for network in [false, true] {
            for asks in [false, true] {
                let parts = crate::fence::filter::parts(network, asks).unwrap();
                let program = joined(KNOWN, &parts);
                assert!(program.len() < 4096, "{} instructions", program.len());
                let check = |call: u32, argument: u64| {
                    let apart = parts.iter().map(|part| decision(&part.program, ARCHITECTURE, call, argument));
                    assert_eq!(
                        decision(&program, ARCHITECTURE, call, argument),
                        strictest(apart),
                        "call {call} with {argument:#x}, network {network}, asks {asks}"
                    );
                };
                for call in 0..KNOWN.first_unknown {
                    for argument in [0, 1, 2, 3, 10, 16, 0x40, 0x5412, 0x241, 0x1000_0000, u64::MAX] {
                        check(call, argument);
                    }
                }
            }
        }
    }

    #[test]
    fn law1_what_is_not_known_is_refused_before_anything_else() {
        let program = joined(KNOWN, &crate::fence::filter::parts(true, true).unwrap());
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        for call in [463, 464, 1000, 0x4000_0000, 0x4000_0000 + 59, u32::MAX] {
            assert_eq!(decision(&program, ARCHITECTURE, call, 0), absent, "{call}");
        }
        for architecture in [0, 0x4000_0003, ARCHITECTURE + 1] {
            assert_eq!(decision(&program, architecture, 0, 0), libc::SECCOMP_RET_KILL_PROCESS, "{architecture:#x}");
        }
    }

    proptest! {
        #[test]
        fn the_search_finds_every_call_of_any_parts(
            calls in prop::collection::vec(prop::collection::btree_set(0_u32..463, 0..200), 1..5)
        ) {
            let parts: Vec<Part> = calls
                .iter()
                .enumerate()
                .map(|(index, calls)| Part { calls: calls.iter().copied().collect(), program: naming(calls, index) })
                .collect();
            let program = joined(KNOWN, &parts);
            for call in 0..463 {
                let first = calls.iter().position(|calls| calls.contains(&call));
                let expected = first.map_or(libc::SECCOMP_RET_ALLOW, |index| libc::SECCOMP_RET_ERRNO | index as u32 + 1);
                prop_assert_eq!(decision(&program, ARCHITECTURE, call, 0), expected, "call {}", call);
            }
        }
    }

    fn naming(calls: &std::collections::BTreeSet<u32>, index: usize) -> BpfProgram {
        let errno = libc::SECCOMP_RET_ERRNO | u32::try_from(index + 1).unwrap();
        let tests = calls
            .iter()
            .flat_map(|call| [sock_filter { jf: 1, ..instruction(JUMP_IF_EQUAL, *call) }, instruction(RETURN, errno)]);
        let load = instruction(LOAD_WORD, NUMBER_AT);
        std::iter::once(load).chain(tests).chain([instruction(RETURN, libc::SECCOMP_RET_ALLOW)]).collect()
    }
}
