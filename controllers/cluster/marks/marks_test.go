// SPDX-License-Identifier: Apache-2.0

package marks

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/config"
	"github.com/winnow-dev/winnow/controllers/cluster/access"
	"github.com/winnow-dev/winnow/render/guard"
)

// The event and the condition name what grants the right that lacks, for whom it lacks.
func TestARefusedMarkNamesWhatGrantsTheRight(t *testing.T) {
	for _, test := range []struct {
		name, account, because, grants string
	}{
		{"the controller may not patch", "", `User "c" cannot patch resource "applicationdefinitions"`, config.GrantsMarks},
		{"the account may not patch", "applier", `User "a" cannot patch resource "applicationdefinitions"`, config.GrantsAccount},
		{"the account may not be impersonated", "applier", `User "c" cannot impersonate resource "serviceaccounts"`, config.GrantsImpersonation},
		{"a policy denies it", "", "ValidatingAdmissionPolicy 'keep' denied request", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := record.NewFakeRecorder(1)
			m := &Marks{Access: &access.Access{Events: events, Accounts: access.NewAccounts(&rest.Config{}, client.Options{}, "")}}
			cs := &v1alpha1.CatalogSelection{}
			cs.Spec.ServiceAccountName = test.account
			err := m.written(t.Context(), cs, &guard.Live{}, apierrors.NewForbidden(schema.GroupResource{}, "argocd", errors.New(test.because)))
			for what, text := range map[string]string{"the event": <-events.Events, "the error": err.Error()} {
				if !strings.HasSuffix(text, test.grants) || test.grants == "" && strings.Contains(text, "grants it") {
					t.Errorf("%s is %q", what, text)
				}
			}
		})
	}
}
