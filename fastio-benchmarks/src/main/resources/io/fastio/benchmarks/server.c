/*
 * The limit of an echo server: one thread, level-triggered epoll, read and write at once. Answers the request "echo" on
 * its standard input with its port, and ends with it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 1024, BUFFER = 4096 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void watch(int epoll_fd, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 && errno != EPERM) {
        fail("epoll_ctl");
    }
}

static void echo(int fd) {
    char buffer[BUFFER];
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    /* 100 bytes always fit into an empty socket buffer: a short write means that the peer is gone. */
    if (n == 0 || (n < 0 && errno != EAGAIN) || (n > 0 && send(fd, buffer, n, MSG_NOSIGNAL) != n)) {
        close(fd);
    }
}

int main(void) {
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0
        || getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
        fail("listen");
    }
    int epoll_fd = epoll_create1(0);
    watch(epoll_fd, listener);
    watch(epoll_fd, STDIN_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf(".C, one thread, level-triggered epoll\n");
    struct epoll_event events[EVENTS];
    for (;;) {
        int ready = epoll_wait(epoll_fd, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == STDIN_FILENO) {
                char line[64];
                if (read(STDIN_FILENO, line, sizeof line) <= 0) {
                    return 0;
                }
                if (strncmp(line, "echo 0 ", 7) == 0) {
                    printf("= port=%d\n.\n", ntohs(address.sin_port));
                } else {
                    printf("? no such ability\n.\n");
                }
            } else if (fd == listener) {
                int one = 1;
                for (int peer; (peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
                    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    watch(epoll_fd, peer);
                }
            } else {
                echo(fd);
            }
        }
    }
}
