package lint

import (
	"net/url"
)

// sourceRules are those by which KKP's webhook refuses where a version comes from.
func sourceRules() []documentRule {
	return []documentRule{
		{Rule{"kkp/one-source", Error, "a version has exactly one of helm and git"}, oneSource},
		{Rule{"kkp/helm-url", Error, "the address of a chart is a URL"}, eachHelm(helmURL)},
		{Rule{"kkp/http-insecure", Error, "an http:// URL comes without insecure"}, eachHelm(httpInsecure)},
		{Rule{"kkp/http-plain-http", Error, "an http:// URL comes without plainHTTP: false"}, eachHelm(httpPlainHTTP)},
		{Rule{"kkp/https-plain-http", Error, "an https:// URL comes without plainHTTP: true"}, eachHelm(httpsPlainHTTP)},
		{Rule{"kkp/oci-plain-http-insecure", Error, "an oci:// URL with plainHTTP comes without insecure"}, eachHelm(ociPlainHTTPInsecure)},
		{Rule{"kkp/credentials-exclusive", Error, "registryConfigFile excludes username and password"}, eachHelm(credentialsExclusive)},
		{Rule{"kkp/credentials-complete", Error, "credentials have all that their method needs"}, credentialsComplete},
		{Rule{"kkp/git-ref-required", Error, "a Git source has a tag or a branch"}, eachRef(refRequired)},
		{Rule{"kkp/git-ref-exclusive", Error, "a Git tag excludes branch and commit"}, eachRef(refExclusive)},
		{Rule{"kkp/git-commit-needs-branch", Error, "a Git commit comes with its branch"}, eachRef(commitNeedsBranch)},
	}
}

// sources returns the source of every version.
func sources(root field) []field {
	var all []field
	for _, version := range root.get("spec", "versions").items() {
		all = append(all, version.get("template", "source"))
	}
	return all
}

// eachHelm makes a rule on Helm sources a rule on documents.
func eachHelm(check func(helm field, report report)) func(field, report) {
	return func(root field, report report) {
		for _, source := range sources(root) {
			if helm := source.get("helm"); helm.isSet() {
				check(helm, report)
			}
		}
	}
}

// eachRef makes a rule on the refs of Git sources a rule on documents.
func eachRef(check func(ref field, report report)) func(field, report) {
	return func(root field, report report) {
		for _, source := range sources(root) {
			if source.get("git").isSet() {
				check(source.get("git", "ref"), report)
			}
		}
	}
}

func oneSource(root field, report report) {
	for _, source := range sources(root) {
		switch helm, git := source.get("helm"), source.get("git"); {
		case helm.isSet() && git.isSet():
			report(git, "%s must be one of helm and git, not both", source.path)
		case !helm.isSet() && !git.isSet():
			report(source, "%s must be one of helm and git", source.path)
		}
	}
}

func scheme(helm field) string {
	if parsed, err := url.Parse(helm.get("url").text()); err == nil {
		return parsed.Scheme
	}
	return ""
}

func helmURL(helm field, report report) {
	at := helm.get("url")
	if at.text() == "" {
		return
	}
	parsed, err := url.Parse(at.text())
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme == "":
		report(at, "%s must be a URL such as oci://host/path, not %s", at.path, quote(at.text()))
	case parsed.Scheme != "http" && parsed.Scheme != "https" && parsed.Scheme != "oci":
		report(at, "%s must be an http, https or oci URL, not %s", at.path, quote(at.text()))
	}
}

// KKP tells set from unset here: insecure: false is refused as well.
func httpInsecure(helm field, report report) {
	if at := helm.get("insecure"); scheme(helm) == "http" && at.isSet() {
		report(at, "insecure is for TLS, which an http:// URL does not have: leave it out")
	}
}

func httpPlainHTTP(helm field, report report) {
	if at := helm.get("plainHTTP"); scheme(helm) == "http" && at.isBool(false) {
		report(at, "plainHTTP must not be false with an http:// URL")
	}
}

func httpsPlainHTTP(helm field, report report) {
	if at := helm.get("plainHTTP"); scheme(helm) == "https" && at.isBool(true) {
		report(at, "plainHTTP must not be true with an https:// URL")
	}
}

func ociPlainHTTPInsecure(helm field, report report) {
	at := helm.get("insecure")
	if scheme(helm) == "oci" && helm.get("plainHTTP").isBool(true) && at.isSet() {
		report(at, "insecure is for TLS, which plainHTTP switches off: leave one of them out")
	}
}

func credentialsExclusive(helm field, report report) {
	credentials := helm.get("credentials")
	at := credentials.get("registryConfigFile")
	if at.isSet() && (credentials.get("username").isSet() || credentials.get("password").isSet()) {
		report(at, "registryConfigFile excludes username and password")
	}
}

func credentialsComplete(root field, report report) {
	for _, source := range sources(root) {
		helm, git := source.get("helm", "credentials"), source.get("git", "credentials")
		username, password := helm.get("username"), helm.get("password")
		if username.isSet() && !password.isSet() {
			report(username, "username needs password")
		}
		if password.isSet() && !username.isSet() {
			report(password, "password needs username")
		}
		if git.isSet() {
			gitCredentials(git, report)
		}
	}
}

func gitCredentials(credentials field, report report) {
	method := credentials.get("method")
	needed, known := map[string][]string{
		"password": {"username", "password"},
		"token":    {"token"},
		"ssh-key":  {"sshKey"},
	}[method.text()]
	if !known {
		report(method, "%s must be password, token or ssh-key", method.path)
	}
	for _, key := range needed {
		if !credentials.get(key).isSet() {
			report(method, "the method %s needs %s", method.text(), key)
		}
	}
}

func refRequired(ref field, report report) {
	if ref.get("tag").text() == "" && ref.get("branch").text() == "" && ref.get("commit").text() == "" {
		report(ref, "%s needs a tag or a branch", ref.path)
	}
}

func refExclusive(ref field, report report) {
	tag := ref.get("tag")
	if tag.text() != "" && (ref.get("branch").text() != "" || ref.get("commit").text() != "") {
		report(tag, "tag excludes branch and commit")
	}
}

func commitNeedsBranch(ref field, report report) {
	commit := ref.get("commit")
	if commit.text() != "" && ref.get("branch").text() == "" && ref.get("tag").text() == "" {
		report(commit, "commit needs the branch that it is on")
	}
}
