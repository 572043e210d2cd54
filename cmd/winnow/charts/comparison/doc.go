// SPDX-License-Identifier: Apache-2.0

// Package comparison compares the charts of two states of a selection: it finds what is upgraded, renders both sides, and adds
// to the report what the upgrade may break. It must not know how a report is shown.
package comparison
