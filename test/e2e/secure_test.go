// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/secrets"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/registry"
	"github.com/winnow-dev/winnow/test/stack"
)

// With the rights of config/default and config/registries/namespace, the controller reads a catalog from a registry with TLS and a
// password, and pushes its render there. It never writes the password to any output.
func TestARegistryWithTLSAndAPassword(t *testing.T) {
	const user, password = "robot", "pass+word/of-the-robot"
	secure, err := system.StartSecureRegistry(t.Context(), "secure-registry", user, password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := secure.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	for _, a := range catalogOf("secure") {
		writeApp(t, filepath.Join(dir, "catalog", "applications", a.name), a)
	}
	pushWithPassword(t, secure, user, password, filepath.Join(dir, "catalog"), "oci://"+secure.Host+"/secure:v1")
	s := newScenario(t, "secure", catalogOf("secure")[:1], func(cs *v1alpha1.CatalogSelection, _ *kustomizev1.Kustomization) {
		cs.Spec.Push = &v1alpha1.Push{
			URL:       "oci://" + secure.Host + "/rendered/secure",
			SecretRef: &meta.LocalObjectReference{Name: "login"}, CertSecretRef: &meta.LocalObjectReference{Name: "authority"},
		}
	})
	s.awaitApplied("secure-a")
	s.awaitPushed(v1alpha1.PushFailedReason)

	login, err := secrets.MakeRegistrySecret("login", s.name, secure.Host, user, password)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := secrets.MakeTLSSecret("authority", s.name, secrets.WithCAData(secure.CA))
	if err != nil {
		t.Fatal(err)
	}
	s.create(login)
	s.create(authority)
	tenant{&estate{scenario: s}}.createAs("", "config/registries/namespace")
	repository := s.repository()
	s.update(repository, func() {
		repository.Spec.URL, repository.Spec.Insecure = "oci://"+secure.Host+"/secure", false
		repository.Spec.SecretRef, repository.Spec.CertSecretRef = &meta.LocalObjectReference{Name: "login"}, &meta.LocalObjectReference{Name: "authority"}
	})
	s.awaitApplied("secure-a", "secure-b", "secure-c")
	pushed := s.awaitPushed(meta.SucceededReason)
	if !strings.HasPrefix(pushed.Status.Push.URL, "oci://"+secure.Host+"/rendered/secure@sha256:") || pushed.Status.Push.Revision != pushed.Status.Artifact.Revision {
		t.Errorf("pushed %+v", pushed.Status.Push)
	}
	if raw := fetchWithPassword(t, secure, user, password, pushed.Status.Push.URL); !strings.Contains(raw, pushed.Status.Artifact.Digest) {
		t.Errorf("the registry has %s", raw)
	}
	s.assertSecret(password, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// awaitPushed waits for the reason of the condition Pushed.
func (s *scenario) awaitPushed(reason string) *v1alpha1.CatalogSelection {
	s.t.Helper()
	return s.awaitSelection("pushed: "+reason, func(cs *v1alpha1.CatalogSelection) error {
		if got := conditions.GetReason(cs, v1alpha1.PushedCondition); got != reason ||
			reason == meta.SucceededReason && cs.Status.Push.Revision != cs.Status.Artifact.Revision {
			return fmt.Errorf("pushed: %s", got)
		}
		return nil
	})
}

// assertSecret checks that no output of the controller contains the words: its log, and the events and
// objects of the namespace except Secrets.
func (s *scenario) assertSecret(words ...string) {
	s.t.Helper()
	log, err := system.controller.Logs()
	if err != nil {
		s.t.Fatal(err)
	}
	places := map[string][]byte{"the log": log}
	for name, list := range map[string]client.ObjectList{
		"events": &corev1.EventList{}, "selections": &v1alpha1.CatalogSelectionList{}, "artifacts": &sourcev1.ExternalArtifactList{},
	} {
		if err := system.Client().List(s.t.Context(), list, client.InNamespace(s.name)); err != nil {
			s.t.Fatal(err)
		}
		if places[name], err = json.Marshal(list); err != nil {
			s.t.Fatal(err)
		}
	}
	for place, text := range places {
		if len(text) < 100 {
			s.t.Errorf("%s are empty: %s", place, text)
		}
		for _, word := range words {
			if bytes.Contains(text, []byte(word)) {
				s.t.Errorf("%s tell %q", place, word)
			}
		}
	}
}

// dockerLogin returns an environment that trusts a registry and contains its credentials.
func dockerLogin(t *testing.T, secure *stack.SecureRegistry, user, password string) []string {
	t.Helper()
	dir := t.TempDir()
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	write(t, filepath.Join(dir, "config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, secure.Host, auth))
	write(t, filepath.Join(dir, "ca.crt"), string(secure.CA))
	return append(os.Environ(), "DOCKER_CONFIG="+dir, "SSL_CERT_FILE="+filepath.Join(dir, "ca.crt"))
}

func pushWithPassword(t *testing.T, secure *stack.SecureRegistry, user, password, dir, to string) {
	t.Helper()
	push := exec.CommandContext(t.Context(), system.winnow, "push", dir, to)
	push.Env = dockerLogin(t, secure, user, password)
	if out, err := push.CombinedOutput(); err != nil {
		t.Fatalf("winnow push: %v\n%s", err, out)
	}
}

// fetchWithPassword returns the manifest of an artifact.
func fetchWithPassword(t *testing.T, secure *stack.SecureRegistry, user, password, from string) string {
	t.Helper()
	repository, err := secure.Repository(strings.TrimPrefix(from, "oci://"), user, password)
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err := registry.FetchManifest(context.WithoutCancel(t.Context()), repository, repository.Reference.Reference)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
