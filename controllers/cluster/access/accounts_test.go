// SPDX-License-Identifier: Apache-2.0

package access

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
)

// Namespaces come and go: the clients of their accounts must not fill the memory.
func TestClientsOfAccountsAreEvicted(t *testing.T) {
	a := NewAccounts(&rest.Config{Host: "https://127.0.0.1:1"}, client.Options{Mapper: meta.NewDefaultRESTMapper(nil)}, "")
	as := func(namespace string) client.Client {
		t.Helper()
		cs := &v1alpha1.CatalogSelection{}
		cs.Namespace, cs.Spec.ServiceAccountName = namespace, "applier"
		made, err := a.Of(cs)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	used, own := as("used"), as("")
	for i := range 10 * maxClients {
		as(fmt.Sprintf("tenant-%d", i))
		if as("used") != used {
			t.Fatalf("the client that is used is made again after %d others", i)
		}
	}
	if got := a.clients.Len(); got > maxClients {
		t.Errorf("%d clients are kept, want at most %d", got, maxClients)
	}
	if as("") == own {
		t.Error("a client that is not used is kept")
	}
}
