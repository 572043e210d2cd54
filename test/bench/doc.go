// SPDX-License-Identifier: Apache-2.0

// Package bench compares Winnow with other tools, side by side in one run, on generated input. Figures are ratios of
// the processor time and of the peak memory of processes: those hold on a busy machine as well. Run it with
// `make bench BENCH=Opm`, which builds opm once, and fails where a figure misses its target, or with `make bench-render`,
// which writes RESULTS.md. WINNOW_BENCH_PROFILE names a file for a profile of a measured process.
//
// What it generates is an input of tests: products must not know it.
package bench
