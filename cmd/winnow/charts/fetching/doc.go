// SPDX-License-Identifier: Apache-2.0

// Package fetching fetches the archives of charts, from registries, repositories of Helm and directories: bounded, with the
// credentials of Docker's configuration, and cached by digest. It must not know what a chart is for, nor unpack one.
package fetching
