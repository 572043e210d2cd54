// SPDX-License-Identifier: Apache-2.0

// Package explain is winnow explain: it shows why a selection has an application or not, and what an instance installs.
package explain
