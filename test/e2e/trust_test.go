// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// The commands and manifests of docs/guides/trust.md work with the verification of source-controller.
func TestOnlySignedCatalogsArePublished(t *testing.T) {
	guide := readTrustGuide(t)
	catalog := catalogOf("trust")
	names := []string{"trust-a", "trust-b", "trust-c"}
	s := newScenario(t, "trust", catalog, func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Sources[0].RequireVerified = guide.selection.Spec.Sources[0].RequireVerified
	})
	owner, other := newSigner(t, guide, s.name), newSigner(t, guide, s.name)
	keys := s.secret(guide.repository.Spec.Verify.SecretRef.Name, map[string]string{"cosign.pub": owner.publicKey()})

	t.Run("what Flux is not told to verify is not published", func(*testing.T) {
		s.awaitRefused("set spec.verify")
		if _, ea, _, err := s.live(t.Context()); err == nil {
			t.Errorf("published %+v", ea.Status.Artifact)
		}
	})
	t.Run("what is signed is published", func(t *testing.T) {
		owner.publish("signed", catalog)
		if err := owner.verify("signed"); err != nil {
			t.Error(err)
		}
		if owner.push("unsigned", catalog[:1]); owner.verify("unsigned") == nil || other.verify("signed") == nil {
			t.Error("cosign verifies anything")
		}
		s.verify(guide.repository.Spec.Verify, "signed")
		s.awaitApplied(names...)
	})
	t.Run("an altered layer that Flux extracts is not published", func(t *testing.T) {
		unchanged := s.unchanged()
		owner.publish("swapped", valued(catalogOf("trust"), "swapped"))
		digest := s.digestOf("swapped")
		s.swapLayer("swapped", packed(t, catalog[:1]))
		s.point("swapped")
		s.awaitSource("pulled", func(r *sourcev1.OCIRepository) bool {
			return r.Status.Artifact.Revision == "swapped@"+digest && conditions.IsTrue(r, sourcev1.SourceVerifiedCondition)
		})
		s.awaitSelection("not published", func(cs *v1alpha1.CatalogSelection) error {
			if message := conditions.GetMessage(cs, meta.ReadyCondition); conditions.GetReason(cs, meta.ReadyCondition) != v1alpha1.FetchFailedReason ||
				!strings.Contains(message, "mismatch") {
				return errors.New(message)
			}
			return nil
		})
		unchanged()
	})
	t.Run("an altered layer is not copied", func(*testing.T) {
		s.point("signed")
		repository := s.repository()
		s.update(repository, func() { repository.Spec.LayerSelector = guide.repository.Spec.LayerSelector })
		s.awaitApplied(names...)
		unchanged := s.unchanged()
		owner.publish("altered", valued(catalogOf("trust"), "altered"))
		s.alterLayer("altered")
		s.point("altered")
		s.awaitVerifiedWithoutArtifact("altered")
		s.requestReconciliation()
		s.awaitApplied(names...)
		unchanged()
	})
	t.Run("what is not signed, or not by the key, is refused", func(*testing.T) {
		unchanged := s.unchanged()
		s.refuse("unsigned", owner.push("unsigned", valued(catalogOf("trust"), "unsigned")))
		unchanged()
		other.publish("other", valued(catalogOf("trust"), "other"))
		s.refuse("other", s.digestOf("other"))
		unchanged()
		copied := owner.push("copied", valued(catalogOf("trust"), "copied"))
		s.copySignature("signed", copied)
		s.refuse("copied", copied)
		unchanged()
	})
	t.Run("a second key makes it good", func(*testing.T) {
		s.update(keys, func() { keys.StringData = map[string]string{"next.pub": other.publicKey()} })
		s.point("other")
		s.awaitRevision("other")
		s.awaitApplied(names...)
	})
	t.Run("what is published is refused when its key is not trusted any more", func(*testing.T) {
		unchanged := s.unchanged()
		s.secret("remaining-keys", map[string]string{"cosign.pub": owner.publicKey()})
		s.verify(&sourcev1.OCIRepositoryVerification{Provider: "cosign", SecretRef: &meta.LocalObjectReference{Name: "remaining-keys"}}, "other")
		s.awaitRefused(s.digestOf("other"))
		unchanged()
		owner.publish("other", valued(catalogOf("trust"), "other")) // signs the same digest again
		s.awaitApplied(names...)
		unchanged()
	})
	t.Run("a signature of cosign 2 is good", func(*testing.T) {
		digest := owner.push("cosign2", valued(catalogOf("trust"), "cosign2"))
		owner.mustRun("cosign sign --key cosign.key --new-bundle-format=false --use-signing-config=false --tlog-upload=false " +
			owner.catalog + "@" + digest)
		s.point("cosign2")
		s.awaitRevision("cosign2")
		s.awaitApplied(names...)
	})
}

func (s *scenario) secret(name string, data map[string]string) *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.name}, StringData: data}
	s.create(secret)
	return secret
}

// verify sets the verification and the tag of the OCIRepository.
func (s *scenario) verify(by *sourcev1.OCIRepositoryVerification, tag string) {
	s.t.Helper()
	repository := s.repository()
	s.update(repository, func() {
		repository.Spec.Verify, repository.Spec.Reference = by, &sourcev1.OCIRepositoryRef{Tag: tag}
	})
}

// refuse points Flux to a tag whose verification fails.
func (s *scenario) refuse(tag, digest string) {
	s.t.Helper()
	s.point(tag)
	s.awaitRefused(digest)
	s.awaitSource("not verified", func(r *sourcev1.OCIRepository) bool {
		return conditions.IsFalse(r, sourcev1.SourceVerifiedCondition)
	})
}

// awaitRefused waits until the selection is stalled because of the signature of the named artifact.
func (s *scenario) awaitRefused(named string) {
	s.t.Helper()
	s.awaitSelection("refused for "+named, func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsStalled(cs) || conditions.GetReason(cs, meta.ReadyCondition) != v1alpha1.VerificationFailedReason ||
			!strings.Contains(conditions.GetMessage(cs, meta.ReadyCondition), named) {
			return errors.New("not refused")
		}
		return nil
	})
}

// awaitVerifiedWithoutArtifact waits until Flux has verified an artifact that it cannot pull.
func (s *scenario) awaitVerifiedWithoutArtifact(tag string) {
	s.t.Helper()
	revision := tag + "@" + s.digestOf(tag)
	s.awaitSource("verified and not pulled", func(r *sourcev1.OCIRepository) bool {
		return conditions.IsTrue(r, sourcev1.FetchFailedCondition) && conditions.IsTrue(r, sourcev1.SourceVerifiedCondition) &&
			strings.HasSuffix(conditions.GetMessage(r, sourcev1.SourceVerifiedCondition), " "+revision) &&
			r.Status.Artifact.Revision != revision
	})
}

// awaitRevision waits until the revision of a tag is published.
func (s *scenario) awaitRevision(tag string) {
	s.t.Helper()
	revision := tag + "@" + s.digestOf(tag)
	s.awaitSelection("published "+revision, func(cs *v1alpha1.CatalogSelection) error {
		if !conditions.IsReady(cs) || cs.Status.Sources[0].Revision != revision {
			return fmt.Errorf("sources are %+v", cs.Status.Sources)
		}
		return nil
	})
}

func (s *scenario) awaitSource(what string, check func(*sourcev1.OCIRepository) bool) {
	s.t.Helper()
	repository := s.repository()
	s.await(what, func(ctx context.Context) error {
		err := system.Client().Get(ctx, keyOf(repository), repository)
		if err == nil && !check(repository) {
			err = fmt.Errorf("OCIRepository: %+v", repository.Status)
		}
		return err
	})
}

func (s *scenario) registry() *remote.Repository { return plainRepository(s.t, s.name) }

func (s *scenario) digestOf(tag string) string {
	s.t.Helper()
	manifest, err := s.registry().Resolve(s.t.Context(), tag)
	if err != nil {
		s.t.Fatal(err)
	}
	return manifest.Digest.String()
}
