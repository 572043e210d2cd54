// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// namespace is that of config, for which a chart has that of the release.
const namespace = "winnow-system"

// edit replaces a text that an object has exactly once.
type edit struct{ kind, old, new string }

// The indentation is that of kustomize.
var edits = []edit{
	// Helm never upgrades what is in the directory crds of a chart, so the definition is a template. What goes away with
	// a definition is every CatalogSelection, so helm uninstall leaves it.
	{"CustomResourceDefinition", "\nmetadata:\n  annotations:\n", "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n"},
	{"Deployment", "  replicas: 1\n", "  replicas: {{ .Values.replicas }}\n"},
	{"Deployment", "        image: winnow-controller:{image-not-set}\n", "        image: {{ include \"winnow.image\" . | quote }}\n"},
	{"Deployment", "      nodeSelector:\n", "      {{- with .Values.imagePullSecrets }}\n      imagePullSecrets:\n      {{- toYaml . | nindent 6 }}\n      {{- end }}\n      nodeSelector:\n"},
	{"Deployment", "        env:\n", "        {{- range .Values.extraArgs }}\n        - {{ . | quote }}\n        {{- end }}\n        env:\n"},
	// These two as in config/ha: with Recreate, an upgrade would stop all pods at once.
	{"Deployment", "    type: Recreate\n", "    {{- if gt (int .Values.replicas) 1 }}\n    type: RollingUpdate\n    rollingUpdate:\n      maxSurge: 1\n      maxUnavailable: 0\n    {{- else }}\n    type: Recreate\n    {{- end }}\n"},
	{"Deployment", "      volumes:\n", "      {{- if gt (int .Values.replicas) 1 }}\n      topologySpreadConstraints:\n      - labelSelector:\n          matchLabels:\n            app: winnow-controller\n        maxSkew: 1\n        topologyKey: kubernetes.io/hostname\n        whenUnsatisfiable: ScheduleAnyway\n      {{- end }}\n      volumes:\n"},
}

// runbook is the version in the address of a runbook, for which a chart of a release has its own.
var runbook = regexp.MustCompile(`/blob/(main|v[0-9.]+)/docs/`)

// resources is that of the one container, with the lines below it.
var resources = regexp.MustCompile(`(?m)^        resources:\n((?: {10}.*\n)+)`)

// expressions returns the text of an object with expressions in place of what differs between installations.
func expressions(o object) (string, error) {
	text := strings.ReplaceAll(o.text, "{{", `{{ "{{" }}`)
	if o.kind != "CustomResourceDefinition" {
		text = strings.ReplaceAll(text, namespace, "{{ .Release.Namespace }}")
	}
	for _, edit := range edits {
		if edit.kind != o.kind {
			continue
		}
		if found := strings.Count(text, edit.old); found != 1 {
			return "", fmt.Errorf("%s has %q %d times, want once: did config change?", o.id, edit.old, found)
		}
		text = strings.Replace(text, edit.old, edit.new, 1)
	}
	text = runbook.ReplaceAllLiteralString(text, `/blob/{{ ternary "main" .Chart.AppVersion (eq .Chart.AppVersion "dev") }}/docs/`)
	if o.kind == "Deployment" {
		if _, err := resourcesOf(o); err != nil {
			return "", err
		}
		text = resources.ReplaceAllLiteralString(text, "        resources:\n          {{- toYaml .Values.resources | nindent 10 }}\n")
	}
	return text, nil
}

// inEach returns the text of an object of Flux's namespace, for a range over namespaces.
func inEach(o object) (string, error) {
	text, err := expressions(o)
	const namespace = "  namespace: flux-system\n"
	if strings.Count(text, namespace) != 1 {
		return "", fmt.Errorf("%s is not in the namespace of Flux: did config change?", o.id)
	}
	return strings.Replace(strings.ReplaceAll(text, " .Release.", " $.Release."), namespace, "  namespace: {{ . }}\n", 1), err
}

// resourcesOf returns the resources of the container of a Deployment, as they stand in config.
func resourcesOf(o object) (string, error) {
	found := resources.FindAllStringSubmatch(o.text, -1)
	if len(found) != 1 {
		return "", fmt.Errorf("%s has the resources of %d containers, want one: did config change?", o.id, len(found))
	}
	return found[0][1], nil
}
