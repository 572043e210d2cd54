// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// connect creates the client and the kubeconfig of the administrator.
func (s *Stack) connect(context.Context) (err error) {
	tlsConfig := &s.restConfig.TLSClientConfig
	if tlsConfig.CAData, err = os.ReadFile(tlsConfig.CAFile); err != nil {
		return fmt.Errorf("reading the API server's certificate: %w", err)
	}
	tlsConfig.CAFile = ""
	if s.kubeconfig, err = s.writeKubeconfig("kubeconfig", s.restConfig.BearerToken, ""); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	add := append([]func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		sourcev1.AddToScheme,
		kustomizev1.AddToScheme,
	}, s.options.AddToScheme...)
	for _, addToScheme := range add {
		if err := addToScheme(scheme); err != nil {
			return fmt.Errorf("building the client's scheme: %w", err)
		}
	}
	if s.client, err = client.New(s.restConfig, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making the client: %w", err)
	}
	return nil
}

// furnish installs the CRDs and namespaces of every stack.
func (s *Stack) furnish(ctx context.Context) error {
	s.progress.step("installing CRDs and namespaces")
	for _, path := range slices.Concat(s.fluxCRDs, s.options.CRDs) {
		if err := s.ApplyPath(ctx, path); err != nil {
			return err
		}
	}
	for _, name := range []string{metav1.NamespaceDefault, FluxNamespace, WinnowNamespace} {
		namespace := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
		if err := s.Apply(ctx, []byte(namespace)); err != nil {
			return err
		}
	}
	return nil
}

// ServiceAccountKubeconfig writes a kubeconfig that acts as an existing ServiceAccount, by a token of the
// TokenRequest API that is valid for a day, and returns its path.
func (s *Stack) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	lifetime := int64((24 * time.Hour).Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime}}
	if err := s.client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("requesting a token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	return s.writeKubeconfig("kubeconfig-"+namespace+"-"+name, request.Status.Token, namespace)
}

func (s *Stack) writeKubeconfig(file, token, namespace string) (string, error) {
	const name = "stack"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   s.restConfig.Host,
		CertificateAuthorityData: s.restConfig.CAData,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	path := filepath.Join(s.dir, file)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("writing kubeconfig: %w", err)
	}
	return path, nil
}
