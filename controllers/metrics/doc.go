// SPDX-License-Identifier: Apache-2.0

// Package metrics measures what Winnow does, as metrics of Prometheus besides those of Flux and controller-runtime. It must
// not know how anything is done: who does it hands over names, numbers and times.
//
// The parts of Metrics have methods that may be called on nil, which measure nothing.
package metrics
