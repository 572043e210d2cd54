// SPDX-License-Identifier: Apache-2.0

// Package report has what several verbs state about the same thing: the decision on an application, its versions, packages,
// instances and addresses, what lint finds, and what a safeguard holds. It must not know flags, or where the input is from.
package report
