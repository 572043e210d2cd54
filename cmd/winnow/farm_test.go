// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/contract"
	"github.com/winnow-dev/winnow/test/clitest"
	"github.com/winnow-dev/winnow/test/farm"
)

var farmDir = flag.String("farm", "", "the directory that keeps the repository of 400 clusters and its comments")

// serveFarm returns the address of a registry with the catalogs of a farm, of a number of applications.
func serveFarm(t *testing.T, applications int) string {
	t.Helper()
	r := clitest.EmptyRegistry()
	for _, tag := range []string{farm.First, farm.Second, farm.Third} {
		files := fstest.MapFS{}
		for name, content := range farm.CatalogOf(tag, applications) {
			files[name] = &fstest.MapFile{Data: []byte(content)}
		}
		read, err := archive.ReadFS(t.Context(), files, archive.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		if err := archive.Write(&packed, read); err != nil {
			t.Fatal(err)
		}
		r.Put("catalogs/farm", v1.MediaTypeImageManifest, clitest.Encoded(t, v1.Manifest{
			ArtifactType: contract.ArtifactType, Config: v1.DescriptorEmptyJSON,
			Layers: []v1.Descriptor{r.Layer(packed.Bytes(), v1.MediaTypeImageLayerGzip, "applications")},
		}), tag)
	}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestFarm measures winnow diff on 400 clusters.
func TestFarm(t *testing.T) {
	if *farmDir == "" {
		t.Skip("make farm runs it")
	}
	f := farm.Farm{Clusters: 400, Registry: serveFarm(t, 40), PlainHTTP: true}
	dir, err := filepath.Abs(*farmDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	repository := filepath.Join(dir, "repository")
	for _, change := range []struct {
		name   string
		second map[string]string
	}{{"effects", f.Effects()}, {"held", f.Everywhere(farm.Third)}, {"missing", f.Everywhere("v9.9.9")}} {
		_ = os.RemoveAll(repository)
		if err := farm.Commit(t.Context(), repository, f.Files(), change.second); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"markdown", "text", "text --stat", "json"} {
			cmd := exec.CommandContext(t.Context(), "winnow", append([]string{"diff", "--git", "HEAD~1..HEAD", "--plain-http", "-o"}, strings.Fields(format)...)...)
			cmd.Dir = repository
			started := time.Now()
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: -o %s: %d lines, %d bytes, %.1f s, of the processor %.1f s", change.name, format, bytes.Count(out, []byte("\n")), len(out),
				time.Since(started).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
			if err := os.WriteFile(filepath.Join(dir, change.name+"."+strings.ReplaceAll(format, " ", "")), out, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFarmSite measures winnow site of 400 clusters over catalogs of 1,000 applications.
func TestFarmSite(t *testing.T) {
	if *farmDir == "" {
		t.Skip("make farm runs it")
	}
	f := farm.Farm{Clusters: 400, Registry: serveFarm(t, 1_000), PlainHTTP: true}
	dir, err := filepath.Abs(*farmDir)
	if err != nil {
		t.Fatal(err)
	}
	repository, site := filepath.Join(dir, "large"), filepath.Join(dir, "site")
	for _, old := range []string{repository, site} {
		if err := os.RemoveAll(old); err != nil {
			t.Fatal(err)
		}
	}
	if err := farm.Commit(t.Context(), repository, f.Files(), f.Effects()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "winnow", "site", "--git", repository, "--plain-http", "-o", site)
	started := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s%.1f s, of the processor %.1f s", out, time.Since(started).Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
}
