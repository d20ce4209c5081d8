package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"retainscope/demo"
	"retainscope/testbroker"
)

// listed is one line of `list --json`.
type listed struct {
	Topic         string   `json:"topic"`
	TopicHex      string   `json:"topic_hex"`
	Size          int      `json:"size"`
	SHA256        string   `json:"sha256"`
	Expiry        *int64   `json:"expiry_seconds"`
	LastLive      *string  `json:"last_live_at"`
	SilentSeconds *int64   `json:"silent_seconds"`
	SilentGaps    *int64   `json:"silent_gaps"`
	Flags         []string `json:"flags"`
	Reading       string   `json:"reading"`
	Owner         *string  `json:"owner"`
	OwnerRule     string   `json:"owner_rule"`
	Left          bool     `json:"left"`
	Hazard        bool     `json:"hazard"`
	Liveness      struct{ State, Topic, Value, Note string }
	Findings      []struct{ Kind, Strength, Reason string }
	Payload       *string         `json:"payload"`
	PayloadBase64 *string         `json:"payload_base64"`
	Summary       bool            `json:"summary"`
	Claim         string          `json:"claim"`
	Rule          string          `json:"rule"`
	Listed        int             `json:"listed"`
	Seen          int             `json:"seen"`
	Known         *int            `json:"known"`
	Gaps          json.RawMessage `json:"gaps"`
	Remedies      []string        `json:"remedies"`
}

// lines decodes the output and returns the topics and the summary.
func lines(t *testing.T, o outcome) (map[string]listed, listed) {
	t.Helper()
	topics := map[string]listed{}
	var last listed
	for line := range strings.Lines(o.out) {
		if last.Summary {
			t.Fatalf("a line behind the summary: %s", line)
		}
		last = listed{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if last.Summary {
			continue
		}
		if _, twice := topics[last.Topic+last.TopicHex]; twice {
			t.Errorf("%q is listed twice", last.Topic)
		}
		topics[last.Topic+last.TopicHex] = last
	}
	if !last.Summary || last.Listed != len(topics) {
		t.Fatalf("exit %d, %d lines, summary %+v, stderr %s", o.code, len(topics), last, o.errout)
	}
	return topics, last
}

// messages makes n messages of a size below a few first levels.
func messages(n, size int) []demo.Message {
	out := make([]demo.Message, n)
	for i := range out {
		payload := fmt.Appendf(nil, "%d ", i)
		out[i] = demo.Message{Topic: fmt.Sprintf("plant/%02d/dev%05d/state", i%40, i), Payload: append(payload, bytes.Repeat([]byte("x"), max(0, size-len(payload)))...)}
	}
	return out
}

// quick is a mosquitto whose own figures come every second: a scan that waits for them is soon done.
func quick(t *testing.T) *testbroker.Broker {
	t.Helper()
	return testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
}

func fill(t *testing.T, address string, m []demo.Message) {
	t.Helper()
	if n, err := demo.Publish(t.Context(), strings.TrimPrefix(address, "mqtt://"), m); err != nil || n != len(m) {
		t.Fatalf("%d of %d published: %v", n, len(m), err)
	}
}

// lastingHouse is the fixture house without what expires within minutes: a slow machine finds it expired.
func lastingHouse(t *testing.T) []demo.Message {
	t.Helper()
	house, err := demo.House()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(house, func(m demo.Message) bool { return m.Expiry != nil && *m.Expiry < 1800 })
}

func TestListShowsEveryTopicOfARealMosquitto(t *testing.T) {
	for _, c := range []struct {
		n, size int
		conf    []string
	}{{5000, 100, nil}, {20000, 1000, nil}, {20000, 1000, []string{"max_queued_messages 0"}}} {
		t.Run(fmt.Sprintf("%d of %d bytes %v", c.n, c.size, c.conf), func(t *testing.T) {
			t.Parallel()
			b := testbroker.Start(t, testbroker.Config{Lines: c.conf})
			fill(t, b.URL(), messages(c.n, c.size))
			// As a process: a test under the race detector is a slow reader, and that is another test's matter.
			o := runBinary(t, "list", "--json", "--broker", b.URL())
			topics, summary := lines(t, o)
			if len(topics) != c.n || o.code != ExitOK || o.errout != "" {
				t.Errorf("%d topics of %d, exit %d, claim %q (%s), stderr %q", len(topics), c.n, o.code, summary.Claim, summary.Rule, o.errout)
			}
		})
	}
}

func TestAListEndsByItselfBesideALiveTopic(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("mosquitto_pub")
	if err != nil {
		testbroker.Missing(t, "mosquitto_pub is not installed")
	}
	b := quick(t)
	fill(t, b.URL(), messages(500, 100))
	pub := exec.Command(tool, "-p", fmt.Sprint(b.Port), "-t", "busy", "-l", "-r", "-q", "1")
	in, err := pub.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.Start(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = in.Close() }()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				if _, err := fmt.Fprintln(in, now.UnixNano()); err != nil {
					return
				}
			}
		}
	}()
	o := run(t, nil, "list", "--json", "--broker", b.URL())
	close(stop)
	<-done
	_ = waitFor(pub)
	topics, summary := lines(t, o)
	if o.code != ExitOK || len(topics) < 500 || len(topics) > 501 {
		t.Errorf("%d topics, exit %d, claim %q, stderr %q", len(topics), o.code, summary.Claim, o.errout)
	}
}

func TestListOfTheHouse(t *testing.T) {
	t.Parallel()
	b := quick(t)
	if n, err := demo.Load(t.Context(), strings.TrimPrefix(b.URL(), "mqtt://")); err != nil || n != 330 {
		t.Fatalf("%d %v", n, err)
	}
	house, err := demo.House()
	if err != nil {
		t.Fatal(err)
	}
	quick := []string{"--broker", b.URL(), "--quiet-time", "300ms"}
	o := run(t, nil, append([]string{"list", "--json", "--payload"}, quick...)...)
	if o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	topics, _ := lines(t, o)
	for _, m := range house {
		l, ok := topics[m.Topic]
		if !ok {
			if m.Expiry == nil || *m.Expiry > 60 {
				t.Errorf("%q is not listed", m.Topic)
			}
			continue
		}
		got := []byte(nil)
		switch {
		case l.Payload != nil:
			got = []byte(*l.Payload)
		case l.PayloadBase64 != nil:
			if got, err = base64.StdEncoding.DecodeString(*l.PayloadBase64); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, m.Payload) || l.Size != len(m.Payload) {
			t.Errorf("%q comes with %d bytes, want %d", m.Topic, l.Size, len(m.Payload))
		}
		if m.Expiry == nil && l.Expiry != nil {
			t.Errorf("%q comes with an expiry", m.Topic)
		}
	}

	t.Run("where and sort", func(t *testing.T) {
		o := run(t, nil, append([]string{"list", "--json", "--where", "is:never -zigbee2mqtt size>1k", "--sort", "-size"}, quick...)...)
		last, n := 1<<62, 0
		for line := range strings.Lines(o.out) {
			var l listed
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if l.Summary {
				continue
			}
			n++
			if l.Size > last || l.Size <= 1000 || l.Expiry != nil || strings.Contains(l.Topic, "zigbee2mqtt") {
				t.Errorf("%q of %d bytes behind one of %d", l.Topic, l.Size, last)
			}
			last = l.Size
		}
		if n == 0 {
			t.Error("nothing is listed")
		}
	})
	t.Run("filters instead of everything", func(t *testing.T) {
		topics, _ := lines(t, run(t, nil, append([]string{"list", "--json", "--filter", "frigate/#", "--filter", "edge/+"}, quick...)...))
		for topic := range topics {
			if !strings.HasPrefix(topic, "frigate/") && !strings.HasPrefix(topic, "edge/") {
				t.Errorf("%q is listed", topic)
			}
		}
		if len(topics) < 20 {
			t.Errorf("%d topics", len(topics))
		}
	})
	t.Run("table", func(t *testing.T) {
		o := run(t, nil, append([]string{"list", "--payload"}, quick...)...)
		rows := slices.Collect(strings.Lines(o.out))
		if o.code != ExitOK || len(rows) < 322 || !strings.HasPrefix(rows[0], "TOPIC") || !strings.Contains(rows[len(rows)-1], "retained") {
			t.Fatalf("exit %d, %d rows, last %q", o.code, len(rows), rows[len(rows)-1])
		}
		if i := strings.IndexFunc(o.out, func(r rune) bool {
			return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' || r == '\u200b'
		}); i >= 0 {
			t.Errorf("a raw control: %q", o.out[max(0, i-20):i+5])
		}
	})
}

var varying = regexp.MustCompile(`"(received_at|first_seen_at|started_at|ended_at|written_at)":"[^"]*"|"(wire_bytes|slices)":\d+|"broker":"[^"]*"`)

// watchedFor is how long a reason says that somebody watched: the seconds of a slow run are others.
var watchedFor = regexp.MustCompile(`\(watched for [^)]*\)`)

// TestTheJSONOfTheHouseIsStable compares with a golden file. What changes from run to run is replaced: instants, byte
// counts, and an expiry by its window as it was published.
func TestTheJSONOfTheHouseIsStable(t *testing.T) {
	t.Parallel()
	address := serveDemo(t)
	house, err := demo.House()
	if err != nil {
		t.Fatal(err)
	}
	window := map[string]int64{}
	for _, m := range house {
		if m.Expiry != nil {
			window[m.Topic] = int64(*m.Expiry)
		}
	}
	o := run(t, nil, "list", "--json", "--payload", "--broker", address, "--quiet-time", "300ms", "--where", "-demo/ -expiry/nine")
	if o.code != ExitOK {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	var out strings.Builder
	n := 0
	for line := range strings.Lines(o.out) {
		var l listed
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Summary {
			break
		}
		n++
		if l.Expiry != nil {
			if w := window[l.Topic]; *l.Expiry > w || *l.Expiry < w-60 {
				t.Errorf("%q has %d s left of %d", l.Topic, *l.Expiry, w)
			}
			line = strings.Replace(line, fmt.Sprintf(`"expiry_seconds":%d`, *l.Expiry), fmt.Sprintf(`"expiry_seconds":"of %d"`, window[l.Topic]), 1)
		}
		out.WriteString(watchedFor.ReplaceAllString(varying.ReplaceAllString(line, `"varies":true`), "(watched)"))
	}
	if n != 329 {
		t.Errorf("%d topics, want 329", n)
	}
	golden.RequireEqual(t, out.String())
}

func TestAStoreThatWasNotShownIsNotJudged(t *testing.T) {
	t.Parallel()
	acl := file(t, "acl", "topic readwrite #\nuser blind\ntopic write #\n")
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"acl_file " + acl, "password_file " + passwords(t, "blind", "x")}})
	fill(t, b.URL(), []demo.Message{{Topic: "a", Payload: []byte("x")}})
	o := run(t, []string{"MQTT__PASSWORD=x"}, "list", "--broker", b.URL(), "--user", "blind", "--quiet-time", "300ms", "--sys-wait", "1s")
	if !strings.Contains(o.out, "no retained topic was shown to this login, so nothing was judged") || strings.Contains(o.out, "0 retained") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

func TestAnACLThatHidesHalfIsToldAsFarAsItCanBeKnown(t *testing.T) {
	t.Parallel()
	acl := file(t, "acl", "topic readwrite #\nuser half\ntopic read shown/#\ntopic read $SYS/#\n")
	b := testbroker.Start(t, testbroker.Config{
		Lines: []string{"acl_file " + acl, "password_file " + passwords(t, "half", "x"), "sys_interval 1"},
	})
	var m []demo.Message
	for i := range 50 {
		m = append(m, demo.Message{Topic: fmt.Sprintf("shown/%d", i), Payload: []byte("x")}, demo.Message{Topic: fmt.Sprintf("hidden/%d", i), Payload: []byte("x")})
	}
	fill(t, b.URL(), m)
	var o outcome
	var topics map[string]listed
	var summary listed
	// The broker publishes its count once a second; before the first time after the filling it knows nothing of them.
	eventually(t, func() string {
		o = run(t, []string{"MQTT__PASSWORD=x"}, "list", "--json", "--broker", b.URL(), "--user", "half", "--quiet-time", "300ms")
		if topics, summary = lines(t, o); summary.Known == nil || *summary.Known < 100 {
			return "the broker does not tell its count: " + o.errout
		}
		return ""
	})
	if len(topics) != 50 {
		t.Errorf("%d topics, want the 50 shown", len(topics))
	}
	// The broker counts what it hides: nothing was lost on the way, and yet 50 are not shown to this login.
	if summary.Known == nil || *summary.Known < 100 || !strings.Contains(string(summary.Gaps), "permission") {
		t.Errorf("exit %d, claim %q: %s", o.code, summary.Claim, o.out[strings.LastIndex(o.out, "{\"summary"):])
	}
	o = run(t, []string{"MQTT__PASSWORD=x"}, "list", "--broker", b.URL(), "--user", "half", "--quiet-time", "300ms")
	if o.code != ExitOK || !strings.Contains(o.errout, "verified for this login; 50 more are counted by the broker") || !strings.Contains(o.out, "verified for this login, seen 50 of 100") {
		t.Errorf("half of the store is hidden and it is not said first: exit %d\n%s%s", o.code, o.out, o.errout)
	}
	if !strings.Contains(o.out+o.errout, "permission") {
		t.Errorf("the table does not tell it: exit %d\n%s%s", o.code, o.out, o.errout)
	}
}

func TestAWrongPasswordIsOneLineWithoutThePassword(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{
		Lines: []string{"sys_interval 1", "password_file " + passwords(t, "me", "right")}, NoAnonymous: true, ListenerLines: []string{"allow_anonymous false"},
	})
	for _, args := range [][]string{{"list"}, {"list", "--json"}} {
		o := run(t, []string{"MQTT__PASSWORD=hunter2", "MQTT__USER=me"}, append(args, "--broker", b.URL())...)
		if o.code != ExitFailed || o.out != "" || strings.Count(o.errout, "\n") != 1 || strings.Contains(o.errout, "hunter2") {
			t.Errorf("exit %d, stdout %q, stderr %q", o.code, o.out, o.errout)
		}
		if strings.Contains(o.errout, "3.1.1") {
			t.Errorf("a wrong password is taken for an old broker: %s", o.errout)
		}
	}
	retain(t, b, "me", "right")
	pass := file(t, "pass", "right\n")
	if o := run(t, nil, "list", "--broker", b.URL(), "--user", "me", "--password-file", pass, "--quiet-time", "300ms"); o.code != ExitOK {
		t.Errorf("the right password: exit %d %s", o.code, o.errout)
	}
}

// retain puts one message into a broker that wants a login, so that a list of it has something to rest on.
func retain(t *testing.T, b *testbroker.Broker, user, password string) {
	t.Helper()
	out, err := exec.Command("mosquitto_pub", "-p", fmt.Sprint(b.Port), "-u", user, "-P", password, "-t", "t", "-m", "x", "-r", "-q", "1").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		testbroker.Missing(t, "mosquitto_pub is not installed")
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// passwords makes a password file of mosquitto.
func passwords(t *testing.T, pairs ...string) string {
	t.Helper()
	tool, err := exec.LookPath("mosquitto_passwd")
	if err != nil {
		testbroker.Missing(t, "mosquitto_passwd is not installed")
	}
	path := filepath.Join(t.TempDir(), "passwd")
	for i := 0; i < len(pairs); i += 2 {
		args := []string{"-b", path, pairs[i], pairs[i+1]}
		if i == 0 {
			args = append([]string{"-c"}, args...)
		}
		if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return path
}

// scripted answers each packet type with fixed bytes; a nil answer closes the connection. Packets without an entry are
// left unanswered.
func scripted(t *testing.T, answers map[byte][]byte) string {
	t.Helper()
	return deaf(t, answers, 0, nil)
}

// deaf is scripted, and calls heard when a packet of the type has come, each time.
func deaf(t *testing.T, answers map[byte][]byte, packet byte, heard func()) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveScript(c, answers, packet, heard)
		}
	}()
	return "mqtt://" + l.Addr().String()
}

func serveScript(c net.Conn, answers map[byte][]byte, packet byte, heard func()) {
	defer func() { _ = c.Close() }()
	for {
		var head [2]byte // every packet of these tests is shorter than 128 bytes
		if _, err := readFull(c, head[:]); err != nil {
			return
		}
		body := make([]byte, head[1]&0x7f)
		if _, err := readFull(c, body); err != nil {
			return
		}
		if head[0]>>4 == packet {
			heard()
		}
		answer, ok := answers[head[0]>>4]
		if !ok {
			continue
		}
		if answer == nil {
			return
		}
		out := slices.Clone(answer)
		if head[0]>>4 == 8 || head[0]>>4 == 10 { // SUBACK and UNSUBACK repeat the packet identifier
			out[2], out[3] = body[0], body[1]
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func readFull(c net.Conn, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k, err := c.Read(b[n:])
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}

func TestARefusedFilterExitsWith3AndNamesTheCode(t *testing.T) {
	t.Parallel()
	address := scripted(t, map[byte][]byte{
		1:  {0x20, 3, 0, 0, 0},
		8:  {0x90, 4, 0, 0, 0, 0x87},
		10: {0xb0, 4, 0, 0, 0, 0},
		12: {0xd0, 0},
	})
	o := run(t, nil, "list", "--json", "--broker", address, "--quiet-time", "100ms", "--sys-wait", "200ms")
	_, summary := lines(t, o)
	if o.code != ExitIncomplete || summary.Claim != "incomplete" || !strings.Contains(o.errout, "0x87") || strings.Count(o.errout, "\n") != 1 {
		t.Errorf("exit %d, claim %q, stderr %q", o.code, summary.Claim, o.errout)
	}
}

func TestABrokerOf311OnlyIsNamedAsSuch(t *testing.T) {
	address := scripted(t, map[byte][]byte{1: {0x20, 2, 0, 1}})
	o := run(t, nil, "list", "--broker", address)
	if o.code != ExitFailed || !strings.Contains(o.errout, "3.1.1") || strings.Count(o.errout, "\n") != 1 {
		t.Errorf("exit %d: %q", o.code, o.errout)
	}
}

func TestNoBrokerIsOneLine(t *testing.T) {
	address := fmt.Sprintf("mqtt://127.0.0.1:%d", testbroker.FreePort(t))
	o := run(t, nil, "list", "--broker", address)
	if o.code != ExitFailed || o.out != "" || strings.Count(o.errout, "\n") != 1 || !strings.HasPrefix(o.errout, "retainscope: ") {
		t.Errorf("exit %d, stdout %q, stderr %q", o.code, o.out, o.errout)
	}
}

func TestASilentBrokerEndsWithTheTimeout(t *testing.T) {
	address := scripted(t, nil)
	for _, args := range [][]string{{"--connect-timeout", "300ms"}, {"--timeout", "300ms"}} {
		o := run(t, nil, append([]string{"list", "--broker", address}, args...)...)
		if o.code != ExitFailed || strings.Count(o.errout, "\n") != 1 {
			t.Errorf("%v: exit %d: %q", args, o.code, o.errout)
		}
	}
}

func TestAScanThatTakesTooLongIsListedAsIncomplete(t *testing.T) {
	t.Parallel()
	// Granted, but pings stay unanswered: the burst never ends.
	address := scripted(t, map[byte][]byte{1: {0x20, 3, 0, 0, 0}, 8: {0x90, 4, 0, 0, 0, 0}, 10: {0xb0, 4, 0, 0, 0, 0}})
	var o outcome
	for _, limit := range []string{"700ms", "5s", "1m"} { // on a slow machine no scan begins within the first
		o = run(t, nil, "list", "--json", "--broker", address, "--timeout", limit)
		if o.code != ExitIncomplete {
			continue
		}
		if _, summary := lines(t, o); !strings.Contains(o.errout, "--timeout "+limit) {
			t.Errorf("claim %q, stderr %q", summary.Claim, o.errout)
		}
		return
	}
	t.Errorf("exit %d, stderr %q", o.code, o.errout)
}

func TestAListThatIsInterruptedPrintsNothingAndExitsWith130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	address := deaf(t, map[byte][]byte{1: {0x20, 3, 0, 0, 0}, 8: {0x90, 4, 0, 0, 0, 0}}, pingreqPacket, cancel)
	o := runIn(ctx, []string{"HOME=" + t.TempDir()}, "list", "--broker", address)
	if o.code != ExitInterrupted || o.out != "" || o.errout != "retainscope: interrupted\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", o.code, o.out, o.errout)
	}
}

func TestTheLogHoldsNoPayloadsAndNoPassword(t *testing.T) {
	t.Parallel()
	b := quick(t)
	fill(t, b.URL(), []demo.Message{{Topic: "t", Payload: []byte("a-payload")}})
	path := filepath.Join(t.TempDir(), "log")
	o := run(t, []string{"MQTT__PASSWORD=hunter2", "MQTT__USER=me"}, "list", "--broker", b.URL(), "--log-file", path, "--log-level", "debug", "--quiet-time", "300ms")
	if o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "a-payload") || strings.Contains(string(raw), "hunter2") {
		t.Errorf("the log tells too much:\n%s", raw)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if o := run(t, nil, "list", "--broker", b.URL(), "--log-file", filepath.Join(path, "x")); o.code != ExitFailed || !strings.Contains(o.errout, "log.file") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
}

func TestTheExampleForJqPrintsNoNullForTheSummary(t *testing.T) {
	tool, err := exec.LookPath("jq")
	if err != nil {
		testbroker.Missing(t, "jq is not installed: the example of the help is not tried")
	}
	o := run(t, nil, "list", "--help")
	example := regexp.MustCompile(`jq -r '([^']+)'`).FindStringSubmatch(o.out)
	if example == nil {
		t.Fatal("there is no example for jq")
	}
	cmd := exec.Command(tool, "-r", example[1])
	cmd.Stdin = strings.NewReader(`{"topic":"a","expiry_seconds":null}` + "\n" + `{"topic":"b","expiry_seconds":5}` + "\n" + `{"summary":true,"claim":"verified"}` + "\n")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "a\n" {
		t.Errorf("%v: %q", err, out)
	}
}

func TestTheHouseIsLoadedWithTheLoginOfTheSettings(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{
		Lines: []string{"password_file " + passwords(t, "me", "right")}, NoAnonymous: true, ListenerLines: []string{"allow_anonymous false"},
	})
	pass := file(t, "pass", "right\n")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
		says string
	}{
		{"environment", []string{"MQTT__USER=me", "MQTT__PASSWORD=right"}, nil, ExitOK, "330 topics"},
		{"flags", nil, []string{"--user", "me", "--password-file", pass}, ExitOK, "330 topics"},
		{"none", nil, nil, ExitFailed, "Not authorized"},
		{"a login of another broker", []string{"MQTT__BROKER=mqtt://home", "MQTT__USER=me", "MQTT__PASSWORD=right"}, nil, ExitFailed, "written for mqtt://home"},
	} {
		o := run(t, c.env, append([]string{"demo", "--into", b.URL()}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.out+o.errout, c.says) {
			t.Errorf("%s: exit %d: %s%s", c.name, o.code, o.out, o.errout)
		}
	}
}
