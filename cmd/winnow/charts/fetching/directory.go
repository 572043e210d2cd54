// SPDX-License-Identifier: Apache-2.0

package fetching

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/winnow-dev/winnow/cmd/winnow/charts/rendering"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/bounded"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// Bounds of a directory of charts, of a Chart.yaml in it, in bytes, and of the rules of a .helmignore: each is compared with
// each file.
const (
	maxRules     = 500
	maxEntries   = 100_000
	maxChartYAML = 1 << 20
)

// chartFile names the file that makes a directory a chart.
const chartFile = "Chart.yaml"

// Directory has charts, as files NAME-VERSION.tgz or as directories with a Chart.yaml, at any depth. Whatever the URL of a
// reference is, it has the chart with the name and the version.
type Directory struct {
	name string
	// archives maps names of files to their paths, and charts maps charts to their directories.
	archives map[string]string
	charts   map[Reference]string
}

// OpenDirectory finds the charts of a directory. Of several with the same name and version, the first by path is taken.
func OpenDirectory(ctx context.Context, name string) (*Directory, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d := &Directory{name: name, archives: map[string]string{}, charts: map[Reference]string{}}
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(at string, entry fs.DirEntry, err error) error {
		switch seen++; {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case seen > maxEntries:
			return fmt.Errorf("it has more than %d files", maxEntries)
		case entry.Type().IsRegular() && strings.HasSuffix(at, suffix):
			d.archives[entry.Name()] = cmp.Or(d.archives[entry.Name()], at)
		case entry.Type().IsRegular() && entry.Name() == chartFile:
			return d.chart(root.FS(), path.Dir(at))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return d, nil
}

// chart adds a directory with a Chart.yaml, unless that does not say what chart it is of.
func (d *Directory) chart(fsys fs.FS, at string) error {
	content, err := bounded.ReadFile(fsys, path.Join(at, chartFile), maxChartYAML)
	switch {
	case errors.Is(err, bounded.ErrTooLarge): // it is no chart that could be rendered
		return nil
	case err != nil:
		return err
	}
	if about, err := yamlnode.First(content); err == nil {
		key := Reference{Name: yamlnode.TextAt(about, "name"), Version: yamlnode.TextAt(about, "version")}
		d.charts[key] = cmp.Or(d.charts[key], at)
	}
	return nil
}

// Fetch returns the archive of a chart, which is packed as helm package does if it is a directory.
func (d *Directory) Fetch(ctx context.Context, r Reference) ([]byte, error) {
	root, err := os.OpenRoot(d.name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	chartName := path.Base(r.Name)
	version, err := d.version(chartName, r)
	if err != nil {
		return nil, err
	}
	if at, ok := d.archives[chartName+"-"+version+suffix]; ok {
		content, err := bounded.ReadFile(root.FS(), at, rendering.MaxArchive)
		if errors.Is(err, bounded.ErrTooLarge) {
			err = fmt.Errorf("%s is larger than %d bytes", at, rendering.MaxArchive)
		}
		return content, err
	}
	at, ok := d.charts[Reference{Name: chartName, Version: version}]
	if !ok {
		return nil, fmt.Errorf("%s has neither %s-%s%s nor a directory with the %s of that chart", d.name, chartName, version, suffix, chartFile)
	}
	below, err := fs.Sub(root.FS(), at)
	if err != nil {
		return nil, err
	}
	packed, err := Pack(ctx, chartName, below)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(d.name, at), err)
	}
	return packed, nil
}

// version returns the version that Helm takes of a repository with these charts; without one, and of a registry, the one that is
// named.
func (d *Directory) version(chartName string, r Reference) (string, error) {
	if r.isOCI() {
		return r.Version, checkTag(r.Version)
	}
	var texts []string
	for file := range d.archives {
		if version, ok := strings.CutPrefix(strings.TrimSuffix(file, suffix), chartName+"-"); ok {
			texts = append(texts, version)
		}
	}
	for chart := range d.charts {
		if chart.Name == chartName {
			texts = append(texts, chart.Version)
		}
	}
	slices.Sort(texts)
	place, err := newVersions(texts).find(r.Version)
	if err != nil || place < 0 {
		return r.Version, err
	}
	return texts[place], nil
}

// Pack packs a directory of a chart below a directory with a name, without what its .helmignore names.
func Pack(ctx context.Context, name string, fsys fs.FS) ([]byte, error) {
	found, err := archive.ReadFS(ctx, fsys, archive.Limits{})
	if err != nil {
		return nil, err
	}
	rules := ignore.Empty()
	if content, ok := found.Content(ignore.HelmIgnore); ok {
		if lines := bytes.Count(content, []byte("\n")); lines > maxRules || len(content) > maxRules*100 {
			return nil, fmt.Errorf("%s has more than %d lines, or %d bytes", ignore.HelmIgnore, maxRules, maxRules*100)
		}
		if rules, err = ignore.Parse(bytes.NewReader(content)); err != nil {
			return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, err)
		}
	}
	rules.AddDefaults()
	kept := tree.New()
	err = fs.WalkDir(found.FS(), ".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil || at == "." {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case rules.Ignore(at, info) && entry.IsDir():
			return fs.SkipDir
		case rules.Ignore(at, info) || entry.IsDir():
			return nil
		}
		content, _ := found.Content(at)
		return kept.Add(name+"/"+at, content)
	})
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	err = archive.Write(&packed, kept)
	return packed.Bytes(), err
}
