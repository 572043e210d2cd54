// SPDX-License-Identifier: Apache-2.0

// Package promql has the tests of config/monitoring, by the parser, the engine and the templates of Prometheus: what its
// promtool does with rules, and the same for dashboards.
package promql
