// SPDX-License-Identifier: Apache-2.0

// Package identity reads the fields of a definition that decide which live releases it means, and the
// origins of its versions: both can change under the same name and version, and so go unnoticed.
//
// It is pure. It must not know the consequences of such a change, nor how a definition is parsed.
package identity
