// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// variants are the objects of an installation, without and with config/multitenant, by their identities.
type variants struct {
	plain, locked map[string]object
}

// template returns the template of an object. An object that neither variant has belongs to an optional part, and is
// the same for both.
func (v variants) template(o object) (string, error) {
	plain, isPlain := v.plain[o.id]
	locked, isLocked := v.locked[o.id]
	if !isPlain && !isLocked {
		return expressions(o)
	}
	one, other := "", ""
	var err error
	if isPlain {
		if one, err = expressions(plain); err != nil {
			return "", err
		}
	}
	if isLocked {
		if other, err = expressions(locked); err != nil {
			return "", err
		}
	}
	return choose(one, other), nil
}

// choose returns a template that renders plain, or locked on a cluster with tenants. What both begin and end with stands
// in it once.
func choose(plain, locked string) string {
	if plain == locked {
		return plain
	}
	one, other := lines(plain), lines(locked)
	start := common(one, other)
	slices.Reverse(one)
	slices.Reverse(other)
	end := min(common(one, other), len(one)-start, len(other)-start)
	slices.Reverse(one)
	slices.Reverse(other)
	head, tail := strings.Join(one[:start], ""), strings.Join(one[len(one)-end:], "")
	one, other = one[start:len(one)-end], other[start:len(other)-end]
	switch {
	case len(one) == 0:
		return head + conditional(multitenant, strings.Join(other, "")) + tail
	case len(other) == 0:
		return head + conditional("not "+multitenant, strings.Join(one, "")) + tail
	}
	return head + "{{- if " + multitenant + " }}\n" + strings.Join(other, "") + "{{- else }}\n" + strings.Join(one, "") + "{{- end }}\n" + tail
}

func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// common returns how many lines at the beginning are the same.
func common(one, other []string) int {
	same := 0
	for same < len(one) && same < len(other) && one[same] == other[same] {
		same++
	}
	return same
}
