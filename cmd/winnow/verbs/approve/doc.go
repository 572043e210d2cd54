// SPDX-License-Identifier: Apache-2.0

// Package approve is winnow approve: it shows what a safeguard holds, and adds the approval to a file. It must not write to the cluster.
package approve
