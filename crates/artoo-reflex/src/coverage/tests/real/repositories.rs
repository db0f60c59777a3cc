//! Tests of repositories: packed refs, first commits, several steps.

use super::*;

/// The coverage of git actions after commands in a repository with packed refs.
fn check_packed(actions: &[GitAction], commands: &[&str]) -> Coverage {
    check_after(
        "git branch old; echo y >> c.txt; git commit -qam two; git tag v0; git pack-refs --all",
        actions,
        commands,
    )
}

/// The coverage of git actions after commands in a repository prepared by a script.
fn check_after(prepare: &str, actions: &[GitAction], commands: &[&str]) -> Coverage {
    let script = format!("git init -q -b main && git add -A && git commit -q -m start; {prepare}; echo z >> c.txt");
    RealFolder::prepared(&FILES, &script).compare_git(actions, commands)
}

/// The git action that creates a branch, and checks it out with `switch`.
fn branch(name: &str, switch: bool) -> GitAction {
    GitAction::Branch { name: name.to_owned(), switch }
}

/// The git action that checks out a branch.
fn switch(name: &str) -> GitAction {
    GitAction::Switch { name: name.to_owned() }
}

/// The git action that creates a tag.
fn tag(name: &str) -> GitAction {
    GitAction::Tag { name: name.to_owned() }
}

#[test]
fn packed_refs_are_read() {
    assert_complete(&check_packed(&[commit("m")], &["git commit -qam m"]));
    assert_complete(&check_packed(&[branch("new", false)], &["git branch new && git pack-refs --all"]));
    assert_complete(&check_packed(&[tag("v1")], &["git tag v1 && git pack-refs --all"]));
    assert_states(&check_packed(&[switch("old")], &["git checkout -q -- c.txt; git checkout old"]), &[Shown]);
    for (action, command) in [
        (branch("new", false), "git branch new old && git pack-refs --all"),
        (tag("v1"), "git tag v1 old && git pack-refs --all"),
        (tag("v1"), "git tag -a -m x v1 old"),
    ] {
        assert_states(&check_packed(&[action], &[command]), &[Refuted]);
    }
    for action in [branch("old", false), tag("v0")] {
        assert_states(&check_packed(&[action], &["true"]), &[NotShown]);
    }
    // A tag is not a branch, and `a//b` is not a valid name.
    for name in ["../tags/v0", "a//b"] {
        let coverage = check_packed(&[branch(name, false)], &["true"]);
        assert_states(&coverage, &[Refuted]);
        assert!(coverage.rows[0].why.contains("there is no branch"), "{coverage:#?}");
    }
}

#[test]
fn first_commit_has_no_parent() {
    let check = |actions: &[GitAction], commands: &[&str]| {
        RealFolder::prepared(&FILES, "git init -q -b main").compare_git(actions, commands)
    };
    assert_complete(&check(&[commit("m")], &["git add -A && git commit -qm m"]));
    assert_states(&check(&[commit("m")], &["git add -A && git commit -qm n"]), &[Refuted]);
    assert_states(&check(&[commit("m")], &["git add d && git commit -qm x; git add -A; git commit -qm m"]), &[Refuted]);
    assert_states(&check(&[commit("m")], &["true"]), &[Refuted]);
    let both = [branch("new", true), commit("m")];
    assert_complete(&check(&both, &["git checkout -q -b new; git add -A && git commit -qm m"]));
    assert_states(&check(&[branch("new", false)], &["true"]), &[Refuted]);
    assert_complete(&check(&[GitAction::Init], &["git init -q"]));
}

#[test]
fn git_steps_are_compared_in_order() {
    let two = ["git commit -qam one", "echo y >> c.txt; git commit -qam two"];
    let [first, second] = two;
    let between = check_after("true", &[commit("one"), tag("v1"), commit("two")], &[first, "git tag v1", second]);
    assert_states(&between, &[Shown, Shown, Shown]);
    assert_states(
        &check_after("true", &[commit("one"), tag("v1"), commit("two")], &[first, second, "git tag v1"]),
        &[Shown, Refuted, Shown],
    );
    assert_complete(&check_after("true", &[tag("v1"), commit("one")], &["git tag v1", first]));
    assert_states(&check_after("true", &[tag("v1"), commit("one")], &[first, "git tag v1"]), &[Refuted, Shown]);
    assert_complete(&check_after("true", &[branch("b", false), commit("one")], &["git branch b", first]));
    assert_states(
        &check_after("true", &[branch("b", false), commit("one")], &["git checkout -q -b b", first]),
        &[Refuted, Shown],
    );
    // Of two switches only the last can be seen.
    let old = "git branch old; git branch older";
    let out = ["git checkout -q old", "git checkout -q older"];
    assert_states(&check_after(old, &[switch("old"), switch("older")], &out), &[NotShown, Shown]);
    assert_states(&check_after(old, &[switch("old"), switch("older")], &out[..1]), &[NotShown, Refuted]);
    let new = [switch("old"), branch("new", true)];
    assert_states(&check_after(old, &new, &["git checkout -q old", "git checkout -q -b new"]), &[NotShown, Shown]);
    let back = [branch("new", true), switch("old")];
    assert_states(&check_after(old, &back, &["git checkout -q -b new", "git checkout -q old"]), &[Shown, Shown]);
    let committed = [switch("old"), commit("m")];
    assert_states(&check_after(old, &committed, &["git checkout -q old", "git commit -qam m"]), &[Shown, NotShown]);
    let elsewhere = "git checkout -q -b old; git commit -q --allow-empty -m x; git checkout -q main; git branch older";
    let tagged = [switch("old"), tag("v1")];
    assert_states(&check_after(elsewhere, &tagged, &["git checkout -q old; git tag v1"]), &[Shown, NotShown]);
}

/// Of the files changed by a checkout, only those of its branch count as requested.
#[test]
fn checkout_explains_files_of_its_branch() {
    let prepare = "git checkout -q -b old; echo o > d/e/b.txt; echo n > new.txt; git add -A; git rm -q d/a.txt; \
                   git commit -qm o; git checkout -q main";
    let check = |command: &str| check_after(prepare, &[switch("old")], &[command]);
    assert_complete(&check("git checkout -q old"));
    for more in ["echo x > new.txt", "echo x > d/a.txt", "echo x >> d/e/b.txt", "git commit -qam x"] {
        let coverage = check(&format!("git checkout -q old; {more}"));
        assert!(!coverage.unasked.is_empty() && !coverage.is_complete(), "{more} {coverage:#?}");
    }
}

#[test]
fn commit_is_found_on_its_branch_after_switch() {
    let back = [commit("m"), tag("v1"), switch("old")];
    let old = "git branch old";
    let shown = check_after(old, &back, &["git commit -qam m", "git tag v1", "git checkout -q old"]);
    assert_states(&shown, &[Shown, Shown, Shown]);
    for (commands, states) in [
        (["git commit -qam n", "git tag v1", "git checkout -q old"], [Refuted, Shown, Shown]),
        (["git tag v1", "git commit -qam m", "git checkout -q old"], [Shown, Refuted, Shown]),
        (
            ["git stash -q; git checkout -q old", "git tag v1", "git stash pop -q; git commit -qam m"],
            [Refuted, Shown, Shown],
        ),
    ] {
        assert_states(&check_after(old, &back, &commands), &states);
    }
    // The switch may be asked for by the unread clause.
    let mut place =
        RealFolder::prepared(&FILES, "git init -q; git add -A; git commit -qm o; git branch old; echo z >> c.txt");
    let act = git(&place, commit("m"));
    let ledger = half_read(&[Step::Do(act)], &place.fs);
    place.sh("git commit -qam m; git checkout -q old");
    assert_states(&ledger.cover(&place.calls, &place.fs), &[Shown, CoverageState::NotRead]);
    let new = [branch("new", true), commit("m"), switch("main")];
    let commands = ["git checkout -q -b new", "git commit -qam m", "git checkout -q main"];
    assert_states(&check_after(old, &new, &commands), &[Shown, Shown, Shown]);
    let elsewhere = ["git checkout -q -b new; git checkout -q main", "git commit -qam m", "true"];
    assert_states(&check_after(old, &new, &elsewhere), &[Shown, Refuted, Shown]);
}

#[test]
fn empty_and_merge_commits_are_refuted() {
    assert_states(&check_after("true", &[commit("m")], &["git commit -qam m; git checkout -q --detach"]), &[Shown]);
    let merge = "git checkout -q -b b; git commit -qam x; git checkout -q main; git merge -q --no-ff -m m b";
    assert_states(&check_after("true", &[commit("m")], &[merge]), &[Refuted]);
    let amended = check_after("true", &[commit("m")], &["git commit -qam m; git reset -q --soft HEAD~1"]);
    assert_states(&amended, &[Refuted]);
    let lines = check_after("true", &[commit("a\n\nb")], &["git commit -qam a -m b"]);
    assert_complete(&lines);
    let other = check_after("true", &[commit("a\n\nb")], &["git commit -qam a -m c"]);
    assert_states(&other, &[Refuted]);
    // A detached HEAD.
    assert_complete(&check_after("git checkout -q --detach", &[commit("m")], &["git commit -qam m"]));
}

/// A git step explains changes in `.git` except hooks, and no other files.
#[test]
fn git_step_explains_only_repository_data() {
    let more = check_after("true", &[commit("m")], &["git commit -qam m; echo x > n.txt"]);
    assert!(more.rows[0].state == Shown && more.unasked.len() == 1, "{more:#?}");
    assert!(more.rows[0].by.len() == 1 && more.unasked[0].path.ends_with("n.txt"), "{more:#?}");
    let none = check_after("true", &[commit("m")], &["git commit -qam m", "ls"]);
    assert!(none.rows[0].by.len() == 1, "{none:#?}");
    let hooks = "printf x > .git/hooks/pre-commit; printf x > .git/hooks/new.sample";
    let hook = check_after("true", &[commit("m")], &["git commit -qam m", hooks]);
    assert!(hook.unasked.len() == 1 && hook.run_by_others.len() == 1, "{hook:#?}");
    let removed =
        check_after("echo x > .git/hooks/post-x", &[commit("m")], &["git commit -qam m; rm .git/hooks/post-x"]);
    assert!(removed.unasked.len() == 1 && removed.run_by_others.is_empty(), "{removed:#?}");
    let mut place = RealFolder::new(&FILES);
    let ledger = place.ledger(&[git(&place, GitAction::Init)]);
    place.sh("git init -q; git config a.b c");
    assert_complete(&ledger.cover(&place.calls, &place.fs));
}

#[test]
fn step_order_around_commits_is_checked() {
    let acts = |place: &RealFolder| {
        vec![git(place, commit("m")), Act::CreateFile { path: place.path("n.txt"), text: "n\n".to_owned() }]
    };
    let check = |commands: &[&str]| {
        let mut place = RealFolder::prepared(
            &FILES,
            "git init -q -b main && git add -A && git commit -q -m start; echo z >> c.txt",
        );
        let ledger = place.ledger(&acts(&place));
        for command in commands {
            place.sh(command);
        }
        ledger.cover(&place.calls, &place.fs)
    };
    assert_complete(&check(&["git commit -qam m", "echo n > n.txt"]));
    assert_complete(&check(&["git commit -qam m", "echo n > n.txt", "git add -N n.txt; git status"]));
    assert_states(&check(&["echo n > n.txt", "git add -A; git commit -qam m"]), &[NotShown, Shown]);
}

/// A changed git configuration counts as requested only in a new repository.
#[test]
fn only_new_repository_explains_its_config() {
    let acts = |place: &RealFolder| vec![git(place, GitAction::Init), git(place, commit("m"))];
    assert_complete(&RealFolder::check(&FILES, acts, &["git init -q", "git add -A && git commit -qm m"]));
    let coverage = check_after("true", &[commit("m")], &["git config core.pager 'cat'; git add -A; git commit -qm m"]);
    assert!(!coverage.unasked.is_empty(), "{coverage:#?}");
}
