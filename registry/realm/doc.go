// SPDX-License-Identifier: Apache-2.0

// Package realm restricts which addresses are requested. A registry names the address of its tokens, in the realm of its
// challenge, and redirects requests; so does a web server, by what it serves too. Without a restriction, a hostile one directs
// requests into the network of the client. It must not know what is fetched, nor where credentials come from.
package realm
