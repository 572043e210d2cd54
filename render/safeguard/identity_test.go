// SPDX-License-Identifier: Apache-2.0

package safeguard_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/render/safeguard"
)

// cozy reads "prefix,kind,plural" of the definition vm; empty for one of which that is not known.
func cozy(word string) []safeguard.Definition {
	d := safeguard.Definition{APIVersion: "cozystack.io/v1alpha1", Kind: appKind, Name: "vm"}
	if word != "" {
		parts := strings.Split(word, ",")
		d.Identity = map[string]string{
			"spec.release.prefix": parts[0], "spec.application.kind": parts[1], "spec.application.plural": parts[2],
		}
	}
	return []safeguard.Definition{d}
}

func TestAChangeOfTheIdentityIsNamed(t *testing.T) {
	for _, test := range []struct {
		name, older, newer string
		want               []string
	}{
		{"nothing changes", "vm-,VM,vms", "vm-,VM,vms", nil},
		{"the prefix", "vm-,VM,vms", "machine-,VM,vms", []string{"IdentityChange vm spec.release.prefix vm->machine-"}},
		{"the prefix goes", "vm-,VM,vms", ",VM,vms", []string{"IdentityChange vm spec.release.prefix vm->"}},
		{"a prefix comes", ",VM,vms", "vm-,VM,vms", []string{"IdentityChange vm spec.release.prefix >vm-"}},
		{"kind and plural", "vm-,VM,vms", "vm-,Machine,machines", []string{
			"IdentityChange vm spec.application.kind VM>Machine", "IdentityChange vm spec.application.plural vms>machines",
		}},
		{"a record of an older release does not know it", "", "vm-,VM,vms", nil},
		{"the newer side is made of nothing", "vm-,VM,vms", "", []string{
			"IdentityChange vm spec.application.kind VM>", "IdentityChange vm spec.application.plural vms>", "IdentityChange vm spec.release.prefix vm->",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Compare(cozy(test.older), cozy(test.newer))), test.want)
		})
	}
}

// The prefix stands at another path for each backend, and its value is what counts, also over a live definition.
func TestTheIdentityOfAnotherBackend(t *testing.T) {
	vm := func(fields ...string) []safeguard.Definition {
		d := safeguard.Definition{APIVersion: "apps.cozystack.io/v1alpha1", Kind: appKind, Name: "vm", Identity: map[string]string{}}
		for i := 0; i < len(fields); i += 2 {
			d.Identity[fields[i]] = fields[i+1]
		}
		return []safeguard.Definition{d}
	}
	const of, release, helm, terraform = "spec.backend.type", "spec.release.prefix", "spec.backend.helm.prefix", "spec.backend.terraform.prefix"
	for _, test := range []struct {
		name         string
		older, newer []safeguard.Definition
		want         []string
	}{
		{"release becomes the backend Helm", vm(of, "Helm", release, "vm-"), vm(of, "Helm", helm, "vm-"), nil},
		{"and back", vm(of, "Helm", helm, "vm-"), vm(of, "Helm", release, "vm-"), nil},
		{"with another prefix", vm(of, "Helm", release, "vm-"), vm(of, "Helm", helm, "m-"), []string{"IdentityChange vm spec.backend.helm.prefix vm->m-"}},
		{"Helm becomes Terraform", vm(of, "Helm", helm, "vm-"), vm(of, "Terraform", terraform, "vm-"), []string{"IdentityChange vm spec.backend.type Helm>Terraform"}},
		{"both are there, and are the same", vm(of, "Helm", release, "vm-"), vm(of, "Helm", release, "vm-", helm, "vm-"), nil},
		{"both are there, and differ", vm(of, "Helm", release, "vm-"), vm(of, "Helm", release, "vm-", helm, "m-"), []string{"IdentityChange vm spec.backend.helm.prefix vm->m-"}},
		{"a record of an older release has no type", vm(release, "vm-"), vm(of, "Helm", helm, "m-"), []string{"IdentityChange vm spec.backend.helm.prefix vm->m-"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Compare(test.older, test.newer)), test.want)
			equal(t, lines(safeguard.Adopt(test.older, test.newer)), test.want)
		})
	}
}

// An object that is applied over a live one takes the identity from it as well.
func TestAChangeOfALiveIdentityIsNamed(t *testing.T) {
	for _, test := range []struct {
		name, live, newer string
		want              []string
	}{
		{"nothing changes", "vm-,VM,vms", "vm-,VM,vms", nil},
		{"the prefix and the plural", "vm-,VM,vms", "machine-,VM,machines", []string{
			"IdentityChange vm spec.application.plural vms>machines", "IdentityChange vm spec.release.prefix vm->machine-",
		}},
		{"the live object does not have it", "", "vm-,VM,vms", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Adopt(cozy(test.live), cozy(test.newer))), test.want)
		})
	}
	if changes := safeguard.Adopt(cozy("vm-,VM,vms"), nil); changes != nil {
		t.Errorf("a live definition that no artifact has: %v", changes)
	}
}

// sourced reads "version@origin" words of the definition a.
func sourced(words string) []safeguard.Definition {
	d := safeguard.Definition{APIVersion: kkp + "/v1", Kind: appKind, Name: "a"}
	for word := range strings.FieldsSeq(words) {
		version, origin, _ := strings.Cut(word, "@")
		if version != "" {
			d.Versions = append(d.Versions, version)
		}
		d.Origins = append(d.Origins, strings.Repeat(origin, 8))
	}
	if strings.Join(d.Origins, "") == "" {
		d.Origins = nil
	}
	return []safeguard.Definition{d}
}

func TestAVersionFromElsewhereIsNamed(t *testing.T) {
	const change = "SourceChange a"
	one := sourced("1.0.0@x 2.0.0@x")
	one[0].Origins = []string{"xxxxxxxx"}
	for _, test := range []struct {
		name         string
		older, newer []safeguard.Definition
		want         []string
	}{
		{"nothing changes", sourced("1.0.0@x 2.0.0@y"), sourced("2.0.0@y 1.0.0@x"), nil},
		{"one of two", sourced("1.0.0@x 2.0.0@y"), sourced("1.0.0@x 2.0.0@z"), []string{change + " 2.0.0"}},
		{"one origin for all is that of each", one, sourced("1.0.0@x 2.0.0@z"), []string{change + " 2.0.0"}},
		{"what was one for all stays with each", sourced("1.0.0@x 2.0.0@x 3.0.0@z"), one, []string{"VersionRemoval a 3.0.0"}},
		{"both", sourced("1.0.0@x 2.0.0@y"), sourced("1.0.0@y 2.0.0@x"), []string{change + " 1.0.0,2.0.0"}},
		{"a version goes", sourced("1.0.0@x 2.0.0@x"), sourced("1.0.0@x"), []string{"VersionRemoval a 2.0.0"}},
		{"a version comes", sourced("1.0.0@x"), sourced("1.0.0@x 1.1.0@y"), nil},
		{"a record of an older release does not know it", sourced("1.0.0 2.0.0"), sourced("1.0.0@x 2.0.0@x"), nil},
		{"what is known of one version only", sourced("1.0.0@x 2.0.0"), sourced("1.0.0@z 2.0.0@z"), []string{change + " 1.0.0"}},
		{"a version that is there twice counts once", sourced("1.0.0@x 1.0.0@y"), sourced("1.0.0@z 1.0.0@y"), []string{change + " 1.0.0"}},
		{"a definition without versions", sourced("@x"), sourced("@y"), []string{change}},
		{"a record with short digests, of the same sources", func() []safeguard.Definition {
			short := sourced("1.0.0@x 2.0.0@y")
			short[0].Origins = short[0].Origins.Short()
			return short
		}(), sourced("1.0.0@x 2.0.0@z"), []string{change + " 2.0.0"}},
		{"digests that are too short say nothing", func() []safeguard.Definition {
			forged := sourced("1.0.0@x 2.0.0@x")
			forged[0].Origins = []string{"q", "qqq"}
			return forged
		}(), sourced("1.0.0@x 2.0.0@x"), nil},
		{"origins that do not fit the versions say nothing", func() []safeguard.Definition {
			forged := sourced("1.0.0@x 2.0.0@x 3.0.0@x")
			forged[0].Origins = []string{"qqqqqqqq", "rrrrrrrr"}
			return forged
		}(), sourced("1.0.0@x 2.0.0@x 3.0.0@x"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, lines(safeguard.Compare(test.older, test.newer)), test.want)
		})
	}
}

func TestOriginsAsText(t *testing.T) {
	for text, want := range map[string]safeguard.Origins{
		`"8abcdefgh"`: {"abcdefgh"}, `"4abcdefgh"`: {"abcd", "efgh"}, `"4....abcd"`: {"", "abcd"}, `"8"`: nil,
	} {
		var read safeguard.Origins
		if err := json.Unmarshal([]byte(text), &read); err != nil || !slices.Equal(read, want) {
			t.Errorf("%s is read as %q, %v", text, read, err)
		}
		if written, err := json.Marshal(read); want != nil && (err != nil || string(written) != text) {
			t.Errorf("%q is written as %s, %v", read, written, err)
		}
	}
	for _, text := range []string{`""`, `"0"`, `"3abc"`, `"4abc"`, `"xabcd"`, `"84"`, `["abcd"]`, `7`} {
		var read safeguard.Origins
		if err := json.Unmarshal([]byte(text), &read); err == nil {
			t.Errorf("%s is read as %q", text, read)
		}
	}
	if _, err := json.Marshal(safeguard.Origins{"0123456789"}); err == nil {
		t.Error("a digest without a length of one digit was written")
	}
}
