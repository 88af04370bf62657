"""What the measurements of a large configuration share: the file itself, a network namespace, lines that a program prints."""
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "out")
TARGET = os.environ.get("CARGO_TARGET_DIR") or os.path.join(HERE, "..", "target")
BUILT = os.path.abspath(os.path.join(TARGET, "release", "steelyard"))
GROUPS, MEMBERS, MONITORS = 200, 10, 20


def address(net, n):
    return f"{net}.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"


def lines(services, vservers):
    """An ns.conf in the order in which an appliance saves one. No service is probed: not the network is measured."""
    yield "enable ns feature LB"
    for n in range(services):
        yield f"add server srv{n} {address(10, n)}"
    for n in range(services):
        yield f"add service svc{n} srv{n} HTTP 8080 -healthMonitor NO -comment \"service {n} of the load test\""
    for n in range(GROUPS):
        yield f"add serviceGroup grp{n} HTTP -healthMonitor NO"
    for n in range(vservers):
        method = ("ROUNDROBIN", "LEASTCONNECTION", "LEASTRESPONSETIME")[n % 3]
        yield f"add lb vserver vs{n} HTTP {address(127, 65_536 + n)} 80 -lbMethod {method}"
    for n in range(services):
        yield f"bind lb vserver vs{n % vservers} svc{n} -weight {n % 100 + 1}"
    for n in range(GROUPS):
        yield f"bind lb vserver vs{n % vservers} grp{n}"
    for n in range(MONITORS):
        yield f"add lb monitor mon{n} HTTP -respCode 200-299 -httpRequest \"GET /health/{n}\""
    for n in range(services):
        yield f"bind service svc{n} -monitorName mon{n % MONITORS}"
    for n in range(GROUPS):
        yield f"bind serviceGroup grp{n} -monitorName mon{n % MONITORS}"
        for m in range(MEMBERS):
            yield f"bind serviceGroup grp{n} srv{(n * MEMBERS + m) % services} 9090"


def enter_namespace():
    """Runs this program again in a session and network namespace of its own, where every address of 127.0.0.0/8 is free."""
    own = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    child = subprocess.Popen([*own, sys.executable, *sys.argv], start_new_session=True, env=dict(os.environ, BENCH_INSIDE="1"))
    while True:
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)


def cpu(pid):
    """CPU seconds of all threads so far."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(stdout, start, what):
    for line in stdout:
        if line.startswith(start):
            return time.monotonic()
    sys.exit(f"bench: the program ended before it was {what}")


def prepare(executable):
    """In a namespace of its own, before others of the machine; the executable is built first if none is given."""
    if not os.environ.get("BENCH_INSIDE"):
        if not executable:
            print("building steelyard (release)", flush=True)
            subprocess.run(["cargo", "build", "--quiet", "--release", "--locked"], cwd=os.path.dirname(HERE), check=True)
        enter_namespace()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # As in bench/run. Not all hosts allow cubic here.
    any(set_to("/proc/sys/net/ipv4/tcp_congestion_control", name) for name in ("cubic", "reno"))
    if not set_to("/proc/self/autogroup", "-20"):
        print("note: other sessions of this machine are not held back; look at the CPU seconds")
    os.makedirs(OUT, exist_ok=True)
    return executable or BUILT


def set_to(path, value):
    """Writes a setting of the kernel. False where that is not allowed."""
    try:
        with open(path, "w") as f:
            f.write(value)
    except OSError:
        return False
    return True


def write(name, text):
    """The file's path."""
    path = os.path.join(OUT, name)
    with open(path, "w") as f:
        f.write(text)
    return path
