// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	ociregistry "oras.land/oras-go/v2/registry"

	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/plaintext"
	"github.com/winnow-dev/winnow/registry/realm"
	"github.com/winnow-dev/winnow/registry/redact"
)

// Access are the flags of the verbs that reach registries. A nil Access sets none of them.
type Access struct {
	plain                     plainHosts
	caFile, certFile, keyFile string
	tokenHosts                realm.Hosts

	// withoutTLS is the advice on a registry without TLS; if empty, to set the flag.
	withoutTLS string
}

// maxCertificates bounds a file of certificates or a key, in bytes.
const maxCertificates = 1 << 20

// AddFlags adds the flags, and completes them.
func (o *Access) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&o.plain, plainFlag, "no TLS; `[=HOST]` limits it, repeatable")
	f.Lookup(plainFlag).NoOptDefVal = allHosts
	f.StringVar(&o.caFile, "ca-file", "", "trust the authorities in `FILE`, too")
	f.StringVar(&o.certFile, "cert-file", "", "client certificate for registries, a `FILE`")
	f.StringVar(&o.keyFile, "key-file", "", "key of the client certificate, a `FILE`")
	f.Var(&o.tokenHosts, realm.Flag, "request `HOST`, wherever it is")
	cmd.MarkFlagsRequiredTogether("cert-file", "key-file")
	CompleteNothing(cmd, plainFlag, realm.Flag)
}

// PlainAdvice returns what to add to the error about an argument that may be the host of a flag without =.
func (o *Access) PlainAdvice(argument string) string {
	if o == nil || !o.plain.has(argument) || strings.Contains(argument, "/") {
		return ""
	}
	return "; --" + plainFlag + " takes HOST after ="
}

// Open reads the files of the flags.
func (o *Access) Open(ctx context.Context) (oci.Access, error) {
	if o == nil {
		return oci.Access{}, nil
	}
	access := oci.Access{PlainHTTP: o.plain.has, TokenHosts: o.tokenHosts, WithoutTLS: o.withoutTLS}
	if o.caFile == "" && o.certFile == "" {
		return access, nil
	}
	access.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if err := o.addAuthorities(ctx, access.TLS); err != nil {
		return oci.Access{}, fmt.Errorf("--ca-file: %w", err)
	}
	if err := o.addCertificate(ctx, access.TLS); err != nil {
		return oci.Access{}, fmt.Errorf("--cert-file and --key-file: %w", err)
	}
	return access, nil
}

// Connect returns the repository of a reference, as oci.Connect does, with what Open returns.
func (o *Access) Connect(ctx context.Context, reference ociregistry.Reference, observe func(http.RoundTripper) http.RoundTripper) (*oci.Repository, error) {
	access, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	return oci.Connect(reference, access, observe)
}

// ConnectBelow connects to an address without tag and digest, below which there are repositories.
func (o *Access) ConnectBelow(ctx context.Context, address string) (*oci.Repository, error) {
	reference, err := oci.ParseReference(address)
	if err == nil && reference.Reference != "" {
		err = errors.New("leave out the tag and the digest")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plaintext.Line(redact.Text(address)), err)
	}
	return o.Connect(ctx, reference, nil)
}

func (o *Access) addAuthorities(ctx context.Context, config *tls.Config) error {
	if o.caFile == "" {
		return nil
	}
	content, err := files.ReadFile(ctx, o.caFile, maxCertificates)
	if err != nil {
		return err
	}
	if config.RootCAs, err = x509.SystemCertPool(); err != nil {
		config.RootCAs = x509.NewCertPool() // a machine without any
	}
	if !config.RootCAs.AppendCertsFromPEM(content) {
		return fmt.Errorf("%s has no certificate in PEM", o.caFile)
	}
	return nil
}

func (o *Access) addCertificate(ctx context.Context, config *tls.Config) error {
	if o.certFile == "" {
		return nil
	}
	certificate, err := files.ReadFile(ctx, o.certFile, maxCertificates)
	if err != nil {
		return err
	}
	key, err := files.ReadFile(ctx, o.keyFile, maxCertificates)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	config.Certificates = []tls.Certificate{pair}
	return err
}

// Allowing returns the options with a further host without TLS.
func (o *Access) Allowing(host string) *Access {
	more := *o
	more.plain.hosts = append(slices.Clone(o.plain.hosts), host)
	return &more
}

// Encrypted returns the options with TLS for all hosts, for a source whose OCIRepository does not allow a connection
// to the host without it.
func (o *Access) Encrypted(host string) *Access {
	less := *o
	less.plain = plainHosts{}
	const field = "set spec.insecure: true in the OCIRepository of the source"
	less.withoutTLS = field + ", and pass --" + plainFlag + "=" + host
	if o.plain.has(host) {
		less.withoutTLS = field + ", without which --" + plainFlag + " does not apply"
	}
	return &less
}

const (
	plainFlag = "plain-http"
	// allHosts is the value of --plain-http for all hosts, as a boolean has it.
	allHosts = "true"
)

// plainHosts is the value of --plain-http.
type plainHosts struct {
	all   bool
	hosts []string
}

func (p *plainHosts) has(host string) bool { return p.all || slices.Contains(p.hosts, host) }

// String is part of pflag.Value.
func (p *plainHosts) String() string { return strings.Join(p.hosts, ",") }

// Type is part of pflag.Value. The help shows a boolean as a flag that needs no value.
func (p *plainHosts) Type() string { return "bool" }

// Set is part of pflag.Value. true and false are from when the flag was a boolean, and all is another word for true.
func (p *plainHosts) Set(value string) error {
	switch {
	case value == allHosts, value == "all":
		p.all = true
	case value == "false":
		*p = plainHosts{}
	case value == "" || strings.ContainsAny(value, "/@ ,"):
		return fmt.Errorf("want HOST or HOST:PORT, without a scheme and a path")
	default:
		p.hosts = append(p.hosts, value)
	}
	return nil
}
