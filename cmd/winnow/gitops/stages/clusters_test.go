// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-dev/winnow/cmd/winnow/gitops/repository"
	"github.com/winnow-dev/winnow/test/farm"
)

// only returns a tree with the directories below one.
func only(tree *repository.Tree, dir string) *repository.Tree {
	part := *tree
	part.Dirs = maps.Clone(tree.Dirs)
	maps.DeleteFunc(part.Dirs, func(name string, _ []string) bool { return name != dir && !strings.HasPrefix(name, dir+"/") })
	return &part
}

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
		"linked/a.yaml": object, "linked/clusters/paris.pub": key, "through/a.yaml": object, "through/clusters/paris.pub": key,
		"unrelated/README.md": "x", "overlay/kustomization.yaml": "resources: [../fine]", "overlay/clusters/rome.pub": key,
		"own/kustomization.yaml": "resources: [a.yaml]", "own/a.yaml": object, "own/clusters/rome.pub": key, "two/a.yaml": object, "two/clusters/berlin.pub": key + key,
	}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", "ln -s paris.pub linked/clusters/berlin.pub && ln -s ../fine/clusters through/user-clusters && ln -s ../fine/clusters unrelated/clusters && "+
		"git add . && git -c user.name=a -c user.email=a@example.com commit -q -m links").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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
		"private": "private/clusters/berlin.pub: want a public key", "two": "two/clusters/berlin.pub: want one public key",
		"linked": "linked/clusters/berlin.pub is a symbolic link, which is not followed: commit the keys as files",
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
	for _, test := range []struct{ dir, want string }{
		{"linked", "linked/clusters/berlin.pub is a symbolic link"}, {"through", "through/user-clusters is a symbolic link"}, {"fine", ""}, {"unrelated", ""},
	} {
		if _, err := AllUsers(only(tree, test.dir)); (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.dir, err, test.want)
		}
	}
	for dir, builds := range map[string]bool{"overlay": true, "own": false, "fine": false} {
		if users, err := AllUsers(only(tree, dir)); err != nil || len(users) != 1 || users[0].IsOverlay != builds {
			t.Errorf("%s: %+v, %v", dir, users, err)
		}
	}
	if _, err := Find(t.Context(), tree, "fine", "", false); err == nil || !strings.HasPrefix(err.Error(), "it is no stage") {
		t.Errorf("a stage without a digest: %v", err)
	}
}
