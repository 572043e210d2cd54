package cluster

import (
	"fmt"
	"sync"

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

	mu      sync.Mutex
	clients map[string]client.Client
}

// NewAccounts returns the accounts that the configuration may impersonate. A selection without a service
// account uses defaultServiceAccount, or, if that is empty, the account of the configuration.
func NewAccounts(config *rest.Config, options client.Options, defaultServiceAccount string) *Accounts {
	return &Accounts{config: config, options: options, defaultName: defaultServiceAccount, clients: map[string]client.Client{}}
}

// client returns a client that acts as the named account of the namespace.
func (a *Accounts) client(namespace, name string) (client.Client, error) {
	if name == "" {
		name = a.defaultName
	}
	user := ""
	if name != "" {
		user = fmt.Sprintf("system:serviceaccount:%s:%s", namespace, name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if cached, ok := a.clients[user]; ok {
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
	a.clients[user] = created
	return created, nil
}

func (c *Cluster) accountOf(cs *v1alpha1.CatalogSelection) (client.Client, error) {
	return c.Accounts.client(cs.Namespace, cs.Spec.ServiceAccountName)
}
