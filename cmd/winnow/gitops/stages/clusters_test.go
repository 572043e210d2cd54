// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/test/farm"
)

// The keys beside the file of a stage are its clusters. One that cannot be read is an error, as its cluster would be overlooked.
func TestClustersOfAStage(t *testing.T) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	const object = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: a}\nspec: {ref: {tag: latest}}\n"
	dir := t.TempDir()
	if err := farm.Commit(t.Context(), dir, map[string]string{
		"fine/a.yaml": object, "fine/clusters/paris.pub": key, "fine/clusters/berlin.pub": key, "fine/clusters/README.md": "x", "fine/clusters/old/rome.pub": key,
		"none/a.yaml": object, "none/clusters/README.md": "x",
		"upper/a.yaml": object, "upper/clusters/Berlin.pub": key,
		"private/a.yaml": object, "private/clusters/berlin.pub": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
		"text/a.yaml": object, "text/clusters/berlin.pub": "ssh-ed25519 AAAA",
		"large/a.yaml": object, "large/clusters/berlin.pub": key + strings.Repeat("\n", 20_000),
	}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	git := repository.Git{}
	commit, err := git.Commit(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := git.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	tree, err := git.Tree(t.Context(), commit, objects)
	if err != nil {
		t.Fatal(err)
	}
	for stage, want := range map[string]string{
		"fine": "", "none": "none/clusters has no NAME.pub in HEAD", "upper": `upper/clusters/Berlin.pub: "Berlin" is no name of a cluster`,
		"text": "text/clusters/berlin.pub: want a public key", "large": "large/clusters/berlin.pub: it has more than 16384 bytes",
		"private": "private/clusters/berlin.pub: want a public key",
	} {
		found, err := Find(t.Context(), tree, stage, "", true)
		if err != nil {
			t.Fatal(err)
		}
		clusters, err := Clusters(tree, found)
		if want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", stage, err, want)
			}
			continue
		}
		var names []string
		for _, c := range clusters {
			names = append(names, c.Name)
		}
		if err != nil || !slices.Equal(names, []string{"berlin", "paris"}) {
			t.Errorf("%s: %v, %v", stage, names, err)
		}
	}
	if _, err := Find(t.Context(), tree, "fine", "", false); err == nil || !strings.HasPrefix(err.Error(), "it is no stage") {
		t.Errorf("a stage without a digest: %v", err)
	}
}
