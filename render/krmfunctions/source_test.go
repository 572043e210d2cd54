// SPDX-License-Identifier: Apache-2.0

package krmfunctions_test

import (
	"reflect"
	"testing"
)

func sourceOf(t *testing.T, runtime string) map[string]any {
	t.Helper()
	c, refused := load(t, map[string]string{"c.yaml": complete(runtime)})
	if c == nil {
		t.Fatal(refused)
	}
	return c.Functions[0].Versions[0].Runtime.Source()
}

func TestTheSourceOfARuntimeIsWhatRuns(t *testing.T) {
	exec := func(fields string) string { return "{exec: {platforms: [{os: linux, arch: amd64, " + fields + "}]}}" }
	for _, test := range []struct {
		name, before, now string
		same              bool
	}{
		{"another tag", image, "{container: {image: example/logger:v2}}", false},
		{"a digest", image, "{container: {image: example/logger:v1, sha256: " + hash + "}}", false},
		{"a digest behind the image", "{container: {image: example/logger:v1, sha256: " + hash + "}}", "{container: {image: example/logger:v1@sha256:" + hash + "}}", true},
		{"the network", image, "{container: {image: example/logger:v1, requireNetwork: true}}", true},
		{"a script as well", image, "{container: {image: example/logger:v1}, starlark: a.star}", false},
		{"another hash of a program", exec("bin: a"), exec("bin: a, sha256: " + hash), false},
		{"another program", exec("bin: a"), exec("bin: b"), false},
		{"a program for more platforms", exec("bin: a"), "{exec: {platforms: [{os: linux, arch: amd64, bin: a}, {os: linux, arch: arm64, bin: a}]}}", false},
		{"another script", "{starlark: a.star}", "{starlark: b.star}", false},
		{"a script with a hash", "{starlark: a.star}", "{starlark: {path: a.star, sha256: " + hash + "}}", false},
		{"a script in a mapping", "{starlark: a.star}", "{starlark: {path: a.star}}", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if before, now := sourceOf(t, test.before), sourceOf(t, test.now); reflect.DeepEqual(before, now) != test.same {
				t.Errorf("the sources are %v and %v", before, now)
			}
		})
	}
}
