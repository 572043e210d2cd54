// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/winnow-dev/winnow/api/v1alpha1"
	"github.com/winnow-dev/winnow/render/definition"
	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/yamledit"
)

// serverFields are the members of a Helm source of KKP that belong to the server.
var serverFields = []string{"credentials", "insecure", "plainHTTP"}

var (
	errPlainInsecure = errors.New("insecure is for TLS, which plainHTTP switches off: leave one of them out")
	errHTTPS         = errors.New("plainHTTP is for oci:// addresses, and KKP refuses it with https://: leave it out of helm, or give the address a mirror of its own with oci://")
	errHTTP          = errors.New("KKP refuses insecure, and plainHTTP: false, with http://: leave insecure out of helm, or give the address a mirror of its own with https://")
)

// newServer returns the members of a Helm source that a mirror with a scheme, perhaps none, replaces.
func newServer(scheme string, helm *v1alpha1.MirrorHelm) (*yaml.Node, error) {
	raw, err := json.Marshal(helm)
	if err != nil {
		return nil, err
	}
	server, err := object(&apiextensionsv1.JSON{Raw: raw})
	if err != nil {
		return nil, err
	}
	return server, refused(scheme, server)
}

// refused returns why the webhook of KKP refuses a source with a scheme, which is empty if it is not
// known. The members are the source's, or serverFields alone.
func refused(scheme string, members *yaml.Node) error {
	plain, insecure := printed(yamledit.Lookup(members, "plainHTTP")), printed(yamledit.Lookup(members, "insecure"))
	switch {
	case scheme == "https" && plain == "true":
		return errHTTPS
	case scheme == "http" && (insecure != "" || plain == "false"):
		return errHTTP
	case scheme != "http" && plain == "true" && insecure != "":
		return errPlainInsecure
	}
	return nil
}

var (
	secretName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	secretKey  = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
)

// checkCredentials repeats the checks of the API server.
func checkCredentials(c *v1alpha1.HelmCredentials) error {
	if c == nil {
		return nil
	}
	if file := c.RegistryConfigFile != nil; file == (c.Username != nil) || file == (c.Password != nil) {
		return errors.New("must be either registryConfigFile, or username and password")
	}
	for _, key := range []*v1alpha1.SecretKey{c.Username, c.Password, c.RegistryConfigFile} {
		if key != nil && (!secretName.MatchString(key.Name) || !secretKey.MatchString(key.Key)) {
			return errors.New("must have the name of a Secret, and one of its keys")
		}
	}
	return nil
}

// setServers replaces the serverFields of versions, by index. All versions are edited at once, because
// each flush parses the document again: first what goes, then what comes.
func setServers(doc *yamledit.Document, servers map[int]*yaml.Node) error {
	all := sources(doc)
	for _, i := range slices.Sorted(maps.Keys(servers)) {
		removeOthers(doc, all[i], servers[i])
	}
	if err := doc.Flush(); err != nil {
		return err
	}
	all = sources(doc)
	for _, i := range slices.Sorted(maps.Keys(servers)) {
		yamledit.Merger{Doc: doc, Override: true}.Merge(all[i], mappingOf("helm", servers[i]))
	}
	return doc.Flush()
}

// removeOthers removes the serverFields that a server has with other values from the Helm source of a version.
func removeOthers(d *yamledit.Document, source, server *yaml.Node) {
	helm := yamledit.Lookup(source, "helm")
	others := slices.DeleteFunc(slices.Clone(serverFields), func(field string) bool {
		current, wanted := yamledit.Lookup(helm, field), yamledit.Lookup(server, field)
		return current == nil || wanted != nil && yamledit.Equal(current, wanted)
	})
	if len(others) == 0 {
		return
	}
	if yamledit.IsBlock(helm) {
		for _, field := range others {
			d.RemoveEntry(helm, yamledit.Index(helm, field))
		}
		return
	}
	// An entry within brackets is replaced as a whole.
	less := yamledit.Clone(helm)
	for _, field := range others {
		at := yamledit.Index(less, field)
		less.Content = slices.Delete(less.Content, at, at+2)
	}
	yamledit.Forget(less)
	d.SetValue(source, yamledit.Index(source, "helm"), less)
}

// sources returns where each version comes from, nil where it does not say.
func sources(doc *yamledit.Document) []*yaml.Node {
	versions := definition.Node{Node: doc.Content()}.Get("spec", "versions").Items()
	return each.Map(versions, func(version definition.Node) *yaml.Node { return version.Get("template", "source").Node })
}
