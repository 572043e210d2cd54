// SPDX-License-Identifier: Apache-2.0

package receipt

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/winnow-dev/winnow/render/excerpt"
)

// Types of the artifact, of its layer and of the payload in the layer.
const (
	ArtifactType = "application/vnd.winnow.receipt.v1"
	LayerType    = "application/vnd.dsse.envelope.v1+json"
	payloadType  = ArtifactType + "+json"
)

// maxSkew is how far the clock of a cluster may be ahead.
const maxSkew = 5 * time.Minute

// ForgedError is returned for what the cluster cannot have signed as its receipt.
type ForgedError struct{ reason string }

// Error returns why.
func (e *ForgedError) Error() string { return e.reason }

func forged(format string, args ...any) error { return &ForgedError{fmt.Sprintf(format, args...)} }

// Sign returns the envelope of a receipt.
func Sign(ctx context.Context, r *Receipt, key *PrivateKey) ([]byte, error) {
	payload, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		return nil, err
	}
	envelope, err := signer.SignPayload(ctx, payloadType, payload)
	if err != nil {
		return nil, fmt.Errorf("signing the receipt: %w", err)
	}
	return json.Marshal(envelope)
}

// Open returns the receipt in an envelope, if the key has signed it for the cluster, and not after now. It returns a
// *ForgedError otherwise, and another error for what the key has signed and this program cannot read.
func Open(ctx context.Context, content []byte, key *PublicKey, cluster string, now time.Time) (*Receipt, error) {
	var envelope dsse.Envelope
	if len(content) > MaxBytes {
		return nil, forged("it has more than %d bytes", MaxBytes)
	}
	if json.Unmarshal(content, &envelope) != nil || len(envelope.Signatures) != 1 || envelope.PayloadType != payloadType {
		return nil, forged("it is no receipt: no envelope of the type %s with one signature", payloadType)
	}
	verifier, err := dsse.NewEnvelopeVerifier(key)
	if err != nil {
		return nil, err
	}
	_, payload, err := verifier.VerifyAndDecode(ctx, &envelope)
	if err != nil {
		return nil, forged("it is not signed with the key of the cluster")
	}
	r, err := parse(payload)
	switch {
	case err != nil:
		return nil, err
	case r.Cluster != cluster:
		return nil, forged("it is a receipt of the cluster %s", excerpt.Quoted(r.Cluster))
	case r.Time.After(now.Add(maxSkew)):
		return nil, forged("its time is in the future: %s", r.Time.Format(time.RFC3339))
	}
	return r, nil
}
