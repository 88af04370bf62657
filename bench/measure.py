"""One measurement: start a proxy on its core, put load on it from the other core, read what each request cost.

Knows processes and cores, not proxies. Everything that is started here is stopped here, by its process id.
"""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request

PROXY_CPU, PEERS_CPU = 0, 1
PRIORITY = -15


def start(command, cpu, env=None, cwd=None, out=subprocess.DEVNULL, err=subprocess.DEVNULL, stdin=subprocess.DEVNULL):
    """Starts `command` pinned to one core, before other work of the machine where that is allowed."""
    def before_exec():
        os.sched_setaffinity(0, {cpu})
        try:
            os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
        except OSError:
            pass
    return subprocess.Popen(command, preexec_fn=before_exec, env={**os.environ, **(env or {})}, cwd=cwd,
                            stdin=stdin, stdout=out, stderr=err)


def tree(pid):
    """`pid` and all its descendants."""
    found, todo = [], [pid]
    while todo:
        found.append(todo.pop())
        try:
            for thread in os.listdir(f"/proc/{found[-1]}/task"):
                with open(f"/proc/{found[-1]}/task/{thread}/children") as f:
                    todo += [int(child) for child in f.read().split()]
        except OSError:
            pass
    return found


def stop(process):
    """Ends a process that `start` made and its descendants."""
    if process.poll() is not None:
        return
    descendants = tree(process.pid)
    process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        pass
    for pid in descendants:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    process.wait()


def wait_ready(process, port, seconds=15):
    """Asks until the proxy gives a service's answer; raises RuntimeError when it does not in time."""
    last, until = "no answer", time.monotonic() + seconds
    request = b"GET /128 HTTP/1.1\r\nHost: bench.local\r\nConnection: close\r\n\r\n"
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"it ended with exit code {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as s:
                s.settimeout(2)
                s.sendall(request)
                got = b""
                while part := s.recv(4096):
                    got += part
            if got.startswith(b"HTTP/1.1 200") and got.endswith(b"x" * 128):
                return
            last = repr(got[:80])
        except OSError as e:
            last = str(e)
        time.sleep(0.1)
    raise RuntimeError(f"not ready after {seconds} s: {last}")


def busy_us():
    """CPU time that each of the two cores has spent working, in microseconds."""
    total = 0
    with open("/proc/stat") as f:
        for line in f:
            name, *v = line.split()
            if name in (f"cpu{PROXY_CPU}", f"cpu{PEERS_CPU}"):
                user, nice, system, _idle, _wait, irq, softirq = map(int, v[:7])
                total += (user + nice + system + irq + softirq) * 10_000
    return total


def cpu_us(pid):
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as f:
            total += int(f.read().split()[0]) / 1e3
    return total


def pss_kb(pid):
    """Memory of a process, shared pages by its share."""
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))


def measure_idle(proxy, scenario, process, load):
    """Memory that idle clients cost, each after one request."""
    memory = lambda: sum(map(pss_kb, tree(process.pid)))
    before = memory()
    command = [load, "-p", str(proxy.port), "-c", str(scenario.connections), "-u", f"/{scenario.body}", "-I"]
    clients = start(command, PEERS_CPU, out=subprocess.PIPE, err=subprocess.PIPE, stdin=subprocess.PIPE)
    try:
        line = clients.stdout.readline().decode().split()
        if line[:1] != ["held"]:
            raise RuntimeError(clients.stderr.read(300).decode())
        time.sleep(1)
        return {"kb_per_client": (memory() - before) / int(line[1]), "before_kb": before}
    finally:
        clients.stdin.close()
        stop(clients)


@contextlib.contextmanager
def scraped_each_second(url):
    """Meanwhile `url` is read once a second, as a monitoring system would."""
    if not url:
        yield
        return
    over = threading.Event()

    def scrape():
        while not over.wait(1):
            with urllib.request.urlopen(url, timeout=5) as answer:
                answer.read()

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def measure(proxy, scenario, seconds, service, load, run):
    """One round of one proxy. Returns figures per request; raises RuntimeError when there are none."""
    log = os.path.join(run, f"{proxy.name}.log")
    with open(log, "w") as err:
        process = start(proxy.command(), PROXY_CPU, proxy.env, run, err, err)
    try:
        wait_ready(process, proxy.port)
        if scenario.idle:
            return measure_idle(proxy, scenario, process, load)
        command = [load, "-p", str(proxy.port), "-c", str(scenario.connections), "-t", str(seconds), "-w", "1",
                   "-u", f"/{scenario.body}", "-P", ",".join(map(str, tree(process.pid)))]
        if scenario.once:
            command.append("-C")
        if scenario.busy:
            command.append("-S")
            service.send_signal(signal.SIGUSR2)
        try:
            busy, ours = busy_us(), cpu_us(service.pid) + sum(map(cpu_us, tree(process.pid)))
            began = time.monotonic()
            generator = start(command, PEERS_CPU, out=subprocess.PIPE, err=subprocess.PIPE)
            try:
                with scraped_each_second(proxy.scrape):
                    out, err = generator.communicate(timeout=seconds + 30)
            finally:
                stop(generator)
            wall = time.monotonic() - began
            busy = busy_us() - busy
            ours = cpu_us(service.pid) + sum(map(cpu_us, tree(process.pid))) - ours
        finally:
            if scenario.busy:
                service.send_signal(signal.SIGUSR2)
        if generator.returncode or process.poll() is not None:
            raise RuntimeError(f"{err.decode().strip()[:300] or 'it ended under load'} (log: {log})")
    finally:
        stop(process)
    got = json.loads(out)
    requests = got["requests"]
    if not requests:
        raise RuntimeError(f"no request was answered: {err.decode().strip()[:300]} (log: {log})")
    cpu = got["cpu_us"] / requests
    # The load generator's own time outside its window is small against the rest.
    ours += got["own_us"] * wall / got["seconds"]
    return {
        "cpu_us": cpu, "user_us": cpu * got["user_share"], "system_us": cpu * (1 - got["user_share"]),
        "s_per_gb": cpu / 1e6 / (scenario.body / 1e9), "rps": requests / got["seconds"], "p50_us": got["p50_us"], "p99_us": got["p99_us"], "errors": got["errors"],
        "others": max(0.0, (busy - ours) / 1e6 / wall),
    }
