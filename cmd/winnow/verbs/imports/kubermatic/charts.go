// SPDX-License-Identifier: Apache-2.0

package kubermatic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/spelling"
)

// definitionOf maps the charts that KKP's application-catalog-manager has by itself to the definitions that it makes of them,
// as of application-catalog-manager 75ec0542 (KKP 2.31).
var definitionOf = map[string]string{
	"aikit":                 "aikit",
	"argo-cd":               "argocd",
	"cert-manager":          "cert-manager",
	"falco":                 "falco",
	"flux2":                 "flux2",
	"gateway-helm":          "envoy-gateway",
	"ingress-nginx":         "nginx",
	"k8sgpt-operator":       "k8sgpt-operator",
	"kube-vip":              "kube-vip",
	"kubevirt":              "kubevirt",
	"kueue":                 "kueue",
	"local-ai":              "local-ai",
	"mcp-server-kubernetes": "kubernetes-mcp-server",
	"metallb":               "metallb",
	"nvidia/gpu-operator":   "nvidia-gpu-operator",
	"trivy":                 "trivy",
	"trivy-operator":        "trivy-operator",
}

// definitionsOf returns the definitions of charts in catalogManager.apps. KKP joins the charts with commas, and the manager
// splits the text.
func definitionsOf(apps []string) (definitions []string, err error) {
	for _, chart := range strings.Split(strings.Join(apps, ","), ",") {
		chart = strings.TrimSpace(chart)
		definition, known := definitionOf[chart]
		switch {
		case chart == "" || slices.Contains(definitions, definition):
		case known:
			definitions = append(definitions, definition)
		default:
			err = errors.Join(err, fmt.Errorf("spec.applications.catalogManager.apps: %s is no chart of KKP's catalog manager%s "+
				"Remove it; if your manager has it, add the name of its definition to limit.nameSelector", excerpt.Quoted(chart), meant(chart)))
		}
	}
	return definitions, err
}

// meant returns a question about the chart that was meant: the chart of a definition with the name, or one with a similar name.
func meant(name string) string {
	near := spelling.Nearest(name, slices.Collect(maps.Keys(definitionOf)))
	for chart, definition := range definitionOf {
		if definition == name {
			near = []string{chart}
		}
	}
	if len(near) == 0 {
		return "."
	}
	return ": did you mean " + excerpt.Quoted(near[0]) + "?"
}
