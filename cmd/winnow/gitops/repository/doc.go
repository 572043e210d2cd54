// SPDX-License-Identifier: Apache-2.0

// Package repository reads commits of the Git repository of the working directory, as Flux makes artifacts of them, and
// recognizes the addresses that sources have for that repository. It must not know objects, nor use the network.
package repository
