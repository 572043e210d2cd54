// SPDX-License-Identifier: Apache-2.0

package receipts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
)

// Secret of config/receipts with the private key.
const (
	secretNamespace = "winnow-receipts"
	secretName      = "winnow-receipt-key"
	secretKey       = "receipt.pem"
)

// newKeygen returns winnow receipt keygen.
func newKeygen() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE.pub",
		Short: "Make the key of a cluster",
		Long: "Make a key of a cluster, Ed25519. The public key becomes FILE.pub, beside the\n" +
			"OCIRepository of the stage. The private key is printed as the Secret of\n" +
			"config/receipts, for kubectl, and is written to no file.\n\n" +
			"Exit codes: 0 done, 2 usage or I/O, or FILE.pub is there already.",
		Example: "  winnow receipt keygen spokes/production/clusters/berlin.pub \\\n" +
			"    | kubectl --context berlin apply -f -",
		Args: flags.Arguments(1, 1, "FILE.pub"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return keygen(args[0], flags.StreamsOf(cmd))
		},
	}
}

// keygen writes a public key, and prints the Secret with its private key. A key whose Secret is lost is no key of a cluster: then
// the file is removed.
func keygen(file string, out output.Streams) (err error) {
	if output.IsTerminal(out.Stdout) {
		return errors.New("the private key is not for a terminal: pipe the Secret into kubectl apply -f -")
	}
	cluster, isKey := strings.CutSuffix(filepath.Base(file), receipt.KeySuffix)
	if !isKey {
		return fmt.Errorf("%s does not end with %s, the end of the name of a key: winnow fleet would overlook it", plaintext.Line(file), receipt.KeySuffix)
	}
	if err := receipt.CheckCluster(cluster); err != nil {
		return fmt.Errorf("%s: %w", plaintext.Line(file), err)
	}
	private, public, err := receipt.NewKey()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: secretNamespace, Name: secretName},
		StringData: map[string]string{secretKey: string(private)},
	}
	text, err := yaml.Marshal(secret)
	if err != nil {
		return err
	}
	created, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a public key
	if err != nil {
		return output.Unusable(err)
	}
	defer func() {
		if err = errors.Join(err, created.Close()); err != nil {
			err = output.Unusable(errors.Join(err, os.Remove(file)))
		}
	}()
	if _, err := created.Write(public); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.Stdout, "%s", text)
	return err
}
