"""What the measuring scripts share: reading a program that may ask, and comparing two ways of writing one answer."""

import os, pty, re, select, signal, subprocess, time


def run(command, environment=None, cwd=None, yes=True, timeout_s=30):
    """Runs a command whose questions on the terminal are answered with yes; returns (stdout, stderr, exit code)."""
    primary, secondary = pty.openpty()
    child = subprocess.Popen(command, stdin=secondary if yes else subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=secondary if yes else subprocess.PIPE, env=environment, cwd=cwd, start_new_session=True)
    os.close(secondary)
    output, errors = b"", b""
    watched = {child.stdout.fileno(): "output", (primary if yes else child.stderr.fileno()): "errors"}
    end = time.monotonic() + timeout_s
    while watched and time.monotonic() < end:
        for fd in select.select(list(watched), [], [], 0.1)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            if not data:
                watched.pop(fd)
            elif watched[fd] == "output":
                output += data
            else:
                errors += data
                if yes and errors.rstrip().endswith(b"? details:"):
                    os.write(primary, b"y\n")
        if child.poll() is not None and child.stdout.fileno() not in watched:
            break
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    os.close(primary)
    return output.decode(errors="replace"), errors.decode(errors="replace"), child.returncode


def forms(output, cwd="/"):
    """The ways an output may be written: as it is, in another order, with names made absolute, as the one number, by its paths."""
    lines = [re.sub(r"\s+", " ", line).strip() for line in output.strip().splitlines() if line.strip()]

    def absolute(line):
        if line in (".", "./"):
            return cwd
        line = line[2:] if line.startswith("./") else line
        return line if line.startswith("/") else os.path.join(cwd, line)

    made = {tuple(lines), tuple(sorted(lines)), tuple(sorted(absolute(line).rstrip("/") for line in lines))}
    if len(lines) == 1 and (number := re.match(r"(\d+)( |$)", lines[0])):
        made.add(("number", number.group(1)))
    # Rows about files, one path in each: which files, in which order, is the answer; the facts beside them are dressing.
    paths = [re.findall(r"(?:^|\s)(/\S.*)$", line) for line in lines]
    if lines and all(len(found) == 1 for found in paths):
        made.add(("paths", *(found[0] for found in paths)))
    return made
