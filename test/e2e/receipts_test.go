// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/farm"
)

// receipts has each spoke of production push a receipt with the rights of config/receipts alone, and compares it with the commits of
// the stage, which had the digest of the first push before that of the second. Another cluster of the stage sends none.
func (f *fleet) receipts(first, second *v1alpha1.CatalogSelection) {
	f.t.Helper()
	s := f.production[0]
	dir := f.t.TempDir()
	private, public := receiptKey(f)
	write(f.t, filepath.Join(dir, "ca.crt"), string(f.registry.CA))
	write(f.t, filepath.Join(dir, "receipt.pem"), private)
	write(f.t, filepath.Join(dir, "docker/config.json"),
		fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":%q}}}`, f.registry.Host, fleetUser, fleetPassword))
	kubeconfigs := map[string]string{}
	for _, one := range f.production {
		if err := one.ApplyKustomization(f.t.Context(), "config/receipts"); err != nil {
			f.t.Fatal(err)
		}
		kubeconfig, err := one.ServiceAccountKubeconfig(f.t.Context(), "winnow-receipts", "winnow-receipt")
		if err != nil {
			f.t.Fatal(err)
		}
		kubeconfigs[one.name] = kubeconfig
	}
	file := s.directory + "/applications.yaml"
	stage := func(cs *v1alpha1.CatalogSelection) map[string]string {
		_, digest, _ := strings.Cut(cs.Status.Push.URL, "@")
		return map[string]string{file: strings.ReplaceAll(f.read(file), s.revision(), digest)}
	}
	before := stage(first)
	for name := range kubeconfigs {
		before[s.directory+"/clusters/"+name+".pub"] = public
	}
	before[s.directory+"/clusters/silent.pub"] = public
	repository := filepath.Join(dir, "repository")
	if err := farm.Commit(f.t.Context(), repository, before, stage(second)); err != nil {
		f.t.Fatal(err)
	}
	address := "oci://" + f.registry.Host + "/receipts"
	run := func(args ...string) string {
		f.t.Helper()
		cmd := exec.CommandContext(f.t.Context(), system.winnow, append(args, "--ca-file", filepath.Join(dir, "ca.crt"))...)
		cmd.Dir, cmd.Env = repository, append(os.Environ(), "DOCKER_CONFIG="+filepath.Join(dir, "docker"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			f.t.Fatalf("winnow %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	push := func(name string) {
		f.t.Helper()
		run("receipt", name, address, "--sign-key", filepath.Join(dir, "receipt.pem"), "--kubeconfig", kubeconfigs[name])
	}
	for _, one := range f.production {
		push(one.name)
	}
	table := run("fleet", address, s.directory)
	var rows []string
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	version, _, _ := strings.Cut(second.Status.Push.Sources, "@")
	want := []string{"4 clusters, 3 without problems, 1 missing", "CLUSTER STAGE PROBLEM", "silent " + s.directory + " missing"}
	for _, one := range f.production {
		want = append(want, fmt.Sprintf("%s %s - %s True", one.name, s.directory, version))
	}
	if !slices.EqualFunc(rows, want, strings.HasPrefix) {
		f.t.Errorf("winnow fleet prints\n%s\nwant %q", table, want)
	}
	var listed struct {
		Clusters []struct {
			Receipt struct {
				Kustomizations []struct{ Origin string }
				Definitions    []struct {
					Name     string
					Versions []string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(run("fleet", address, s.directory, "-o", "json", "-q")), &listed); err != nil {
		f.t.Fatal(err)
	}
	got := listed.Clusters[1].Receipt
	if len(got.Definitions) != len(s.definitions()) || len(got.Definitions[0].Versions) == 0 || got.Kustomizations[0].Origin != second.Status.Push.Sources {
		f.t.Errorf("the receipt is %+v", got)
	}
	f.bypassed(s, func() string {
		push(s.name)
		return run("fleet", address, s.directory)
	})
	repository = filepath.Join(dir, "rolled-back") // what the spoke has not seen yet
	if err := farm.Commit(f.t.Context(), repository, before, stage(second), stage(first)); err != nil {
		f.t.Fatal(err)
	}
	if table := run("fleet", address, s.directory, "-o", "wide"); !strings.Contains(table, "  "+s.revision()+"  ") {
		f.t.Errorf("winnow fleet -o wide prints\n%s", table)
	}
	if table := run("fleet", address, s.directory); strings.Count(table, "  "+s.directory+"  behind ") != len(f.production) {
		f.t.Errorf("after a rollback, winnow fleet prints\n%s", table)
	}
}

// bypassed has an admin of the spoke bypass a definition, and edit it: the digest that is applied does not tell that.
func (f *fleet) bypassed(s *spoke, list func() string) {
	f.t.Helper()
	ctx, name := f.t.Context(), slices.Sorted(maps.Keys(s.definitions()))[0]
	edit := func(patch string) {
		f.t.Helper()
		if err := s.Client().Patch(ctx, definitionOf(name), client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("admin")); err != nil {
			f.t.Fatal(err)
		}
	}
	edit(`{"metadata": {"annotations": {"` + reconcileAnnotation + `": "disabled"}}}`)
	want := fmt.Sprintf("bypassed  .*%s since %s", name, time.Now().UTC().Format(time.DateOnly))
	if table := list(); !regexp.MustCompile(want).MatchString(table) {
		f.t.Errorf("winnow fleet prints\n%s\nwant %s", table, want)
	}
	edit(`{"metadata": {"annotations": {"` + reconcileAnnotation + `": null}}}`)
	if table := list(); strings.Contains(table, "bypassed") {
		f.t.Errorf("winnow fleet prints\n%s", table)
	}
}

// receiptKey returns the private and the public key of a cluster in PEM.
func receiptKey(f *fleet) (private, public string) {
	f.t.Helper()
	shared, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	encode := func(kind string, der []byte, err error) string {
		if err != nil {
			f.t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	der, err := x509.MarshalPKCS8PrivateKey(secret)
	private = encode("PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(shared)
	return private, encode("PUBLIC KEY", der, err)
}
