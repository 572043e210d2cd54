// SPDX-License-Identifier: Apache-2.0

// Package receipts is winnow receipt: it reads what a cluster has applied, signs that and pushes it. It must not write to the
// cluster, nor judge what it reads.
package receipts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/flags/clusterflags"
	"github.com/winnow-dev/winnow/cmd/winnow/live"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/cmd/winnow/receipt"
	"github.com/winnow-dev/winnow/registry"
)

// options are the flags of winnow receipt.
type options struct {
	clusterflags.Connection

	access flags.Access
	key    string
	names  bool
	output *flags.Choice
	// now is the clock that a receipt has the time of.
	now func() time.Time
}

// Documents returns the documents that the verb prints.
func Documents() []any { return []any{receipt.New("", time.Time{}, nil, nil, nil)} }

// New returns winnow receipt, with a clock.
func New(now func() time.Time) *cobra.Command {
	o := options{now: now}
	cmd := &cobra.Command{
		Use:   "receipt CLUSTER [oci://HOST/REPOSITORY]",
		Short: "Push what a cluster has applied, signed, for winnow fleet",
		Long: "Push what a cluster has applied to oci://HOST/REPOSITORY/CLUSTER:latest, signed,\n" +
			"for winnow fleet. A cluster that runs what a hub has rendered needs no Winnow: a\n" +
			"CronJob runs this there: see config/receipts. Without an address, the receipt is\n" +
			"printed alone.\n\n" +
			"A receipt has the name of the cluster and the time; for each Kustomization of\n" +
			"an artifact that Winnow has rendered, the digest, its origin and the condition\n" +
			"Ready; and the definitions that Winnow has rendered, with their versions. The\n" +
			"account lists Kustomizations, OCIRepositories and ApplicationDefinitions.\n\n" +
			"It also has the number of installations of each application and version, as far\n" +
			"as the account may list what installs them: see config/receipts/uses. Others are\n" +
			"unknown, as on a seed of KKP.\n\n" +
			"--sign-key is a private key in PEM, Ed25519 or ECDSA P-256. Its public key\n" +
			"stands in Git, beside the OCIRepository of the stage.\n\n" +
			"Credentials are in Docker's configuration. The tag latest moves.\n" +
			"Exit codes: 0 done, 2 usage, I/O or no access.",
		Example: "  winnow receipt berlin oci://registry.example.com/receipts \\\n" +
			"    --sign-key receipts.pem\n\n" +
			"  # what it would push\n" +
			"  winnow receipt berlin --context berlin",
		Args: flags.Arguments(1, 2, "CLUSTER and "+oci.Scheme+"HOST/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, flags.StreamsOf(cmd))
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.AddCommand(newKeygen())
	o.AddClusterFlags(cmd)
	cmd.Flags().StringVar(&o.key, "sign-key", "", "private key of the cluster, a `FILE`")
	_ = cmd.MarkFlagFilename("sign-key")
	cmd.Flags().BoolVar(&o.names, "names", false, "add the names of what is installed")
	o.access.AddFlags(cmd)
	o.output = flags.AddFormats(cmd, output.FormatYAML, output.FormatJSON)
	return cmd
}

// run reads the cluster, and prints or pushes the receipt.
func (o *options) run(ctx context.Context, args []string, out output.Streams) error {
	name := args[0]
	if err := receipt.CheckCluster(name); err != nil {
		return err
	}
	var key *receipt.PrivateKey
	var repository *oci.Repository
	if len(args) > 1 {
		var err error
		if key, err = readKey(ctx, o.key); err != nil {
			return err
		}
		if repository, err = o.access.ConnectBelow(ctx, args[1]); err != nil {
			return err
		}
	}
	var r *receipt.Receipt
	err := o.On(ctx, func(ctx context.Context, cluster *live.Cluster) error {
		kustomizations, definitions, err := cluster.Applied(ctx)
		if err != nil {
			return err
		}
		uses, err := cluster.Uses(ctx, o.names)
		r = receipt.New(name, o.now(), kustomizations, definitions, uses)
		return err
	})
	if err != nil {
		return err
	}
	if repository == nil {
		return output.Encode(out.Stdout, o.output.Value, r)
	}
	bounded, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	return push(bounded, repository, r, key, out)
}

// readKey reads the file of --sign-key.
func readKey(ctx context.Context, file string) (*receipt.PrivateKey, error) {
	if file == "" {
		return nil, errors.New("--sign-key is missing: winnow fleet reads only what a key of the cluster has signed")
	}
	content, err := files.ReadFile(ctx, file, receipt.MaxKey)
	if err != nil {
		return nil, fmt.Errorf("--sign-key: %w", err)
	}
	key, err := receipt.ReadPrivateKey(content)
	if err != nil {
		return nil, fmt.Errorf("--sign-key %s: %w", file, err)
	}
	return key, nil
}

// push signs and pushes a receipt.
func push(ctx context.Context, below *oci.Repository, r *receipt.Receipt, key *receipt.PrivateKey, out output.Streams) error {
	repository, err := below.At(r.Cluster)
	if err != nil {
		return err
	}
	envelope, err := receipt.Sign(ctx, r, key)
	if err != nil {
		return err
	}
	packed, err := registry.Pack(receipt.ArtifactType, registry.NewBlob(receipt.LayerType, envelope), nil)
	if err != nil {
		return err
	}
	if _, err := repository.Push(ctx, packed, []string{oci.Latest}, nil, nil); err != nil {
		return fmt.Errorf("pushing to %s: %w", repository.Address(), err)
	}
	if r.Omitted > 0 {
		output.Warn(out.Notes, fmt.Sprintf("%d Kustomizations and definitions are beyond the bounds of a receipt, and left out", r.Omitted))
	}
	fmt.Fprintln(out.Stdout, repository.Address()+"@"+packed.Manifest.Descriptor.Digest.String())
	return nil
}

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
