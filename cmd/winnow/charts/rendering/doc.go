// SPDX-License-Identifier: Apache-2.0

// Package rendering renders charts as Helm does, from bytes that are not trusted: without a cluster, a network, files and an
// environment, and twice, because what differs is generated. It does not limit time and memory: only a process of its own
// can be limited, see package sandbox. It must not know where charts come from, nor what their objects are for.
package rendering
