// Glynn's formula on CUDA, compiled for one size at a time. See gpu.py for the plan of the walk.
//
// Given: SIZE rows and columns; WALK, the rows one thread walks (a Gray code, the same flips in
// every thread, so that no warp diverges); THREADS a block. Every column sum is exact: the matrix
// comes rounded so that no sum needs more than 53 bits. Each product is rounded SIZE times, eight
// products are added plainly, and everything after that is compensated.

__constant__ double twice[SIZE * SIZE];  // 2 A: what a sum changes by when a row flips

__device__ __forceinline__ void two_sum(double &total, double &lost, double term) {
    const double sum = total + term;
    const double part = sum - total;
    lost += (total - (sum - part)) + (term - part);
    total = sum;
}

// Sum over the block, in a fixed order: first within warps, then over the warps.
__device__ double over_block(double value, double *room) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_down_sync(0xffffffffu, value, step);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) room[threadIdx.x >> 5] = value;
    __syncthreads();
    double sum = 0.0;
    for (int warp = 0; warp < THREADS / 32; ++warp) sum += room[warp];
    return sum;
}

// The row that flips at a step of a Gray code, and whether it flips up.
__device__ constexpr int flipped(unsigned step) { return step & 1 ? 0 : 1 + flipped(step >> 1); }
__device__ constexpr bool flips_up(unsigned step) { return (step >> flipped(step)) & 2; }

__device__ __forceinline__ double sign_of(unsigned long long bits) {
    return (__popcll(bits) & 1) ? -1.0 : 1.0;
}

#ifdef PERMANENT

#define GROUP_ROWS 3  // rows whose flips are written out, with their entries as operands

__device__ __forceinline__ double product(const double (&sums)[SIZE]) {
    double part[4] = {sums[0], sums[1], sums[2], sums[3]};
#pragma unroll
    for (int j = 4; j < SIZE; ++j) part[j & 3] *= sums[j];
    return (part[0] * part[1]) * (part[2] * part[3]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
permanent(unsigned long long first, double *out) {
    __shared__ double rows[SIZE * SIZE];
    __shared__ double room[THREADS / 32];
    for (int k = threadIdx.x; k < SIZE * SIZE; k += THREADS) rows[k] = twice[k];
    __syncthreads();
    const unsigned long long chunk = (first + blockIdx.x) * THREADS + threadIdx.x;
    double sums[SIZE];
#pragma unroll
    for (int j = 0; j < SIZE; ++j) sums[j] = 0.0;
    for (int i = 0; i < SIZE; ++i) {
        const bool minus = i >= WALK && i < SIZE - 1 && ((chunk >> (i - WALK)) & 1);
        const double half = minus ? -0.5 : 0.5;
#pragma unroll
        for (int j = 0; j < SIZE; ++j) sums[j] = fma(half, rows[i * SIZE + j], sums[j]);
    }
    double total = 0.0, lost = 0.0, absolute = 0.0;
    for (unsigned group = 0; group < (1u << (WALK - GROUP_ROWS)); ++group) {
        if (group > 0) {
            const int row = __ffs(group) - 1;
            const double sign = ((group >> row) & 2) ? 1.0 : -1.0;
            const double *entries = rows + (row + GROUP_ROWS) * SIZE;
#pragma unroll
            for (int j = 0; j < SIZE; ++j) sums[j] = fma(sign, entries[j], sums[j]);
        }
        double sum = 0.0, size = 0.0;
#pragma unroll
        for (unsigned step = 0; step < (1u << GROUP_ROWS); ++step) {
            if (step > 0) {
                // The last row of the group goes down in one group and up in the next.
                const int row = flipped(step);
                const bool up = row == GROUP_ROWS - 1 ? group & 1 : flips_up(step);
                const double sign = up ? 1.0 : -1.0;
#pragma unroll
                for (int j = 0; j < SIZE; ++j)
                    sums[j] = fma(sign, twice[row * SIZE + j], sums[j]);
            }
            const double term = product(sums);
            sum = (step & 1) ? sum - term : sum + term;
            size += fabs(term);
        }
        two_sum(total, lost, sum);
        absolute += size;
    }
    const double signed_total = over_block(sign_of(chunk) * total, room);
    const double signed_lost = over_block(sign_of(chunk) * lost, room);
    absolute = over_block(absolute, room);
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = signed_total;
        out[3 * blockIdx.x + 1] = signed_lost;
        out[3 * blockIdx.x + 2] = absolute;
    }
}

#else

// Two neighbouring lanes share a sign vector: each has half of the columns, in pairs and pairs of
// pairs. A minor is the product of every sum but one: those before its four, those after, the other
// pair, and the other sum of its own pair.
//
// A sum weighted by the sign of a row changes only when that row flips (see glynn.py). The first row
// flips most: its sums stay in registers; those of the next KEPT rows in shared memory; the others,
// seldom touched, in local memory.
#define PAIRS ((SIZE + 3) / 4)
#define HALF (2 * PAIRS)
#define QUADS ((PAIRS + 1) / 2)
#define CHUNK_BITS (LOG_THREADS - 1)
#define ROWS_OUT (WALK + CHUNK_BITS + 1)

__device__ __forceinline__ double quad(const double (&both)[PAIRS], int q) {
    return 2 * q + 1 < PAIRS ? both[2 * q] * both[2 * q + 1] : both[2 * q];
}

extern "C" __global__ void __launch_bounds__(THREADS)
minors(unsigned long long first, double *out) {
    extern __shared__ double2 everything[];
    double2 *rows = everything;                                            // SIZE x 2 x PAIRS
    double *kept = reinterpret_cast<double *>(rows + SIZE * 2 * PAIRS);    // KEPT x HALF x THREADS
    double *room = kept + KEPT * HALF * THREADS;                           // two a warp
    for (int k = threadIdx.x; k < SIZE * 2 * HALF; k += THREADS) {
        const int i = k / (2 * HALF), j = k % (2 * HALF);
        reinterpret_cast<double *>(rows)[k] = j < SIZE ? twice[i * SIZE + j] : 0.0;
    }
    __syncthreads();
    const int half = threadIdx.x & 1;
    const double2 *mine = rows + half * PAIRS;
    kept += threadIdx.x;
    const unsigned long long chunk = (first + blockIdx.x) * (THREADS / 2) + (threadIdx.x >> 1);
    double sums[HALF], running[HALF], first_row[HALF];
    double before[QUADS], both[PAIRS];
    double weighted[WALK][HALF];                         // within a stretch
    double grand[WALK + 1][HALF], rest[WALK + 1][HALF];  // compensated, over all stretches
#pragma unroll
    for (int j = 0; j < HALF; ++j) {
        sums[j] = half * HALF + j < SIZE ? 0.0 : 1.0;  // a column that is not there counts as 1
        running[j] = first_row[j] = 0.0;
    }
    for (int i = 0; i <= WALK; ++i)
        for (int j = 0; j < HALF; ++j) {
            if (i < WALK) weighted[i][j] = 0.0;
            if (i < KEPT) kept[(i * HALF + j) * THREADS] = 0.0;
            grand[i][j] = rest[i][j] = 0.0;
        }
    for (int i = 0; i < SIZE; ++i) {
        const bool minus = i >= WALK && i < SIZE - 1 && ((chunk >> (i - WALK)) & 1);
        const double sign = minus ? -0.5 : 0.5;
#pragma unroll
        for (int p = 0; p < PAIRS; ++p) {
            const double2 row = mine[i * 2 * PAIRS + p];
            sums[2 * p] = fma(sign, row.x, sums[2 * p]);
            sums[2 * p + 1] = fma(sign, row.y, sums[2 * p + 1]);
        }
    }
    double total = 0.0, lost = 0.0, absolute = 0.0;
    for (unsigned four = 0; four < (1u << (WALK - 2)); ++four) {
        double sum = 0.0, size = 0.0;
#pragma unroll
        for (unsigned step = 0; step < 4; ++step) {
            // Every other step flips the first row, and every fourth the second one.
            const int row = step ? flipped(step) : __ffs(four) + 1;
            const bool up = step == 0 ? (four >> (row - 2)) & 2 : step == 2 ? four & 1 : step == 3;
            const double change = up ? 1.0 : -1.0, back = -2.0 * change;
            if (step & 1) {
#pragma unroll
                for (int j = 0; j < HALF; ++j) first_row[j] = fma(back, running[j], first_row[j]);
            } else if (step == 2 || (four > 0 && row <= KEPT)) {
                double *place = kept + (row - 1) * HALF * THREADS;
#pragma unroll
                for (int j = 0; j < HALF; ++j)
                    place[j * THREADS] = fma(back, running[j], place[j * THREADS]);
            } else if (four > 0) {
#pragma unroll
                for (int j = 0; j < HALF; ++j)
                    weighted[row][j] = fma(back, running[j], weighted[row][j]);
            }
            if (step > 0 || four > 0) {
#pragma unroll
                for (int p = 0; p < PAIRS; ++p) {
                    const double2 entry = mine[row * 2 * PAIRS + p];
                    sums[2 * p] = fma(change, entry.x, sums[2 * p]);
                    sums[2 * p + 1] = fma(change, entry.y, sums[2 * p + 1]);
                }
            }
            double product = (step & 1) ? -1.0 : 1.0;
#pragma unroll
            for (int p = 0; p < PAIRS; ++p) both[p] = sums[2 * p] * sums[2 * p + 1];
#pragma unroll
            for (int q = 0; q < QUADS; ++q) {
                before[q] = product;
                product *= quad(both, q);
            }
            // The sign is in both lanes' products, so it is taken back from the other lane's.
            double after = __shfl_xor_sync(0xffffffffu, product, 1);
            if (step & 1) after = -after;
            const double term = product * after;
            sum += term;
            size += fabs(term);
#pragma unroll
            for (int q = QUADS - 1; q >= 0; --q) {
                const double others = before[q] * after;
                after *= quad(both, q);
#pragma unroll
                for (int p = 2 * q; p < 2 * q + 2 && p < PAIRS; ++p) {
                    const double rest_of = (p ^ 1) < PAIRS ? others * both[p ^ 1] : others;
                    running[2 * p] = fma(rest_of, sums[2 * p + 1], running[2 * p]);
                    running[2 * p + 1] = fma(rest_of, sums[2 * p], running[2 * p + 1]);
                }
            }
        }
        two_sum(total, lost, sum);
        absolute += size;
        if (((four + 1) & ((1u << (STRETCH - 2)) - 1)) == 0) {
            const unsigned last = 4 * four + 3, gray = last ^ (last >> 1);
            for (int i = 0; i <= WALK; ++i) {
                const double sign = i < WALK && ((gray >> i) & 1) ? -1.0 : 1.0;
#pragma unroll
                for (int j = 0; j < HALF; ++j) {
                    double part = sign * running[j];
                    if (i == 0) part += first_row[j];
                    else if (i <= KEPT) {
                        part += kept[((i - 1) * HALF + j) * THREADS];
                        kept[((i - 1) * HALF + j) * THREADS] = 0.0;
                    } else if (i < WALK) {
                        part += weighted[i][j];
                        weighted[i][j] = 0.0;
                    }
                    two_sum(grand[i][j], rest[i][j], part);
                }
            }
#pragma unroll
            for (int j = 0; j < HALF; ++j) running[j] = first_row[j] = 0.0;
        }
    }
    // Over the block: every walked row, the rows that number the chunks of a block, and the total.
    const double parity = sign_of(chunk);
    double *mine_out = out + (size_t)blockIdx.x * (ROWS_OUT * 2 * HALF + 3);
    for (int i = 0; i < ROWS_OUT; ++i)
        for (int j = 0; j < HALF; ++j) {
            const int source = i < WALK ? i : WALK;
            double value = parity * (grand[source][j] + rest[source][j]);
            if (i >= WALK && i < WALK + CHUNK_BITS && ((threadIdx.x >> (i - WALK + 1)) & 1))
                value = -value;
            for (int step = 16; step > 1; step >>= 1)
                value += __shfl_down_sync(0xffffffffu, value, step);
            __syncthreads();
            if ((threadIdx.x & 31) < 2) room[(threadIdx.x >> 5) * 2 + half] = value;
            __syncthreads();
            if (threadIdx.x < 2) {
                double over = 0.0;
                for (int warp = 0; warp < THREADS / 32; ++warp) over += room[warp * 2 + half];
                mine_out[i * 2 * HALF + half * HALF + j] = over;
            }
        }
    const double once = half == 0 ? 1.0 : 0.0;  // both lanes of a pair saw the same terms
    total = over_block(once * parity * total, room);
    lost = over_block(once * parity * lost, room);
    absolute = over_block(once * absolute, room);
    if (threadIdx.x == 0) {
        mine_out[ROWS_OUT * 2 * HALF] = total;
        mine_out[ROWS_OUT * 2 * HALF + 1] = lost;
        mine_out[ROWS_OUT * 2 * HALF + 2] = absolute;
    }
}

#endif
