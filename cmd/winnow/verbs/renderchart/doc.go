// SPDX-License-Identifier: Apache-2.0

// Package renderchart is winnow sandbox, which no help names: the process in which other verbs render a chart.
package renderchart
