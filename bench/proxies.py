"""The proxies that are compared: how each is configured for the same work, started and asked for its version.

Each gets one worker and the settings its own documentation recommends for keep-alive on both sides. A function of this
file writes a configuration into `run` (a folder) and returns the command line.
"""
import os
import re
import subprocess

SERVICES = [20000, 20001, 20002]
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


class Proxy:
    def __init__(self, name, port, command, version=None, env=None):
        self.name, self.port, self.command, self.env = name, port, command, env or {}
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


def _haproxy(run, port, least):
    servers = "\n".join(f"  server s{i} 127.0.0.1:{p}" for i, p in enumerate(SERVICES, 1))
    return ["haproxy", "-db", "-q", "-f", _write(run, "haproxy.cfg", f"""global
  nbthread 1
  maxconn 6000
  tune.maxpollevents 200
defaults
  mode http
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  http-reuse always
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  balance {'leastconn' if least else 'roundrobin'}
{servers}
""")]


def _nginx(run, port, least):
    home = os.path.join(run, "nginx")
    os.makedirs(home, exist_ok=True)
    servers = "\n".join(f"    server 127.0.0.1:{p};" for p in SERVICES)
    kinds = " ".join(f"{k}_temp_path {home}/{k};" for k in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.geteuid() == 0 else ""
    return ["nginx", "-p", home, "-e", "stderr", "-c", _write(run, "nginx.conf", f"""
daemon off; pid {home}/pid; error_log stderr crit; worker_processes 1; {user}
events {{ worker_connections 6000; accept_mutex off; }}
http {{
  access_log off; keepalive_timeout 300s; keepalive_requests 100000000; tcp_nodelay on; server_tokens off;
  {kinds}
  upstream u {{
    {'least_conn;' if least else ''}
{servers}
    keepalive 256; keepalive_requests 100000000; keepalive_timeout 300s;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
""")]


def _steelyard(run, port, least, executable):
    lines = ["enable ns feature LB"]
    lines += [f"add service s{i} 127.0.0.1 HTTP {p}" for i, p in enumerate(SERVICES, 1)]
    lines += [f"add lb vserver v HTTP 127.0.0.1 {port} -lbMethod {'LEASTCONNECTION' if least else 'ROUNDROBIN'}"]
    lines += [f"bind lb vserver v s{i}" for i, _ in enumerate(SERVICES, 1)]
    config = _write(run, "ns.conf", "\n".join(lines) + "\n")
    return [executable, "run", "--config", config, "--nitro", "127.0.0.1:0", "--threads", "1"]


def all_proxies(run, tools, executable, scenario):
    """The proxies by name, configured for `scenario`."""
    least = scenario.least
    # Debian's haproxy on glibc's allocator is a little slower; each is to show its best.
    jemalloc = {"LD_PRELOAD": JEMALLOC} if os.path.exists(JEMALLOC) else {}
    made = [
        Proxy("haproxy", 18001, lambda: _haproxy(run, 18001, least), ["haproxy", "-v"], jemalloc),
        Proxy("nginx", 18002, lambda: _nginx(run, 18002, least), ["nginx", "-v"]),
        Proxy("steelyard", 18003, lambda: _steelyard(run, 18003, least, executable), [executable, "--version"]),
        Proxy("forward", 18004, lambda: [f"{tools}/forward", "18004", str(SERVICES[0]), str(len(SERVICES))]),
    ]
    return {p.name: p for p in made}
