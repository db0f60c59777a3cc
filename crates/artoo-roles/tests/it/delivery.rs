//! Deliveries in another order than that of the bus, and roles that panic during a delivery.

use artoo_bus::TapEvent;
use artoo_proto::{
    AbandonReason, CancelRequest, ClarificationAnswer, Ending, FinalResult, Message, MessageKind, Role, SubTask, TaskId,
};
use serde_json::json;

use artoo_roles::machine::Completion;
use artoo_roles::system::{Effect, Input};
use artoo_roles::testing::world::{World, needs_consent, ok_call, pass_all, refusing, understood, value};

/// A world whose model plans one glob call, with a request that was not delivered yet.
fn begun(text: &str) -> (World, TaskId) {
    let mut world = World::new(1);
    world.model = Box::new(|request| match request.role {
        Role::Perceiver => understood(request),
        Role::Planner => value(json!({"task_criteria": ["the output says how many there are"], "subtasks": [{
            "intent": "look at the machine with glob", "context": "", "sequence": 1, "tools": ["glob"],
            "success_criteria": ["the output names a number of files"]}]})),
        Role::Executor => value(json!({"calls": [{"tool": "glob", "input": {"root": "/home/u"}}],
            "answer_is_output": true, "status": "completed", "output": ""})),
        _ => pass_all(request),
    });
    world.tools = Box::new(|order| ok_call(order, "12"));
    let request = world.request(text);
    let task_id = request.task_id.clone();
    accept(&mut world, Input::Operator { message: request.into() });
    (world, task_id)
}

/// Passes an input to the System and takes its effects; the messages stay in the queue.
fn accept(world: &mut World, input: Input) {
    world.system.accept(world.now, input);
    let effects = world.system.take_effects();
    world.take(effects);
}

/// Delivers the oldest message that `wanted` selects; `false` if there is none.
fn deliver(world: &mut World, wanted: impl Fn(&Message, Role) -> bool) -> bool {
    let hit = |delivery: &artoo_bus::Delivery| wanted(&delivery.envelope.message, delivery.to.role);
    let Some(at) = world.system.bus().waiting().position(hit) else { return false };
    let delivery = world.system.take_delivery(at).unwrap();
    world.system.deliver(world.now, &delivery);
    let effects = world.system.take_effects();
    world.take(effects);
    true
}

/// Delivers messages and performs work until a message of this kind is published; that message is not delivered.
fn until_published(world: &mut World, kind: MessageKind) {
    for _ in 0..1_000 {
        if !world.published(kind).is_empty() {
            return;
        }
        if deliver(world, |_, _| true) {
            continue;
        }
        let (effect_id, work) = world.work.pop_front().expect("there is work");
        let completion = world.perform(&work);
        accept(world, Input::Completed { effect_id, completion });
    }
    panic!("{kind} is never said");
}

/// The results that were delivered.
fn results(world: &World) -> Vec<&FinalResult> {
    let results = world.delivered.iter().map(|message| match message {
        Message::FinalResult(result) => Some(result),
        _ => None,
    });
    results.flatten().collect()
}

/// After a task's result is published, messages still in the queue start no work and cause no further message.
#[doc = "holds: design B5"]
#[test]
fn no_work_between_result_and_delivery() {
    let (mut world, task_id) = begun("how many reports are there");
    until_published(&mut world, MessageKind::SubTask);
    // The executor's subtask, the memory's answer and all the rest still wait when the user stops.
    accept(&mut world, Input::Operator { message: CancelRequest { task_id: task_id.clone() }.into() });
    assert!(deliver(&mut world, |message, _| message.kind() == MessageKind::CancelRequest));
    assert_eq!(world.published(MessageKind::FinalResult).len(), 1);
    let (working, asked) = (world.work.len(), world.events.len());
    while deliver(&mut world, |message, _| message.kind() != MessageKind::FinalResult) {}
    assert_eq!(world.work.len(), working, "nothing is asked for any more");
    let said = world.events[asked..].iter().any(|event| matches!(event, artoo_bus::TapEvent::Message { .. }));
    assert!(!said, "nobody speaks after the result");
    // Another word of the user's does not lead to another result.
    accept(&mut world, Input::Operator { message: CancelRequest { task_id }.into() });
    while deliver(&mut world, |_, _| true) {}
    assert_eq!(results(&world).len(), 1);
    assert_eq!(world.system.instances(), 1);
    assert_eq!(world.system.pending(), 0);
}

/// A question to the user that is still queued when its task ends is not delivered.
#[doc = "holds: design B5"]
#[test]
fn queued_question_after_result_is_dropped() {
    let (mut world, task_id) = begun("how many reports are there");
    world.model = Box::new(|_| value(json!({"task_id": "x", "intent": "y", "question": "which?"})));
    until_published(&mut world, MessageKind::UserRequest);
    let interactive = artoo_proto::UserRequest { interactive: true, ..world.request("which reports are there") };
    let second = interactive.task_id.clone();
    accept(&mut world, Input::Operator { message: interactive.into() });
    until_published(&mut world, MessageKind::ClarificationRequest);
    for task_id in [task_id, second] {
        accept(&mut world, Input::Operator { message: CancelRequest { task_id }.into() });
    }
    let question = |message: &Message| message.kind() == MessageKind::ClarificationRequest;
    while deliver(&mut world, |message, _| !question(message)) {}
    assert_eq!(results(&world).len(), 2);
    assert!(!deliver(&mut world, |message, _| question(message)), "it went with its task");
    assert!(!world.delivered.iter().any(question));
}

/// A question that is queued twice reaches the user only once.
#[doc = "holds: design B5"]
#[test]
fn duplicate_question_is_asked_once() {
    let mut world = World::new(1);
    world.model = Box::new(|_| value(json!({"task_id": "x", "intent": "y", "question": "which?"})));
    let interactive = artoo_proto::UserRequest { interactive: true, ..world.request("which reports are there") };
    accept(&mut world, Input::Operator { message: interactive.into() });
    until_published(&mut world, MessageKind::ClarificationRequest);
    let question = |message: &Message| message.kind() == MessageKind::ClarificationRequest;
    let copy = world.system.bus().waiting().find(|d| question(&d.envelope.message)).cloned().unwrap();
    world.system.bus().queue(world.now.wall, copy);
    assert!(deliver(&mut world, |message, _| question(message)));
    assert!(deliver(&mut world, |message, _| question(message)));
    assert_eq!(world.delivered.iter().filter(|message| question(message)).count(), 1);
}

/// The abort of a task is delivered to its existing executors, and creates no new instance.
#[test]
fn abort_reaches_executors_and_creates_none() {
    let (mut world, task_id) = begun("how many reports are there");
    until_published(&mut world, MessageKind::SubTask);
    while deliver(&mut world, |message, _| message.kind() == MessageKind::SubTask) {}
    let instances = world.system.instances();
    accept(&mut world, Input::Operator { message: CancelRequest { task_id }.into() });
    while deliver(&mut world, |message, _| message.kind() != MessageKind::FinalResult) {}
    assert_eq!(world.system.instances(), instances, "an abort makes no instance");
    assert_eq!(world.system.messages_seen(Role::Executor), 2, "one executor saw its subtask and the abort");
}

/// An answer that no role waits for appears on the tap as ignored, with the reason.
#[test]
fn unexpected_input_is_reported_on_the_tap() {
    let (mut world, task_id) = begun("how many reports are there");
    while deliver(&mut world, |_, _| true) {}
    let ignored = |world: &World| -> Vec<String> {
        let named = world.events.iter().filter_map(|event| match event {
            TapEvent::Ignored { detail, .. } => Some(detail.clone()),
            _ => None,
        });
        named.collect()
    };
    assert_eq!(ignored(&world), [""; 0], "what is awaited is not named");
    accept(&mut world, Input::Operator { message: ClarificationAnswer { task_id, answer: "all".to_owned() }.into() });
    while deliver(&mut world, |_, _| true) {}
    assert_eq!(ignored(&world), ["at ClarificationAnswer: not awaited in this phase"]);
}

#[doc = "holds: design B3"]
#[test]
fn panicked_instance_is_not_recreated() {
    let (mut world, _) = begun("how many reports are there");
    until_published(&mut world, MessageKind::SubTask);
    let to_executor = |message: &Message, role| message.kind() == MessageKind::SubTask && role == Role::Executor;
    let at = world.system.bus().waiting().position(|d| to_executor(&d.envelope.message, d.to.role)).unwrap();
    let copy = world.system.bus().waiting().nth(at).unwrap().clone();
    world.system.panic_next = Some(Role::Executor);
    assert!(deliver(&mut world, to_executor));
    let work = world.work.len();
    // The same subtask once more, before R7 knows: it must not be carried out by a new executor.
    world.system.deliver(world.now, &copy);
    let effects = world.system.take_effects();
    assert!(effects.iter().all(|effect| matches!(effect, Effect::Observe { .. })), "{effects:?}");
    assert_eq!(world.work.len(), work);
}

/// An R7 created again after a panic does not resume the task; it only ends it with a failure.
#[doc = "holds: design B3"]
#[test]
fn recreated_solver_only_reports_failure() {
    let (mut world, _) = begun("how many reports are there");
    let to_solver = |message: &Message, role| message.kind() == MessageKind::UserRequest && role == Role::Solver;
    world.system.panic_next = Some(Role::Solver);
    assert!(deliver(&mut world, to_solver));
    assert!(deliver(&mut world, |message, role| message.kind() == MessageKind::UserRequest && role == Role::Perceiver));
    // Code and the model read the request.
    for _ in 0..2 {
        let (effect_id, work) = world.work.pop_front().unwrap();
        let completion = world.perform(&work);
        accept(&mut world, Input::Completed { effect_id, completion });
    }
    // The spec overtakes the word of the panic; the task is not taken up again where it was left.
    let events = world.events.len();
    assert!(deliver(&mut world, |message, role| message.kind() == MessageKind::TaskSpec && role == Role::Solver));
    let panicked = |event: &artoo_bus::TapEvent| match event {
        artoo_bus::TapEvent::Ignored { detail, .. } => detail.contains("panicked"),
        _ => false,
    };
    let events = &world.events[events..];
    assert!(events.len() == 1 && events.iter().all(panicked), "{events:?}");
    assert!(deliver(&mut world, |message, _| message.kind() == MessageKind::RoleFailed));
    while deliver(&mut world, |_, _| true) {}
    assert_eq!(results(&world).len(), 1);
}

#[doc = "holds: design B3"]
#[test]
fn always_panicking_solver_gives_one_result() {
    let (mut world, _) = begun("how many reports are there");
    for _ in 0..100 {
        world.system.panic_next = Some(Role::Solver);
        if !deliver(&mut world, |_, _| true) {
            break;
        }
    }
    let [result] = results(&world)[..] else { panic!("{:?}", world.delivered) };
    let failed = matches!(&result.ending, Ending::Abandon { reason: AbandonReason::RoleFailed { .. }, .. });
    assert!(failed && !result.next_steps.is_empty(), "{result:#?}");
    assert_eq!(world.system.instances(), 1);
}

/// After the memory panicked on a query, delivering the query again gives no answer.
#[test]
fn panicked_memory_does_not_answer_twice() {
    let (mut world, _) = begun("how many reports are there");
    until_published(&mut world, MessageKind::MemoryQuery);
    let query = world.system.bus().waiting().find(|d| d.envelope.message.kind() == MessageKind::MemoryQuery).cloned();
    let query = query.unwrap();
    world.system.panic_next = Some(Role::Memory);
    assert!(deliver(&mut world, |message, _| message.kind() == MessageKind::MemoryQuery));
    world.system.deliver(world.now, &query);
    let effects = world.system.take_effects();
    world.take(effects);
    assert!(world.published(MessageKind::MemoryRecall).is_empty());
}

/// A task whose own deadline is far away still ends at the hard time limit.
#[doc = "holds: design G20"]
#[test]
fn spec_deadline_keeps_the_hard_limit() {
    let (mut world, _) = begun("how many reports are there");
    world.model = Box::new(|_| {
        value(json!({"task_id": "x", "intent": "y", "constraints": {"deadline": "9000-01-01T00:00:00Z"}}))
    });
    // R1 is quick, and R7 hears of the task before it hears of the request.
    let to_solver = |message: &Message, role| message.kind() == MessageKind::UserRequest && role == Role::Solver;
    while deliver(&mut world, |message, role| !to_solver(message, role)) {}
    let (effect_id, work) = world.work.pop_front().unwrap();
    let completion = world.perform(&work);
    accept(&mut world, Input::Completed { effect_id, completion });
    while deliver(&mut world, |message, role| !to_solver(message, role)) {}
    assert!(deliver(&mut world, to_solver));
    let limit = artoo_roles::limits::HARD_LIMIT_MS + world.now.uptime_ms;
    let ((_, timer), ()) = world.timers.iter().find(|((at, _), ())| *at == limit).expect("the hard limit is set");
    let effect_id = *timer;
    accept(&mut world, Input::Completed { effect_id, completion: Completion::Timer });
    while deliver(&mut world, |_, _| true) {}
    assert_eq!(results(&world).len(), 1);
}

/// A call that the user denied is not asked about again in later rounds of the task.
#[doc = "holds: law 1.14; design D10"]
#[test]
fn refused_call_is_not_asked_again() {
    let mut world = World::new(1);
    let mut rounds = 0;
    world.model = Box::new(move |request| match request.role {
        Role::Perceiver => understood(request),
        Role::Planner => {
            rounds += 1;
            value(json!({"task_criteria": ["the folder is empty"], "subtasks": [
                {"intent": format!("tidy up, way {rounds}"), "context": "", "sequence": 1, "tools": ["shell"],
                 "success_criteria": ["the folder is shown to be empty"]}]}))
        }
        Role::Executor => value(json!({"calls": [{"tool": "shell", "input": {"command": "rm -rf /home/u/keep"}}],
            "answer_is_output": true, "status": "completed", "output": ""})),
        _ => pass_all(request),
    });
    world.tools = Box::new(|_| needs_consent());
    world.operator = refusing(None);
    let result = world.run("tidy up my folder");
    let rounds = world.published(MessageKind::DispatchManifest).len();
    assert!(rounds > 1, "{result:#?}");
    assert_eq!(world.called.len(), 1, "it is ordered once, in {rounds} rounds");
    assert_eq!(world.published(MessageKind::ConsentRequest).len(), 1);
    let told = world.published(MessageKind::SubTask).into_iter().skip(1).all(|message| {
        let Message::SubTask(SubTask { blocked_targets, .. }) = message else { return false };
        blocked_targets.contains(&"shell:rm -rf /home/u/keep".to_owned())
    });
    assert!(told);
}
