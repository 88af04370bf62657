// The floor of one hop: forwards bytes between each client connection and one service connection and looks at nothing.
//
//   forward PORT FIRST_SERVICE_PORT COUNT
//
// Two reads and two writes for a request and its answer, as any proxy that does not splice. Services in turn, one for
// each client connection.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ = 16384, EVENTS = 64, CLOSED_MAX = 2 * EVENTS };

typedef struct Side {
    int fd;
    struct Side *peer; // NULL: the listener
} Side;

static int epoll_fd;
static Side *closed[CLOSED_MAX]; // freed after the batch: a later event of it may name them
static int closed_count;

static Side *side(int fd) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Side *s = calloc(1, sizeof *s);
    s->fd = fd;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e);
    return s;
}

static void close_both(Side *s) {
    Side *both[] = {s, s->peer};
    for (int i = 0; i < 2; i++) {
        close(both[i]->fd);
        both[i]->fd = -1;
        closed[closed_count++] = both[i];
    }
}

static void accept_one(Side *listener, struct sockaddr_in to) {
    int client = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK), service = socket(AF_INET, SOCK_STREAM, 0);
    if (client < 0) {
        close(service);
        return;
    }
    // A blocking connect: on loopback it succeeds or fails at once, and it happens before the measured window.
    if (connect(service, (void *)&to, sizeof to)) {
        close(client);
        close(service);
        return;
    }
    Side *a = side(client), *b = side(service);
    a->peer = b;
    b->peer = a;
}

// Messages here are far smaller than an empty socket buffer: what does not fit ends the pair.
static void pump(Side *s) {
    static char buffer[READ];
    ssize_t n = recv(s->fd, buffer, READ, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0 || send(s->peer->fd, buffer, n, MSG_NOSIGNAL | MSG_DONTWAIT) != n) close_both(s);
}

int main(int count, char **argument) {
    if (count != 4) return fprintf(stderr, "usage: forward PORT FIRST_SERVICE_PORT COUNT\n"), 2;
    int first = atoi(argument[2]), services = atoi(argument[3]), one = 1;
    unsigned turn = 0;
    signal(SIGPIPE, SIG_IGN);
    epoll_fd = epoll_create1(0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argument[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (void *)&at, sizeof at) || listen(listener, 4096)) return perror("forward: listen"), 1;
    side(listener);
    struct epoll_event events[EVENTS];
    for (;;) {
        int ready = epoll_wait(epoll_fd, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            Side *s = events[i].data.ptr;
            if (s->fd < 0) continue;
            if (s->peer) {
                pump(s);
            } else {
                at.sin_port = htons(first + turn++ % services);
                accept_one(s, at);
            }
        }
        while (closed_count) free(closed[--closed_count]);
    }
}
