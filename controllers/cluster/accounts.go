package cluster

import (
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Accounts writes in the name of ServiceAccounts, as Flux's controllers do for tenants.
type Accounts struct {
	config  *rest.Config
	options client.Options
	// fallback is the name of the account of a selection that names none; empty for the
	// controller's own.
	fallback string

	mu      sync.Mutex
	clients map[string]client.Client
}

// NewAccounts returns the accounts that the configuration may impersonate. defaultServiceAccount
// stands in for a selection that names none; empty: the account of the configuration itself.
func NewAccounts(config *rest.Config, options client.Options, defaultServiceAccount string) *Accounts {
	return &Accounts{config: config, options: options, fallback: defaultServiceAccount, clients: map[string]client.Client{}}
}

// client returns a client that acts as the account of that name in the namespace.
func (a *Accounts) client(namespace, name string) (client.Client, error) {
	if name == "" {
		name = a.fallback
	}
	user := ""
	if name != "" {
		user = fmt.Sprintf("system:serviceaccount:%s:%s", namespace, name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.clients[user]; ok {
		return known, nil
	}
	config := rest.CopyConfig(a.config)
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user}
	}
	made, err := client.New(config, a.options)
	if err != nil {
		return nil, fmt.Errorf("making a client that acts as %s: %w", user, err)
	}
	a.clients[user] = made
	return made, nil
}

func (c *Cluster) accountOf(cs *v1alpha1.CatalogSelection) (client.Client, error) {
	return c.Accounts.client(cs.Namespace, cs.Spec.ServiceAccountName)
}
