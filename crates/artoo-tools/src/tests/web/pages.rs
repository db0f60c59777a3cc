//! Fetching a page: which addresses are allowed, how much is read, and how the text is shown.

use std::time::Duration;

use artoo_proto::{CallStatus, ToolOutcome};
use serde_json::json;

use super::server::{Reply, Server, html, json as as_json, to};
use super::{allowed, call_without_approval, context, with_searxng};

const PAGE: &str = "<html><head><title>A  page</title><style>p{}</style><script>var a='<p>no</p>';</script></head>
    <body><h1>Head &amp; shoulders</h1><p>One<br>two <b>three</b></p><ul><li>x<li>y</ul>
    <div style='display: none'>hidden <div>deep</div> still</div><div hidden>gone</div>
    <table><tr><td>1</td><td>2</td></tr></table><p hidden>open-ended<p>end\u{202e}\u{1b}[2J</body></html>";

/// A page is returned as its visible text, without scripts and hidden elements.
#[tokio::test]
async fn pages_are_read_as_visible_text() {
    let server = Server::start(vec![("/a", html(PAGE))]);
    let call = allowed(&with_searxng(&server), json!({"url": server.url("/a")})).await;
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    let lines: Vec<&str> = call.output.lines().collect();
    assert_eq!(
        lines,
        [
            format!("[{}]", server.url("/a")).as_str(),
            "A page",
            "Head & shoulders",
            "One",
            "two three",
            "x",
            "y",
            "1 2",
            "open-ended",
            "end\\u{202e}\\u{1b}[2J",
            "[the whole text, 70 characters]",
        ]
    );
}

/// Fetching a page needs approval unless the user's request names its address or a search returned it.
#[doc = "holds: law 1.22"]
#[tokio::test]
async fn only_named_pages_are_fetched_unasked() {
    let found = as_json(r#"{"results":[{"url":"http://site.test/found","title":"t"}]}"#);
    let server = Server::start(vec![("/search", found), ("/found", html("found it")), ("/other", html("other"))]);
    let fixture = with_searxng(&server);
    let fetch = |path: &str| context(json!({"url": format!("http://site.test{path}")}));
    let check = async |path: &str, said: &str, is_asked: bool| {
        let outcome = fixture.outcome_for(&fetch(path), said, None).await;
        assert_eq!(matches!(outcome, ToolOutcome::NeedsConsent { .. }), is_asked, "{path} {said}: {outcome:?}");
        outcome
    };
    let asked = check("/found?secret=hunter2", "look it up", true).await;
    let ToolOutcome::NeedsConsent { shown, effects, .. } = asked else { unreachable!() };
    assert_eq!(shown, "search: GET http://site.test/found?secret=hunter2");
    assert_eq!(effects.first().unwrap(), "sends this address to site.test, with whatever is written in it");
    check("/other", "read http://site.test/other, please", false).await;
    check("/found", "look it up", true).await;
    let call = call_without_approval(&fixture, json!({"query": "it"}), "look it up").await;
    assert_eq!(call.status, CallStatus::Ok, "{call:?}");
    check("/found", "look it up", false).await;
    check("/found?secret=hunter2", "look it up", true).await;
    check("/found/more", "look it up", true).await;
}

/// A redirect to a private address is refused; each redirect is checked like the first URL.
#[doc = "holds: law 1.24; design T21"]
#[tokio::test]
async fn redirects_to_private_addresses_are_refused() {
    let inside = Server::start(vec![("/secret", html("secret"))]);
    let secret = inside.url("/secret");
    for (location, expected) in [
        ("http://169.254.169.254/latest/meta-data/", "no public address"),
        ("http://[::1]/", "no public address"),
        ("http://0x7f000001/", "no public address"),
        ("http://localhost:9999/", "no public address"),
        ("file:///etc/passwd", "only http and https"),
        ("//127.0.0.1:8022/", "no public address"),
        ("https://a:b@site.test/", "user name"),
        ("http://[", "redirected to an invalid URL"),
        (secret.as_str(), "no public address"),
    ] {
        let server = Server::start(vec![("/a", to("/b")), ("/b", to(location))]);
        let call = allowed(&with_searxng(&server), json!({"url": server.url("/a")})).await;
        assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{location}: {call:?}");
        assert!(call.output.contains(expected), "{location}: {call:?}");
    }
    assert_eq!(inside.asked().len(), 0);
}

/// A page at a host name that resolves to a loopback address is not fetched.
#[doc = "holds: law 1.24; design T21"]
#[tokio::test]
async fn names_resolving_to_private_addresses_are_refused() {
    let server = Server::start(vec![("/", html("inside"))]);
    let port = server.address.port();
    let fixture = with_searxng(&server);
    let call = allowed(&fixture, json!({"url": format!("http://localhost:{port}/")})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert!(call.output.contains("localhost resolves to") && call.output.contains("no public address"), "{call:?}");
    assert_eq!(server.asked().len(), 0);
}

/// Fetching a page fails beyond a maximum size, time or number of redirects.
#[doc = "holds: design T21"]
#[tokio::test]
async fn size_time_and_hops_are_bounded() {
    let big = Reply::Plain("200 OK", vec![("content-type", "text/html".to_owned())], vec![b'x'; 10 * 1024 * 1024]);
    let server = Server::start(vec![
        ("/big", big),
        ("/endless", Reply::Endless),
        ("/silence", Reply::Silence),
        ("/round", to("/round")),
        ("/hop", to("/hop2")),
        ("/hop2", html("arrived")),
    ]);
    let mut fixture = with_searxng(&server);
    let check = async |fixture: &super::Fixture, path: &str, status: CallStatus, expected: &str| {
        let call = allowed(fixture, json!({"url": server.url(path)})).await;
        assert_eq!(call.status, status, "{path}: {call:?}");
        assert!(call.output.contains(expected), "{path}: {call:?}");
        assert!(call.output.len() < 4_000, "{path}");
    };
    check(&fixture, "/big", CallStatus::Failed, "sent more than 5242880 bytes").await;
    check(&fixture, "/endless", CallStatus::Failed, "sent more than 5242880 bytes").await;
    // The system's socket buffers hold more.
    assert!(server.sent() < 30 * 1024 * 1024, "{} bytes were taken", server.sent());
    check(&fixture, "/round", CallStatus::Failed, "redirected more than 5 times").await;
    assert_eq!(server.asked().iter().filter(|head| head.starts_with("GET /round ")).count(), 6);
    check(
        &fixture,
        "/hop",
        CallStatus::Ok,
        &format!("[{}, redirected from {}]\narrived", server.url("/hop2"), server.url("/hop")),
    )
    .await;
    fixture.config.call_timeout = Duration::from_millis(300);
    fixture.registry = crate::Registry::detect(fixture.config.clone());
    check(&fixture, "/silence", CallStatus::TimedOut, "time was up").await;
}

/// If a page can't be fetched, the call fails because of the environment, and the error does not show the query.
#[doc = "holds: design T21"]
#[tokio::test]
async fn network_failures_are_environmental() {
    let server = Server::start(vec![]);
    let fixture = with_searxng(&server);
    // The port was just released, so no server listens on it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut config = fixture.config.clone();
    config.web.loopback.insert("gone.test".to_owned(), ([127, 0, 0, 1], port).into());
    let registry = crate::Registry::detect(config);
    let fixture = super::Fixture { registry, ..fixture };
    let call = allowed(&fixture, json!({"url": "http://gone.test/?q=hunter2"})).await;
    assert_eq!((call.status, call.environmental), (CallStatus::Failed, true), "{call:?}");
    assert!(call.output.contains("gone.test could not be asked") && !call.output.contains("hunter2"), "{call:?}");
}

/// A page that asks to solve a captcha is reported as a failure, not as an answer.
#[doc = "holds: law 0.10; design D7"]
#[tokio::test]
async fn captcha_pages_are_failures() {
    let status = |status, text: &str| Reply::Plain(status, vec![("content-type", "text/html".to_owned())], text.into());
    let article = format!("<p>How to solve the captcha: are you a robot? {}</p>", "word ".repeat(400));
    let server = Server::start(vec![
        ("/cf", status("403 Forbidden", "<title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x>")),
        ("/human", html("<h1>Please verify you are human</h1>")),
        ("/many", status("429 Too Many Requests", "slow down")),
        ("/article", html(&article)),
        ("/gone", status("410 Gone", "gone")),
        ("/zip", Reply::Plain("200 OK", vec![("content-type", "application/zip".to_owned())], b"PK".to_vec())),
    ]);
    let fixture = with_searxng(&server);
    let check = async |path: &str, status: CallStatus, expected: &str| {
        let call = allowed(&fixture, json!({"url": server.url(path)})).await;
        assert_eq!((call.status, call.environmental), (status, status != CallStatus::Ok), "{path}: {call:?}");
        assert!(call.output.contains(expected), "{path}: {call:?}");
    };
    check("/cf", CallStatus::Failed, "proof of a person").await;
    check("/human", CallStatus::Failed, "proof of a person").await;
    check("/many", CallStatus::Failed, "no more questions").await;
    check("/gone", CallStatus::Failed, "status 410").await;
    check("/zip", CallStatus::Failed, "application/zip").await;
    check("/article", CallStatus::Ok, "How to solve the captcha").await;
}

/// A long page is returned in parts, by the character at which to start.
#[tokio::test]
async fn long_pages_are_read_in_parts() {
    let text: String = (0..3000).map(|n| format!("word{n} ")).collect();
    let server = Server::start(vec![("/long", html(&text))]);
    let fixture = with_searxng(&server);
    let mut from = 0;
    let mut whole = String::new();
    loop {
        let call = allowed(&fixture, json!({"url": server.url("/long"), "from": from})).await;
        assert!(call.status == CallStatus::Ok && !call.truncated, "{call:?}");
        let lines: Vec<&str> = call.output.lines().collect();
        whole.push_str(lines[1]);
        let range = lines[2].trim_start_matches("[characters ").split(['t', 'o', ' ']).filter(|w| !w.is_empty());
        from = range.clone().nth(1).unwrap().parse().unwrap();
        if lines[2].contains(&format!("to {from} of {from};")) {
            break;
        }
    }
    assert_eq!(whole, text.trim_end());
}
