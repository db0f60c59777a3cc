//! The second reader: tree-sitter's grammar of bash. A script counts only if it holds nothing but known kinds of nodes
//! and has its commands and words in the same places as the first reader saw them.

use std::cell::RefCell;
use std::ops::Range;

use tree_sitter::{Node, Parser};

use super::Doubt;
use super::script::Seen;

/// Nodes a script visited may have; a bound on work, far above what [`super::PROVABLE_MAX_BYTES`] needs.
const NODES_MAX: usize = 8192;

/// Kinds of nodes that are known; every other kind is a doubt.
const KINDS: [&str; 49] = [
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "concatenation",
    "string",
    "string_content",
    "raw_string",
    "ansi_c_string",
    "number",
    "simple_expansion",
    "expansion",
    "variable_name",
    "special_variable_name",
    "command_substitution",
    "arithmetic_expansion",
    "binary_expression",
    "unary_expression",
    "parenthesized_expression",
    "file_redirect",
    "file_descriptor",
    "redirected_statement",
    "herestring_redirect",
    "heredoc_redirect",
    "heredoc_start",
    "heredoc_body",
    "heredoc_end",
    "subshell",
    "compound_statement",
    "negated_command",
    "if_statement",
    "elif_clause",
    "else_clause",
    "for_statement",
    "while_statement",
    "do_group",
    "variable_assignment",
    "variable_assignments",
    "test_command",
    "test_operator",
    "comment",
    "brace_expression",
    "regex",
    "extglob_pattern",
    "heredoc_content",
    "translated_string",
    "postfix_expression",
];

/// What a word may be in the tree.
const WORDS: [&str; 11] = [
    "word",
    "concatenation",
    "string",
    "raw_string",
    "ansi_c_string",
    "number",
    "simple_expansion",
    "expansion",
    "command_substitution",
    "arithmetic_expansion",
    "brace_expression",
];

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(new_parser());
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Whether the second reader sees the same commands and words.
pub(super) fn agrees(text: &str, mut first: Seen) -> Result<(), Doubt> {
    let tree = PARSER.with_borrow_mut(|parser| parser.as_mut()?.parse(text, None)).ok_or(Doubt::Disagreement)?;
    let mut second = Seen::default();
    let mut visited = 0;
    visit(tree.root_node(), false, &mut second, &mut visited)?;
    for seen in [&mut first, &mut second] {
        for spans in [&mut seen.names, &mut seen.words, &mut seen.tests] {
            spans.sort_by_key(|span| (span.start, span.end));
        }
    }
    if first == second { Ok(()) } else { Err(Doubt::Disagreement) }
}

fn visit(node: Node<'_>, in_test: bool, seen: &mut Seen, visited: &mut usize) -> Result<(), Doubt> {
    *visited += 1;
    if *visited > NODES_MAX || node.is_error() || node.is_missing() {
        return Err(Doubt::Disagreement);
    }
    if node.is_named() && !KINDS.contains(&node.kind()) {
        return Err(Doubt::Reserved { word: node.kind().replace('_', " ") });
    }
    let in_test = match node.kind() {
        "test_command" => {
            seen.tests.push(span(node));
            true
        }
        "command_substitution" => false,
        _ => in_test,
    };
    let mut cursor = node.walk();
    for (index, child) in node.children(&mut cursor).enumerate() {
        if !in_test && child.is_named() {
            note(node, child, u32::try_from(index).unwrap_or(u32::MAX), seen);
        }
        visit(child, in_test, seen, visited)?;
    }
    Ok(())
}

/// Notes a child that is the name of a command or a word of one.
fn note(parent: Node<'_>, child: Node<'_>, index: u32, seen: &mut Seen) {
    let is_word = WORDS.contains(&child.kind());
    match parent.kind() {
        "command" if child.kind() == "command_name" => seen.names.push(span(child)),
        "command" | "file_redirect" | "herestring_redirect" if is_word => seen.words.push(span(child)),
        "for_statement" if is_word && parent.field_name_for_child(index) == Some("value") => {
            seen.words.push(span(child));
        }
        // Arguments that follow a here-document's mark stand below it.
        "heredoc_redirect" if is_word => seen.words.push(span(child)),
        _ => {}
    }
}

fn span(node: Node<'_>) -> Range<usize> {
    node.start_byte()..node.end_byte()
}
