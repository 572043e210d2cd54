// SPDX-License-Identifier: Apache-2.0

// Package each makes one slice out of another. It knows nothing of what the slices hold.
package each

// Map returns what f returns for each value, in order; nil for none.
func Map[T, U any](all []T, f func(T) U) []U {
	if len(all) == 0 {
		return nil
	}
	mapped := make([]U, len(all))
	for i, one := range all {
		mapped[i] = f(one)
	}
	return mapped
}

// Where returns the values that keep accepts, in order; nil for none.
func Where[T any](all []T, keep func(T) bool) (kept []T) {
	for _, one := range all {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}
