// SPDX-License-Identifier: Apache-2.0

//go:build node

package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/opencontainers/go-digest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/test/stack"
)

// consumer is kustomize-controller in a pod, with the rights that Flux gives it.
const consumer = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: kustomize-controller, namespace: flux-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kustomize-controller}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: kustomize-controller, namespace: flux-system}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system}
spec:
  selector: {matchLabels: {app: kustomize-controller}}
  template:
    metadata: {labels: {app: kustomize-controller}}
    spec:
      serviceAccountName: kustomize-controller
      containers:
      - name: manager
        image: ` + kustomizeImage + ":" + imageTag + `
        args: [--feature-gates=ExternalArtifact=true, --events-addr=, --http-retry=1, --requeue-dependency=1s, --min-retry-delay=200ms, --max-retry-delay=2s]
        env: [{name: RUNTIME_NAMESPACE, value: flux-system}]
        readinessProbe: {httpGet: {path: /readyz, port: 9440}, periodSeconds: 1}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          runAsNonRoot: true
          capabilities: {drop: [ALL]}
          seccompProfile: {type: RuntimeDefault}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      volumes: [{name: tmp, emptyDir: {}}]
`

const pipelineManifests = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: node, namespace: flux-system}
spec:
  interval: 2s
  url: oci://%s/catalog
  insecure: true
  ref: {tag: latest}
  layerSelector: {mediaType: ` + stack.CatalogLayerMediaType + `, operation: extract}
---
apiVersion: catalog.winnow.dev/v1alpha1
kind: CatalogSelection
metadata: {name: node, namespace: flux-system}
spec:
  interval: 1h
  sources: [{name: node}]
  limit: {metadataSelector: {tierRefs: [gold]}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: node, namespace: flux-system}
spec:
  interval: 1h
  retryInterval: 2s
  sourceRef: {kind: ExternalArtifact, name: node}
  path: ./
  prune: true
`

var pipeline = client.ObjectKey{Namespace: stack.FluxNamespace, Name: "node"}

// startPipeline applies the pipeline, from the registry to the pod of kustomize-controller, unless it is there.
func startPipeline(t *testing.T) {
	t.Helper()
	release(t, "of the test", nil)
	for _, manifests := range []string{consumer, fmt.Sprintf(pipelineManifests, system.RegistryHost())} {
		if err := system.Apply(t.Context(), []byte(manifests)); err != nil {
			t.Fatal(err)
		}
	}
	awaitRollout(t, client.ObjectKey{Namespace: stack.FluxNamespace, Name: stack.KustomizeController})
}

// release pushes the example catalog with another description of one application, and more files.
func release(t *testing.T, description string, more map[string]string) {
	t.Helper()
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "catalog"))); err != nil {
		t.Fatal(err)
	}
	application := filepath.Join("applications", "cert-manager", "application.yaml")
	content, err := os.ReadFile(filepath.Join(dir, application))
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(more)
	if files == nil {
		files = map[string]string{}
	}
	files[application] = strings.Replace(string(content), "  description: ", "  description: "+description+" ", 1)
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := system.PushCatalog(t.Context(), dir, "catalog:latest", stack.PushOptions{}); err != nil {
		t.Fatal(err)
	}
}

// state is what the cluster has of a publication.
type state struct {
	artifact meta.Artifact
	uids     map[string]types.UID // of the applied definitions
}

// read returns the state, or an error while the revision is not applied, or an application has not the description.
func read(ctx context.Context, description string) (s state, err error) {
	external, kustomization := &sourcev1.ExternalArtifact{}, &kustomizev1.Kustomization{}
	if err := errors.Join(system.Client().Get(ctx, pipeline, external), system.Client().Get(ctx, pipeline, kustomization)); err != nil {
		return s, err
	}
	if external.Status.Artifact == nil {
		return s, errors.New("nothing is published")
	}
	s.artifact = *external.Status.Artifact
	if applied := kustomization.Status.LastAppliedRevision; applied != s.artifact.Revision {
		return s, fmt.Errorf("%q is published and %q applied: %+v", s.artifact.Revision, applied, kustomization.Status.Conditions)
	}
	definitions := &unstructured.UnstructuredList{}
	definitions.SetAPIVersion("apps.kubermatic.k8c.io/v1")
	definitions.SetKind("ApplicationDefinitionList")
	if err := system.Client().List(ctx, definitions); err != nil {
		return s, err
	}
	s.uids = map[string]types.UID{}
	found := false
	for _, definition := range definitions.Items {
		s.uids[definition.GetName()] = definition.GetUID()
		text, _, _ := unstructured.NestedString(definition.Object, "spec", "description")
		found = found || strings.HasPrefix(text, description+" ")
	}
	if !found {
		return s, fmt.Errorf("no application has the description %q", description)
	}
	return s, nil
}

// awaitApplied waits until a release is applied, and its archive can be downloaded, and returns the state.
func awaitApplied(t *testing.T, description string) (s state) {
	t.Helper()
	await(t, "the release "+description+" is applied and served", func(ctx context.Context) (err error) {
		if s, err = read(ctx, description); err != nil {
			return err
		}
		return download(ctx, s.artifact)
	})
	return s
}

// assertSame checks that a publication is what it was, and that its objects are the same ones.
func assertSame(t *testing.T, before, now state) {
	t.Helper()
	if before.artifact.Revision != now.artifact.Revision || before.artifact.Digest != now.artifact.Digest {
		t.Errorf("%s was published as %s, and now %s as %s",
			before.artifact.Revision, before.artifact.Digest, now.artifact.Revision, now.artifact.Digest)
	}
	assertSameObjects(t, before, now)
}

func assertSameObjects(t *testing.T, before, now state) {
	t.Helper()
	if !maps.Equal(before.uids, now.uids) {
		t.Errorf("objects were deleted: %v are %v", before.uids, now.uids)
	}
}

// inCluster is a client that resolves names as a pod does.
var inCluster = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{
	Timeout: 2 * time.Second,
	Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address+":53")
	}},
}).DialContext}}

// download downloads an archive by the name of the service, and checks it.
func download(ctx context.Context, artifact meta.Artifact) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, artifact.URL, http.NoBody)
	if err != nil {
		return err
	}
	response, err := inCluster.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(response.Status))
	}
	if err != nil {
		return fmt.Errorf("downloading %s: %w", artifact.URL, err)
	}
	if got := digest.FromBytes(content).String(); got != artifact.Digest {
		return fmt.Errorf("%w: %s has %s, and %s is announced", errAltered, artifact.URL, got, artifact.Digest)
	}
	return nil
}

// errAltered is the one error of a download that no fault excuses.
var errAltered = errors.New("another archive")

// awaitReason waits until the selection is not Ready for a reason.
func awaitReason(t *testing.T, reason string) {
	t.Helper()
	await(t, "the selection is not Ready because of "+reason, func(ctx context.Context) error {
		selection := &v1alpha1.CatalogSelection{}
		if err := system.Client().Get(ctx, pipeline, selection); err != nil {
			return err
		}
		for _, condition := range selection.Status.Conditions {
			if condition.Type == meta.ReadyCondition && condition.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("conditions: %+v", selection.Status.Conditions)
	})
}
