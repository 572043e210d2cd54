// SPDX-License-Identifier: Apache-2.0

// Package unread finds the top-level keys of values that a chart does not read: neither in its templates, nor for a chart in it.
// Where a template uses the values as a whole, every key counts as read, so a key that is found changes nothing. It runs no
// template, but a chart decides how deep its templates nest, so only a process with limits may call it. It must not know how
// charts are rendered.
package unread
