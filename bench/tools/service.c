// The cheapest HTTP/1.1 service that is still honest: one thread, epoll, several consecutive ports on 127.0.0.1.
//
//   service FIRST_PORT COUNT
//
// GET /SIZE answers 200 with SIZE bytes. Prints "ready" when it listens. SIGUSR2 turns busy polling on and off: a service
// that never sleeps costs the proxy no wake-up.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MAX = 4096, EVENTS = 256, LARGEST = 1 << 24 };

typedef struct Answer {
    size_t size, length;
    char *bytes;
    struct Answer *next;
} Answer;

typedef struct Connection {
    int fd, listener, closing;
    size_t held; // bytes of a request head that is not complete
    char head[HEAD_MAX];
    const char *out; // what is left of the current answer
    size_t left;
} Connection;

static Answer *answers;
static int epoll_fd;
static volatile sig_atomic_t busy;

static void toggle_busy(int signal) {
    (void)signal;
    busy = !busy;
}

static Answer *answer_of(size_t size) {
    for (Answer *a = answers; a; a = a->next)
        if (a->size == size) return a;
    Answer *a = malloc(sizeof *a);
    a->size = size;
    a->bytes = malloc(size + 256);
    int head = sprintf(a->bytes,
                       "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n", size);
    memset(a->bytes + head, 'x', size);
    a->length = head + size;
    a->next = answers;
    return answers = a;
}

static void watch(Connection *c, unsigned events, int operation) {
    struct epoll_event e = {.events = events, .data.ptr = c};
    epoll_ctl(epoll_fd, operation, c->fd, &e);
}

// Sends what is left. False: the connection is gone.
static int flush(Connection *c) {
    while (c->left) {
        ssize_t n = send(c->fd, c->out, c->left, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) return watch(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD), 1;
        if (n < 0) return close(c->fd), free(c), 0;
        c->out += n;
        c->left -= n;
    }
    if (c->closing) return close(c->fd), free(c), 0;
    return 1;
}

// Answers the complete heads that are held, one after the other.
static void answer(Connection *c) {
    while (!c->left) {
        char *end = memmem(c->head, c->held, "\r\n\r\n", 4);
        if (!end) {
            if (c->held == HEAD_MAX) close(c->fd), free(c);
            return;
        }
        *end = 0;
        char *target = strchr(c->head, ' ');
        size_t size = target && target[1] == '/' ? strtoul(target + 2, NULL, 10) : 0;
        c->closing = strcasestr(c->head, "\nconnection: close") != NULL;
        size_t used = end + 4 - c->head;
        memmove(c->head, c->head + used, c->held -= used);
        Answer *a = answer_of(size < LARGEST ? size : LARGEST);
        c->out = a->bytes;
        c->left = a->length;
        if (!flush(c)) return;
    }
}

static void receive(Connection *c) {
    ssize_t n = recv(c->fd, c->head + c->held, HEAD_MAX - c->held, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
        close(c->fd);
        free(c);
        return;
    }
    c->held += n;
    answer(c);
}

static void accept_all(Connection *listener) {
    int fd, one = 1;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        Connection *c = calloc(1, sizeof *c);
        c->fd = fd;
        watch(c, EPOLLIN, EPOLL_CTL_ADD);
    }
}

static void listen_on(int port) {
    Connection *c = calloc(1, sizeof *c);
    int one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->listener = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(c->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(c->fd, (void *)&at, sizeof at) || listen(c->fd, 4096)) perror("service: listen"), exit(1);
    watch(c, EPOLLIN, EPOLL_CTL_ADD);
}

int main(int count, char **argument) {
    if (count != 3) return fprintf(stderr, "usage: service FIRST_PORT COUNT\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR2, toggle_busy);
    epoll_fd = epoll_create1(0);
    for (int i = 0; i < atoi(argument[2]); i++) listen_on(atoi(argument[1]) + i);
    puts("ready");
    fflush(stdout);
    struct epoll_event events[EVENTS];
    for (;;) {
        int ready = epoll_wait(epoll_fd, events, EVENTS, busy ? 0 : -1);
        if (ready <= 0 && busy) sched_yield();
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.ptr;
            if (c->listener) {
                accept_all(c);
            } else if (events[i].events & EPOLLOUT) {
                if (!flush(c)) continue;
                if (!c->left) watch(c, EPOLLIN, EPOLL_CTL_MOD), answer(c);
            } else {
                receive(c);
            }
        }
    }
}
