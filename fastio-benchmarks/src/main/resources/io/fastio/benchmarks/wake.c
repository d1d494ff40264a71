/*
 * The limit of a wake: a thread in epoll_wait, woken through an eventfd by another thread after 0.5 to 2 ms of quiet.
 * Usage: wake COUNT. Prints the latencies in microseconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int event_fd, count;
static atomic_llong sent;
static atomic_int awoken;
static double *micros;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void nap(long nanos) {
    struct timespec t = {0, nanos};
    nanosleep(&t, NULL);
}

static void *sleeper(void *unused) {
    (void)unused;
    int epoll_fd = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &event) < 0) {
        perror("epoll");
        exit(1);
    }
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < count;) {
        uint64_t value;
        if (epoll_wait(epoll_fd, &event, 1, -1) < 1 || read(event_fd, &value, sizeof value) < 0) {
            continue;
        }
        micros[i] = (now() - atomic_load(&sent)) / 1000.0;
        atomic_store(&awoken, ++i);
    }
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 1000;
    micros = calloc(count, sizeof *micros);
    event_fd = eventfd(0, 0);
    pthread_t thread;
    if (micros == NULL || event_fd < 0 || pthread_create(&thread, NULL, sleeper, NULL) != 0) {
        perror("start");
        return 1;
    }
    unsigned seed = 2025;
    for (int i = 0; i < count; i++) {
        nap(500000 + rand_r(&seed) % 1500000);
        uint64_t one = 1;
        atomic_store(&sent, now());
        if (write(event_fd, &one, sizeof one) < 0) {
            perror("write");
            return 1;
        }
        while (atomic_load(&awoken) <= i) {
            nap(100000);
        }
    }
    pthread_join(thread, NULL);
    printf("#");
    for (int i = 0; i < count; i++) {
        printf(" %.3f", micros[i]);
    }
    printf("\n.\n");
    return 0;
}
