//! `artoo setup` with every protocol and every place of a key, in a real terminal; the written configuration must work.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::pty::Pty;
use crate::world::{KEY, RunOutput, World};

/// A server that speaks one model protocol and stores each request's first line and key.
struct ProtocolServer {
    address: String,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl ProtocolServer {
    /// Starts a server that speaks this protocol and reports this context length in tokens.
    fn start(protocol: &'static str, context_tokens: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let speaker = Self { address: listener.local_addr().unwrap().to_string(), asked: Arc::default() };
        let asked = Arc::clone(&speaker.asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let asked = Arc::clone(&asked);
                std::thread::spawn(move || drop(serve(stream, protocol, context_tokens, &asked)));
            }
        });
        speaker
    }

    /// The keys sent with the requests whose first line begins with `line`.
    fn asked(&self, line: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(first, _)| first.starts_with(line)).map(|(_, key)| key.clone()).collect()
    }
}

/// Answers one HTTP request of a connection in the server's protocol and stores its first line and key.
fn serve(
    mut stream: TcpStream,
    protocol: &str,
    context_tokens: u64,
    asked: &Mutex<Vec<(String, String)>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut key, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let lower = line.to_lowercase();
        if lower.starts_with("authorization:") || lower.starts_with("x-api-key:") {
            line.trim().clone_into(&mut key);
        }
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    asked.lock().unwrap().push((first.clone(), key));
    let body = answer(protocol, first.split(' ').nth(1).unwrap_or_default(), context_tokens);
    let (status, body) = body.map_or((404, json!({"error": "no such place"})), |body| (200, body));
    let body = body.to_string();
    let head = "content-type: application/json\r\nconnection: close";
    write!(stream, "HTTP/1.1 {status} X\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// The server's JSON reply to a request path in its protocol; `None` if the protocol has no such path.
fn answer(protocol: &str, place: &str, context_tokens: u64) -> Option<Value> {
    let sum = "{\"sum\":5}";
    Some(match (protocol, place) {
        (_, "/v1/models") => {
            let listed = |name: &str| json!({"id": name, "max_model_len": context_tokens});
            json!({"data": [listed("m-one"), listed("m-two")]})
        }
        ("ollama", "/api/version") => json!({"version": "0.5.1"}),
        ("ollama", "/api/show") => json!({"model_info": {"x.context_length": context_tokens}}),
        ("ollama", "/api/ps") => json!({"models": []}),
        ("ollama", "/api/chat") => json!({
            "model": "m-two", "message": {"content": sum}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 9, "eval_count": 3
        }),
        ("openai", "/v1/chat/completions") => json!({
            "model": "m-two-7b", "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": sum}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 3}
        }),
        ("responses", "/v1/responses") => json!({
            "object": "response", "model": "m-two", "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": sum}]}],
            "usage": {"input_tokens": 9, "output_tokens": 3}
        }),
        ("anthropic", "/v1/messages") => json!({
            "type": "message", "model": "m-two", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "name": "trial", "input": {"sum": 5}}],
            "usage": {"input_tokens": 9, "output_tokens": 3}
        }),
        _ => return None,
    })
}

/// Chooses the entry of setup's list that contains these words, by typing its number.
#[track_caller]
fn pick(pty: &mut Pty, question: &str, words: &str) {
    pty.see(question);
    pty.see(words);
    let screen = pty.screen();
    let list = &screen[screen.rfind(question).unwrap()..];
    let line = list.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {screen}"));
    pty.enter(line.trim().split('.').next().unwrap());
}

/// Types what setup asks for when the key is in this place: a variable's name, a path, a command, or the key.
#[track_caller]
fn type_key(pty: &mut Pty, place: &str, typed: &str) {
    pty.see(match place {
        "a variable" => "The variable's name",
        "a file" => "The file's path",
        "a command" => "The command;",
        _ => "Its key (",
    });
    pty.enter(typed);
}

/// Runs setup through all its questions (address, protocol, key, second model, approval); returns the text of the
/// screen.
fn set_up(world: &World, address: &str, spoken: &str, place: &str, typed: Option<&str>) -> String {
    let mut command = world.command(&["setup"]);
    command.env("MY_KEY", KEY);
    let mut pty = Pty::start(&command, 140);
    pick(&mut pty, "Who is to answer?", "I type its address");
    pty.see("Its address");
    pty.enter(address);
    pick(&mut pty, "What does it speak?", spoken);
    pick(&mut pty, "Where is its key?", place);
    if let Some(typed) = typed {
        type_key(&mut pty, place, typed);
    }
    pick(&mut pty, "Which model?", "m-two");
    pty.see("the right answer");
    pty.see("Write it?");
    pty.send("\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains(KEY), "{screen}");
    screen
}

/// Setup works with each protocol and each place of a key, in five combinations.
#[test]
fn setup_combines_protocols_and_key_sources() {
    let world = World::new();
    let file = world.file("keys/one", format!("{KEY}\n"));
    fs::set_permissions(file.parent().unwrap(), Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let (bearer, named) = (format!("authorization: Bearer {KEY}"), format!("x-api-key: {KEY}"));
    // Protocol, its words, the tail of the address, the key's place, what is typed for it, the file's line, the header,
    // where the question goes.
    let file_line = format!("key_file = {:?}", file.to_str().unwrap());
    let typed_line = format!("key_file = {:?}", world.home().join(".config/artoo/key").to_str().unwrap());
    let command = "cat ~/keys/one".to_owned();
    let command_line = format!("key_command = {command:?}");
    for (protocol, words, tail, place, typed, line, header, call) in [
        (
            "openai",
            "Chat Completions",
            "/v1/v1/",
            "a variable",
            Some("MY_KEY"),
            "key_variable = \"MY_KEY\"",
            bearer.as_str(),
            "/v1/chat/completions",
        ),
        ("openai", "Chat Completions", "", "it needs none", None, "", "", "/v1/chat/completions"),
        (
            "responses",
            "OpenAI's Responses",
            "/v1/responses",
            "a command",
            Some(&command),
            &command_line,
            &bearer,
            "/v1/responses",
        ),
        (
            "anthropic",
            "Anthropic's Messages",
            "/v1/messages",
            "a file",
            Some("~/keys/one"),
            &file_line,
            &named,
            "/v1/messages",
        ),
        ("ollama", "Ollama's own", "/v1", "I type the key", Some(KEY), &typed_line, &bearer, "/api/chat"),
    ] {
        let speaker = ProtocolServer::start(protocol, 4_096);
        let address = format!("http://{}{tail}", speaker.address);
        let screen = set_up(&world, &address, words, place, typed);
        let calls = speaker.asked(&format!("POST {call} "));
        assert_eq!(calls.len(), 1, "{protocol}: one question, no more: {screen}");
        assert!(calls[0].eq_ignore_ascii_case(header), "{protocol}: {calls:?}");
        assert!(screen.contains(&format!("at http://{}{call} one question", speaker.address)), "{screen}");
        assert!(screen.contains("Found: ") && screen.contains("its context has 4096 tokens"), "{screen}");
        assert_eq!(screen.contains("it answers as m-two-7b"), protocol == "openai", "{screen}");
        let text = fs::read_to_string(world.home().join(".config/artoo/config.toml")).unwrap();
        let model = format!("model = {protocol:?}");
        for expected in [model.as_str(), "model_name = \"m-two\"", line] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
        let places = text.lines().filter(|line| line.starts_with("key_")).count();
        assert_eq!(places, usize::from(!line.is_empty()), "a key has one place: {text}");
        assert!(!text.contains(KEY), "{text}");
        // From here on the file alone says it.
        let mut doctor = world.command(&["doctor"]);
        let doctor = doctor.env("MY_KEY", KEY).output().unwrap();
        let shown = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(shown.contains("answers and lists m-two"), "{protocol}: {shown}");
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[test]
fn setup_finds_ollama_with_its_protocol() {
    let (world, ollama) = (World::new(), ProtocolServer::start("ollama", 8_192));
    let mut command = world.command(&["setup"]);
    let mut pty = Pty::start(command.env("OLLAMA_HOST", &ollama.address), 140);
    pick(&mut pty, "Who is to answer?", &format!("OLLAMA_HOST at http://{}/, 2 models", ollama.address));
    pick(&mut pty, "Which model?", "m-one");
    pty.see("the right answer");
    pty.see("Write it?");
    pty.send("\r");
    let (code, screen) = pty.ended();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(ollama.asked("POST /api/chat ").len(), 1);
    // An address that is typed is recognised too: Ollama stands first.
    let mut pty = Pty::start(&world.command(&["setup"]), 140);
    pick(&mut pty, "Who is to answer?", "I type its address");
    pty.see("Its address");
    pty.enter("localhost:8080");
    pty.see("can't be used");
    pty.enter(&format!("http://{}", ollama.address));
    pty.see("1. Ollama's own protocol");
    pty.enter("q");
    assert_eq!(pty.ended().0, 130);
}

/// Setup asks again if the key can't be read from the place that the user named.
#[test]
fn setup_asks_again_for_missing_key() {
    let (world, speaker) = (World::new(), ProtocolServer::start("openai", 4_096));
    let open = world.file("open", format!("{KEY}\n"));
    fs::set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    let mut pty = Pty::start(&world.command(&["setup"]), 140);
    pick(&mut pty, "Who is to answer?", "I type its address");
    pty.see("Its address");
    pty.enter(&format!("http://{}", speaker.address));
    pty.see("What does it speak?");
    pty.enter("");
    for (place, typed, told) in [
        ("a variable", "NO_SUCH_KEY", "that variable is not set here"),
        ("a file", "~/open", "can be read by others than you"),
        ("a command", "exit 3", "that command failed with status 3"),
        ("I type the key", "", "There is no key in that"),
    ] {
        pick(&mut pty, "Where is its key?", place);
        type_key(&mut pty, place, typed);
        pty.see(told);
    }
    pty.enter("q");
    let (code, screen) = pty.ended();
    assert_eq!(code, 130, "{screen}");
    assert!(!screen.contains(KEY) && speaker.asked("POST").is_empty(), "{screen}");
    let ran: RunOutput = world.run(&["config", "path"]);
    assert!(!std::path::Path::new(ran.stdout.trim()).exists(), "nothing is written");
}
