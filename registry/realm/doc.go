// SPDX-License-Identifier: Apache-2.0

// Package realm restricts where the tokens of a registry are requested. A registry names that address itself, in the
// realm of its challenge. Without a restriction, a hostile one directs requests into the network of the client, and
// gets the answer as a token. It must not know what is fetched, nor where credentials come from.
package realm
