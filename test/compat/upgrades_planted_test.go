// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-dev/winnow/test/chartupgrades"
)

const plantedOld = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: gone}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {IsUpgrade: "{{ .Release.IsUpgrade }}"}
`

const plantedNew = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: other}}
  template: {metadata: {labels: {app: other}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hook}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: web}
---
apiVersion: v1
kind: Service
metadata: {name: wrong}
spec: {ports: [{port: 99999999}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {IsUpgrade: "{{ .Release.IsUpgrade }}"}
`

// recordsPlanted tests that the recorder sees what it is for, in a chart with one case of each.
func recordsPlanted(t *testing.T, recorder *chartupgrades.Recorder) {
	p := chartupgrades.Pair{Chart: "planted", Set: chartupgrades.Next, Old: plantedVersion(t, "1.0.0", plantedOld), New: plantedVersion(t, "2.0.0", plantedNew)}
	got, err := recorder.Record(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var want []chartupgrades.Line
	for _, row := range [][4]string{
		{"upgrade", "", "", "applied 7 of 7 objects, then 1 of 8"},
		{"deleted", "ServiceAccount apps/gone"},
		{"helm", "ConfigMap apps/hook", "", "it exists, and is no object of the release"},
		{"not-measured", "ServiceMonitor.monitoring.coreos.com web", "", "its kind is defined by another chart"},
		{"refused-alone", "PodDisruptionBudget.policy web", "apiVersion", "the API server does not serve policy/v1beta1"},
		{"refused", "CustomResourceDefinition.apiextensions.k8s.io things.example.com", "status.storedVersions[0]",
			"Invalid value: missing from spec.versions; v1alpha1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data..."},
		{"refused", "Deployment.apps apps/web", "spec.selector", "Invalid value: field is immutable"},
		{"refused", "PersistentVolumeClaim apps/data", "spec",
			"Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"},
		{"refused-alone", "Service apps/wrong", "spec.ports[0].port", "Invalid value: must be between 1 and 65535, inclusive"},
		{"refused-alone", "Service apps/wrong", "spec.ports[0].targetPort", "Invalid value: must be between 1 and 65535, inclusive"},
	} {
		want = append(want, chartupgrades.Line{
			Chart: "planted", Set: chartupgrades.Next, Old: "1.0.0", New: "2.0.0", What: row[0], Object: row[1], Field: row[2], Reason: row[3],
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("the recorder has\n%+v\nwant\n%+v", got, want)
	}
}

// plantedVersion writes a chart with a template.
func plantedVersion(t *testing.T, version, template string) chartupgrades.Version {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: planted\nversion: " + version + "\n", "templates/all.yaml": template,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return chartupgrades.Version{Version: version, Archive: dir}
}
