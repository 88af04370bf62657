"""The proxies that are compared: how each is configured for the same work, started and asked for its version.

Each gets one worker and the settings its own documentation recommends for keep-alive on both sides. A function of this
file writes a configuration into `run` (a folder) and returns the command line.
"""
import os
import re
import subprocess

FIRST_SERVICE, MOST_SERVICES = 20000, 1000
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


class Proxy:
    def __init__(self, name, port, command, version=None, env=None, scrape=None):
        self.name, self.port, self.command, self.env, self.scrape = name, port, command, env or {}, scrape
        self._version = version

    def version(self):
        if not self._version:
            return "-"
        said = subprocess.run(self._version, capture_output=True, text=True)
        found = re.search(r"\d+\.\d+[\w.~+-]*", said.stdout + said.stderr)
        return found.group(0) if found else "?"


def _write(run, name, text):
    path = os.path.join(run, name)
    with open(path, "w") as f:
        f.write(text)
    return path


def _ports(scenario):
    return range(FIRST_SERVICE, FIRST_SERVICE + scenario.services)


def _haproxy(run, port, scenario):
    servers = "\n".join(f"  server s{i} 127.0.0.1:{p}" for i, p in enumerate(_ports(scenario), 1))
    http = "" if scenario.tcp else "http-reuse always"
    # Large bodies by splice(2), which its documentation recommends for them.
    splice, pipes = ("option splice-auto", "maxpipes 256") if scenario.body >= LARGE else ("", "")
    return ["haproxy", "-db", "-q", "-f", _write(run, "haproxy.cfg", f"""global
  nbthread 1
  maxconn 6000
  tune.maxpollevents 200
  {pipes}
defaults
  mode {'tcp' if scenario.tcp else 'http'}
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  {http}
  {splice}
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  balance {'leastconn' if scenario.least else 'roundrobin'}
{servers}
""")]


def _nginx(run, port, scenario):
    home = os.path.join(run, "nginx")
    os.makedirs(home, exist_ok=True)
    servers = "\n".join(f"    server 127.0.0.1:{p};" for p in _ports(scenario))
    kinds = " ".join(f"{k}_temp_path {home}/{k};" for k in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.geteuid() == 0 else ""
    large = scenario.body >= LARGE
    buffers = "proxy_buffer_size 16k; proxy_buffers 16 64k; proxy_busy_buffers_size 512k; proxy_max_temp_file_size 0;"
    return ["nginx", "-p", home, "-e", "stderr", "-c", _write(run, "nginx.conf", f"""
daemon off; pid {home}/pid; error_log stderr crit; worker_processes 1; worker_rlimit_nofile 20000; {user}
events {{ worker_connections 18000; accept_mutex off; multi_accept {'on' if scenario.once else 'off'}; }}
http {{
  access_log off; keepalive_timeout 300s; keepalive_requests 100000000; tcp_nodelay on; server_tokens off;
  {kinds}
  upstream u {{
    {'least_conn;' if scenario.least else ''}
{servers}
    keepalive {max(256, 2 * scenario.services)}; keepalive_requests 100000000; keepalive_timeout 300s;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection "";
      {buffers if large else ''} }}
  }}
}}
""")]


def _steelyard(run, port, scenario, executable, logged=False, services=None):
    kind = "TCP" if scenario.tcp else "HTTP"
    ports = range(FIRST_SERVICE, FIRST_SERVICE + (services or scenario.services))
    lines = ["enable ns feature LB"]
    lines += [f"add service s{i} 127.0.0.1 {kind} {p} -healthMonitor NO" for i, p in enumerate(ports, 1)]
    lines += [f"add lb vserver v {kind} 127.0.0.1 {port} -lbMethod {'LEASTCONNECTION' if scenario.least else 'ROUNDROBIN'}"]
    lines += [f"bind lb vserver v s{i}" for i, _ in enumerate(ports, 1)]
    config = _write(run, f"{port}.conf", "\n".join(lines) + "\n")
    log = ["--access-log", os.path.join(run, "access.log")] if logged else []
    return [executable, "run", "--config", config, "--nitro", f"127.0.0.1:{port + MANAGEMENT}", "--threads", "1", *log]


def all_proxies(run, tools, executable, scenario):
    """The proxies by name, configured for `scenario`."""
    # Debian's haproxy on glibc's allocator is a little slower; each is to show its best.
    jemalloc = {"LD_PRELOAD": JEMALLOC} if os.path.exists(JEMALLOC) else {}
    version = [executable, "--version"]

    def own(name, port, scrape=None, **options):
        return Proxy(name, port, lambda: _steelyard(run, port, scenario, executable, **options), version, scrape=scrape)

    made = [
        Proxy("haproxy", 18001, lambda: _haproxy(run, 18001, scenario), ["haproxy", "-v"], jemalloc),
        Proxy("nginx", 18002, lambda: _nginx(run, 18002, scenario), ["nginx", "-v"]),
        own("steelyard", 18003),
        Proxy("forward", 18004, lambda: [f"{tools}/forward", "18004", str(FIRST_SERVICE), str(scenario.services)]),
        own("steelyard-1000", 18005, services=MOST_SERVICES),
        own("steelyard-seen", 18006, scrape=f"http://127.0.0.1:{18006 + MANAGEMENT}/metrics", logged=True),
    ]
    return {p.name: p for p in made}


LARGE = 1 << 16
MANAGEMENT = 1000
