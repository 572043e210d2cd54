// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/controllers/failure"
)

// refused attaches to an error of the API server the reason and the remedy, where the namespace is the cause. A quota is
// known by its text alone: the error has the reason Forbidden, like a missing right.
func refused(namespace string, err error) error {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return failure.Because(v1alpha1.NamespaceTerminatingReason, fmt.Errorf("the namespace %s is being deleted and accepts no new object: "+
			"nothing more is published from it; what is to stay needs a CatalogSelection in another namespace: %w", namespace, err))
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: "):
		return failure.Because(v1alpha1.QuotaExceededReason, fmt.Errorf("a ResourceQuota of the namespace %s does not allow the ExternalArtifact: "+
			"raise the quota, or delete what nothing needs; it is tried again with backoff: %w", namespace, err))
	}
	return err
}
