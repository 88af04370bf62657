// A closed-loop HTTP/1.1 load generator, cheap enough not to be what is measured: one thread, one request in flight on
// each connection.
//
//   load -p PORT -c CONNECTIONS -t SECONDS -w WARM_UP_SECONDS -u PATH [-S] [-C] [-P PID,PID...]
//   load -p PORT -c CONNECTIONS -u PATH -I
//
// Prints one JSON line. With -P it samples the CPU time of those processes at both ends of the measured window
// (schedstat: nanoseconds; user and system ticks for their proportion). -S polls without ever sleeping, -C makes a
// connection for each request. -I makes one request on each connection, prints "held COUNT" and keeps them all open until
// its standard input ends.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BURST = 64, IDLE_PATIENCE = 60, HEAD_MAX = 4096, READ = 65536, EVENTS = 256, PIDS_MAX = 256, MISTAKES_MAX = 100000 };

typedef struct {
    int fd, in_head;
    size_t held; // bytes of an answer's head that is not complete
    long body;   // bytes still to come
    double sent_at;
    char head[HEAD_MAX];
} Connection;

typedef struct {
    double at, own_us, cpu_us, user_ticks, system_ticks;
} Sample;

static struct sockaddr_in target = {.sin_family = AF_INET};
static char request[1024];
static size_t request_length;
static int epoll_fd, measuring, once, idle, held;
static unsigned long done, errors;
static char *pids[PIDS_MAX];
static int pid_count;
static float *latencies;
static size_t latency_count, latency_room;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static size_t read_file(const char *path, char *into, size_t room) {
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(into, 1, room - 1, f) : 0;
    if (f) fclose(f);
    into[n] = 0;
    return n;
}

static void add_process(Sample *s, const char *pid) {
    char path[300], text[1024];
    unsigned long user, system;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    read_file(path, text, sizeof text);
    char *rest = strrchr(text, ')');
    if (rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2)
        s->user_ticks += user, s->system_ticks += system;
    snprintf(path, sizeof path, "/proc/%s/task", pid);
    DIR *threads = opendir(path);
    if (!threads) return;
    for (struct dirent *thread; (thread = readdir(threads));) {
        snprintf(path, sizeof path, "/proc/%s/task/%.20s/schedstat", pid, thread->d_name);
        if (thread->d_name[0] != '.' && read_file(path, text, sizeof text)) s->cpu_us += strtoull(text, NULL, 10) / 1e3;
    }
    closedir(threads);
}

static Sample sample(void) {
    struct timespec own;
    Sample s = {.at = now()};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    s.own_us = own.tv_sec * 1e6 + own.tv_nsec * 1e-3;
    for (int i = 0; i < pid_count; i++) add_process(&s, pids[i]);
    return s;
}

static void record(double seconds) {
    if (latency_count == latency_room) {
        latency_room = latency_room ? latency_room * 2 : 1 << 20;
        latencies = realloc(latencies, latency_room * sizeof *latencies);
    }
    latencies[latency_count++] = seconds * 1e6;
}

static void connect_one(Connection *c) {
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connect(c->fd, (void *)&target, sizeof target);
    struct epoll_event e = {.events = EPOLLOUT, .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &e);
}

// Something went wrong on this connection: count it, start it anew. A proxy that only fails must not keep us for ever.
static void mistake(Connection *c, const char *what) {
    if (errors++ < 3) fprintf(stderr, "load: %s\n", what);
    if (errors > MISTAKES_MAX) exit(1);
    close(c->fd);
    connect_one(c);
}

static void send_request(Connection *c) {
    c->sent_at = now();
    c->in_head = 1;
    c->held = c->body = 0;
    // A request is far smaller than an empty socket buffer: a short write is a failure.
    if (send(c->fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length) mistake(c, "send failed");
}

// Takes the head out of what was read. Returns the bytes of the body that came with it, -1 while the head is incomplete,
// -2 when it is not the answer that was asked for.
static ssize_t parse_head(Connection *c, const char *bytes, size_t n) {
    size_t room = HEAD_MAX - 1 - c->held, before = c->held, taken = n < room ? n : room;
    memcpy(c->head + c->held, bytes, taken);
    c->held += taken;
    c->head[c->held] = 0;
    char *end = memmem(c->head, c->held, "\r\n\r\n", 4);
    if (!end) return c->held == HEAD_MAX - 1 ? -2 : -1;
    end[2] = 0;
    char *length = strcasestr(c->head, "\ncontent-length:");
    if (strncmp(c->head, "HTTP/1.1 200", 12) || !length || (!once && strcasestr(c->head, "\nconnection: close"))) return -2;
    c->body = atol(length + 16);
    c->in_head = 0;
    return n - (end + 4 - c->head - before);
}

static void receive(Connection *c) {
    static char buffer[READ];
    ssize_t n = recv(c->fd, buffer, READ, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
        mistake(c, n ? strerror(errno) : "connection closed by the proxy");
        return;
    }
    if (c->in_head) {
        n = parse_head(c, buffer, n);
        if (n == -1) return;
        if (n == -2) {
            if (errors < 3) fprintf(stderr, "load: %.60s\n", c->head);
            mistake(c, "not the answer that was asked for");
            return;
        }
    }
    c->body -= n;
    if (c->body < 0) {
        mistake(c, "more bytes than Content-Length says");
    } else if (c->body == 0) {
        if (measuring) done++, record(now() - c->sent_at);
        if (idle) {
            held++;
        } else if (once) {
            close(c->fd);
            connect_one(c);
        } else {
            send_request(c);
        }
    }
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(double q) {
    return latency_count ? latencies[(size_t)(q * (latency_count - 1) + 0.5)] : 0;
}

static void print(Sample a, Sample b) {
    qsort(latencies, latency_count, sizeof *latencies, ascending);
    double ticks = b.user_ticks - a.user_ticks + b.system_ticks - a.system_ticks;
    printf("{\"requests\":%lu,\"seconds\":%.4f,\"errors\":%lu,\"cpu_us\":%.1f,\"user_share\":%.4f,\"own_us\":%.1f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
           done, b.at - a.at, errors, b.cpu_us - a.cpu_us, ticks ? (b.user_ticks - a.user_ticks) / ticks : 0,
           b.own_us - a.own_us, quantile(.5), quantile(.99));
}

int main(int count, char **argument) {
    int option, connections = 64, busy = 0;
    double seconds = 5, warm_up = 1;
    const char *path = "/128";
    while ((option = getopt(count, argument, "p:c:t:w:u:SCIP:")) != -1) switch (option) {
        case 'p': target.sin_port = htons(atoi(optarg)); break;
        case 'c': connections = atoi(optarg); break;
        case 't': seconds = atof(optarg); break;
        case 'w': warm_up = atof(optarg); break;
        case 'u': path = optarg; break;
        case 'S': busy = 1; break;
        case 'C': once = 1; break;
        case 'I': idle = 1; break;
        case 'P':
            for (char *p; (p = strsep(&optarg, ","));)
                if (*p && pid_count < PIDS_MAX) pids[pid_count++] = p;
            break;
        default: return 2;
        }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_TIMERSLACK, 1);
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    request_length = snprintf(request, sizeof request,
                              "GET %s HTTP/1.1\r\nHost: bench.local\r\nUser-Agent: load/1\r\nAccept: */*\r\n%s\r\n",
                              path, once ? "Connection: close\r\n" : "");
    epoll_fd = epoll_create1(0);
    Connection *all = calloc(connections, sizeof *all);
    int opened = 0;
    double starts = now() + warm_up, ends = starts + seconds, t;
    Sample first = {0};
    struct epoll_event events[EVENTS];
    if (idle) starts = ends = now() + IDLE_PATIENCE;
    while ((t = now()) < ends) {
        // Not all at once: a queue of listening sockets is bounded.
        for (int burst = BURST; opened < connections && burst; burst--) connect_one(&all[opened++]);
        if (!measuring && t >= starts) first = sample(), errors = 0, measuring = 1;
        if (idle && held == connections) {
            char end;
            printf("held %d\n", held);
            fflush(stdout);
            return read(0, &end, 1) < 0;
        }
        double left = opened < connections ? 0 : (measuring ? ends : starts) - t;
        int ready = epoll_wait(epoll_fd, events, EVENTS, busy ? 0 : (int)(left * 1e3) + 1);
        if (ready <= 0 && busy) sched_yield();
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) {
                struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
                epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
                send_request(c);
            } else {
                receive(c);
            }
        }
    }
    if (idle) return fprintf(stderr, "load: only %d of %d were answered\n", held, connections), 1;
    print(first, sample());
}
