// SPDX-License-Identifier: Apache-2.0

package chartupgrades

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Release is the name of the release, and Namespace that in the records: the recorder uses another one for each upgrade.
const (
	Release   = "web"
	Namespace = "apps"
)

// Helm renders charts by the program of Helm.
type Helm struct {
	// Program is the path of Helm, Home a directory for its files.
	Program, Home string
	KubeVersion   string
}

// template returns the manifests of a chart, for an installation or an upgrade. A refusal is a refusedError.
func (h Helm) template(ctx context.Context, archive, namespace string, values []byte, isUpgrade bool) ([]manifest, error) {
	args := []string{"template", Release, archive, "--namespace", namespace, "--include-crds", "--kube-version", h.KubeVersion, "--values", "-"}
	if isUpgrade {
		args = append(args, "--is-upgrade")
	}
	cmd := exec.CommandContext(ctx, h.Program, args...)
	cmd.Env = []string{"HOME=" + h.Home, "HELM_CACHE_HOME=" + h.Home, "HELM_CONFIG_HOME=" + h.Home, "HELM_DATA_HOME=" + h.Home}
	cmd.Stdin = bytes.NewReader(values)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, refusedError(strings.TrimSpace(stderr.String()))
	case err != nil:
		return nil, fmt.Errorf("rendering %s: %w", archive, err)
	}
	return split(string(out)), nil
}

// refusedError is the reason why Helm does not render a chart.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// split returns the manifests in the output of helm template, which begin with a comment with their path, in the directory of the
// chart. A file of crds may have such comments of another chart.
func split(out string) (all []manifest) {
	const separator = "---\n# Source: "
	text, isFirst := strings.CutPrefix(out, separator)
	chart, _, isPath := strings.Cut(text, "/")
	if !isFirst || !isPath {
		return nil
	}
	for one := range strings.SplitSeq(text, "\n"+separator+chart+"/") {
		path, text, _ := strings.Cut(one, "\n")
		all = append(all, manifest{chart + "/" + strings.TrimPrefix(path, chart+"/"), text})
	}
	return all
}

// enable returns the values that enable what can be enabled in both versions, and the keys of values.yaml that they are below.
func (h Helm) enable(ctx context.Context, p Pair) (values []byte, keys []string, err error) {
	keys, err = h.enableMore(ctx, p, nil, p.Old.Enablable())
	if err == nil {
		values, err = p.Old.Values(keys)
	}
	return values, keys, err
}

// enableMore returns keys with those of more that both versions render with. It tries many at once.
func (h Helm) enableMore(ctx context.Context, p Pair, keys, more []string) ([]string, error) {
	all := slices.Concat(keys, more)
	values, err := p.Old.Values(all)
	if err != nil || len(more) == 0 {
		return keys, err
	}
	if len(strings.Join(all, ",")) <= maxField {
		_, refused := h.template(ctx, p.Old.Archive, Namespace, values, false)
		if refused == nil {
			_, refused = h.template(ctx, p.New.Archive, Namespace, values, true)
		}
		if refused == nil {
			return all, nil
		}
	}
	if len(more) == 1 {
		return keys, nil
	}
	if keys, err = h.enableMore(ctx, p, keys, more[:len(more)/2]); err != nil {
		return nil, err
	}
	return h.enableMore(ctx, p, keys, more[len(more)/2:])
}
