// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/tree"
)

// Media types of a chart in a registry.
const (
	helmConfigType = "application/vnd.cncf.helm.config.v1+json"
	helmChartType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// helmMain replaces the command helm. It implements those of the guides, of which push stores a chart as
// Helm does, in the registry of orasMain. It records its arguments in LOG.
func helmMain() {
	if err := runHelm(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		os.Exit(1)
	}
}

func runHelm(args []string) error {
	log, err := os.OpenFile(os.Getenv("LOG"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, "helm", strings.Join(args, " "))
	if err = errors.Join(err, log.Close()); err != nil {
		return err
	}
	switch {
	case len(args) == 3 && args[0] == "repo" && args[1] == "index":
		return nil
	case len(args) > 1 && args[0] == "pull":
		return helmPull(path.Base(args[1]), args[2:])
	case len(args) == 3 && args[0] == "push":
		return helmPush(args[1], args[2])
	}
	return fmt.Errorf("not known here: %q", args)
}

// helmPull makes up a chart. Like Helm, it does not create the destination.
func helmPull(name string, args []string) error {
	flags := flag.NewFlagSet("pull", flag.ContinueOnError)
	repo, version, destination := flags.String("repo", "", ""), flags.String("version", "", ""), flags.String("destination", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packed, err := packHelmChart(name, *version, *repo)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(*destination, name+"-"+*version+".tgz"), packed, 0o600)
}

// helmTemplates are the templates of the charts.
var helmTemplates = map[string]string{
	"argo-cd": "kind: Pod\nspec: {containers: [{image: \"quay.io/argoproj/argocd:v3.1.5\"}, " +
		"{image: \"{{ .Values.redis.image.repository }}:{{ .Values.redis.image.tag }}\"}]}\n",
	"cert-manager": "kind: Pod\nspec: {containers: [{image: \"{{ .Values.image.repository }}:{{ .Chart.Version }}\"}, " +
		"{image: \"quay.io/jetstack/cert-manager-cainjector:{{ .Chart.Version }}\"}]}\n",
}

// packHelmChart packs a chart, whose home is the repository that it comes from.
func packHelmChart(name, version, home string) ([]byte, error) {
	chart := tree.New()
	err := errors.Join(
		chart.Add(name+"/Chart.yaml", fmt.Appendf(nil, "apiVersion: v2\nname: %s\nversion: %s\nhome: %s\n", name, version, home)),
		chart.Add(name+"/templates/pod.yaml", []byte(helmTemplates[name])),
	)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	err = archive.Write(&packed, chart)
	return packed.Bytes(), err
}

func helmPush(file, url string) error {
	packed, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var metadata struct{ Name, Version string }
	files, err := archive.Read(context.Background(), bytes.NewReader(packed), archive.Limits{})
	if err != nil {
		return err
	}
	found, err := fs.Glob(files.FS(), "*/Chart.yaml")
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%s has %q: %w", file, found, err)
	}
	text, err := fs.ReadFile(files.FS(), found[0])
	if err == nil {
		err = yaml.Unmarshal(text, &metadata)
	}
	if err != nil {
		return err
	}
	at, ok := strings.CutPrefix(url, "oci://")
	if !ok {
		return fmt.Errorf("%s is no registry", url)
	}
	return pushHelmChart(at+"/"+metadata.Name+":"+strings.ReplaceAll(metadata.Version, "+", "_"), packed)
}

func pushHelmChart(reference string, packed []byte) error {
	ctx := context.Background()
	repository, tag, err := orasTarget(reference, false)
	if err != nil {
		return err
	}
	config, layer := content.NewDescriptorFromBytes(helmConfigType, []byte("{}")), content.NewDescriptorFromBytes(helmChartType, packed)
	err = errors.Join(repository.Push(ctx, config, strings.NewReader("{}")), repository.Push(ctx, layer, bytes.NewReader(packed)))
	if err != nil {
		return err
	}
	manifest, err := oras.PackManifest(ctx, repository, oras.PackManifestVersion1_0, "", oras.PackManifestOptions{
		ConfigDescriptor: &config, Layers: []v1.Descriptor{layer},
	})
	if err != nil {
		return err
	}
	return repository.Tag(ctx, manifest, tag)
}
