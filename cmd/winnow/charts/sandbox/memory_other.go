// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sandbox

import "context"

// watchMemory watches nothing: on this system only the process itself keeps the limit of its memory.
func watchMemory(context.Context, int, int64, func()) {}
