// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package install_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/test/stack"
)

// settings is another value for each value of the chart.
const settings = `
image: {repository: registry.example.com/winnow, tag: "123", digest: "` + digest + `"}
imagePullSecrets: [{name: pull}]
replicas: 2
resources: {limits: {cpu: 2, memory: 2Gi}, requests: {cpu: 100m, memory: "1e8"}}
extraArgs: [--concurrent=8]
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy:3128"}]
extraVolumes: [{name: ca, configMap: {name: ca}}]
extraVolumeMounts: [{name: ca, mountPath: /etc/ssl/winnow, readOnly: true}]
nodeSelector: {pool: "123"}
priorityClassName: system-node-critical
tolerations: [{key: a, operator: Equal, value: "true", effect: NoExecute, tolerationSeconds: 5}]
affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: winnow-controller}}}]}}
podLabels: {azure.workload.identity/use: "true"}
podAnnotations: {note: "1e3"}
podSecurityContext: {fsGroup: 1000700000, runAsUser: 1000700000, supplementalGroups: [1000700000]}
clusterDomain: example.org
flux: {namespace: flux-system}
serviceAccount: {annotations: {azure.workload.identity/client-id: "123"}}
crds: {install: true}
marks: {enabled: true}
registries: {enabled: true, namespaces: ["default"], allNamespaces: true}
networkPolicy: {enabled: true}
multitenant: {enabled: true}
monitoring: {enabled: true, labels: {release: prometheus}}
workloadIdentity: {enabled: true}
policies: {enabled: true, bypass: true}
`

// operator is a kind of the operator of Prometheus.
const operator = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAMEs.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: KIND, plural: NAMEs}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---`

// TestWhatTheChartSetsIsRefused sets again what pods and objects have already: Kubernetes would take either.
func TestWhatTheChartSetsIsRefused(t *testing.T) {
	helm, err := stack.Helm(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	template := []string{helm, "template", "winnow", filepath.Join(root(t), "charts", "winnow"), "--values"}
	var values, paths []string
	add := func(path, value string) {
		paths, values = append(paths, path), append(values, value)
	}
	for _, object := range byIdentity(t, command(t, t.TempDir(), nil, append(template, valuesFile(t, "monitoring: {enabled: true}"))...)) {
		if slices.Contains([]string{"PodMonitor", "PrometheusRule", "ConfigMap"}, object.GetKind()) {
			for label := range object.GetLabels() {
				add("/monitoring/labels/"+escaped(label), "monitoring: {labels: {"+label+": x}}")
			}
		}
		if object.GetKind() != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
			t.Fatal(err)
		}
		pod := deployment.Spec.Template
		for label := range pod.Labels {
			add("/podLabels/"+escaped(label), "podLabels: {"+label+": x}")
		}
		for annotation := range pod.Annotations {
			add("/podAnnotations/"+escaped(annotation), "podAnnotations: {"+annotation+": x}")
		}
		for _, volume := range pod.Spec.Volumes {
			add("/extraVolumes/0/name", "extraVolumes: [{name: "+volume.Name+", emptyDir: {}}]")
		}
		for _, mount := range pod.Spec.Containers[0].VolumeMounts {
			add("/extraVolumeMounts/0/mountPath", "extraVolumeMounts: [{name: a, mountPath: "+mount.MountPath+"}]")
			add("/extraVolumeMounts/0/mountPath", "extraVolumeMounts: [{name: a, mountPath: "+mount.MountPath+"/}]")
		}
		for _, variable := range pod.Spec.Containers[0].Env {
			add("/extraEnv/0/name", "extraEnv: [{name: "+variable.Name+", value: x}]")
		}
	}
	for i, path := range paths {
		out, err := failing(t, append(template, valuesFile(t, values[i]))...)
		if err == nil || !slices.Contains(named(out), path) {
			t.Errorf("%s is not refused: %s", values[i], out)
		}
	}
	if len(paths) < 20 {
		t.Errorf("%d values were tried: %v", len(paths), values)
	}
}

// installed is a release of the chart on an API server.
type installed struct {
	*stack.Stack
	helm, chart string
	env         []string
}

// TestTheChartOnAnAPIServer installs a chart with fewer values, upgrades it to this one and to other values, attacks each
// value, and uninstalls it.
func TestTheChartOnAnAPIServer(t *testing.T) {
	helm, err := stack.Helm(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.Start(t.Context(), stack.Options{Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	kinds := strings.NewReplacer("NAME", "podmonitor", "KIND", "PodMonitor").Replace(operator) +
		strings.NewReplacer("NAME", "prometheusrule", "KIND", "PrometheusRule").Replace(operator)
	if err := s.Apply(t.Context(), []byte(kinds)); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"123", "1e3", "true", "x"} {
		if err := s.Client().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
	}
	r := &installed{s, helm, filepath.Join(root(t), "charts", "winnow"), []string{"KUBECONFIG=" + s.Kubeconfig(), "HOME=" + t.TempDir()}}
	t.Run("a chart with fewer values is upgraded and keeps them", r.upgradeOlder)
	t.Run("all values are changed", r.changeAll)
	for name, bad := range map[string]any{
		"null": nil, "an empty string": "", "a number in quotes": "123", "an exponent in quotes": "1e3", "true in quotes": "true", "a number": 7,
		"true": true, "an empty list": []any{}, "a list": []any{"x"}, "an empty map": map[string]any{}, "a map": map[string]any{"a b": "x"},
	} {
		t.Run(name+" is refused or gives objects", func(t *testing.T) { r.attack(t, bad) })
	}
	t.Run("the definition outlives the release", r.uninstall)
}

// run runs Helm in the namespace of the release.
func (r *installed) run(t *testing.T, args ...string) string {
	t.Helper()
	return command(t, t.TempDir(), r.env, append([]string{r.helm, "--namespace", stack.WinnowNamespace}, args...)...)
}

func (r *installed) upgradeOlder(t *testing.T) {
	older := filepath.Join(t.TempDir(), "winnow")
	if err := os.CopyFS(older, os.DirFS(r.chart)); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"\n  labels: {}", "\npodLabels: {}", "\ntolerations: []", "\nextraEnv: []"} {
		replaceIn(t, filepath.Join(older, "values.yaml"), value, "")
	}
	r.run(t, "install", "winnow", older, "--create-namespace")
	before := r.deployment(t)
	r.run(t, "upgrade", "winnow", r.chart, "--reuse-values")
	if after := r.deployment(t); !reflect.DeepEqual(after.Spec, before.Spec) {
		t.Errorf("the upgrade changes %v to %v", before.Spec, after.Spec)
	}
}

func (r *installed) changeAll(t *testing.T) {
	before := r.deployment(t)
	r.run(t, "upgrade", "winnow", r.chart, "--values", valuesFile(t, settings))
	after := r.deployment(t)
	if !reflect.DeepEqual(after.Spec.Selector, before.Spec.Selector) || after.UID != before.UID || after.Generation == before.Generation {
		t.Errorf("the upgrade changes %v to %v", before, after)
	}
	live := byIdentity(t, r.run(t, "get", "manifest", "winnow"))
	for id, object := range live {
		if err := r.Client().Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	assertConvention(t, live)
}

// attack sets the values of each depth to a bad one. The chart names those that it refuses, and the API server takes what
// the others give.
func (r *installed) attack(t *testing.T, bad any) {
	for depth := 1; depth <= 3; depth++ {
		paths := pathsOf(t, depth)
		args := []string{r.helm, "template", "winnow", r.chart, "--namespace", stack.WinnowNamespace, "--values"}
		out, err := failing(t, append(args, with(t, paths, bad))...)
		if err != nil {
			refused := named(out)
			taken := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
				return slices.ContainsFunc(refused, func(r string) bool { return r == path || strings.HasPrefix(r, path+"/") })
			})
			if len(taken) == len(paths) {
				t.Fatalf("of %v, no value is named in %s", paths, out)
			}
			paths = taken
		}
		for id, object := range byIdentity(t, command(t, t.TempDir(), nil, append(args, with(t, paths, bad))...)) {
			err := r.Client().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership, client.DryRunAll)
			if err != nil {
				t.Errorf("with %v for %v, %s is invalid: %v", bad, paths, id, err)
			}
		}
	}
}

func (r *installed) uninstall(t *testing.T) {
	r.run(t, "uninstall", "winnow")
	if err := r.Client().Get(t.Context(), deploymentKey, &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("after uninstalling, the Deployment is there: %v", err)
	}
	key := client.ObjectKey{Name: "catalogselections.catalog.winnow.dev"}
	if err := r.Client().Get(t.Context(), key, &apiextensionsv1.CustomResourceDefinition{}); err != nil {
		t.Error(err)
	}
}

func (r *installed) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := r.Client().Get(t.Context(), deploymentKey, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}

var (
	pointer = regexp.MustCompile(`at '(/[^']*|)': (?:missing propert(?:y|ies) (.*))?`)
	quoted  = regexp.MustCompile(`'([^']*)'`)
)

// named returns the values that Helm names in an error.
func named(out string) (paths []string) {
	for _, match := range pointer.FindAllStringSubmatch(out, -1) {
		paths = append(paths, match[1])
		for _, missing := range quoted.FindAllStringSubmatch(match[2], -1) {
			paths = append(paths, match[1]+"/"+missing[1])
		}
	}
	return paths
}

// escaped returns a key as a JSON pointer has it.
func escaped(key string) string { return strings.ReplaceAll(key, "/", "~1") }

// ofPods are values that the API server judges.
var ofPods = regexp.MustCompile(`^/(affinity/.*|tolerations/0/.*|extraVolumes/0/configMap.*)$`)

// pathsOf returns the paths of the settings at a depth, as JSON pointers.
func pathsOf(t *testing.T, depth int) (paths []string) {
	visit("", tree(t), func(path string, value any) any {
		if strings.Count(path, "/") == depth && !ofPods.MatchString(path) {
			paths = append(paths, path)
		}
		return value
	})
	return paths
}

// with returns a file of the settings in which some values are bad.
func with(t *testing.T, paths []string, bad any) string {
	t.Helper()
	content, err := yaml.Marshal(visit("", tree(t), func(path string, value any) any {
		if slices.Contains(paths, path) {
			return bad
		}
		return value
	}))
	if err != nil {
		t.Fatal(err)
	}
	return valuesFile(t, string(content))
}

// visit returns a value with what f returns for it, and for all that is in it.
func visit(path string, value any, f func(path string, value any) any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			value[key] = visit(path+"/"+escaped(key), below, f)
		}
	case []any:
		for i, below := range value {
			value[i] = visit(path+"/"+strconv.Itoa(i), below, f)
		}
	}
	return f(path, value)
}

func tree(t *testing.T) (values map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(settings), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

func valuesFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
