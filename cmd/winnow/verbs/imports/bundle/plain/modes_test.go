// SPDX-License-Identifier: Apache-2.0

package plain_test

import (
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle"
	"github.com/winnow-dev/winnow/cmd/winnow/verbs/imports/bundle/plain"
)

func TestNamespacesThatAnOperatorCanWatch(t *testing.T) {
	all, own, single, multi := bundle.Mode{Type: "AllNamespaces"}, bundle.Mode{Type: "OwnNamespace"}, bundle.Mode{Type: "SingleNamespace"}, bundle.Mode{Type: "MultiNamespace"}
	for _, mode := range []*bundle.Mode{&all, &own, &single, &multi} {
		mode.Supported = true
	}
	for _, test := range []struct {
		name  string
		modes []bundle.Mode
		watch []string
		want  string // part of the error; empty without one
	}{
		{"all by default", []bundle.Mode{all}, nil, ""},
		{"all are not supported", []bundle.Mode{own, single}, nil, "it does not support the install mode AllNamespaces, only OwnNamespace, SingleNamespace: pass --watch-namespace here"},
		{"one other is needed", []bundle.Mode{single}, nil, "pass --watch-namespace with another namespace than here"},
		{"a mode that is false is none", []bundle.Mode{{Type: "AllNamespaces"}}, nil, "it supports no install mode"},
		{"its own", []bundle.Mode{own}, []string{"here"}, ""},
		{"its own is not supported", []bundle.Mode{all}, []string{"here"}, "the install mode OwnNamespace, only AllNamespaces: leave --watch-namespace out"},
		{"another one", []bundle.Mode{single}, []string{"there"}, ""},
		{"another one is not supported", []bundle.Mode{own}, []string{"there"}, "the install mode SingleNamespace, only OwnNamespace: pass --watch-namespace here"},
		{"several", []bundle.Mode{multi}, []string{"a", "b"}, ""},
		{"several with its own", []bundle.Mode{multi}, []string{"a", "here"}, "the install mode OwnNamespace"},
		{"several with its own, supported", []bundle.Mode{multi, own}, []string{"a", "here"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &bundle.Bundle{}
			b.CSV.Spec.Install.Strategy, b.CSV.Spec.Modes = "deployment", test.modes
			_, err := plain.Manifests(b, plain.Options{InstallNamespace: "here", WatchNamespaces: test.watch})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestNamespacesAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		options plain.Options
		want    string
	}{
		"a name of none": {plain.Options{InstallNamespace: "A"}, `"A" is no name of a namespace`},
		"a name twice":   {plain.Options{InstallNamespace: "a", WatchNamespaces: []string{"b", "b"}}, `the namespace "b" is watched twice`},
	} {
		if err := test.options.Check(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
