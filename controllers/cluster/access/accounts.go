// SPDX-License-Identifier: Apache-2.0

package access

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Accounts creates clients that impersonate ServiceAccounts, as Flux's controllers do for tenants.
type Accounts struct {
	config  *rest.Config
	options client.Options
	// defaultName is the account of a selection without spec.serviceAccountName; empty for the controller's own.
	defaultName string

	mu sync.Mutex
	// clients maps a user to its client. The clients share their connections: one that is evicted closes none.
	clients *simplelru.LRU[string, client.Client]
}

// maxClients bounds the number of clients that are kept.
const maxClients = 64

// NewAccounts returns the accounts that the configuration may impersonate. A selection without a service
// account uses defaultServiceAccount, or, if that is empty, the account of the configuration.
func NewAccounts(config *rest.Config, options client.Options, defaultServiceAccount string) *Accounts {
	clients, _ := simplelru.NewLRU[string, client.Client](maxClients, nil) // fails for a size below one only
	return &Accounts{config: config, options: options, defaultName: defaultServiceAccount, clients: clients}
}

// Of returns the client that writes for a selection.
func (a *Accounts) Of(cs *v1alpha1.CatalogSelection) (client.Client, error) {
	user := ""
	if name := cmp.Or(cs.Spec.ServiceAccountName, a.defaultName); name != "" {
		user = fmt.Sprintf("system:serviceaccount:%s:%s", cs.Namespace, name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if cached, ok := a.clients.Get(user); ok {
		return cached, nil
	}
	config := rest.CopyConfig(a.config)
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user}
	}
	created, err := client.New(config, a.options)
	if err != nil {
		return nil, fmt.Errorf("making a client that acts as %s: %w", user, err)
	}
	a.clients.Add(user, created)
	return created, nil
}

// Impersonates reports whether the client of a selection acts as another account than the controller.
func (a *Accounts) Impersonates(cs *v1alpha1.CatalogSelection) bool {
	return cs.Spec.ServiceAccountName != "" || a.defaultName != ""
}
