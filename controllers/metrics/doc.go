// SPDX-License-Identifier: Apache-2.0

// Package metrics measures what Winnow does, as metrics of Prometheus besides the metrics of Flux and controller-runtime.
// It must not know how anything is done: its callers pass names, numbers and times.
//
// The parts of Metrics have methods that may be called on nil, which measure nothing.
package metrics
