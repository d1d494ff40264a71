/*
 * The load for all servers: keeps CONNECTIONS requests in flight, one on each connection, and never sleeps, so that its own
 * wake-ups are not charged to the server.
 *
 * Usage: client PORT CONNECTIONS ECHO|HTTP|HTTP_ONCE WARM_UP_MS MILLIS GAP_US SERVER_PID
 * With a gap, each connection waits for a random time of GAP_US on average before its next request, and its first request
 * does not count: it waits for the accept as well.
 * Prints rps, cpu_us (of the server's process, per request), errors, and up to 2,000 quantiles of the latency in us.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ECHO_BYTES = 100, BUFFER = 4096, EVENTS = 1024, QUANTILES = 2000, MAX_SAMPLES = 1 << 24 };

struct connection {
    int fd, got, want, answers;
    int64_t sent, due;
    char buffer[BUFFER];
};

static const char REQUEST[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char REQUEST_ONCE[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
static struct sockaddr_in address;
static int epoll_fd, http, once;
static long gap_us, errors;
static char payload[256];
static int payload_bytes;
static unsigned seed = 7;
static uint32_t *samples;
static long sample_count;
static int64_t measure_from, end;

static void fail(const char *what) {
    printf("! %s: %s\n.\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* User and system time of a process in microseconds; threads included. */
static double cpu_us(const char *pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    char *after = strrchr(text, ')');
    unsigned long user = 0, system = 0;
    if (after == NULL
        || sscanf(after + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        return 0;
    }
    return (user + system) * 1e6 / sysconf(_SC_CLK_TCK);
}

static void open_connection(struct connection *c) {
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) {
        fail("connect");
    }
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0) {
        fail("epoll_ctl");
    }
}

static void send_request(struct connection *c) {
    c->got = 0;
    c->want = http ? 0 : ECHO_BYTES;
    c->due = 0;
    c->sent = now();
    if (send(c->fd, payload, payload_bytes, MSG_NOSIGNAL) != payload_bytes) {
        errors++;
    }
}

/* Whether the response is complete. */
static int complete(struct connection *c) {
    if (http && c->want == 0) {
        c->buffer[c->got] = 0;
        char *body = strstr(c->buffer, "\r\n\r\n");
        if (body == NULL) {
            return 0;
        }
        char *length = strcasestr(c->buffer, "content-length:");
        if (strncmp(c->buffer, "HTTP/1.1 200", 12) != 0 || length == NULL || length > body) {
            errors++;
            c->want = c->got;
        } else {
            c->want = (int)(body + 4 - c->buffer) + atoi(length + 15);
        }
    }
    return c->got >= c->want;
}

static void next_request(struct connection *c, int64_t time) {
    if (once) {
        close(c->fd);
        /* The new connection belongs to the request. */
        int64_t start = now();
        open_connection(c);
        send_request(c);
        c->sent = start;
    } else if (gap_us > 0) {
        c->due = time + (int64_t)(rand_r(&seed) / (double)RAND_MAX * 2 * gap_us * 1000);
    } else {
        send_request(c);
    }
}

static void readable(struct connection *c) {
    ssize_t n = recv(c->fd, c->buffer + c->got, BUFFER - 1 - c->got, 0);
    if (n < 0 && errno == EAGAIN) {
        return;
    }
    if (n <= 0) {
        errors++;
        close(c->fd);
        open_connection(c);
        send_request(c);
        return;
    }
    c->got += n;
    if (!complete(c)) {
        return;
    }
    int64_t time = now();
    if (time >= measure_from && (gap_us == 0 || c->answers++ > 0) && sample_count < MAX_SAMPLES) {
        samples[sample_count++] = (uint32_t)(time - c->sent);
    }
    next_request(c, time);
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "see the head of the source\n");
        return 2;
    }
    int count = atoi(argv[2]);
    http = argv[3][0] == 'H';
    once = strcmp(argv[3], "HTTP_ONCE") == 0;
    long warm_up = atol(argv[4]), millis = atol(argv[5]);
    gap_us = atol(argv[6]);
    if (http) {
        payload_bytes = snprintf(payload, sizeof payload, "%s", once ? REQUEST_ONCE : REQUEST);
    } else {
        payload_bytes = ECHO_BYTES;
        memset(payload, 'x', ECHO_BYTES);
    }
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    address.sin_family = AF_INET;
    address.sin_port = htons(atoi(argv[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    epoll_fd = epoll_create1(0);
    samples = malloc(sizeof *samples * MAX_SAMPLES);
    struct connection *all = calloc(count, sizeof *all);
    if (epoll_fd < 0 || samples == NULL || all == NULL) {
        fail("start");
    }
    for (int i = 0; i < count; i++) {
        open_connection(&all[i]);
    }
    int64_t start = now();
    measure_from = start + warm_up * 1000000LL;
    end = measure_from + millis * 1000000LL;
    double cpu_before = warm_up == 0 ? cpu_us(argv[7]) : -1;
    for (int i = 0; i < count; i++) {
        send_request(&all[i]);
    }
    struct epoll_event events[EVENTS];
    int64_t time = start;
    for (; time < end; time = now()) {
        if (cpu_before < 0 && time >= measure_from) {
            cpu_before = cpu_us(argv[7]);
        }
        int ready = epoll_wait(epoll_fd, events, EVENTS, 0);
        for (int i = 0; i < ready; i++) {
            readable(events[i].data.ptr);
        }
        if (gap_us > 0) {
            for (int i = 0; i < count; i++) {
                if (all[i].due != 0 && all[i].due <= time) {
                    send_request(&all[i]);
                }
            }
        }
    }
    double cpu = cpu_us(argv[7]) - cpu_before;
    double seconds = (time - measure_from) / 1e9;
    qsort(samples, sample_count, sizeof *samples, ascending);
    printf("= rps=%.1f cpu_us=%.3f errors=%ld requests=%ld", sample_count / seconds,
        sample_count > 0 ? cpu / sample_count : 0.0, errors, sample_count);
    if (sample_count > 0) {
        printf(" p50_us=%.3f p99_us=%.3f max_us=%.3f", samples[(sample_count - 1) / 2] / 1e3,
            samples[(sample_count - 1) * 99 / 100] / 1e3, samples[sample_count - 1] / 1e3);
        printf("\n#");
        long quantiles = sample_count < QUANTILES ? sample_count : QUANTILES;
        for (long i = 1; i <= quantiles; i++) {
            printf(" %.3f", samples[i * sample_count / quantiles - 1] / 1e3);
        }
    }
    printf("\n.\n");
    return 0;
}
