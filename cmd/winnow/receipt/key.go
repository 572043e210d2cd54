// SPDX-License-Identifier: Apache-2.0

package receipt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// MaxKey bounds a file with a key, in bytes.
const MaxKey = 16 << 10

var (
	errPrivate = errors.New("want a private key in PEM, Ed25519 or ECDSA P-256 and without a passphrase, as openssl genpkey -algorithm ed25519 writes it")
	errPublic  = errors.New("want a public key in PEM, Ed25519 or ECDSA P-256, as openssl pkey -pubout writes it")
)

// PrivateKey signs receipts. It is a dsse.Signer.
type PrivateKey struct{ key crypto.Signer }

// ReadPrivateKey reads a key in PEM. Its error has nothing of the content.
func ReadPrivateKey(content []byte) (*PrivateKey, error) {
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, errPrivate
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		if parsed, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
			return nil, errPrivate
		}
	}
	key, ok := parsed.(crypto.Signer)
	if !ok || !isSupported(key.Public()) {
		return nil, errPrivate
	}
	return &PrivateKey{key}, nil
}

func isSupported(key crypto.PublicKey) bool {
	curve, isECDSA := key.(*ecdsa.PublicKey)
	_, isEd25519 := key.(ed25519.PublicKey)
	return isEd25519 || isECDSA && curve.Curve == elliptic.P256()
}

// KeyID is empty: the key of a cluster is known by the name of its file.
func (*PrivateKey) KeyID() (string, error) { return "", nil }

// Sign implements dsse.Signer.
func (k *PrivateKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	if _, isECDSA := k.key.(*ecdsa.PrivateKey); isECDSA {
		sum := sha256.Sum256(data)
		return k.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	}
	return k.key.Sign(rand.Reader, data, crypto.Hash(0))
}

// NewKey returns a new key, Ed25519, in PEM.
func NewKey() (private, public []byte, err error) {
	publicKey, privateKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	encode := func(kind string, key any, marshal func(any) ([]byte, error)) []byte {
		content, marshalErr := marshal(key)
		err = errors.Join(err, marshalErr)
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	}
	private = encode("PRIVATE KEY", privateKey, x509.MarshalPKCS8PrivateKey)
	public = encode("PUBLIC KEY", publicKey, x509.MarshalPKIXPublicKey)
	return private, public, err
}

// PublicKey verifies receipts. It is a dsse.Verifier.
type PublicKey struct{ key crypto.PublicKey }

// ReadPublicKey reads a key in PEM, which has nothing else.
func ReadPublicKey(content []byte) (*PublicKey, error) {
	block, rest := pem.Decode(content)
	if block == nil {
		return nil, errPublic
	}
	if second, _ := pem.Decode(rest); second != nil {
		return nil, errors.New("want one public key: the file has several, or a private one")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil || !isSupported(key) {
		return nil, errPublic
	}
	return &PublicKey{key}, nil
}

// Equal reports whether two keys are the same.
func (k *PublicKey) Equal(other *PublicKey) bool {
	if k == other {
		return true
	}
	key, ok := k.key.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(other.key)
}

// KeyID is empty, as for PrivateKey.
func (*PublicKey) KeyID() (string, error) { return "", nil }

// Public implements dsse.Verifier.
func (k *PublicKey) Public() crypto.PublicKey { return k.key }

// Verify implements dsse.Verifier.
func (k *PublicKey) Verify(_ context.Context, data, signature []byte) error {
	verified := false
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(data)
		verified = ecdsa.VerifyASN1(key, sum[:], signature)
	case ed25519.PublicKey:
		verified = ed25519.Verify(key, data, signature)
	}
	if !verified {
		return errors.New("the signature does not match")
	}
	return nil
}
