// Package gitops says what the commits of a GitOps repository apply to clusters: it reads Git, follows
// the Kustomizations of Flux and builds them as Flux does. It knows nothing of catalogs, runs nothing of
// the repository and talks to nobody. What cannot be had offline is called unknown where it differs
// between the commits.
package gitops
