package broker

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"retainscope/inventory"
)

// burstOf returns n retained messages of about 350 bytes, a third of them with an expiry, a ninth with more.
func burstOf(n int) []byte {
	var b []byte
	for i := range n {
		props := [][]byte{nil, propExpiry(60), nil, propExpiry(3600), nil, join(propText(0x03, "application/json"), propExpiry(60), propUser("source", "gateway"))}[i%6]
		b = append(b, publish(message{topic: fmt.Sprintf("acme/lund/assembly/line-%d/sensor-%d/temperature", i%40, i), payload: strings.Repeat("x", 49+i%500), retain: true, props: props})...)
	}
	return b
}

// BenchmarkDecode measures the filter alone, in pieces of one chunk.
func BenchmarkDecode(b *testing.B) {
	const n = 20_000
	stream := burstOf(n)
	f := &filter{
		maxPacket: maxPacket, opened: true, qosKnown: func() bool { return false },
		deliver: func([]inventory.Publication) {}, control: func([]byte) error { return nil },
	}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for piece := range slices.Chunk(stream, chunkSize) {
			if err := f.feed(piece, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/publication")
}

// BenchmarkDrain measures socket to delivery over loopback TCP: reader, read-ahead, filter.
func BenchmarkDrain(b *testing.B) {
	const n = 20_000
	stream := burstOf(n)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	goOn := make(chan struct{})
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = nc.Close() }()
		if _, err := io.ReadAtLeast(nc, make([]byte, 4096), 20); err != nil {
			return
		}
		_, _ = nc.Write(connack(0))
		for range goOn {
			if _, err := nc.Write(stream); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, nc)
	}()
	seen, whole := 0, make(chan struct{})
	c, err := Dial(b.Context(), Config{URL: "mqtt://" + l.Addr().String()}, func(batch []inventory.Publication) {
		if seen += len(batch); seen == n {
			seen = 0
			whole <- struct{}{}
		}
	}, inventory.Replay)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		goOn <- struct{}{}
		<-whole
	}
	st := c.Stats()
	b.ReportMetric(float64(st.ReadCalls)/float64(st.Publications), "reads/publication")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(st.Publications), "ns/publication")
	close(goOn)
	if err := c.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
