// SPDX-License-Identifier: Apache-2.0

package receipt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func keysOf(t testing.TB, key crypto.Signer) (*PrivateKey, *PublicKey) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := ReadPrivateKey(encodePEM("PRIVATE KEY", der))
	if err != nil {
		t.Fatal(err)
	}
	if der, err = x509.MarshalPKIXPublicKey(key.Public()); err != nil {
		t.Fatal(err)
	}
	public, err := ReadPublicKey(encodePEM("PUBLIC KEY", der))
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestWhatIsSignedIsOpened(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	want := New("berlin", now, []Kustomization{{Namespace: "flux-system", Name: "applications", Source: "flux-system/applications", Ready: metav1.ConditionTrue}},
		[]Definition{{APIVersion: "apps.kubermatic.k8c.io/v1", Kind: "ApplicationDefinition", Name: "loki", Versions: []string{"1.0.0"}}},
		[]Uses{{Kind: "HelmRelease", Applications: []Use{{Application: "loki", Version: "1.0.0", Installations: 2}}}, {Kind: "Subscription", Unknown: Forbidden}})
	for name, key := range map[string]crypto.Signer{"Ed25519": newKey(t), "ECDSA": curve} {
		private, public := keysOf(t, key)
		envelope, err := Sign(t.Context(), want, private)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Open(t.Context(), envelope, public, "berlin", now)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestKeysAreCompared(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := []crypto.Signer{newKey(t), newKey(t), curve}
	for i, a := range keys {
		for j, b := range keys {
			_, one := keysOf(t, a)
			_, other := keysOf(t, b)
			if one.Equal(other) != (i == j) {
				t.Errorf("%d and %d", i, j)
			}
		}
	}
}

func TestKeysOfOtherKindsAreRefused(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []crypto.Signer{weak, curve} {
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		public, err := x509.MarshalPKIXPublicKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPrivateKey(encodePEM("PRIVATE KEY", private)); !errors.Is(err, errPrivate) {
			t.Errorf("%T: %v", key, err)
		}
		if _, err := ReadPublicKey(encodePEM("PUBLIC KEY", public)); !errors.Is(err, errPublic) {
			t.Errorf("%T: %v", key, err)
		}
	}
	for _, text := range []string{"", "ssh-ed25519 AAAA", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		if _, err := ReadPublicKey([]byte(text)); !errors.Is(err, errPublic) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := ReadPrivateKey([]byte(text)); !errors.Is(err, errPrivate) {
			t.Errorf("%q: %v", text, err)
		}
	}
	curve256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(curve256) // as openssl ecparam -genkey writes it
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPrivateKey(encodePEM("EC PRIVATE KEY", der)); err != nil {
		t.Error(err)
	}
}

// signed returns the envelope of any payload.
func signed(t testing.TB, key *PrivateKey, kind string, payload []byte) []byte {
	t.Helper()
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := signer.SignPayload(context.Background(), kind, payload)
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// What a key has signed is hostile all the same: whoever runs the cluster has the key.
func TestWhatIsSignedIsChecked(t *testing.T) {
	private, public := keysOf(t, newKey(t))
	const head = `"apiVersion": "cli.winnow.dev/v1alpha1", "kind": "Receipt", "cluster": "berlin"`
	for _, test := range []struct {
		name, kind, payload, want string
		forged                    bool
	}{
		{"another payload of the same key", "application/vnd.in-toto+json", "{" + head + `, "time": "2026-08-01T12:00:00Z"}`, "it is no receipt", true},
		{"another cluster", payloadType, "{" + strings.Replace(head, "berlin", "paris", 1) + `, "time": "2026-08-01T12:00:00Z"}`, `it is a receipt of the cluster "paris"`, true},
		{"the future", payloadType, "{" + head + `, "time": "2026-08-01T12:05:01Z"}`, "its time is in the future", true},
		{"no JSON", payloadType, "<html>", "it cannot be read", false},
		{"a newer format", payloadType, `{"apiVersion": "cli.winnow.dev/v2", "kind": "Receipt"}`, `it is "cli.winnow.dev/v2" "Receipt"`, false},
		{"no time", payloadType, "{" + head + "}", "it has no time", false},
		{"a year beyond 9999", payloadType, "{" + head + `, "time": "99999-08-01T12:00:00Z"}`, "it cannot be read", false},
		{"ready with escapes", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "kustomizations": [{"ready": "\u001b[2J"}]}`, `a Kustomization has ready: "\x1b[2J"`, false},
		{"a digest with escapes", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "kustomizations": [{"ready": "True", "digest": "sha256:\u001b"}]}`, `a Kustomization has the digest "sha256:\x1b"`, false},
		{"a million versions", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "definitions": [{"versions": [""` + strings.Repeat(`,""`, 200_000) + `]}]}`, "it is larger than a receipt may be", false},
		{"a payload of 700 KiB", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "x": "` + strings.Repeat("x", 700<<10) + `"}`, "it is larger than a receipt may be", false},
		{"fewer than one installation", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "uses": [{"kind": "HelmRelease", "applications": [{"installations": -1}]}]}`, "a use has installations: -1", false},
		{"more installations than a sum may have", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "uses": [{"kind": "HelmRelease", "applications": [{"installations": 9000000000000000000}]}]}`, "a use has installations: 9000000000000000000", false},
		{"a kind twice, the first time unknown", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "uses": [{"kind": "HelmRelease", "unknown": "Forbidden"}, {"kind": "HelmRelease"}]}`, `it has the uses by "HelmRelease" twice`, false},
		{"more uses than a receipt has", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "uses": [{"kind": "HelmRelease", "applications": [{"installations": 1}` + strings.Repeat(`,{"installations": 1}`, 2_000) + `]}]}`, "it is larger than a receipt may be", false},
		{"more kinds than a receipt has", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "uses": [{}` + strings.Repeat(`,{}`, 2_000) + `]}`, "it is larger than a receipt may be", false},
		{"more definitions than a receipt has", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "definitions": [{}` + strings.Repeat(`,{}`, 5_000) + `]}`, "it is larger than a receipt may be", false},
		{"more Kustomizations than a receipt has", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "kustomizations": [{"ready": "True"}` + strings.Repeat(`,{"ready": "True"}`, 200) + `]}`, "it is larger than a receipt may be", false},
		{"more objects than a receipt has", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "kustomizations": [{"ready": "True", "objects": [""` + strings.Repeat(`,""`, 5_000) + `]}]}`, "it is larger than a receipt may be", false},
		{"more versions than a receipt has", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "definitions": [{"versions": [""` + strings.Repeat(`,""`, 20_000) + `]}]}`, "it is larger than a receipt may be", false},
		{"a number of 100 KB", payloadType, "{" + head + `, "time": "2026-08-01T12:00:00Z", "omitted": 1` + strings.Repeat("0", 100_000) + "}", "it cannot be read", false},
		{"10,000 levels", payloadType, strings.Repeat("[", 10_001), "it cannot be read", false},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open(t.Context(), signed(t, private, test.kind, []byte(test.payload)), public, "berlin", now)
		runtime.ReadMemStats(&after)
		var forged *ForgedError
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.As(err, &forged) != test.forged {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		} else if len(err.Error()) > 1_000 {
			t.Errorf("%s: the error has %d bytes", test.name, len(err.Error()))
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32<<20 {
			t.Errorf("%s: allocated %d MB", test.name, allocated>>20)
		}
	}
}

// A receipt of a large cluster, or of one with hostile texts, is cut where it is made: it can be pushed and read.
func TestAReceiptIsCut(t *testing.T) {
	private, public := keysOf(t, newKey(t))
	var kustomizations []Kustomization
	for i := range 300 {
		kustomizations = append(kustomizations, Kustomization{
			Namespace: "n", Name: fmt.Sprint(i), Source: "n/s", Ready: metav1.ConditionFalse, Message: strings.Repeat("\x00", 100_000),
		})
	}
	definition := func(n int) Definition {
		return Definition{Kind: "ApplicationDefinition", Name: strings.Repeat("d", 253), Versions: make([]string, n)}
	}
	for name, definitions := range map[string][]Definition{
		"many": make([]Definition, 6_000), "with many versions": {definition(1_000), definition(19_000), definition(1)}, "with long names": slicesOf(definition(20), 3_000),
	} {
		r := New("berlin", now, kustomizations, definitions, nil)
		if r.Omitted == 0 || len(r.Kustomizations)+len(r.Definitions)+r.Omitted != 300+len(definitions) || len(r.Definitions) == 0 && name != "with long names" {
			t.Errorf("%s: %d Kustomizations, %d definitions, %d omitted", name, len(r.Kustomizations), len(r.Definitions), r.Omitted)
		}
		envelope, err := Sign(t.Context(), r, private)
		if err != nil || len(envelope) > MaxBytes {
			t.Fatalf("%s: %d bytes, %v", name, len(envelope), err)
		}
		if _, err := Open(t.Context(), envelope, public, "berlin", now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Uses beyond the bounds are left out, and their kind says so. A use keeps the first names alone.
func TestUsesAreCut(t *testing.T) {
	private, public := keysOf(t, newKey(t))
	many := func(n, names int) (all []Use) {
		for i := range n {
			all = append(all, Use{Application: "a", Version: fmt.Sprint(i), Installations: 1, Objects: make([]string, names)})
		}
		return all
	}
	for name, test := range map[string]struct {
		uses    []Uses
		want    []int
		unknown []string
	}{
		"few":                      {[]Uses{{Kind: "A", Applications: many(3, 0)}, {Kind: "B"}}, []int{3, 0}, []string{"", ""}},
		"many":                     {[]Uses{{Kind: "A", Applications: many(3_000, 0)}, {Kind: "B"}, {Kind: "C", Applications: many(1, 0)}}, []int{2_000, 0, 0}, []string{TooMany, "", TooMany}},
		"many names":               {[]Uses{{Kind: "A", Applications: many(2, 5_000)}}, []int{2}, []string{""}},
		"names of many":            {[]Uses{{Kind: "A", Applications: many(100, 50)}}, []int{39}, []string{TooMany}},
		"a receipt that is full":   {[]Uses{{Kind: "A", Applications: []Use{{Application: strings.Repeat("x", maxPayload), Installations: 1}}}}, []int{0}, []string{TooMany}},
		"a kind that is forbidden": {[]Uses{{Kind: "A", Unknown: Forbidden}}, []int{0}, []string{Forbidden}},
	} {
		envelope, err := Sign(t.Context(), New("berlin", now, nil, nil, test.uses), private)
		if err != nil || len(envelope) > MaxBytes {
			t.Fatalf("%s: %d bytes, %v", name, len(envelope), err)
		}
		r, err := Open(t.Context(), envelope, public, "berlin", now)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, kind := range r.Uses {
			if len(kind.Applications) != test.want[i] || kind.Unknown != test.unknown[i] || len(kind.Applications) > 0 && len(kind.Applications[0].Objects) > 100 {
				t.Errorf("%s: %s: %d, %s", name, kind.Kind, len(kind.Applications), kind.Unknown)
			}
		}
	}
}

// A text of a receipt stands in many places of a page.
func TestTextsOfAReceiptAreCutWhereItIsRead(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	private, public := keysOf(t, newKey(t))
	payload, err := json.Marshal(&Receipt{Document: New("", now, nil, nil, nil).Document, Cluster: "berlin", Time: now,
		Kustomizations: []Kustomization{{Ready: metav1.ConditionTrue, Changes: []string{long}}}, Uses: []Uses{{Kind: long, Unknown: long}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), signed(t, private, payloadType, payload), public, "berlin", now)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a kind": r.Uses[0].Kind, "a reason": r.Uses[0].Unknown, "a change": r.Kustomizations[0].Changes[0]} {
		if len(text) > 600 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
}

func slicesOf(d Definition, n int) []Definition {
	all := make([]Definition, n)
	for i := range all {
		all[i] = d
	}
	return all
}

func TestNamesOfClusters(t *testing.T) {
	for name, valid := range map[string]bool{
		"berlin": true, "eu-west-1.prod_2": true, "": false, "Berlin": false, "..": false, "a/b": false, "-a": false, "a--b": false,
		"a\nb": false, strings.Repeat("a", 64): false, "a:latest": false,
	} {
		if err := CheckCluster(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Whatever a registry serves, opening it ends, and only what was signed for the cluster is accepted.
func FuzzOpen(f *testing.F) {
	private, public := keysOf(f, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))) // the same in each process of the fuzzer
	good, err := Sign(f.Context(), New("berlin", now, nil, nil, nil), private)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, []byte("{}"))
	f.Add([]byte(`{"payload": "e30=", "signatures": [{"sig": ""}]}`), []byte(`{"apiVersion": "cli.winnow.dev/v1alpha1", "kind": "Receipt", "cluster": "berlin", "time": "2026-08-01T12:00:00Z", "kustomizations": [{"ready": "True"}]}`))
	f.Fuzz(func(t *testing.T, envelope, payload []byte) {
		if r, err := Open(t.Context(), envelope, public, "berlin", now); err == nil && r.Cluster != "berlin" {
			t.Errorf("opened %+v", r)
		}
		r, err := Open(t.Context(), signed(t, private, payloadType, payload), public, "berlin", now)
		if err == nil && (r.Cluster != "berlin" || r.Time.IsZero() || r.Time.After(now.Add(maxSkew))) {
			t.Errorf("opened %+v", r)
		}
	})
}
