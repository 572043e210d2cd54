// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// DeleteKustomization deletes what ApplyKustomization applies, as `kubectl delete -k` does: it sends all requests, then waits
// until all objects are gone. The error names those that are still there after the timeout.
func (s *Stack) DeleteKustomization(ctx context.Context, dir string, timeout time.Duration) error {
	dir = fromRoot(s.root, dir)
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return fmt.Errorf("building %s: %w", dir, err)
	}
	manifests, err := built.AsYaml()
	if err != nil {
		return fmt.Errorf("building %s: %w", dir, err)
	}
	objects, err := parseManifests(manifests)
	if err != nil {
		return fmt.Errorf("building %s: %w", dir, err)
	}
	for _, object := range objects {
		if err := s.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground)); !isGone(err) && err != nil {
			return fmt.Errorf("deleting %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	var left []string
	err = wait.PollUntilContextTimeout(ctx, applyPoll, timeout, true, func(ctx context.Context) (bool, error) {
		now, err := s.existing(ctx, objects)
		if ctx.Err() != nil {
			return false, nil // left are those of the last poll
		}
		left = now
		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting until %s are gone: %w", strings.Join(left, ", "), err)
	}
	return nil
}

// existing returns the objects that are there.
func (s *Stack) existing(ctx context.Context, objects []*unstructured.Unstructured) ([]string, error) {
	var left []string
	for _, object := range objects {
		switch err := s.client.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy()); {
		case err == nil:
			left = append(left, object.GetKind()+" "+object.GetName())
		case !isGone(err):
			return nil, err
		}
	}
	return left, nil
}

func isGone(err error) bool {
	return client.IgnoreNotFound(err) == nil || meta.IsNoMatchError(err)
}
