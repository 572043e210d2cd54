// SPDX-License-Identifier: Apache-2.0

// Package unread finds the top-level keys of values that a chart does not read: neither in its templates, nor for a chart in it.
// Where a template uses the values as a whole, every key counts as read: a key that is found is one that changes nothing. It
// runs no template, but the depth of what it parses is that of the chart, so only a process with limits may call it. It must not
// know how charts are rendered.
package unread
