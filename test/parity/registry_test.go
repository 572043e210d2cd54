// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/farm"
)

const (
	// host is the registry in all inputs. The programs reach it through a proxy on loopback.
	host = "registry.example.com"
	// releases is how many releases the catalog has.
	releases = 8
)

func tagOf(release int) string { return fmt.Sprintf("v1.%d.0", release) }

// applications are the names of those in the first release.
var applications = strings.Fields("app-01 app-02 app-03 app-04 app-05 app-06 app-07 app-08 app-09 app-10 app-11 app-12 app-13 app-14")

func addressOf(release int) string { return "oci://" + host + "/catalogs/model:" + tagOf(release) }

// changes are edits of a catalog.
var changes = []edit{
	{"a version less", `  - version: .+\n(?:    .+\n)+`, ""}, {"another version", `  - version: 2\.0\.0\n((?:    .+\n)+)`, "${0}  - version: 2.NUMBER.0\n$1"},
	{"a major version", `  - version: 2\.0\.0\n((?:    .+\n)+)`, "${0}  - version: 3.NUMBER.0\n$1"}, {"another value", `key1: \d+`, "key1: NUMBER"},
	{"no value", `    key2: .+\n`, ""}, {"another tier", `tier: gold`, "tier: silver"}, {"a label", `\Atier: \w+\n\z`, "${0}labels: {category: delivery}\n"},
	{"another host", `https://charts\.example\.com`, "oci://mirror.example.com/charts"}, {"another chart", `chartName: \S+`, "chartName: other"},
	{"a namespace", `  method: helm\n(  description)`, "  method: helm\n  defaultNamespace:\n    name: space-NUMBER\n$1"}, {"a default", `  method: helm\n(  description)`, "  method: helm\n  defaultVersion: 1.1.0\n$1"},
	{"deprecated", `\Atier: \w+\n\z`, "${0}deprecated: Use APP.\n"}, {"facts", `\Atier: \w+\n\z`, "${0}versions: {1.1.0: {deprecated: Old., channels: [stable], requires: {kubernetes: \">=1.33\"}}}\n"},
	{"locked", `\Atier: \w+\n\z`, "${0}lockedValues: [key1]\n"}, {"another application", `\n  name: (app-\d+)\n`, everywhere},
}

// store is a registry with the releases of a catalog, and with what the old program renders of them.
type store struct {
	// dir has a directory for each release, and digests what is rendered of each.
	address, dir string
	digests      []string
}

func newStore(t *testing.T, r *rand.Rand, from int) *store {
	t.Helper()
	server := httptest.NewServer(ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	s := &store{address: strings.TrimPrefix(server.URL, "http://")}
	p := newPrograms(t, s.address)
	s.dir = p.dir
	old := func(command string) {
		t.Helper()
		if result := p.run(p.old, command); result["/exit code"] != "0" {
			t.Fatalf("winnow %s: %s", command, result["/stderr"])
		}
	}
	write(t, s.dir, map[string]string{"hub.yaml": selection("hub", "  exclude: [app-09]\n")})
	for n, c := range history(r, farm.CatalogOf(farm.First, len(applications)), releases, from, changes, changes) {
		write(t, filepath.Join(s.dir, tagOf(n)), c.files)
		for _, name := range []string{"model", "farm"} {
			old("push --plain-http --ignore kkp/default-version " + tagOf(n) + " oci://" + host + "/catalogs/" + name + ":" + tagOf(n))
		}
		old("render -f hub.yaml --archive archive.tar.gz --source " + tagOf(n))
		content, err := os.ReadFile(filepath.Join(s.dir, "archive.tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		digest, err := pushRendered(t.Context(), s.address+"/rendered/hub", tagOf(n), content)
		if err != nil {
			t.Fatal(err)
		}
		s.digests = append(s.digests, digest)
	}
	return s
}

// pushRendered pushes an archive as the controller does, and returns the digest.
func pushRendered(ctx context.Context, repository, tag string, content []byte) (string, error) {
	to, err := remote.NewRepository(repository)
	if err != nil {
		return "", err
	}
	to.PlainHTTP = true
	artifact, err := registry.Pack(v1alpha1.RenderedArtifactType, registry.NewBlob(v1.MediaTypeImageLayerGzip, content), nil)
	if err != nil {
		return "", err
	}
	return artifact.Manifest.Descriptor.Digest.String(), registry.Pusher{}.Push(ctx, to, artifact, []string{tag})
}
