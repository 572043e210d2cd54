// SPDX-License-Identifier: Apache-2.0

package kkp

import (
	"net/url"

	"github.com/winnow-dev/winnow/render/each"
	"github.com/winnow-dev/winnow/render/excerpt"
	"github.com/winnow-dev/winnow/render/lint/field"
	"github.com/winnow-dev/winnow/render/lint/rules"
)

// sourceRules are those by which KKP's webhook refuses where a version comes from.
func sourceRules() []rule {
	return []rule{
		rules.NewChecked("kkp/one-source", rules.Error, "a version has exactly one of helm and git", oneSource),
		rules.NewChecked("kkp/helm-url", rules.Error, "the address of a chart is a URL", eachHelm(helmURL)),
		rules.NewChecked("kkp/http-insecure", rules.Error, "an http:// URL comes without insecure", eachHelm(httpInsecure)),
		rules.NewChecked("kkp/http-plain-http", rules.Error, "an http:// URL comes without plainHTTP: false", eachHelm(httpPlainHTTP)),
		rules.NewChecked("kkp/https-plain-http", rules.Error, "an https:// URL comes without plainHTTP: true", eachHelm(httpsPlainHTTP)),
		rules.NewChecked("kkp/oci-plain-http-insecure", rules.Error, "an oci:// URL with plainHTTP comes without insecure", eachHelm(ociPlainHTTPInsecure)),
		rules.NewChecked("kkp/credentials-exclusive", rules.Error, "registryConfigFile excludes username and password", eachHelm(credentialsExclusive)),
		rules.NewChecked("kkp/credentials-complete", rules.Error, "credentials have all that their method needs", credentialsComplete),
		rules.NewChecked("kkp/git-ref-required", rules.Error, "a Git source has a tag or a branch", eachRef(refRequired)),
		rules.NewChecked("kkp/git-ref-exclusive", rules.Error, "a Git tag excludes branch and commit", eachRef(refExclusive)),
		rules.NewChecked("kkp/git-commit-needs-branch", rules.Error, "a Git commit comes with its branch", eachRef(commitNeedsBranch)),
	}
}

// sources returns the source of every version.
func sources(root field.Field) []field.Field {
	return each.Map(root.Get("spec", "versions").Items(), func(version field.Field) field.Field { return version.Get("template", "source") })
}

// eachHelm makes a rule on Helm sources a rule on documents.
func eachHelm(check func(helm field.Field, report field.Report)) func(field.Field, field.Report) {
	return func(root field.Field, report field.Report) {
		for _, source := range sources(root) {
			if helm := source.Get("helm"); helm.IsSet() {
				check(helm, report)
			}
		}
	}
}

// eachRef makes a rule on the refs of Git sources a rule on documents.
func eachRef(check func(ref field.Field, report field.Report)) func(field.Field, field.Report) {
	return func(root field.Field, report field.Report) {
		for _, source := range sources(root) {
			if source.Get("git").IsSet() {
				check(source.Get("git", "ref"), report)
			}
		}
	}
}

func oneSource(root field.Field, report field.Report) {
	for _, source := range sources(root) {
		switch helm, git := source.Get("helm"), source.Get("git"); {
		case helm.IsSet() && git.IsSet():
			report(git, "%s must be one of helm and git, not both", source.Path)
		case !helm.IsSet() && !git.IsSet():
			report(source, "%s must be one of helm and git", source.Path)
		}
	}
}

func scheme(helm field.Field) string {
	if parsed, err := url.Parse(helm.Get("url").Text()); err == nil {
		return parsed.Scheme
	}
	return ""
}

func helmURL(helm field.Field, report field.Report) {
	at := helm.Get("url")
	if at.Text() == "" {
		return
	}
	parsed, err := url.Parse(at.Text())
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme == "":
		report(at, "%s must be a URL such as oci://host/path, not %s", at.Path, excerpt.Quoted(at.Text()))
	case parsed.Scheme != "http" && parsed.Scheme != "https" && parsed.Scheme != "oci":
		report(at, "%s must be an http, https or oci URL, not %s", at.Path, excerpt.Quoted(at.Text()))
	}
}

// KKP tells set from unset here: insecure: false is refused as well.
func httpInsecure(helm field.Field, report field.Report) {
	if at := helm.Get("insecure"); scheme(helm) == "http" && at.IsSet() {
		report(at, "insecure is for TLS, which an http:// URL does not have: leave it out")
	}
}

func httpPlainHTTP(helm field.Field, report field.Report) {
	if at := helm.Get("plainHTTP"); scheme(helm) == "http" && at.IsBool(false) {
		report(at, "plainHTTP must not be false with an http:// URL")
	}
}

func httpsPlainHTTP(helm field.Field, report field.Report) {
	if at := helm.Get("plainHTTP"); scheme(helm) == "https" && at.IsBool(true) {
		report(at, "plainHTTP must not be true with an https:// URL")
	}
}

func ociPlainHTTPInsecure(helm field.Field, report field.Report) {
	at := helm.Get("insecure")
	if scheme(helm) == "oci" && helm.Get("plainHTTP").IsBool(true) && at.IsSet() {
		report(at, "insecure is for TLS, which plainHTTP switches off: leave one of them out")
	}
}

func credentialsExclusive(helm field.Field, report field.Report) {
	credentials := helm.Get("credentials")
	at := credentials.Get("registryConfigFile")
	if at.IsSet() && (credentials.Get("username").IsSet() || credentials.Get("password").IsSet()) {
		report(at, "registryConfigFile excludes username and password")
	}
}

func credentialsComplete(root field.Field, report field.Report) {
	for _, source := range sources(root) {
		helm, git := source.Get("helm", "credentials"), source.Get("git", "credentials")
		username, password := helm.Get("username"), helm.Get("password")
		if username.IsSet() && !password.IsSet() {
			report(username, "username needs password")
		}
		if password.IsSet() && !username.IsSet() {
			report(password, "password needs username")
		}
		if git.IsSet() {
			gitCredentials(git, report)
		}
	}
}

func gitCredentials(credentials field.Field, report field.Report) {
	method := credentials.Get("method")
	needed, known := map[string][]string{
		"password": {"username", "password"},
		"token":    {"token"},
		"ssh-key":  {"sshKey"},
	}[method.Text()]
	if !known {
		report(method, "%s must be password, token or ssh-key", method.Path)
	}
	for _, key := range needed {
		if !credentials.Get(key).IsSet() {
			report(method, "the method %s needs %s", method.Text(), key)
		}
	}
}

func refRequired(ref field.Field, report field.Report) {
	if ref.Get("tag").Text() == "" && ref.Get("branch").Text() == "" && ref.Get("commit").Text() == "" {
		report(ref, "%s needs a tag or a branch", ref.Path)
	}
}

func refExclusive(ref field.Field, report field.Report) {
	tag := ref.Get("tag")
	if tag.Text() != "" && (ref.Get("branch").Text() != "" || ref.Get("commit").Text() != "") {
		report(tag, "tag excludes branch and commit")
	}
}

func commitNeedsBranch(ref field.Field, report field.Report) {
	commit := ref.Get("commit")
	if commit.Text() != "" && ref.Get("branch").Text() == "" && ref.Get("tag").Text() == "" {
		report(commit, "commit needs the branch that it is on")
	}
}
