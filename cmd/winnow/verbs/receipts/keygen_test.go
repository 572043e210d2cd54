// SPDX-License-Identifier: Apache-2.0

package receipts

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

type full struct{ io.Writer }

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A key that winnow fleet does not look for is a cluster that is overlooked.
func TestAFileThatIsNoKeyOfAClusterIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"berlin", "berlin.pem", "Berlin.pub", ".pub", "berlin.pub.pub.", "a--b.pub"} {
		if err := keygen(filepath.Join(dir, name), output.Streams{Stdout: io.Discard}); err == nil {
			t.Errorf("%s becomes a key", name)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is written: %v", name, err)
		}
	}
}

func TestAKeyIsInASecretAndInNoOtherFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "berlin.pub")
	if err := keygen(file, output.Streams{Stdout: full{}}); err == nil {
		t.Error("a key is lost without an error")
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the public key of a lost key stays: %v", err)
	}
	var out bytes.Buffer
	if err := keygen(file, output.Streams{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	var secret corev1.Secret
	if err := yaml.Unmarshal(out.Bytes(), &secret); err != nil {
		t.Fatal(err)
	}
	private, err := receipt.ReadPrivateKey([]byte(secret.StringData[secretKey]))
	if err != nil || secret.Namespace != secretNamespace || secret.Name != secretName {
		t.Fatalf("%v: %+v", err, secret.ObjectMeta)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	public, err := receipt.ReadPublicKey(content)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := private.Sign(t.Context(), []byte("text"))
	if err != nil || public.Verify(t.Context(), []byte("text"), signature) != nil {
		t.Errorf("the keys are no pair: %v", err)
	}
	if err := keygen(file, output.Streams{Stdout: io.Discard}); !errors.Is(err, os.ErrExist) {
		t.Errorf("another key replaces it: %v", err)
	}
}
