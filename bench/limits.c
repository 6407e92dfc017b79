// SPDX-License-Identifier: Apache-2.0
//
// limits measures the same limits of a machine as "sampo bench" does, by other means: a C compiler's intrinsics and POSIX
// threads. The two should agree within 5 % on a quiet machine.
//
//     cc -O3 -march=native -pthread -o limits limits.c && ./limits [threads]
//
// It prints the bytes read and the multiply-adds of int8, fp32 and bf16 numbers, in 10^9 a second: the best of LOOPS
// loops over all threads at once. bf16 is 0 where the CPU has no such instruction.

#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOOPS = 12, MAX_THREADS = 256, CHUNK = 256 << 10 };
static const size_t BUFFER = (size_t)1 << 30;
static const double SECONDS = 0.05; // of a loop of arithmetic

static char *buffer;
static long next_chunk;
static volatile long sink; // results go here, so that no compiler leaves work out

// A body does a slice of work and returns how much that was; 0 ends a thread's loop.
typedef double body(void);

typedef struct {
    body *work;
    int until_time; // else until the body returns 0
    pthread_barrier_t *start;
    double done, began, ended;
} job;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run(void *argument) {
    job *j = argument;
    pthread_barrier_wait(j->start);
    j->began = now();
    double did;
    do {
        did = j->work();
        j->done += did;
        j->ended = now();
    } while (did > 0 && (!j->until_time || j->ended < j->began + SECONDS));
    return NULL;
}

// rate runs body on all threads and returns the best loop's work in 10^9 a second.
static double rate(body *work, int threads, int until_time) {
    double best = 0;
    for (int loop = 0; loop < LOOPS; loop++) {
        pthread_t thread[MAX_THREADS];
        job jobs[MAX_THREADS];
        pthread_barrier_t start;
        pthread_barrier_init(&start, NULL, (unsigned)threads);
        next_chunk = 0;
        for (int i = 0; i < threads; i++) {
            jobs[i] = (job){.work = work, .until_time = until_time, .start = &start};
            pthread_create(&thread[i], NULL, run, &jobs[i]);
        }
        double began = 0, ended = 0, done = 0; // from the first thread's start to the last one's end
        for (int i = 0; i < threads; i++) {
            pthread_join(thread[i], NULL);
            done += jobs[i].done;
            if (i == 0 || jobs[i].began < began) began = jobs[i].began;
            if (jobs[i].ended > ended) ended = jobs[i].ended;
        }
        double speed = done / (ended - began) / 1e9;
        if (speed > best) best = speed;
        pthread_barrier_destroy(&start);
    }
    return best;
}

// Accumulators are variables, not an array, which compilers keep in memory.
#define EACH4(step) step(s0) step(s1) step(s2) step(s3)
#define EACH12(step) EACH4(step) step(s4) step(s5) step(s6) step(s7) step(s8) step(s9) step(s10) step(s11)
#define EACH16(step) EACH12(step) step(s12) step(s13) step(s14) step(s15)
// PIN keeps a value in its register, unknown to the optimiser.
#define PIN(v) __asm__ volatile("" : "+v"(v))
enum { ROUNDS = 4096 };

// claim gives the next chunk of the buffer, or NULL.
static const char *claim(void) {
    long i = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_RELAXED);
    return (size_t)i < BUFFER / CHUNK ? buffer + i * CHUNK : NULL;
}

#if defined(__AVX512F__) && defined(__AVX512VNNI__)

static double read_body(void) {
    const char *p = claim();
    if (!p) return 0;
    __m512i s[8] = {0};
    for (const char *end = p + CHUNK; p < end; p += 8 * 64)
        for (int k = 0; k < 8; k++) s[k] = _mm512_xor_si512(s[k], *(const __m512i *)(p + 64 * k));
    for (int k = 1; k < 8; k++) s[0] = _mm512_xor_si512(s[0], s[k]);
    sink += _mm512_reduce_add_epi64(s[0]);
    return CHUNK;
}

static double streams_body(void) {
    const char *p = claim();
    if (!p) return 0;
    __m512i s[8] = {0};
    for (const char *end = p + CHUNK / 4; p < end; p += 2 * 64)
        for (int k = 0; k < 8; k++) s[k] = _mm512_xor_si512(s[k], *(const __m512i *)(p + CHUNK / 4 * (k & 3) + 64 * (k >> 2)));
    for (int k = 1; k < 8; k++) s[0] = _mm512_xor_si512(s[0], s[k]);
    sink += _mm512_reduce_add_epi64(s[0]);
    return CHUNK;
}

static double int8_body(void) {
    const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-5);
#define DECLARE(s) __m512i s = _mm512_setzero_si512();
#define STEP(s) s = _mm512_dpbusd_epi32(s, a, b); PIN(s);
#define TAKE(s) sink += (long)_mm512_reduce_add_epi32(s);
    EACH16(DECLARE)
    for (int r = 0; r < ROUNDS; r++) {
        EACH16(STEP)
    }
    EACH16(TAKE)
#undef DECLARE
#undef STEP
#undef TAKE
    return 16.0 * 64 * ROUNDS;
}

static double fp32_body(void) {
    const __m512 a = _mm512_set1_ps(1.5f), b = _mm512_set1_ps(0.5f);
#define DECLARE(s) __m512 s = _mm512_setzero_ps();
#define STEP(s) s = _mm512_fmadd_ps(a, b, s); PIN(s);
#define TAKE(s) sink += (long)_mm512_reduce_add_ps(s);
    EACH16(DECLARE)
    for (int r = 0; r < ROUNDS; r++) {
        EACH16(STEP)
    }
    EACH16(TAKE)
#undef DECLARE
#undef STEP
#undef TAKE
    return 16.0 * 16 * ROUNDS;
}

#ifdef __AVX512BF16__
static double bf16_body(void) {
    const __m512bh a = (__m512bh)_mm512_set1_epi16(0x3F80), b = (__m512bh)_mm512_set1_epi16(0x3F00);
#define DECLARE(s) __m512 s = _mm512_setzero_ps();
#define STEP(s) s = _mm512_dpbf16_ps(s, a, b); PIN(s);
#define TAKE(s) sink += (long)_mm512_reduce_add_ps(s);
    EACH16(DECLARE)
    for (int r = 0; r < ROUNDS; r++) {
        EACH16(STEP)
    }
    EACH16(TAKE)
#undef DECLARE
#undef STEP
#undef TAKE
    return 16.0 * 32 * ROUNDS;
}
#endif

#elif defined(__AVX2__) && defined(__FMA__)

static long sum32(__m256i v) {
    int32_t lanes[8];
    _mm256_storeu_si256((__m256i *)lanes, v);
    long sum = 0;
    for (int k = 0; k < 8; k++) sum += lanes[k];
    return sum;
}

static double read_body(void) {
    const char *p = claim();
    if (!p) return 0;
    __m256i s[8] = {0};
    for (const char *end = p + CHUNK; p < end; p += 8 * 32)
        for (int k = 0; k < 8; k++) s[k] = _mm256_xor_si256(s[k], *(const __m256i *)(p + 32 * k));
    for (int k = 1; k < 8; k++) s[0] = _mm256_xor_si256(s[0], s[k]);
    sink += sum32(s[0]);
    return CHUNK;
}

static double streams_body(void) {
    const char *p = claim();
    if (!p) return 0;
    __m256i s[8] = {0};
    for (const char *end = p + CHUNK / 4; p < end; p += 2 * 32)
        for (int k = 0; k < 8; k++) s[k] = _mm256_xor_si256(s[k], *(const __m256i *)(p + CHUNK / 4 * (k & 3) + 32 * (k >> 2)));
    for (int k = 1; k < 8; k++) s[0] = _mm256_xor_si256(s[0], s[k]);
    sink += sum32(s[0]);
    return CHUNK;
}

// PAIRS sets h to 16-bit sums of pairs of products, MORE_PAIRS adds some. Intrinsics would be moved out of the loop or
// apart from each other.
#define PAIRS(h) __asm__ volatile("vpmaddubsw %2, %1, %0" : "=v"(h) : "v"(a), "v"(b))
#define MORE_PAIRS(h, t) __asm__ volatile("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+v"(h), "=&v"(t) : "v"(a), "v"(b))

// Sums of 16 bits are widened after 8 products of 4-bit codes: 8 * 2 * 15 * 127 fits.
static double int8_body(void) {
    const __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(-5), ones = _mm256_set1_epi16(1);
#define DECLARE(s) __m256i s = _mm256_setzero_si256(), s##h, s##t;
#define FIRST(s) PAIRS(s##h);
#define MORE(s) MORE_PAIRS(s##h, s##t);
#define WIDEN(s) s = _mm256_add_epi32(s, _mm256_madd_epi16(s##h, ones)); PIN(s);
#define TAKE(s) sink += sum32(s);
    EACH4(DECLARE)
    for (int r = 0; r < ROUNDS; r++) {
        EACH4(FIRST)
        EACH4(MORE) EACH4(MORE) EACH4(MORE) EACH4(MORE) EACH4(MORE) EACH4(MORE) EACH4(MORE)
        EACH4(WIDEN)
    }
    EACH4(TAKE)
#undef DECLARE
#undef TAKE
    return 4.0 * 8 * 32 * ROUNDS;
}

static double fp32_body(void) {
    const __m256 a = _mm256_set1_ps(1.5f), b = _mm256_set1_ps(0.5f);
#define DECLARE(s) __m256 s = _mm256_setzero_ps();
#define STEP(s) s = _mm256_fmadd_ps(a, b, s); PIN(s);
#define TAKE(s) sink += (long)s[0];
    EACH12(DECLARE)
    for (int r = 0; r < ROUNDS; r++) {
        EACH12(STEP)
    }
    EACH12(TAKE)
#undef DECLARE
#undef STEP
#undef TAKE
    return 12.0 * 8 * ROUNDS;
}

#else
#error "limits needs AVX2 with FMA, or AVX-512 with VNNI: compile with -march=native"
#endif

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "limits: want 1 to %d threads\n", MAX_THREADS);
        return 2;
    }
    buffer = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) {
        perror("limits: mmap");
        return 1;
    }
#ifdef MADV_HUGEPAGE
    madvise(buffer, BUFFER, MADV_HUGEPAGE);
#endif
    for (size_t i = 0; i < BUFFER; i += 8) *(uint64_t *)(buffer + i) = i * 0x9E3779B97F4A7C15u;

    // One stream of reads, or four: what is faster depends on the hardware's prefetching.
    double bf16 = 0, reads = rate(read_body, threads, 0), streams = rate(streams_body, threads, 0);
    if (streams > reads) reads = streams;
    double int8 = rate(int8_body, threads, 1), fp32 = rate(fp32_body, threads, 1);
#ifdef __AVX512BF16__
    bf16 = rate(bf16_body, threads, 1);
#endif
    printf("{\"threads\":%d,\"read_gbps\":%.2f,\"int8_gmacs\":%.1f,\"fp32_gmacs\":%.1f,\"bf16_gmacs\":%.1f}\n", threads, reads, int8, fp32, bf16);
    return 0;
}
