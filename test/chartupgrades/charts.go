// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// Version is a version of a chart.
type Version struct {
	Version string
	// Archive is the path of its archive.
	Archive string
	number  *semver.Version
	values  map[string]any
}

// Charts maps the charts of a directory to their versions in the order of their numbers. Each chart has a directory, with an
// archive for each version. Where an archive lacks charts that its Chart.yaml names, scratch gets one that does not name them:
// so does Helm render a chart that is in another one, as these were.
func Charts(ctx context.Context, dir, scratch string) (map[string][]Version, error) {
	archives, err := filepath.Glob(filepath.Join(dir, "*", "*.tgz"))
	if err != nil {
		return nil, err
	}
	charts := map[string][]Version{}
	for _, path := range archives {
		version, err := readVersion(ctx, path, scratch)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		name := filepath.Base(filepath.Dir(path))
		charts[name] = append(charts[name], version)
	}
	for _, versions := range charts {
		slices.SortFunc(versions, func(a, b Version) int {
			return cmp.Or(a.number.Compare(b.number), cmp.Compare(a.Version, b.Version))
		})
	}
	return charts, nil
}

func readVersion(ctx context.Context, path, scratch string) (v Version, err error) {
	if v, err = versionOf(path); err != nil {
		return v, err
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	files, err := archive.Read(ctx, bytes.NewReader(packed), archive.Limits{})
	if errors.As(err, new(*archive.Error)) {
		return v, nil // such as one with links, which Winnow does not render
	}
	if err != nil {
		return v, err
	}
	root, _, _ := strings.Cut(files.Paths()[0], "/")
	values, _ := files.Content(root + "/values.yaml")
	if err := yaml.Unmarshal(values, &v.values); err != nil {
		return v, err
	}
	complete, err := withoutMissing(files, root)
	if err != nil || complete == nil {
		return v, err
	}
	v.Archive = filepath.Join(scratch, filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path))
	var out bytes.Buffer
	if err := archive.Write(&out, complete); err != nil {
		return v, err
	}
	return v, os.WriteFile(v.Archive, out.Bytes(), 0o600)
}

// withoutMissing returns a chart without the dependencies that it lacks, or nil for one that lacks none.
func withoutMissing(files *tree.Tree, root string) (*tree.Tree, error) {
	content, _ := files.Content(root + "/Chart.yaml")
	var about map[string]any
	if err := yaml.Unmarshal(content, &about); err != nil {
		return nil, err
	}
	named, _ := about["dependencies"].([]any)
	has := slices.DeleteFunc(slices.Clone(named), func(dependency any) bool {
		one, _ := dependency.(map[string]any)
		prefix := fmt.Sprintf("%s/charts/%s", root, one["name"])
		return !slices.ContainsFunc(files.Paths(), func(path string) bool {
			return strings.HasPrefix(path, prefix+"/") || strings.HasPrefix(path, prefix+"-")
		})
	})
	if len(has) == len(named) {
		return nil, nil
	}
	about["dependencies"] = has
	changed, err := yaml.Marshal(about)
	if err != nil {
		return nil, err
	}
	out := tree.New()
	for _, path := range files.Paths() {
		content, _ := files.Content(path)
		if path == root+"/Chart.yaml" {
			content = changed
		}
		if err := out.Add(path, content); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// versionOf returns the version at the end of NAME-VERSION.tgz, where a name may have hyphens, and "_" stands for "+".
func versionOf(archive string) (Version, error) {
	base := strings.TrimSuffix(filepath.Base(archive), ".tgz")
	for i := range base {
		if base[i] != '-' || i+1 == len(base) {
			continue
		}
		if number, err := semver.NewVersion(strings.ReplaceAll(base[i+1:], "_", "+")); err == nil {
			return Version{Version: base[i+1:], Archive: archive, number: number}, nil
		}
	}
	return Version{}, fmt.Errorf("%s is not NAME-VERSION", base)
}

// Enablable returns the keys of values.yaml below which something can be enabled.
func (v Version) Enablable() (keys []string) {
	for key, value := range v.values {
		if enabled(key, value) != nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Values returns the values that enable what is below keys of values.yaml.
func (v Version) Values(keys []string) ([]byte, error) {
	values := map[string]any{}
	for _, key := range keys {
		values[key] = enabled(key, v.values[key])
	}
	return yaml.Marshal(values)
}

// enabled returns the values below a key with true for each "enabled: false" and "create: false", and nothing else.
func enabled(key string, value any) any {
	if value == false && (key == "enabled" || key == "create") {
		return true
	}
	below, isMapping := value.(map[string]any)
	if !isMapping {
		return nil
	}
	found := map[string]any{}
	for name, one := range below {
		if value := enabled(name, one); value != nil {
			found[name] = value
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}
