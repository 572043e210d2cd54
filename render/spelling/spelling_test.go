// SPDX-License-Identifier: Apache-2.0

package spelling

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"argocd", "cert-manager", "nginx", "nginx", "ingress-nginx", "falco", "loki"}
	tests := []struct {
		name, wanted string
		want         []string
	}{
		{name: "a letter too much", wanted: "fallco", want: []string{"falco"}},
		{name: "two letters swapped", wanted: "flaco", want: []string{"falco"}},
		{name: "a part comes after the nearest", wanted: "ngnx", want: []string{"nginx"}},
		{name: "a part of names", wanted: "nginx-", want: []string{"nginx"}},
		{name: "what contains it", wanted: "cert", want: []string{"cert-manager"}},
		{name: "a letter, which is a part of anything", wanted: "a"},
		{name: "nothing near", wanted: "prometheus"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Nearest(test.wanted, known); !slices.Equal(got, test.want) {
				t.Errorf("Nearest(%q) = %v, want %v", test.wanted, got, test.want)
			}
		})
	}
	if got := Nearest("app", []string{"app1", "app2", "app3", "app4"}); !slices.Equal(got, []string{"app1", "app2", "app3"}) {
		t.Errorf("Nearest() = %v, want the first three", got)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"falco", "falco", 0}, {"flaco", "falco", 2}, {"argocd", "argo", 2}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
