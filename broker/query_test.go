package broker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

func TestDueTopicsAreAskedForInBatchesWithAControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		for i := range 2000 {
			b.keep(fmt.Sprintf("a/expires/%d", i), "x", 5)
		}
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		before := len(b.asked())
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics == 1 })
		batches := b.asked()[before:]
		if len(batches) != 3 {
			t.Errorf("%d questions for 2000 topics", len(batches))
		}
		for _, q := range batches {
			filters := strings.Split(q, " ")
			if len(filters) > queryFilters+3 || !strings.Contains(q, "a/stays") {
				t.Errorf("a question of %d filters, its control among them: %v", len(filters), strings.Contains(q, "a/stays"))
			}
		}
	})
}

func TestARefusedQuestionConcludesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		b.keep("a/expires", "x", 5)
		b.refuse = map[string]byte{"a/expires": 0x87}
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		eventually(t, time.Hour, func() bool { return held(inv, "a/expires").Flags.Has(inventory.FlagDue) })
		<-time.After(3 * time.Minute)
		if held(inv, "a/expires") == nil {
			t.Error("a topic was called gone although the question was refused")
		}
	})
}

func TestAskTellsTheStoredQoSOfARealBroker(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	for qos := range 3 {
		mosquittoPub(t, b, "-r", "-t", fmt.Sprintf("q/%d", qos), "-m", "x", "-q", fmt.Sprint(qos))
	}
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Quiet: 200 * time.Millisecond})
	scanned(t, w, 30*time.Second)
	for topic, want := range map[string]byte{"q/0": 0, "q/1": 1, "q/2": 1} {
		qos, found, err := w.Ask(within(t), []byte(topic))
		if qos != want || !found || err != nil {
			t.Errorf("Ask(%s) = %d, %v, %v", topic, qos, found, err)
		}
		if s := held(inv, topic); s.QoS != int8(want) || s.LiveCount != 0 {
			t.Errorf("%s: %+v", topic, s)
		}
	}
}

func TestATopicThatNoFilterCanNameIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(1)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		for _, topic := range []string{"", "a/+", "#", "\xff", "$share/g/a", "a\x00"} {
			if _, _, err := w.Ask(t.Context(), []byte(topic)); !errors.Is(err, ErrNotAskable) {
				t.Errorf("Ask(%q) = %v", topic, err)
			}
		}
	})
}

func TestACopyThatComesLongAfterThePingrespIsFoundByAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("kitchen/lamp", "on", 0)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.mu.Lock()
		b.earlyPing, b.pause = true, func(int) time.Duration { return time.Second }
		b.mu.Unlock()
		if _, found, err := w.Ask(t.Context(), []byte("kitchen/lamp")); !found || err != nil {
			t.Errorf("Ask = %v, %v", found, err)
		}
	})
}

func TestAskConcludesNothingWhereTopicsThatMustAnswerDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(5)
		hidden := false
		b.hide = func(string) bool { return hidden }
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		if _, found, err := w.Ask(t.Context(), []byte("house/000/999")); found || err != nil {
			t.Errorf("a topic that is not there: %v, %v", found, err)
		}
		b.mu.Lock()
		hidden = true
		b.mu.Unlock()
		if _, found, err := w.Ask(t.Context(), []byte("house/000/003")); found || !errors.Is(err, ErrNoControl) {
			t.Errorf("a topic that is hidden with all others: %v, %v", found, err)
		}
	})
}
