// SPDX-License-Identifier: Apache-2.0

// Package chartrules says what is wrong with charts that were rendered for versions of Kubernetes. It must not know where charts
// come from, nor the files that name them.
package chartrules
