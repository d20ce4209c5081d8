package broker

// Certificates for tests, made on the spot.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its own certificate, PEM
}

// issued is a certificate with its key, in memory and on disk.
type issued struct {
	cert, key string // files, PEM
	pair      tls.Certificate
}

func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.key = newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.file = filepath.Join(a.dir, "ca.pem")
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// issue signs a certificate for 127.0.0.1 and localhost, changed by change.
func (a *authority) issue(change func(*x509.Certificate)) issued {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "leaf"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	key := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	dir, err := os.MkdirTemp(a.dir, "leaf")
	if err != nil {
		a.t.Fatal(err)
	}
	i := issued{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	writePEM(a.t, i.cert, "CERTIFICATE", der)
	writePEM(a.t, i.key, "EC PRIVATE KEY", raw)
	if i.pair, err = tls.LoadX509KeyPair(i.cert, i.key); err != nil {
		a.t.Fatal(err)
	}
	return i
}

// sentAlong returns i as a server presents it that sends its authority along.
func sentAlong(i issued, a *authority) issued {
	i.pair.Certificate = append(i.pair.Certificate[:1:1], a.cert.Raw)
	return i
}

// byItself issues a certificate that is its own authority.
func byItself(t testing.TB) issued {
	a := &authority{t: t, dir: t.TempDir(), key: newKey(t)}
	a.cert = &x509.Certificate{Subject: pkix.Name{CommonName: "leaf"}}
	i := a.issue(func(c *x509.Certificate) { a.cert = c })
	template := a.cert
	der, err := x509.CreateCertificate(rand.Reader, template, template, i.pair.PrivateKey.(*ecdsa.PrivateKey).Public(), i.pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	i.pair.Certificate = [][]byte{der}
	return i
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
