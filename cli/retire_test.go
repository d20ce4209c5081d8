package cli

import (
	"bufio"
	"bytes"
	bin "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"retainscope/actions"
	"retainscope/demo"
	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// workbench is a broker with a manifest for it, as a person with a shell has them.
type workbench struct {
	t        *testing.T
	url      string
	manifest string
	env      []string
	login    []string // flags
}

const (
	benchOwn    = "airthings/availability"
	benchValue  = "offline"
	benchSister = "airthings/state"
)

// benchHouse is what the broker of a workbench holds.
func benchHouse() []demo.Message {
	return []demo.Message{
		{Topic: benchOwn, Payload: []byte(benchValue)}, {Topic: benchSister, Payload: []byte(`{"radon":12}`)}, {Topic: "airthings", Payload: []byte("v2")},
		{Topic: "airthings2/availability", Payload: []byte("online")}, {Topic: "wave/state", Payload: []byte(`{"radon":12}`)},
	}
}

func newWorkbench(t *testing.T, url string) *workbench {
	t.Helper()
	fill(t, url, benchHouse())
	return emptyWorkbench(t, url)
}

func emptyWorkbench(t *testing.T, url string) *workbench {
	dir := t.TempDir()
	return &workbench{t: t, url: url, manifest: filepath.Join(dir, "home.toml"), env: []string{"HOME=" + dir}}
}

// args adds what every command needs.
func (b *workbench) args(args ...string) []string {
	return append(append(args, "--broker", b.url, "--manifest", b.manifest), b.login...)
}

func (b *workbench) run(args ...string) outcome {
	b.t.Helper()
	return run(b.t, b.env, b.args(args...)...)
}

// clear clears the bench's own topic without watching.
func (b *workbench) clear(args ...string) outcome {
	b.t.Helper()
	return b.run(append([]string{"clear", "--topic", benchOwn, "--no-watch"}, args...)...)
}

// write makes the manifest of the given entries, with the broker of the bench.
func (b *workbench) write(user string, entries ...string) {
	b.t.Helper()
	text := fmt.Sprintf("[broker]\nurl = %q\nuser = %q\n", b.url, user)
	if err := os.WriteFile(b.manifest, []byte(text+strings.Join(entries, "")), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// fingerprint is that of a payload without properties and without expiry.
func fingerprint(payload string) string {
	return inventory.Fingerprint([]byte(payload), nil, expiry.None())
}

// approved is an entry that may be cleared while the topic holds payload.
func approved(topic, payload string) string {
	name := fmt.Sprintf("topic_hex = %q", hex.EncodeToString([]byte(topic)))
	return fmt.Sprintf("\n[[topic]]\n%s\nowner = \"airthings\"\npurpose = \"state\"\ndisposition = \"clear\"\napproved_by = \"kim\"\n"+
		"approved_at = 2026-11-30T12:00:00Z\nfingerprint = %q\n", name, fingerprint(payload))
}

// established makes the entry before it one whose only writer is silent.
const established = "[[topic.writer]]\nname = \"airthings\"\nkind = \"service\"\nstate = \"stopped\"\nevidence = \"removed\"\n" +
	"evidence_at = 2026-11-30T11:00:00Z\nwill = \"none\"\n"

// holds returns the whole store, as text.
func (b *workbench) holds() string {
	b.t.Helper()
	topics, _ := lines(b.t, run(b.t, b.env, append([]string{"list", "--json", "--payload", "--readings=false", "--quiet-time", "300ms", "--sys-wait", "1s", "--broker", b.url}, b.login...)...))
	var all []string
	for name, l := range topics {
		if strings.HasPrefix(name, "demo/") {
			continue // what the writers of the demo do is no business of a clear
		}
		all = append(all, fmt.Sprintf("%s=%s\n", name, l.SHA256))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// without removes the line of a topic.
func without(holds, topic string) string {
	var out strings.Builder
	for line := range strings.Lines(holds) {
		if !strings.HasPrefix(line, topic+"=") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// decode reads the only line of an output.
func decode(t *testing.T, o outcome, to any) {
	t.Helper()
	if strings.Count(o.out, "\n") != 1 {
		t.Fatalf("exit %d, not one line: %q, stderr %q", o.code, o.out, o.errout)
	}
	if err := json.Unmarshal([]byte(o.out), to); err != nil {
		t.Fatalf("%v: %s", err, o.out)
	}
}

// operations returns the operations in the record, oldest first.
func (b *workbench) operations() []operationJSON {
	b.t.Helper()
	o := b.run("record", "show", "--json", "--offline")
	if o.code != ExitOK {
		b.t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	var all []operationJSON
	for line := range strings.Lines(o.out) {
		var op struct {
			operationJSON
			Verdict string `json:"verdict"`
		}
		if err := json.Unmarshal([]byte(line), &op); err != nil {
			b.t.Fatal(err)
		}
		_ = op.operationJSON.Verdict.UnmarshalText([]byte(op.Verdict)) // never fails
		all = append(all, op.operationJSON)
	}
	return all
}

// only returns the one operation in the record.
func (b *workbench) only() operationJSON {
	b.t.Helper()
	all := b.operations()
	if len(all) != 1 {
		b.t.Fatalf("%d operations", len(all))
	}
	return all[0]
}

// until waits for ok, which asks what is on disk.
func (b *workbench) until(ok func() bool) {
	b.t.Helper()
	eventually(b.t, func() string {
		if !ok() {
			return "it is not on disk"
		}
		return ""
	})
}

// locked holds the lock of the manifest as another process does.
func (b *workbench) locked() {
	b.t.Helper()
	dir, err := actions.OpenDir(filepath.Dir(b.manifest))
	if err != nil {
		b.t.Fatal(err)
	}
	lock, err := dir.TryLock("home.lock")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = lock.Release() })
}

// place publishes one retained message as a stranger does.
func place(t *testing.T, url, topic, payload string) {
	t.Helper()
	fill(t, url, []demo.Message{{Topic: topic, Payload: []byte(payload)}})
}

// lateWriter is a writer that nobody stopped: it writes the topic again whenever it is emptied.
func lateWriter(t *testing.T, b *testbroker.Broker, topic, payload string) {
	t.Helper()
	port := fmt.Sprint(b.Port)
	// The length of each message on a line of its own; the first is the stored copy.
	sub := exec.Command("mosquitto_sub", "-p", port, "-t", topic, "-F", "%l")
	out, err := sub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.Start(); err != nil {
		testbroker.Missing(t, "mosquitto_sub is not installed")
	}
	heard := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := bufio.NewScanner(out)
		for first := true; in.Scan(); first = false {
			if first {
				close(heard)
			}
			if in.Text() == "0" {
				_ = exec.Command("mosquitto_pub", "-p", port, "-t", topic, "-m", payload, "-r", "-q", "1").Run()
			}
		}
	}()
	t.Cleanup(func() {
		_ = sub.Process.Kill()
		<-done
		_ = sub.Wait()
	})
	select {
	case <-heard:
	case <-done:
		t.Fatal("the writer does not listen")
	}
}

// gate stands between the program and a broker and looks at every packet that goes there.
type gate struct {
	url string

	mu        sync.Mutex
	published [][]byte
	arrived   chan struct{} // closed when the first one came
}

// gateDecision is what becomes of a packet, and of its connection.
type gateDecision struct {
	forward bool
	answer  []byte // to the client
	hang    bool   // no answer of the broker reaches the client any more
	cut     bool   // the connection is closed
	// held is closed when this was done with the packet, and from then on nothing goes on in either direction; nil for none.
	held chan struct{}
}

// newGate starts a gate to the broker at target that decides on every PUBLISH.
func newGate(t *testing.T, target string, decide func(packet []byte) gateDecision) *gate {
	t.Helper()
	return newGateForAll(t, target, func(packet []byte) gateDecision {
		if packet[0]>>4 != publishPacket {
			return gateDecision{forward: true}
		}
		return decide(packet)
	})
}

// newGateForAll starts a gate to the broker at target that decides on every packet.
func newGateForAll(t *testing.T, target string, decide func(packet []byte) gateDecision) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{url: "mqtt://" + l.Addr().String(), arrived: make(chan struct{})}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(target, "mqtt://"))
			if err != nil {
				_ = client.Close()
				continue
			}
			all.Go(func() { g.pass(client, server, decide) })
		}
	}()
	return g
}

func (g *gate) pass(client, server net.Conn, decide func([]byte) gateDecision) {
	defer func() { _, _ = client.Close(), server.Close() }()
	back := &tap{to: client}
	done := make(chan struct{})
	go func() { _, _ = io.Copy(back, server); _ = client.Close(); close(done) }()
	defer func() { _ = server.Close(); <-done }()
	in := bufio.NewReader(client)
	for {
		packet, err := readPacket(in)
		if err != nil {
			return
		}
		first := packet[0]>>4 == publishPacket && g.count(packet) == 1 // counted before anybody hears of it
		d := decide(packet)
		if d.hang || d.held != nil {
			back.close()
		}
		if first {
			close(g.arrived)
		}
		if d.forward {
			if _, err := server.Write(packet); err != nil {
				return
			}
		}
		if d.answer != nil {
			if _, err := client.Write(d.answer); err != nil {
				return
			}
		}
		if d.held != nil {
			close(d.held)
			_, _ = io.Copy(io.Discard, in) // until the client is gone
		}
		if d.cut || d.held != nil {
			return
		}
	}
}

// tap lets bytes through until it is closed, and swallows them then.
type tap struct {
	mu     sync.Mutex
	to     io.Writer
	closed bool
}

func (t *tap) close() { t.mu.Lock(); t.closed = true; t.mu.Unlock() }

func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return len(b), nil
	}
	return t.to.Write(b)
}

// count adds what came, and returns how many there are now.
func (g *gate) count(came ...[]byte) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.published = append(g.published, came...)
	return len(g.published)
}

// readPacket reads one whole MQTT packet.
func readPacket(in *bufio.Reader) ([]byte, error) {
	first, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	n, err := bin.ReadUvarint(in) // a variable byte integer is one
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	return append(bin.AppendUvarint([]byte{first}, n), body...), nil
}

// puback answers a PUBLISH of QoS 1 with a code.
func puback(packet []byte, code byte) []byte {
	at := 2
	for packet[at-1] >= 0x80 { // its length
		at++
	}
	topic := int(bin.BigEndian.Uint16(packet[at:]))
	id := packet[at+2+topic:][:2]
	return []byte{0x40, 3, id[0], id[1], code}
}

// started is the program as a process of its own.
type started struct {
	cmd         *exec.Cmd
	out, errout bytes.Buffer
}

func (b *workbench) start(args ...string) *started {
	b.t.Helper()
	s := &started{cmd: exec.Command(binary(b.t), b.args(args...)...)}
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.Env = &s.out, &s.errout, b.env
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	return s
}

func (s *started) ends() outcome {
	_ = waitFor(s.cmd)
	return outcome{s.cmd.ProcessState.ExitCode(), s.out.String(), s.errout.String()}
}
