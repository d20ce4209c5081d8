package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"retainscope/broker"
	"retainscope/inventory"
)

// stores says which subscribers keep what they receive.
var stores = map[string]string{
	"mosquitto_sub": "no", "raw": "no", "retainscope": "yes", "ingest": "yes", "paho+map": "yes", "mqtt.js+map": "yes",
}

// child runs one subscriber of our own in a process of its own and prints its account on one line.
func child(ctx context.Context, kind string, args []string) error {
	addr := args[0]
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	limit := 120 * time.Second
	if len(args) > 2 {
		if limit, err = time.ParseDuration(args[2]); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit+time.Minute)
	defer cancel()
	broker.EaseCollector() // as the program does
	switch kind {
	case "live":
		return childLive(ctx, addr, limit-time.Second)
	case "soak":
		return childSoak(ctx, addr, limit-time.Second)
	case "retainscope":
		return childProgram(ctx, addr, want)
	case "complete":
		return childComplete(ctx, addr)
	case "costs":
		return childCosts(ctx, addr, want)
	case "ingest":
		return childIngest(ctx, addr, want)
	case "raw":
		return childRaw(ctx, addr, want)
	case "paho+map":
		return childPaho(ctx, addr, want)
	default:
		return fmt.Errorf("unknown subscriber %q", kind)
	}
}

func account(start time.Time, got int, note string) error {
	_, err := fmt.Fprintf(os.Stdout, "wall_us=%d got=%d note=%s\n", time.Since(start).Microseconds(), got, strings.ReplaceAll(note, " ", "_"))
	return err
}

// beginning is a log handler that keeps when the snapshot connection was made last.
type beginning struct {
	slog.Handler
	at atomic.Int64 // Unix nanoseconds
}

func (*beginning) Enabled(context.Context, slog.Level) bool { return true }
func (b *beginning) Handle(_ context.Context, r slog.Record) error {
	if r.Message == broker.SnapshotBegins {
		b.at.Store(r.Time.UnixNano())
	}
	return nil
}

// childProgram watches as the program does: live connection, the broker's own figures, snapshot. Its time runs from the
// start of the snapshot connection to the last message, its CPU from the start of the process to its end.
func childProgram(ctx context.Context, addr string, want int) error {
	inv := inventory.New(inventory.Options{})
	began := &beginning{Handler: slog.DiscardHandler}
	cfg := broker.Config{URL: "mqtt://" + addr, ClientID: "bench", Logger: slog.New(began)}
	w, err := broker.Watch(ctx, broker.WatchConfig{Config: cfg, Slices: true, Once: true}, inv)
	if err != nil {
		return err
	}
	note := "full"
	for have := inv.Counts().Topics; have < int64(want); have = inv.Counts().Topics {
		// Looking costs a wake-up, which is no work of the program's: rarely, and often only near the end.
		look := 10 * time.Millisecond
		if have*10 > int64(want)*9 {
			look = 500 * time.Microsecond
		}
		select {
		case <-time.After(look):
			continue
		case <-w.Scanned():
			_, cov := w.Status()
			note = cov.Claim.String()
		case <-ctx.Done():
			note = "timeout"
		}
		break
	}
	at := began.at.Load()
	if at == 0 {
		return errors.New("no snapshot connection was made")
	}
	return account(time.Unix(0, at), int(inv.Counts().Topics), note)
}

// childComplete watches as the program does until the scan has ended, whatever it takes, and tells what is here then and
// what the program claims of it. Its time is that of the whole scan.
func childComplete(ctx context.Context, addr string) error {
	inv := inventory.New(inventory.Options{})
	w, err := broker.Watch(ctx, broker.WatchConfig{Config: broker.Config{URL: "mqtt://" + addr, ClientID: "bench"}, Slices: true, Once: true}, inv)
	if err != nil {
		return err
	}
	select {
	case <-w.Scanned():
	case <-ctx.Done():
	}
	_, cov := w.Status()
	how := "at once"
	switch _, again, _ := strings.Cut(cov.Rule, "and then "); {
	case cov.Slices > 0:
		how = fmt.Sprintf("with %d slices", cov.Slices)
	case cov.Claim == inventory.Verified && strings.Contains(again, "which brought"):
		how = "with the whole asked for again"
	}
	took := cov.EndedAt.Sub(cov.StartedAt)
	return account(time.Now().Add(-took), int(inv.Counts().Topics), fmt.Sprintf("%s, %s", cov.Claim, how))
}

// childIngest holds the whole store with one bare connection and the inventory, its indexes not sized beforehand.
func childIngest(ctx context.Context, addr string, want int) error {
	inv := inventory.New(inventory.Options{})
	start := time.Now()
	full := make(chan struct{})
	var closed atomic.Bool
	var got atomic.Int64
	deliver := func(batch []inventory.Publication) {
		inv.Apply(batch)
		if got.Add(int64(len(batch))) >= int64(want) && closed.CompareAndSwap(false, true) {
			close(full)
		}
	}
	c, err := broker.Dial(ctx, broker.Config{URL: "mqtt://" + addr, ClientID: "bench"}, deliver, inventory.Replay)
	if err != nil {
		return err
	}
	if _, err := c.Subscribe(ctx, []broker.Subscription{{Filter: "#"}}); err != nil {
		return err
	}
	fence := make(chan error, 1)
	go func() { fence <- c.Fence(ctx) }()
	note := "full"
	select {
	case <-full:
	case err := <-fence:
		note = fmt.Sprintf("fence:%v", err)
	case <-c.Done():
		note = "ended"
	case <-ctx.Done():
		note = "timeout"
	}
	if err := account(start, int(inv.Counts().Topics), note); err != nil {
		return err
	}
	return nil
}

// childRaw decodes just enough of each packet to count it and keeps nothing: what the broker and the line can give.
func childRaw(ctx context.Context, addr string, want int) error {
	start := time.Now()
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = nc.Close() })()
	if _, err := nc.Write([]byte("\x10\x13\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x06rawsub\x82\x07\x00\x01\x00\x00\x01#\x00")); err != nil {
		return err
	}
	r := bufio.NewReaderSize(nc, 1<<18)
	got, topics := 0, 0
	for got < want {
		kind, err := r.ReadByte()
		if err != nil {
			return account(start, got, err.Error())
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return account(start, got, err.Error())
		}
		if kind>>4 == 3 {
			got++
			head, err := r.Peek(2)
			if err != nil {
				return account(start, got, err.Error())
			}
			topics += int(binary.BigEndian.Uint16(head))
		}
		if _, err := r.Discard(int(n)); err != nil && err != io.EOF {
			return account(start, got, err.Error())
		}
	}
	return account(start, got, fmt.Sprintf("topic-bytes:%d", topics))
}

// childPaho is the library as it comes, with a map of exact copies.
func childPaho(ctx context.Context, addr string, want int) error {
	type entry struct {
		payload []byte
		expiry  *uint32
		at      time.Time
	}
	start := time.Now()
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	held := map[string]*entry{}
	full := make(chan struct{})
	gone := make(chan struct{})
	c := paho.NewClient(paho.ClientConfig{Conn: nc,
		OnClientError: func(error) { close(gone) },
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			held[p.Packet.Topic] = &entry{payload: append([]byte(nil), p.Packet.Payload...), expiry: p.Packet.Properties.MessageExpiry, at: time.Now()}
			if len(held) == want {
				close(full)
			}
			return true, nil
		}}})
	if _, err := c.Connect(ctx, &paho.Connect{CleanStart: true, KeepAlive: 300, ClientID: "pahomap"}); err != nil {
		return err
	}
	if _, err := c.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: "#"}}}); err != nil {
		return err
	}
	select {
	case <-full:
		return account(start, want, "full")
	case <-gone:
		return account(start, 0, "ended")
	case <-ctx.Done():
		return account(start, 0, "timeout")
	}
}
