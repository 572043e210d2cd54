// SPDX-License-Identifier: Apache-2.0

// Package sandbox renders a chart in a process of its own, which it kills when a limit of time, memory or output is exceeded:
// nothing ends a template that runs. The process is this program again, with an empty environment; it gets the chart by its
// standard input. Package sandbox must not know what is in a chart.
package sandbox
