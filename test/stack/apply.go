// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// fieldOwner is the field owner of Apply.
const fieldOwner = client.FieldOwner("stack")

// Bounds of the time that Apply waits until the API server serves a kind, or has established a CRD.
const (
	applyTimeout = 10 * time.Second
	applyPoll    = 50 * time.Millisecond
)

// Apply applies a stream of YAML documents of any kind by server-side apply, CRDs and namespaces first.
func (s *Stack) Apply(ctx context.Context, manifests []byte) error {
	objects, err := parseManifests(manifests)
	if err != nil {
		return fmt.Errorf("applying manifests: %w", err)
	}
	var crds []string
	for _, object := range inApplyOrder(objects) {
		isCRD := object.GetKind() == "CustomResourceDefinition"
		if !isCRD {
			if err := s.awaitEstablished(ctx, crds); err != nil {
				return err
			}
			crds = nil
		}
		if err := s.applyObject(ctx, object); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
		}
		if isCRD {
			crds = append(crds, object.GetName())
		}
	}
	return s.awaitEstablished(ctx, crds)
}

// ApplyPath applies a file, or all YAML files in a directory and below it. A relative path starts at the
// root of the repository.
func (s *Stack) ApplyPath(ctx context.Context, path string) error {
	path = fromRoot(s.root, path)
	manifests, err := readManifests(path)
	if err != nil {
		return fmt.Errorf("applying %s: %w", path, err)
	}
	if err := s.Apply(ctx, manifests); err != nil {
		return fmt.Errorf("applying %s: %w", path, err)
	}
	return nil
}

// ApplyKustomization builds a directory as `kustomize build` does and applies the result. A relative path
// starts at the root of the repository.
func (s *Stack) ApplyKustomization(ctx context.Context, dir string) error {
	dir = fromRoot(s.root, dir)
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return fmt.Errorf("building %s: %w", dir, err)
	}
	manifests, err := built.AsYaml()
	if err != nil {
		return fmt.Errorf("building %s: %w", dir, err)
	}
	if err := s.Apply(ctx, manifests); err != nil {
		return fmt.Errorf("applying %s: %w", dir, err)
	}
	return nil
}

// applyObject applies an object and retries while the API server does not serve the kind, which takes a
// moment after the CRD is established.
func (s *Stack) applyObject(ctx context.Context, object *unstructured.Unstructured) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, applyPoll, applyTimeout, true, func(ctx context.Context) (bool, error) {
		err := s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), fieldOwner, client.ForceOwnership)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			last = err
			return false, nil
		}
		return err == nil, err
	})
	if wait.Interrupted(err) && last != nil {
		return last
	}
	return err
}

func (s *Stack) awaitEstablished(ctx context.Context, crds []string) error {
	for _, name := range crds {
		err := wait.PollUntilContextTimeout(ctx, applyPoll, applyTimeout, true, func(ctx context.Context) (bool, error) {
			return s.established(ctx, name)
		})
		if err != nil {
			return fmt.Errorf("waiting until CRD %s is established: %w", name, err)
		}
	}
	return nil
}

func (s *Stack) established(ctx context.Context, name string) (bool, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := s.client.Get(ctx, client.ObjectKey{Name: name}, &crd); err != nil {
		return false, err
	}
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue, nil
		}
	}
	return false, nil
}
