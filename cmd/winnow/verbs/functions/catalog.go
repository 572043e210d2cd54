// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/cmd/winnow/files"
	"github.com/winnow-dev/winnow/cmd/winnow/flags"
	"github.com/winnow-dev/winnow/cmd/winnow/functions"
	"github.com/winnow-dev/winnow/cmd/winnow/input"
	"github.com/winnow-dev/winnow/cmd/winnow/oci"
	"github.com/winnow-dev/winnow/cmd/winnow/output"
	"github.com/winnow-dev/winnow/registry/realm"
	"github.com/winnow-dev/winnow/registry/redact"
	"github.com/winnow-dev/winnow/render"
	"github.com/winnow-dev/winnow/render/archive"
	"github.com/winnow-dev/winnow/render/catalog"
	"github.com/winnow-dev/winnow/render/dialect"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/finding"
	"github.com/winnow-dev/winnow/render/krmfunctions"
	"github.com/winnow-dev/winnow/render/seal"
	"github.com/winnow-dev/winnow/render/tree"
	"github.com/winnow-dev/winnow/render/yamlnode"
)

// openFunctions opens a catalog of functions: a CATALOG, a file of YAML, or one on a web server with its digest.
func openFunctions(ctx context.Context, where string, access *flags.Access) (*functions.Source, error) {
	s := &functions.Source{Reference: where}
	var err error
	switch {
	case strings.HasPrefix(where, functions.HTTPS):
		s.IsFile = true
		s.Reference, s.Catalog, err = downloadFunctions(ctx, where, access)
	case krmfunctions.IsRemote(where) && !strings.HasPrefix(where, oci.Scheme):
		return nil, fmt.Errorf("%s: catalogs of functions are read from files, from registries, and from https:// with a digest: clone or download it", where)
	default:
		s.Dir, s.Catalog, err = loadFunctions(ctx, where, access)
	}
	if err == nil {
		return s, nil
	}
	invalid, ok := errors.AsType[*krmfunctions.InvalidError](err)
	if !ok {
		return nil, err
	}
	locate(s, invalid.Kept)
	return nil, output.Finding(fmt.Errorf("the catalog of functions %s: %w", where, invalid))
}

// locate gives findings the paths for messages.
func locate(s *functions.Source, all []finding.Finding) {
	for i, one := range all {
		all[i].Path = s.Locate(one.Path)
	}
}

// loadFunctions loads a catalog of functions. dir is the directory that it is in, empty for an archive and a registry.
func loadFunctions(ctx context.Context, where string, access *flags.Access) (dir string, _ *krmfunctions.Catalog, _ error) {
	if isYAMLFile(where) {
		dir = filepath.Dir(where)
		root, err := os.OpenRoot(dir)
		if err != nil {
			return dir, nil, err
		}
		defer root.Close()
		loaded, err := krmfunctions.LoadFile(ctx, root.FS(), filepath.Base(where))
		return dir, loaded, err
	}
	opened, err := input.OpenCatalog(where, v1alpha1.FormatKRMFunctions, access)
	if errors.Is(err, input.ErrNoCatalog) {
		err = fmt.Errorf("%w, or a YAML file", err)
	}
	if err != nil {
		return "", nil, err
	}
	if in, ok := opened.(input.Directory); ok { // programs may lie beside the catalog, which an archive would refuse
		root, err := os.OpenRoot(string(in))
		if err != nil {
			return string(in), nil, err
		}
		defer root.Close()
		loaded, err := loadFunctionsIn(ctx, root.FS())
		return string(in), loaded, err
	}
	files, err := input.ReadFiles(ctx, where, opened, archive.Limits{}, render.CatalogLocation{})
	if err != nil {
		return "", nil, err
	}
	loaded, err := loadFunctionsIn(ctx, files.FS())
	return "", loaded, err
}

// loadFunctionsIn loads the catalogs in a tree of files; from the artifact of a selection, or its directory of functions,
// its functions.
func loadFunctionsIn(ctx context.Context, fsys fs.FS) (*krmfunctions.Catalog, error) {
	if seal.IsIn(fsys) {
		return krmfunctions.LoadFile(ctx, fsys, path.Base(catalog.FunctionsFile))
	}
	for _, name := range []string{render.KustomizationFile, catalog.FunctionsFile} {
		if _, err := fs.Stat(fsys, name); err != nil {
			return krmfunctions.Load(ctx, fsys)
		}
	}
	return krmfunctions.LoadFile(ctx, fsys, catalog.FunctionsFile)
}

// isYAMLFile reports whether a path leads to a file with a name of YAML.
func isYAMLFile(where string) bool {
	if strings.HasPrefix(where, oci.Scheme) || !yamlnode.IsYAMLOrJSON(filepath.ToSlash(where)) {
		return false
	}
	info, err := os.Stat(where)
	return err == nil && !info.IsDir()
}

// defaultFunctionCatalogs returns the catalogs of functions in the file winnow/functions.yaml of the user's directory of
// configuration, which a platform team may install: it stands for the catalog that KEP-2906 compiles into kustomize.
// Paths in it are relative to it.
func defaultFunctionCatalogs(ctx context.Context, notes io.Writer) ([]string, error) {
	dir, err := os.UserConfigDir()
	switch {
	case err != nil && os.Getenv("XDG_CONFIG_HOME") != "":
		return nil, fmt.Errorf("looking for the catalogs of this user: %w", err)
	case err != nil:
		return nil, nil // a user without a home has no configuration
	}
	file := filepath.Join(dir, "winnow", "functions.yaml")
	content, err := files.ReadFile(ctx, file, maxDefaults)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the catalogs of this user: %w", err)
	}
	var defaults struct {
		Catalogs []string `json:"catalogs"`
	}
	if err := dialect.UnmarshalStrict(content, &defaults); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i, where := range defaults.Catalogs {
		if !strings.HasPrefix(where, oci.Scheme) && !strings.HasPrefix(where, functions.HTTPS) && !filepath.IsAbs(where) {
			defaults.Catalogs[i] = filepath.Join(filepath.Dir(file), where)
		}
	}
	if len(defaults.Catalogs) > 0 {
		output.PrintNote(notes, fmt.Sprintf("note: %s has the first catalogs: %s", file, strings.Join(defaults.Catalogs, ", ")))
	}
	return defaults.Catalogs, nil
}

// maxDefaults bounds the file of the user's catalogs, in bytes.
const maxDefaults = 64 << 10

// The bounds of a download, beside krmfunctions.MaxFile for its content.
const (
	downloadTimeout = time.Minute
	maxRedirects    = 5
)

// downloadFunctions loads the catalog in a file on a web server, and returns the address without the digest.
func downloadFunctions(ctx context.Context, where string, access *flags.Access) (address string, _ *krmfunctions.Catalog, _ error) {
	address, digest := functions.SplitDigest(where)
	shown := redact.Text(address)
	if digest == "" {
		return shown, nil, fmt.Errorf("%s has no digest, so its server decides what runs: look at the file, and append @sha256: and what sha256sum prints of it", shown)
	}
	data, err := download(ctx, address, digest, access)
	if err != nil {
		return shown, nil, fmt.Errorf("downloading %s: %w", shown, err)
	}
	const name = "catalog.yaml"
	files := tree.New()
	if err := files.Add(name, data); err != nil {
		return shown, nil, err
	}
	loaded, err := krmfunctions.LoadFile(ctx, files.FS(), name)
	return shown, loaded, err
}

// download fetches a file without credentials and certificates of this user, and compares it with the digest.
func download(ctx context.Context, address, digest string, access *flags.Access) ([]byte, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, errors.New("it has a user, a password, a query or a fragment: want https://host/path@sha256:DIGEST, which anyone may read")
	}
	client, err := newClient(ctx, parsed, access)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok { // its text repeats the address
			err = cause.Err
		}
		return nil, new(redact.Secrets).Error(err, nil) // it may quote where the server redirects to
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers with the status %d: want a file that anyone may read", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, krmfunctions.MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > krmfunctions.MaxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", krmfunctions.MaxFile)
	}
	sum := sha256.Sum256(data)
	if found := hex.EncodeToString(sum[:]); found != digest {
		return nil, fmt.Errorf("its sha256 is %s, not %s: look at what has changed, and name it with the other digest", found, digest)
	}
	return data, nil
}

// newClient returns a client for a file, which leaves https for no redirect. It does not decompress the bytes of a response.
func newClient(ctx context.Context, file *url.URL, access *flags.Access) (*http.Client, error) {
	opened, err := access.Open(ctx)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	if opened.TLS != nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: opened.TLS.RootCAs}
	}
	restricted := realm.Rule{Allowed: opened.TokenHosts}.From(transport, file)
	return &http.Client{Transport: restricted, Timeout: downloadTimeout, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		switch {
		case to.URL.Scheme != "https":
			return fmt.Errorf("the server redirects to %s, which is not https", excerpt.Quoted(to.URL.Scheme+"://"+to.URL.Host))
		case len(via) > maxRedirects:
			return fmt.Errorf("the server redirects more than %d times", maxRedirects)
		}
		return nil
	}}, nil
}
