package controllers

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// specOf returns a valid spec with further fields.
func specOf(members ...string) string {
	return "sources: [{name: catalog}]\n" + strings.Join(members, "\n")
}

// toMirror returns a spec with a mirror that has these members.
func toMirror(members string) string { return specOf("mirrors: [{from: a, " + members + "}]") }

// many lists n different names.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d,", i)
	}
	return "[" + b.String() + "]"
}

func TestTheAPIServerValidatesSelections(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, test := range []struct {
		name    string
		valid   string
		invalid []string
	}{
		{"interval", specOf("interval: 1s"), []string{
			specOf("interval: 0s"), specOf("interval: 999ms"), specOf("interval: soon"), specOf("interval: -1m"), specOf("interval: 10"), specOf("interval: ''"),
		}},
		{"interval of an instance", specOf("instances: {a: {interval: 1s}}"), []string{
			specOf("instances: {a: {interval: 0s}}"), specOf("instances: {a: {interval: 999ms}}"), specOf("instances: {a: {interval: soon}}"),
		}},
		{"sources", "sources: [{name: a}, {name: b}]", []string{"{}", "sources: []", "sources: [" + strings.Repeat("{name: a},", 17) + "]"}},
		{"each source once", "sources: [{name: a}, {name: a, path: x}, {name: a, namespace: ns}, {name: a, kind: Bucket}]", []string{
			"sources: [{name: a}, {name: a}]",
			"sources: [{name: a, kind: OCIRepository}, {name: a}]",
			"sources: [{name: a, format: Auto}, {name: a, format: Applications}]",
			"sources: [{name: a, namespace: ns, path: p}, {name: b}, {name: a, namespace: ns, path: p}]",
			"sources: [{name: a, path: ''}, {name: a}]",
		}},
		{"kind", "sources: [{name: a, kind: ExternalArtifact}]", []string{"sources: [{name: a, kind: HelmChart}]"}},
		{"format", "sources: [{name: a, format: Applications}]", []string{"sources: [{name: a, format: Helm}]"}},
		{"the catalog of a push", specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: CatalogSource, namespace: olm}}"), []string{
			specOf("push: {url: 'oci://a/b', catalog: {kind: ClusterCatalog}}"), specOf("push: {url: 'oci://a/b', type: Artifact, catalog: {kind: ClusterCatalog}}"),
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: CatalogSource}}"), specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {}}"),
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: ClusterCatalog, namespace: olm}}"),
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: Catalog}}"),
		}},
		{"the other catalog of a push", specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: ClusterCatalog}}"), []string{
			specOf("push: {url: 'oci://a/b', type: CatalogImage, catalog: {kind: CatalogSource, namespace: ../olm}}"),
		}},
		{"requireVerified", "sources: [{name: a, requireVerified: true}, {name: b, kind: GitRepository, requireVerified: true}, {name: c, kind: Bucket, requireVerified: false}]", []string{
			"sources: [{name: a, kind: Bucket, requireVerified: true}]", "sources: [{name: a, kind: ExternalArtifact, requireVerified: true}]",
			"sources: [{name: a, requireVerified: Always}]", "sources: [{name: a, requireVerified: true}, {name: a}]",
		}},
		{"limit and merge of a source", "sources: [{name: a, limit: {nameSelector: [b]}}, {name: b, merge: Versions, limit: {metadataSelector: {tierRefs: [gold]}}}]", []string{
			"sources: [{name: a, merge: Versions}, {name: b}]", "sources: [{name: a}, {name: b, merge: All}]", "sources: [{name: a}, {name: b, merge: ''}]",
			"sources: [{name: a, limit: {nameSelector: []}}]", "sources: [{name: a}, {name: a, merge: Versions}]",
		}},
		{"name of a source", "sources: [{name: " + long(253) + "}]", []string{"sources: [{}]", "sources: [{name: ''}]", "sources: [{name: " + long(254) + "}]"}},
		{"namespace of a source", "sources: [{name: a, namespace: " + long(63) + "}]", []string{"sources: [{name: a, namespace: " + long(64) + "}]"}},
		{"path", "sources: [{name: a, path: deploy/..hidden/catalog...d}]", []string{
			"sources: [{name: a, path: ..}]", "sources: [{name: a, path: a/../b}]", "sources: [{name: a, path: /a}]", "sources: [{name: a, path: ./a}]",
			"sources: [{name: a, path: a/}]", "sources: [{name: a, path: a//b}]", `sources: [{name: a, path: 'a\b'}]`, "sources: [{name: a, path: .}]",
			"sources: [{name: a, path: " + long(513) + "}]",
		}},
		{"nameSelector", specOf("limit: {nameSelector: " + many(5000) + "}"), []string{
			specOf("limit: {nameSelector: []}"), specOf("limit: {nameSelector: ['']}"), specOf("limit: {nameSelector: [a, a]}"),
			specOf("limit: {nameSelector: [" + long(254) + "]}"), specOf("limit: {nameSelector: " + many(5001) + "}"),
		}},
		{"tierRefs", specOf("limit: {metadataSelector: {tierRefs: [gold]}}"), []string{
			specOf("limit: {metadataSelector: {tierRefs: []}}"), specOf("limit: {metadataSelector: {tierRefs: ['']}}"),
			specOf("limit: {metadataSelector: {tierRefs: [a, a]}}"), specOf("limit: {metadataSelector: {tierRefs: " + many(65) + "}}"),
		}},
		{"matchExpressions", specOf("limit: {metadataSelector: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]}}"), []string{
			specOf("limit: {metadataSelector: {matchExpressions: [{key: a}]}}"),
		}},
		{"catalogRefs", specOf("limit: {catalogRefs: [default]}"), []string{
			specOf("limit: {catalogRefs: []}"), specOf("limit: {catalogRefs: [a, a]}"), specOf("limit: {catalogRefs: " + many(65) + "}"),
		}},
		{"expression", specOf("limit: {expression: '" + long(4096) + "'}"), []string{
			specOf("limit: {expression: ''}"), specOf("limit: {expression: '" + long(4097) + "'}"),
		}},
		{"channels and deprecation", specOf("versions: [{channels: [stable, fast]}, {deprecated: Drop}, {latest: 1, deprecated: Keep}]"), []string{
			specOf("versions: [{deprecated: Keep}]"), specOf("versions: [{latest: 1, deprecated: drop}]"), specOf("versions: [{channels: []}]"),
			specOf("versions: [{channels: ['']}]"), specOf("versions: [{channels: [a, a]}]"), specOf("versions: [{channels: [" + long(64) + "]}]"),
		}},
		{"platform", specOf("platform: {kubernetes: [1.32.9, v1.33.2+k3s1], kkp: [2.29.1]}"), []string{
			specOf("platform: {}"), specOf("platform: {kubernetes: []}"), specOf("platform: {kubernetes: [1.32]}"), specOf("platform: {kubernetes: ['1.32']}"),
			specOf("platform: {kubernetes: [1.32.9-gke.1]}"), specOf("platform: {kkp: [latest]}"), specOf("platform: {openshift: [4.14.0]}"),
			specOf("platform: {kubernetes: [1.2." + long(64) + "]}"),
		}},
		{"versions", specOf("versions: [{latest: 2}, {names: [a], constraint: '>=1'}]"), []string{
			specOf("versions: [{}]"), specOf("versions: [{names: [a]}]"), specOf("versions: [{latest: 0}]"), specOf("versions: [{names: [], latest: 1}]"),
		}},
		{"mirrors", specOf("mirrors: [{from: 'quay.io/a', to: 'registry.internal:5000/b'}]"), []string{
			specOf("mirrors: [{from: a}]"), specOf("mirrors: [{from: 'https://a', to: b}]"), specOf("mirrors: [{from: 'oci://a', to: 'oci://b'}]"),
			specOf("mirrors: [{from: a/, to: b}]"), specOf("mirrors: [{from: a, to: 'b c'}]"), specOf("mirrors: [{from: a, to: b}, {from: a, to: c}]"),
		}},
		{"schemes of mirrors", specOf("mirrors: [{from: a, to: 'oci://registry.internal:5000/b--c/d__e.f'}, {from: b, to: 'https://git.internal/Org'}, {from: c, to: 'https://git.internal'}]"), []string{
			toMirror("to: 'http://b'"), toMirror("to: 'OCI://b'"), toMirror("to: 'oci://'"), toMirror("to: 'oci://b/'"), toMirror("to: 'oci://b/C'"), toMirror("to: 'oci://b/c..d'"),
			toMirror("to: 'https://b/'"), toMirror("to: 'https://me@b'"), toMirror("to: 'https://b/c?d'"), toMirror("to: 'oci://https://b'"), toMirror("to: 'https://b c'"),
		}},
		{"helm of mirrors", specOf("mirrors: [{from: a, to: 'oci://b', helm: {credentials: {registryConfigFile: {name: s, key: .dockerconfigjson}}, plainHTTP: true, insecure: false}}, " +
			"{from: b, to: c, helm: {}}, {from: c, to: c, helm: {credentials: {username: {name: s, key: u}, password: {name: s, key: p}}}}]"), []string{
			toMirror("to: 'oci://b', helm: {plainHTTP: true, insecure: true}"), toMirror("to: 'https://b', helm: {plainHTTP: true}"),
			toMirror("to: b, helm: {credentials: {}}"), toMirror("to: b, helm: {credentials: {username: {name: s, key: u}}}"),
			toMirror("to: b, helm: {credentials: {password: {name: s, key: u}, registryConfigFile: {name: s, key: u}}}"),
			toMirror("to: b, helm: {credentials: {registryConfigFile: {name: s}}}"), toMirror("to: b, helm: {credentials: {registryConfigFile: {name: s, key: a/b}}}"),
			toMirror("to: b, helm: {credentials: {registryConfigFile: {name: S, key: a}}}"), toMirror("to: b, helm: {credentials: {registryConfigFile: secret}}"),
		}},
		{"values", specOf("values: [{names: [a], defaults: {x: {z: [1]}}, overrides: {}}]"), []string{
			specOf("values: [{names: [a]}]"), specOf("values: [{defaults: {}}]"), specOf("values: [{names: [a], defaults: [1]}]"),
		}},
		{"omitFields", specOf("omitFields: []"), []string{
			specOf("omitFields: [versions]"), specOf("omitFields: [method]"), specOf("omitFields: ['a..b']"), specOf("omitFields: [a, a]"),
		}},
		{"patches", specOf("patches: [{patch: x, target: {kind: ApplicationDefinition}}]"), []string{specOf("patches: [{target: {kind: a}}]")}},
		{"provenance", specOf("provenance: Object"), []string{specOf("provenance: Everywhere")}},
		{"exclude", specOf("exclude: [falco]"), []string{specOf("exclude: ['']"), specOf("exclude: [a, a]"), specOf("exclude: " + many(5001))}},
		{"labels", specOf("commonMetadata: {labels: {team: a, catalog.winnow.development/name: b}}"), []string{
			specOf("commonMetadata: {labels: {app.kubernetes.io/managed-by: me}}"),
			specOf("commonMetadata: {labels: {apps.kubermatic.k8c.io/managed-by: me}}"),
			specOf("commonMetadata: {labels: {applicationcatalog.k8c.io/managed-by: me}}"),
			specOf("commonMetadata: {labels: {catalog.winnow.dev/name: me}}"),
			specOf("commonMetadata: {labels: {kustomize.toolkit.fluxcd.io/prune: me}}"),
		}},
		{"annotations", specOf("commonMetadata: {annotations: {app.kubernetes.io/managed-by: me}}"), []string{
			specOf("commonMetadata: {annotations: {catalog.winnow.dev/x: me}}"),
			specOf("commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Override}}"),
		}},
		{"safeguards", specOf("safeguards: {onRemoval: Publish, onMajorUpgrade: Hold, approve: ['sha256:" + strings.Repeat("0f", 32) + "', 'sha1:" + strings.Repeat("a", 40) + "']}"), []string{
			specOf("safeguards: {onEmpty: Never}"), specOf("safeguards: {onRemoval: hold}"), specOf("safeguards: {approve: [latest]}"),
			specOf("safeguards: {approve: ['v1@sha256:" + strings.Repeat("0f", 32) + "']}"), specOf("safeguards: {approve: ['sha256:0']}"),
			specOf("safeguards: {approve: ['sha1:" + strings.Repeat("a", 40) + "', 'sha1:" + strings.Repeat("a", 40) + "']}"),
		}},
		{"cluster", specOf("cluster: {bypass: Ignore, unmanaged: Label}", "serviceAccountName: tenant.a-1"), []string{
			specOf("cluster: {bypass: 'true'}"), specOf("cluster: {unmanaged: Delete}"), specOf("serviceAccountName: " + long(254)),
			specOf("serviceAccountName: a:b"), specOf("serviceAccountName: Tenant"), specOf("serviceAccountName: a/b"), specOf("serviceAccountName: a..b"),
			specOf("serviceAccountName: -a"), specOf("instances: {web: {serviceAccountName: 'a b', namespace: web}}"),
			specOf("push: {url: 'oci://a/b', serviceAccountName: 'a:b'}"),
		}},
		{"fields", specOf("deletionPolicy: Delete", "suspend: true"), []string{specOf("nonsense: true"), specOf("prune: true"), specOf("deletionPolicy: Maybe")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := dryRun(t, "kkp", test.valid); err != nil {
				t.Errorf("refuses %.100s: %v", test.valid, err)
			}
			for _, spec := range test.invalid {
				if err := dryRun(t, "kkp", spec); !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
					t.Errorf("accepts %.100s: %v", spec, err)
				}
			}
		})
	}
}

func TestANameHasToFitALabel(t *testing.T) {
	if err := dryRun(t, strings.Repeat("x", 63), specOf()); err != nil {
		t.Errorf("refuses 63 characters: %v", err)
	}
	if err := dryRun(t, strings.Repeat("x", 64), specOf()); !apierrors.IsInvalid(err) {
		t.Errorf("accepts 64 characters: %v", err)
	}
}

// dryRun validates without storing; unknown fields are an error.
func dryRun(t *testing.T, name, spec string) error {
	t.Helper()
	return apiServer.Create(t.Context(), rawSelection(t, "default", name, spec), client.DryRunAll, client.FieldValidation("Strict"))
}

func rawSelection(t *testing.T, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "catalog.winnow.dev/v1alpha1", "kind": "CatalogSelection"}}
	object.SetName(name)
	object.SetNamespace(namespace)
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	object.Object["spec"] = content
	return object
}

// An empty list of fields differs from no list: it omits nothing.
func TestAnEmptyListOfFieldsToOmitIsKept(t *testing.T) {
	e := newEnvironment(t)
	for spec, want := range map[string]string{"omitFields: []": "[]\n", "suspend: true": "null\n"} {
		object := rawSelection(t, e.namespace, "kkp-"+spec[:1], specOf(spec))
		if err := apiServer.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		cs := e.get(object.GetName())
		if got := toYAML(t, cs.Spec.OmitFields); got != want {
			t.Errorf("omitFields of {%s} are %q, want %q", spec, got, want)
		}
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	e := newEnvironment(t)
	object := rawSelection(t, e.namespace, "kkp", "sources: [{name: catalog}]")
	if err := apiServer.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	e.equal("spec", object.Object["spec"], map[string]any{
		"interval": "10m", "deletionPolicy": "Orphan", "provenance": "Artifact", "requireMirrors": false,
		"safeguards": map[string]any{
			"onEmpty": "Hold", "onRemoval": "Hold", "onVersionRemoval": "Hold", "onMajorUpgrade": "Publish",
			"onIdentityChange": "Hold", "onSourceChange": "Publish", "onInstanceUpgrade": "HoldMajor",
		},
		"cluster": map[string]any{"bypass": "Honor", "unmanaged": "Ignore", "serve": "Compared"},
		"sources": []any{map[string]any{"kind": "OCIRepository", "name": "catalog", "format": "Auto", "requireVerified": false}},
	})
	e.equal("status", object.Object["status"], map[string]any{"observedGeneration": -1})
}
