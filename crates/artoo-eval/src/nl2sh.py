"""Runs .ci/measure/nl2sh on one request with any model; arguments: the script, the model, then the script's own."""

import importlib.machinery, importlib.util, os, sys

path, model = sys.argv[1], sys.argv[2]
loader = importlib.machinery.SourceFileLoader("nl2sh", path)
nl2sh = importlib.util.module_from_spec(importlib.util.spec_from_loader("nl2sh", loader))
loader.exec_module(nl2sh)
run, command = nl2sh.run, nl2sh.World.command


def with_model(world, artoo, argv, yes=False):
    if argv[0].endswith("/artoo"):
        argv = [model if word == "reflex" else word for word in argv]
    return run(world, artoo, argv, yes)


if model != "reflex":
    # A model's endpoint must be reached, and it may take its time.
    nl2sh.World.command = lambda *given: [word for word in command(*given) if word != "--net"]
    nl2sh.TIMEOUT_S = int(os.environ.get("EVAL_DEADLINE_S", nl2sh.TIMEOUT_S))
    prefixes = tuple(os.environ.get("EVAL_PREFIXES", "").split())
    nl2sh.ENVIRONMENT.update({name: value for name, value in os.environ.items() if prefixes and name.startswith(prefixes)})
nl2sh.run = with_model
sys.argv = sys.argv[:1] + sys.argv[3:]
nl2sh.main()
