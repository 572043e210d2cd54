// SPDX-License-Identifier: Apache-2.0

// Package each makes slices out of others. It knows nothing of what the slices hold.
package each

import "slices"

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

// First returns the first value that is accepted; found is false, and the value zero, if none is.
func First[T any](all []T, is func(T) bool) (first T, found bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return first, false
	}
	return all[i], true
}

// By maps keys to the values that have them; of several with one key, to the last.
func By[T any, K comparable](all []T, key func(T) K) map[K]T {
	byKey := make(map[K]T, len(all))
	for _, one := range all {
		byKey[key(one)] = one
	}
	return byKey
}

// Group returns groups of values by what key returns, in the order of the first value of each group.
func Group[T any, K comparable](all []T, key func(T) K) (groups [][]T) {
	places := map[K]int{}
	for _, one := range all {
		of := key(one)
		i, known := places[of]
		if !known {
			i, places[of] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// Union returns all, and behind it the others that it lacks, each once.
func Union[T comparable](all []T, others ...T) []T {
	for _, one := range others {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
