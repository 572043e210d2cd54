// SPDX-License-Identifier: Apache-2.0

// Package redact keeps secrets out of messages: it is the way by which the errors of other libraries leave, for all verbs and
// for the controller. A message keeps the file or the host, the status and the remedy. The package must not know who prints it.
package redact
