package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestOnlyWhatIsRetainedIsStampedAndRecorded(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		for _, m := range []Message{
			{Topic: "a", Payload: []byte("1"), QoS: 1, Retain: true, ContentType: "text/plain", User: []inventory.UserProperty{{Key: []byte("k"), Value: []byte("v")}}},
			{Topic: "b", Payload: []byte("2"), Retain: true}, {Topic: "a", Payload: []byte("3"), QoS: 1}, {Topic: "c", Payload: []byte("4")},
		} {
			if out, err := p.Publish(t.Context(), m); err != nil || !out.Handed || out.Answered != (m.QoS == 1) {
				t.Errorf("%s: %+v, %v", m.Topic, out, err)
			}
		}
		synctest.Wait()
		want := []int{30, 30, -1, -1}
		for i, a := range k.got {
			if a.expiry != want[i] {
				t.Errorf("%s carries %d s, want %d", a, a.expiry, want[i])
			}
		}
		if k.got[0].contentType != "text/plain" {
			t.Errorf("content type %q", k.got[0].contentType)
		}
		if s := p.Status(); s.Topics != 2 || s.Bytes != 4 {
			t.Errorf("%d topics with %d bytes in the ledger", s.Topics, s.Bytes)
		}
		k.forget()
		wait(11 * time.Second)
		if got := k.took(); !slices.Equal(got, []string{"a=1", "b=2"}) || k.got[0].contentType != "text/plain" || k.got[0].qos != 1 || k.got[1].qos != 0 {
			t.Errorf("repeated %q", got)
		}
	})
}

func TestAPayloadChangedByItsOwnerAfterPublishDoesNotChangeWhatIsRepeated(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		payload := []byte("online")
		if _, err := p.Publish(t.Context(), Message{Topic: "a", Payload: payload, QoS: 1, Retain: true}); err != nil {
			t.Fatal(err)
		}
		copy(payload, "xxxxxx")
		wait(11 * time.Second)
		if got := k.took(); !slices.Equal(got, []string{"a=online", "a=online"}) {
			t.Errorf("sent %q", got)
		}
	})
}

func TestAFailureBeforeTheConnectionHasItRecordsNothing(t *testing.T) {
	change := func(cfg *PublisherConfig, k *keeper) {
		cfg.Timeout = time.Second
		k.connack = [][]byte{propTwo(0x21, 2), propFour(0x27, 100)}
		k.mute = func(a arrived) bool { return a.topic == "mute" }
	}
	inMemory(t, change, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		say(t, p, "a", "1")
		k.forget()
		full, cancel := context.WithCancel(t.Context())
		cancel()
		for _, c := range []struct {
			name string
			ctx  context.Context
			m    Message
			want string
		}{
			{"no topic", t.Context(), Message{Retain: true, Payload: []byte("x")}, "needs a topic"},
			{"a wildcard", t.Context(), Message{Topic: "a/#", Retain: true, Payload: []byte("x")}, "wildcard"},
			{"not UTF-8", t.Context(), Message{Topic: "a\xff", Retain: true, Payload: []byte("x")}, "not UTF-8"},
			{"a control character", t.Context(), Message{Topic: "a\x1b[2J", Retain: true, Payload: []byte("x")}, "control character"},
			{"a topic that is too long", t.Context(), Message{Topic: strings.Repeat("x", 65536), Retain: true, Payload: []byte("x")}, "65535"},
			{"too many levels", t.Context(), Message{Topic: strings.Repeat("/", 200), Retain: true, Payload: []byte("x")}, "200 levels"},
			{"QoS 2", t.Context(), Message{Topic: "b", QoS: 2, Retain: true, Payload: []byte("x")}, "QoS 2"},
			{"large properties", t.Context(), Message{Topic: "b", Retain: true, ContentType: strings.Repeat("x", propertyLimit+1)}, "properties"},
			{"larger than the broker takes", t.Context(), Message{Topic: "b", Retain: true, Payload: make([]byte, 100)}, "Packet too large (0x95)"},
			{"a context that has ended", full, Message{Topic: "b", QoS: 1, Retain: true, Payload: []byte("x")}, "context canceled"},
		} {
			if out, err := p.Publish(c.ctx, c.m); err == nil || out.Handed || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %+v, %v", c.name, out, err)
			}
		}
		// The lane is busy and the caller gives up.
		p.lane <- struct{}{}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if out, err := p.Publish(short, Message{Topic: "b", QoS: 1, Retain: true, Payload: []byte("x")}); !errors.Is(err, context.DeadlineExceeded) || out.Handed {
			t.Errorf("a busy lane: %+v, %v", out, err)
		}
		p.leave()
		if got := k.took(); len(got) != 0 {
			t.Errorf("sent %q", got)
		}
		// The server's Receive Maximum is used up by what it never answers.
		for range 2 {
			if out, err := p.Publish(t.Context(), Message{Topic: "mute", QoS: 1, Payload: []byte("x")}); !errors.Is(err, ErrNoAnswer) || !out.Handed {
				t.Errorf("no answer: %+v, %v", out, err)
			}
		}
		if out, err := p.Publish(t.Context(), Message{Topic: "b", QoS: 1, Retain: true, Payload: []byte("x")}); err == nil || out.Handed || !strings.Contains(err.Error(), "2 publishes unacknowledged") {
			t.Errorf("no room: %+v, %v", out, err)
		}
		if s := p.Status(); s.Topics != 1 {
			t.Errorf("%d topics in the ledger", s.Topics)
		}
		// At QoS 0 nothing has to wait.
		if out, err := p.Publish(t.Context(), Message{Topic: "c", Retain: true, Payload: []byte("x")}); err != nil || !out.Handed {
			t.Errorf("QoS 0: %+v, %v", out, err)
		}
	})
}

func TestTheBoundsOfTheLedgerRefuseBeforeAnythingIsSent(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		for _, topic := range numbered("t/%d", expiry.LedgerTopics) {
			say(t, p, topic, "1")
		}
		k.forget()
		var bound *expiry.BoundError
		if out, err := p.Publish(t.Context(), Message{Topic: "more", QoS: 1, Retain: true, Payload: []byte("1")}); !errors.As(err, &bound) || out.Handed {
			t.Errorf("topic 1001: %+v, %v", out, err)
		}
		if out, err := p.Publish(t.Context(), Message{Topic: "t/1", QoS: 1, Retain: true, Payload: make([]byte, expiry.LedgerBytes)}); !errors.As(err, &bound) || bound.Bound != expiry.ByteBound || out.Handed {
			t.Errorf("16 MiB: %+v, %v", out, err)
		}
		// What is not retained, a known topic, and a clear are always allowed.
		for _, m := range []Message{{Topic: "more", QoS: 1, Payload: []byte("1")}, {Topic: "t/1", QoS: 1, Retain: true, Payload: []byte("2")},
			{Topic: "unknown", QoS: 1, Retain: true}, {Topic: "t/2", QoS: 1, Retain: true}} {
			if out, err := p.Publish(t.Context(), m); err != nil || !out.Handed {
				t.Errorf("%s: %+v, %v", m.Topic, out, err)
			}
		}
		if got := k.took(); len(got) != 4 {
			t.Errorf("sent %q", got)
		}
		say(t, p, "more", "1")
	})
}

func TestNothingIsPublishedWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, n := newKeeper(t), &notes{}
		cfg := PublisherConfig{Config: k.config(), Interval: 30}
		cfg.Logger = n.logger()
		k.refuse = 0x87
		p := started(t, cfg)
		wait(9 * time.Second)
		out, err := p.Publish(t.Context(), Message{Topic: "a", Payload: []byte("1"), QoS: 1, Retain: true})
		var refused *ConnectError
		if !errors.Is(err, ErrNotConnected) || !errors.As(err, &refused) || refused.Code != 0x87 || out.Handed {
			t.Errorf("%+v, %v", out, err)
		}
		s := p.Status()
		if s.Connected || s.Attempt < 2 || s.Topics != 0 || s.Err == nil {
			t.Errorf("%+v", s)
		}
		if n.count("cannot connect") != 1 {
			t.Errorf("the log:\n%s", n)
		}
		wait(2 * time.Second)
		if s := p.Status(); s.Away != 1 {
			t.Errorf("%d passes were skipped", s.Away)
		}
		halt(t, p)
		if _, err := p.Publish(t.Context(), Message{Topic: "a", Payload: []byte("1")}); !errors.Is(err, ErrStopped) {
			t.Errorf("after Stop: %v", err)
		}
		k.end()
	})
}

func TestABrokerOf311IsHintedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, n := newWireServer(t), &notes{}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 3 {
				w := server.accept()
				w.expect(typeConnect)
				w.send([]byte{0x20, 2, 0, 1})
				_ = w.Close()
			}
		}()
		cfg := PublisherConfig{Config: server.config()}
		cfg.Logger = n.logger()
		p := started(t, cfg)
		<-ended
		synctest.Wait()
		halt(t, p)
		if n.count("hint=") != 1 || n.count("protocol_version") != 1 {
			t.Errorf("the log:\n%s", n)
		}
	})
}

func TestWhatIsWrongWithTheConfigurationIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  PublisherConfig
		want string
	}{
		"an interval of 2":           {PublisherConfig{Interval: 2}, "the least is 3"},
		"a will without a topic":     {PublisherConfig{Will: &Message{}}, "last will: a message needs a topic"},
		"a will that is too large":   {PublisherConfig{Will: &Message{Topic: "a", Payload: make([]byte, 65536)}}, "65535"},
		"a will at QoS 2":            {PublisherConfig{Will: &Message{Topic: "a", QoS: 2}}, "QoS 2"},
		"a will with a wildcard":     {PublisherConfig{Will: &Message{Topic: "a/+"}}, "wildcard"},
		"a will with a noncharacter": {PublisherConfig{Will: &Message{Topic: "a\uFFFF"}}, "noncharacter"},
	} {
		if _, err := StartPublisher(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARefusalIsAnOutcomeAndTheEntryStays(t *testing.T) {
	change := func(_ *PublisherConfig, k *keeper) {
		k.code = func(a arrived) byte {
			switch a.topic {
			case "denied":
				return 0x87
			case "nobody":
				return 0x10
			}
			return 0
		}
	}
	inMemory(t, change, func(t *testing.T, p *Publisher, k *keeper, n *notes) {
		out, err := p.Publish(t.Context(), Message{Topic: "denied", Payload: []byte("1"), QoS: 1, Retain: true})
		if err != nil || !out.Refused() || out.Code != 0x87 || out.Reason != `no\x1b` || out.PacketID == 0 {
			t.Errorf("%+v, %v", out, err)
		}
		say(t, p, "after", "1")
		say(t, p, "nobody", "1") // no matching subscribers is a success
		k.forget()
		wait(45 * time.Second)
		want := []string{"denied=1", "after=1", "nobody=1"}
		if got := k.took(); !slices.Equal(got, slices.Concat(want, want, want, want)) {
			t.Errorf("repeated %q", got)
		}
		if n.count("refused") != 1 || n.count("denied") != 1 || n.count("0x87") != 1 {
			t.Errorf("a refusal is reported once:\n%s", n)
		}
		if s := p.Status(); s.Last.Refused != 1 || s.Last.Err != nil || s.Last.Sent != 3 || s.Topics != 3 {
			t.Errorf("%+v", s)
		}
		if _, err := p.Publish(t.Context(), Message{Topic: "denied", Payload: []byte("2"), QoS: 1, Retain: true}); err != nil {
			t.Error(err)
		}
		wait(10 * time.Second)
		if n.count("refused") != 1 {
			t.Errorf("a new value that is refused as well is no news:\n%s", n)
		}
		// It was accepted in between, so the next refusal is news.
		k.with(func() { k.code = nil })
		wait(10 * time.Second)
		k.with(func() { k.code = func(arrived) byte { return 0x97 } })
		wait(20 * time.Second)
		if n.count("refused") != 2 || n.count("entries=3") != 1 {
			t.Errorf("three topics are reported together and once:\n%s", n)
		}
	})
}

func TestEverythingIsFrozenAtTheStart(t *testing.T) {
	will := Message{Topic: "status", Payload: []byte("offline"), QoS: 1, Retain: true, User: []inventory.UserProperty{{Key: []byte("k"), Value: []byte("v")}}}
	steps := []Step{{Name: "birth", Run: func(ctx context.Context, p *Publisher) error {
		_, err := p.Publish(ctx, Message{Topic: "status", Payload: []byte("online"), QoS: 1, Retain: true})
		return err
	}}}
	var cfg *PublisherConfig
	change := func(c *PublisherConfig, _ *keeper) { c.Will, c.Steps, cfg = &will, steps, c }
	inMemory(t, change, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		cfg.Interval, cfg.KeepAlive, cfg.Identity = 99, time.Minute, "other"
		will.Topic, will.QoS, will.Retain = "other", 0, false
		copy(will.Payload, "changed")
		will.User[0].Value[0] = 'x'
		steps[0].Run = func(context.Context, *Publisher) error { return errors.New("another step") }
		k.cut()
		wait(5 * time.Second)
		if got := k.took(); !slices.Equal(got, []string{"status=online", "status=online"}) || k.got[1].conn != 2 || k.got[1].expiry != 30 {
			t.Errorf("sent %v", k.got)
		}
		if len(k.connects) != 2 || string(k.connects[0]) != string(k.connects[1]) {
			t.Errorf("the second CONNECT differs:\n%x\n%x", k.connects[0], k.connects[1])
		}
		if s := p.Status(); s.Interval != 30*time.Second || s.Every != 10*time.Second || s.Connections != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestStopClearsTheLedgerAndLeavesByTheDoor(t *testing.T) {
	var p *Publisher
	inMemory(t, nil, func(t *testing.T, running *Publisher, k *keeper, _ *notes) {
		p = running
		say(t, p, "a", "1")
		halt(t, p)
		halt(t, p)
		synctest.Wait()
		k.with(func() {
			if k.clean != 1 {
				t.Errorf("%d clean ends", k.clean)
			}
		})
		if s := p.Status(); s.Topics != 0 || s.Bytes != 0 || s.Connected {
			t.Errorf("%+v", s)
		}
		k.forget()
		wait(time.Hour)
		if got := k.took(); len(got) > 0 {
			t.Errorf("after Stop %q was sent", got)
		}
	})
}

func TestStopWaitsForTheLastAcknowledgements(t *testing.T) {
	change := func(_ *PublisherConfig, k *keeper) { k.roundTrip = 300 * time.Millisecond }
	inMemory(t, change, func(t *testing.T, p *Publisher, _ *keeper, _ *notes) {
		result := make(chan error, 5)
		for _, topic := range numbered("t/%d", 5) {
			go func() {
				out, err := p.Publish(context.Background(), Message{Topic: topic, Payload: []byte("1"), QoS: 1, Retain: true})
				if err == nil && !out.Answered {
					err = fmt.Errorf("%+v", out)
				}
				result <- err
			}()
		}
		synctest.Wait()
		halt(t, p)
		for range 5 {
			if err := <-result; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAStepThatIgnoresItsContextIsNamedByStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(t)
		hold := make(chan struct{})
		cfg := PublisherConfig{Config: k.config(), Steps: []Step{{Name: "stubborn", Run: func(context.Context, *Publisher) error { <-hold; return nil }}}}
		p := started(t, cfg)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.Stop(ctx); err == nil || !strings.Contains(err.Error(), "a connect step still runs") {
			t.Errorf("Stop = %v", err)
		}
		k.with(func() {
			if k.clean != 1 {
				t.Error("the broker was not left in order")
			}
		})
		close(hold)
		k.end()
	})
}
