// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RunningCatalogd is catalogd as a process.
type RunningCatalogd struct {
	*Process

	cluster     client.Reader
	certificate []byte
	https       *http.Client
}

// StartCatalogd installs the definitions of OLM v1 and starts catalogd, which pulls from the registry of the stack.
func (s *Stack) StartCatalogd(ctx context.Context) (*RunningCatalogd, error) {
	if err := s.InstallOLM(ctx, OLMv1First()); err != nil {
		return nil, err
	}
	certificate, key, err := NewCertificate()
	if err != nil {
		return nil, err
	}
	c := &RunningCatalogd{cluster: s.client, certificate: certificate, https: trusting(certificate)}
	c.Process, err = s.startOLM(ctx, Catalogd, map[string][]byte{"tls.crt": certificate, "tls.key": key}, s.catalogd)
	return c, err
}

func (s *Stack) catalogd(dir string) (launch, error) {
	addresses, err := freeAddresses(3)
	if err != nil {
		return launch{}, err
	}
	health, catalogs := addresses[0], addresses[1]
	_, webhook, err := net.SplitHostPort(addresses[2])
	if err != nil {
		return launch{}, err
	}
	return launch{
		env: []string{"KUBECONFIG=" + s.kubeconfig, "HOME=" + dir},
		args: []string{
			"--tls-cert=" + filepath.Join(dir, "tls.crt"),
			"--tls-key=" + filepath.Join(dir, "tls.key"),
			"--cache-dir=" + filepath.Join(dir, "cache"), // which catalogd empties
			"--health-probe-bind-address=" + health,
			"--metrics-bind-address=" + loopback + ":0",
			"--catalogs-server-addr=" + catalogs,
			"--external-address=" + catalogs,
			// Nothing calls it: no webhook is configured. It listens on all addresses, which no flag changes.
			"--webhook-server-port=" + webhook,
		},
		ready: answers(http.DefaultClient, "http://"+health+"/readyz"),
	}, nil
}

// catalogdTimeout bounds the time in which Served expects a small catalog to be unpacked.
const catalogdTimeout = time.Minute

// Served waits until catalogd serves a ClusterCatalog as its spec is now, and returns all blobs of it, one JSON object
// a line. It fails at once if catalogd does not try again.
func (c *RunningCatalogd) Served(ctx context.Context, name string) ([]byte, error) {
	var url, state string
	err := wait.PollUntilContextTimeout(ctx, applyPoll, catalogdTimeout, true, func(ctx context.Context) (bool, error) {
		catalog, err := c.read(ctx, name)
		if err != nil {
			return false, err
		}
		url, state = catalog.Status.URLs.Base+"/api/v1/all", catalog.state()
		if catalog.is("Progressing", "Blocked") {
			return false, errors.New(state)
		}
		return catalog.is("Progressing", "Succeeded") && catalog.is("Serving", "Available"), nil
	})
	if wait.Interrupted(err) {
		err = fmt.Errorf("%w: %s", err, state)
	}
	if err != nil {
		return nil, fmt.Errorf("waiting until %s serves %s: %w", Catalogd, name, err)
	}
	return c.get(ctx, url)
}

// clusterCatalog is a ClusterCatalog, as far as it is read here.
type clusterCatalog struct {
	Metadata struct{ Generation int64 }
	Status   struct {
		URLs       struct{ Base string }
		Conditions []metav1.Condition
	}
}

func (c *RunningCatalogd) read(ctx context.Context, name string) (catalog clusterCatalog, err error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "olm.operatorframework.io", Version: "v1", Kind: "ClusterCatalog"})
	if err := c.cluster.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return catalog, err
	}
	content, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(content, &catalog)
	}
	return catalog, err
}

// is reports whether a condition of the present spec has this reason.
func (c clusterCatalog) is(condition, reason string) bool {
	found := meta.FindStatusCondition(c.Status.Conditions, condition)
	return found != nil && found.Reason == reason && found.ObservedGeneration == c.Metadata.Generation
}

// state returns the conditions as text.
func (c clusterCatalog) state() string {
	var texts []string
	for _, condition := range c.Status.Conditions {
		texts = append(texts, condition.Type+" "+condition.Reason+": "+condition.Message)
	}
	return strings.Join(texts, "; ")
}

func (c *RunningCatalogd) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := c.https.Do(request)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading %s: %s", url, response.Status)
	}
	return content, nil
}
