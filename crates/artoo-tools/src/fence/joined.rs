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
pub(super) const RETURN: u16 = 0x06;

/// Where a call's data holds its number and its architecture.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// What is said of some calls. All others are let through.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) calls: Vec<u32>,
    pub(super) says: Says,
}

/// To a call that is named.
#[derive(Debug, Clone)]
pub(super) enum Says {
    /// Always this.
    Always(u32),
    /// What this program says; it lets all other calls through.
    ByArguments(BpfProgram),
}

/// Which calls are judged at all: those of one architecture, below a number. One of another architecture ends the program,
/// and a call from that number on does not exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) architecture: u32,
    pub(super) first_unknown: u32,
}

/// The parts as one program. Where several name a call, the first that does not let it through decides.
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
    let first = first(parts);
    let mut programs: Vec<(usize, BpfProgram)> = Vec::new();
    for (index, Part { calls, says }) in parts.iter().enumerate() {
        match says {
            Says::ByArguments(program) => programs.push((index, program.clone())),
            Says::Always(action) => {
                // Whoever asks an earlier part first comes here from its program.
                let later: Vec<u32> = calls.iter().filter(|call| first.get(call) != Some(&index)).copied().collect();
                if !later.is_empty() {
                    programs.push((index, naming(&later, *action)));
                }
            }
        }
    }
    let search = search(&stretches(&first, parts));
    let (bodies, starts) = chained(programs);
    let length = search.len();
    let found = search.into_iter().enumerate().map(|(at, step)| match step {
        Step::Instruction(made) => made,
        Step::To(part) => instruction(JUMP, distance(length - at - 1 + starts.get(&part).copied().unwrap_or_default())),
    });
    head.into_iter().chain(found).chain(bodies).collect()
}

/// The first part that names a call.
fn first(parts: &[Part]) -> BTreeMap<u32, usize> {
    let mut first = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for call in &part.calls {
            first.entry(*call).or_insert(index);
        }
    }
    first
}

/// A program that says this to these calls.
fn naming(calls: &[u32], action: u32) -> BpfProgram {
    let tests = calls
        .iter()
        .flat_map(|call| [sock_filter { jf: 1, ..instruction(JUMP_IF_EQUAL, *call) }, instruction(RETURN, action)]);
    let load = instruction(LOAD_WORD, NUMBER_AT);
    std::iter::once(load).chain(tests).chain([instruction(RETURN, libc::SECCOMP_RET_ALLOW)]).collect()
}

/// Programs one after the other, each going on to the next where it would let a call through, and where each begins.
fn chained(programs: Vec<(usize, BpfProgram)>) -> (BpfProgram, BTreeMap<usize, usize>) {
    let (mut all, mut starts) = (Vec::new(), BTreeMap::new());
    let count = programs.len();
    for (place, (part, program)) in programs.into_iter().enumerate() {
        starts.insert(part, all.len());
        let (is_last, length) = (place + 1 == count, program.len());
        all.extend(program.into_iter().enumerate().map(|(at, made)| {
            let lets_through = made.code == RETURN && made.k == libc::SECCOMP_RET_ALLOW;
            if lets_through && !is_last { instruction(JUMP, distance(length - at - 1)) } else { made }
        }));
    }
    (all, starts)
}

/// What the search ends with for the calls from one number up to the next stretch's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Says(u32),
    Asks(usize),
}

fn stretches(first: &BTreeMap<u32, usize>, parts: &[Part]) -> Vec<(u32, End)> {
    let allowed = End::Says(libc::SECCOMP_RET_ALLOW);
    let mut stretches = vec![(0, allowed)];
    for (call, index) in first {
        let end = match parts.get(*index).map(|part| &part.says) {
            Some(Says::Always(action)) => End::Says(*action),
            Some(Says::ByArguments(_)) | None => End::Asks(*index),
        };
        // The end of the stretch before it, unless that one ends here anyway.
        stretches.retain(|(from, _)| from != call);
        stretches.push((*call, end));
        stretches.push((call + 1, allowed));
    }
    stretches.dedup_by_key(|(_, end)| *end);
    stretches
}

/// An instruction, or a jump whose distance is not known yet.
enum Step {
    Instruction(sock_filter),
    To(usize),
}

/// A binary search for the loaded number.
fn search(stretches: &[(u32, End)]) -> Vec<Step> {
    let (left, right) = stretches.split_at(stretches.len() / 2);
    let Some((from, end)) = right.first() else { return Vec::new() };
    if left.is_empty() {
        return vec![match end {
            End::Says(action) => Step::Instruction(instruction(RETURN, *action)),
            End::Asks(part) => Step::To(*part),
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

fn instruction(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// The kernel takes no program that is nearly as long as this could say.
fn distance(instructions: usize) -> u32 {
    u32::try_from(instructions).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) mod testing {
    //! What a program says, without a kernel.

    use super::{JUMP, JUMP_IF_AT_LEAST, JUMP_IF_EQUAL, LOAD_WORD, RETURN, sock_filter};

    pub(in super::super) const ARCHITECTURE: u32 =
        if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e };

    /// The interpreter of `seccomp(2)` for the instructions that occur; every argument has the same value.
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
                0x54 => held &= made.k,
                RETURN => return made.k,
                other => panic!("an instruction {other:#x}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::{ARCHITECTURE, decision};
    use super::*;

    const FIRST_UNKNOWN: u32 = 463;

    proptest! {
        /// Parts that name whatever they like, each with an answer of its own; some let even calls through.
        #[test]
        fn the_first_part_that_refuses_a_call_decides(
            named in prop::collection::vec((prop::collection::btree_set(0..FIRST_UNKNOWN, 0..200), any::<bool>()), 1..6)
        ) {
            let numbered = || named.iter().zip(libc::SECCOMP_RET_ERRNO + 1..);
            let refuses = |call: u32, looks: bool| !looks || call % 2 == 1;
            let parts: Vec<Part> = numbered()
                .map(|((calls, looks), action)| {
                    let refused: Vec<u32> = calls.iter().filter(|call| refuses(**call, *looks)).copied().collect();
                    let says =
                        if *looks { Says::ByArguments(naming(&refused, action)) } else { Says::Always(action) };
                    Part { calls: calls.iter().copied().collect(), says }
                })
                .collect();
            let program = joined(Known { architecture: ARCHITECTURE, first_unknown: FIRST_UNKNOWN }, &parts);
            for call in 0..FIRST_UNKNOWN {
                let first = numbered().find(|((calls, looks), _)| calls.contains(&call) && refuses(call, *looks));
                let expected = first.map_or(libc::SECCOMP_RET_ALLOW, |(_, action)| action);
                prop_assert_eq!(decision(&program, ARCHITECTURE, call, 0), expected, "call {}", call);
            }
        }
    }
}
