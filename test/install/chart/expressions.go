// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// namespace is that of config, for which a chart has that of the release.
const namespace = "winnow-system"

// fluxNamespace is the namespace of Flux's controllers in config.
const fluxNamespace = "flux-system"

// edit replaces a text that an object has exactly once.
type edit struct{ kind, old, new string }

// scheduling has the fields of a pod that say where it runs.
var scheduling = field("nodeSelector", "      nodeSelector:", 8) +
	"      {{- with .Values.priorityClassName }}\n      priorityClassName: {{ . | quote }}\n      {{- end }}\n" +
	field("tolerations", "      tolerations:", 6) + field("affinity", "      affinity:", 8)

// field returns the line of a field with the value below it, if there is one.
func field(value, line string, indent int) string {
	return fmt.Sprintf("%[1]s{{- with .Values.%[2]s }}\n%[3]s\n%[4]s{{- toYaml . | nindent %[5]d }}\n%[1]s{{- end }}\n", line[:len(line)-len(strings.TrimLeft(line, " "))], value, line, strings.Repeat(" ", indent), indent)
}

// entries returns what a value adds to the list or the map above it.
func entries(value string, indent int) string {
	return fmt.Sprintf("%[1]s{{- with .Values.%[2]s }}\n%[1]s{{- toYaml . | nindent %[3]d }}\n%[1]s{{- end }}\n", strings.Repeat(" ", indent), value, indent)
}

// labeled is the label that stands for the labels of the convention. Pods have none of them, so that an upgrade that
// changes nothing else restarts nothing.
const labeled, convention = "    helm.sh/chart: winnow\n", "    {{- include \"winnow.labels\" $ | nindent 4 }}\n"

// The indentation is that of kustomize.
var edits = []edit{
	// Helm never upgrades what is in the directory crds of a chart, so the definition is a template. What goes away with
	// a definition is every CatalogSelection, so helm uninstall leaves it.
	{"CustomResourceDefinition", "\nmetadata:\n  annotations:\n", "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n"},
	// Operators of Prometheus and Grafana select what they read by labels.
	{"PodMonitor", convention, convention + entries("monitoring.labels", 4)},
	{"PrometheusRule", convention, convention + entries("monitoring.labels", 4)},
	{"ConfigMap", convention, convention + entries("monitoring.labels", 4)},
	{"Deployment", "  replicas: 1\n", "  replicas: {{ int .Values.replicas }}\n"},
	{"Deployment", "        image: winnow-controller:{image-not-set}\n", "        image: {{ include \"winnow.image\" . | quote }}\n"},
	{"Deployment", "      nodeSelector:\n", "      {{- with .Values.imagePullSecrets }}\n      imagePullSecrets:\n      {{- toYaml . | nindent 6 }}\n      {{- end }}\n      nodeSelector:\n"},
	{"Deployment", "      nodeSelector:\n        kubernetes.io/os: linux\n      priorityClassName: system-cluster-critical\n", scheduling},
	{"Deployment", "      securityContext:\n        fsGroup: 1337\n        runAsNonRoot: true\n        seccompProfile:\n          type: RuntimeDefault\n", field("podSecurityContext", "      securityContext:", 8)},
	{"Deployment", "        kubectl.kubernetes.io/default-container: manager\n", "        kubectl.kubernetes.io/default-container: manager\n" + entries("podAnnotations", 8)},
	{"Deployment", "    spec:\n      containers:\n", entries("podLabels", 8) + "    spec:\n      containers:\n"},
	{"Deployment", "              resource: limits.memory\n", "              resource: limits.memory\n" + entries("extraEnv", 8)},
	{"Deployment", "          name: tmp\n", "          name: tmp\n" + entries("extraVolumeMounts", 8)},
	{"Deployment", "      - emptyDir: {}\n        name: tmp\n", "      - emptyDir: {}\n        name: tmp\n" + entries("extraVolumes", 6)},
	{"Deployment", ".svc.cluster.local.\n", ".svc.{{ .Values.clusterDomain }}.\n"},
	{"ServiceAccount", "\nmetadata:\n", "\nmetadata:\n" + field("serviceAccount.annotations", "  annotations:", 4)},
	{"Deployment", "        env:\n", "        {{- range .Values.extraArgs }}\n        - {{ . | quote }}\n        {{- end }}\n        env:\n"},
	// These two as in config/ha: with Recreate, an upgrade would stop all pods at once.
	{"Deployment", "    type: Recreate\n", "    {{- if gt (int .Values.replicas) 1 }}\n    type: RollingUpdate\n    rollingUpdate:\n      maxSurge: 1\n      maxUnavailable: 0\n    {{- else }}\n    type: Recreate\n    {{- end }}\n"},
	{"Deployment", "      volumes:\n", "      {{- if gt (int .Values.replicas) 1 }}\n      topologySpreadConstraints:\n      - labelSelector:\n          matchLabels:\n            app: winnow-controller\n        maxSkew: 1\n        topologyKey: kubernetes.io/hostname\n        whenUnsatisfiable: ScheduleAnyway\n      {{- end }}\n      volumes:\n"},
}

// whole is an expression that is the whole value of a key: a namespace may be named like a number.
var whole = regexp.MustCompile(`(?m)^( *[\w./-]+: \{\{ \.(?:Release\.Namespace|Values\.flux\.namespace)) \}\}$`)

// runbook is the version in the address of a runbook, for which a chart of a release has its own.
var runbook = regexp.MustCompile(`/blob/(main|v[0-9.]+)/docs/`)

// resources is that of the one container, with the lines below it.
var resources = regexp.MustCompile(`(?m)^        resources:\n((?: {10}.*\n)+)`)

// expressions returns the text of an object with expressions in place of what differs between installations.
func expressions(o object) (string, error) {
	text := strings.ReplaceAll(o.text, "{{", `{{ "{{" }}`)
	if o.kind != "CustomResourceDefinition" {
		text = strings.ReplaceAll(text, namespace, "{{ .Release.Namespace }}")
		text = strings.ReplaceAll(text, fluxNamespace, "{{ .Values.flux.namespace }}")
		text = whole.ReplaceAllString(text, "$1 | quote }}")
		text = strings.ReplaceAll(text, ".svc.cluster.local./", ".svc.{{ .Values.clusterDomain }}./")
	}
	text = strings.Replace(text, labeled, convention, 1)
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
		text = resources.ReplaceAllLiteralString(text, field("resources", "        resources:", 10))
	}
	return text, nil
}

// inEach returns the text of an object of Flux's namespace, for a range over namespaces.
func inEach(o object) (string, error) {
	text, err := expressions(o)
	const namespace = "  namespace: {{ .Values.flux.namespace | quote }}\n"
	if strings.Count(text, namespace) != 1 {
		return "", fmt.Errorf("%s is not in the namespace of Flux: did config change?", o.id)
	}
	return strings.Replace(strings.ReplaceAll(text, " .Release.", " $.Release."), namespace, "  namespace: {{ . | quote }}\n", 1), err
}

// resourcesOf returns the resources of the container of a Deployment, as they stand in config.
func resourcesOf(o object) (string, error) {
	found := resources.FindAllStringSubmatch(o.text, -1)
	if len(found) != 1 {
		return "", fmt.Errorf("%s has the resources of %d containers, want one: did config change?", o.id, len(found))
	}
	return found[0][1], nil
}
