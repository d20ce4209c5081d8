package broker

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/actions"
	"retainscope/inventory"
)

// likeAWS has b end connections as AWS IoT Core does: over more than eight filters in one packet, fifty on one
// connection, $SYS, and more than seven slashes in one filter.
func likeAWS(b *scriptBroker) {
	b.mostFilters, b.mostSubs = 8, 50
	b.endsOver = func(f string) bool { return strings.HasPrefix(f, "$SYS") || strings.Count(f, "/") > 7 }
}

// endings returns what connections were ended over, those of $SYS left out.
func (b *scriptBroker) endings() (ended []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.ended {
		if !strings.HasPrefix(f, "$SYS") {
			ended = append(ended, f)
		}
	}
	return ended
}

// logged collects a log.
type logged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.String(), text)
}

func manyFilters(n int) (filters []string) {
	for i := range n {
		filters = append(filters, fmt.Sprintf("house/%03d/#", i))
	}
	return filters
}

func TestALookAtFiftyTopicsEndedTheConnectionOfABrokerThatTakesEightFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		b.fill(1 + actions.MaxControls)
		var filters [][]byte
		for i := range 1 + actions.MaxControls {
			filters = append(filters, fmt.Appendf(nil, "house/000/%03d", i))
		}
		o := NewObserver(b.config())
		seen, err := o.Observe(t.Context(), actions.Question{Filters: filters, Quiet: 250 * time.Millisecond})
		if err != nil || len(seen.Seen) != len(filters) || len(seen.Grants) != len(filters) || !seen.Fenced {
			t.Errorf("%d of %d copies, %d grants: %v", len(seen.Seen), len(filters), len(seen.Grants), err)
		}
		w, err := o.Watch(t.Context(), filters, true)
		if err != nil {
			t.Fatal(err)
		}
		for range filters {
			if _, err := w.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(w.About().Grants); n != len(filters) || w.Err() != nil {
			t.Errorf("%d grants, %v", n, w.Err())
		}
		_ = w.Close()
		if ended := b.endings(); len(ended) != 0 {
			t.Errorf("the broker ended a connection over %q", ended)
		}
	})
}

func TestALookSaidOnlyThatTheConnectionEndedAndNotOverWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		_, err := NewObserver(b.config()).Observe(t.Context(), actions.Question{Filters: [][]byte{[]byte("1/2/3/4/5/6/7/8/9"), []byte("a")}})
		if err == nil || !strings.Contains(err.Error(), `"1/2/3/4/5/6/7/8/9" and 1 more in one packet`) || !strings.Contains(err.Error(), "closed the connection") {
			t.Errorf("the look says %v", err)
		}
	})
}

func TestAWatchOfManyFiltersFailedWhereTheBrokerTakesEight(t *testing.T) {
	for name, word := range map[string][]byte{"without a word": nil, "with 0x97": disconnect(0x97, "too many")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newScriptBroker(t)
				likeAWS(b)
				b.lastWord = word
				b.fill(20_000)
				log := &logged{}
				cfg := b.config()
				cfg.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				w, inv := watch(t, WatchConfig{Config: cfg, Filters: manyFilters(20)})
				cov := scanned(t, w, time.Hour)
				if n := inv.Counts().Topics; n != 20_000 || cov.Claim == inventory.Incomplete || len(cov.Grants) != 20 || len(cov.Notes) != 0 {
					t.Errorf("%d topics, %d grants, %v: %s: %s", n, len(cov.Grants), cov.Notes, cov.Claim, cov.Rule)
				}
				b.retain("house/019/live", "x", 0)
				eventually(t, time.Hour, func() bool { return held(inv, "house/019/live") != nil })
				w.Rescan()
				synctest.Wait()
				eventually(t, time.Hour, func() bool { l, _ := w.Status(); return !l.Scanning })
				if ended := b.endings(); len(ended) != 1 || len(strings.Fields(ended[0])) != 20 {
					t.Errorf("the broker ended connections over %q; it was to be asked once", ended)
				}
				if n := log.count("go in portions"); n != 1 {
					t.Errorf("told %d times in the log", n)
				}
			})
		})
	}
}

func TestOneFilterOverWhichTheBrokerEndsTheConnectionCostsOnlyItself(t *testing.T) {
	for name, filters := range map[string][2][]string{
		"an extra one": {{"house/#"}, {sysAll}},
		"a deep one":   {{"house/#", "1/2/3/4/5/6/7/8/#", "other/#"}, nil},
		"one of many":  {append(manyFilters(12), "1/2/3/4/5/6/7/8/#"), {sysAll}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newScriptBroker(t)
				likeAWS(b)
				b.fill(100)
				w, inv := watch(t, WatchConfig{Config: b.config(), Filters: filters[0], Extra: filters[1]})
				cov := scanned(t, w, time.Hour)
				if n := inv.Counts().Topics; n != 100 {
					t.Errorf("%d of 100 topics, %s: %s", n, cov.Claim, cov.Rule)
				}
				all := append(filters[0], filters[1]...)
				if len(cov.Grants) != len(all) {
					t.Fatalf("%d grants", len(cov.Grants))
				}
				for i, g := range cov.Grants {
					if bad := b.endsOver(g.Filter); g.Filter != all[i] || g.Refused() != bad {
						t.Errorf("%s refused: %v", g.Filter, g.Refused())
					} else if bad && !strings.Contains(strings.Join(cov.Notes, " "), `asked for "`+g.Filter+`": that filter is left out.`) {
						t.Errorf("nothing says why %s is left out: %q", g.Filter, cov.Notes)
					}
				}
				ended := len(b.endings())
				w.Rescan()
				synctest.Wait()
				eventually(t, time.Hour, func() bool { l, _ := w.Status(); return !l.Scanning })
				if n := len(b.endings()); n != ended {
					t.Errorf("%d more connections ended with a second scan", n-ended)
				}
			})
		})
	}
}

func TestASingleFilterOverWhichTheConnectionEndsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		_, err := Watch(t.Context(), WatchConfig{Config: b.config(), Filters: []string{"1/2/3/4/5/6/7/8/9"}}, inventory.New(inventory.Options{}))
		if err == nil || !strings.Contains(lossText(err), `closed the connection without a word, when "1/2/3/4/5/6/7/8/9" was asked for`) {
			t.Errorf("Watch says %v", err)
		}
	})
}

func TestABrokerThatEndsConnectionsOverSysCostsOnlyTheFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		b.fill(300)
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 300 || cov.Claim != inventory.NoSignOfLoss {
			t.Errorf("%d of 300 topics, %s: %s", n, cov.Claim, cov.Rule)
		}
		if text, err := Identify(t.Context(), b.config()); text != "" || err != nil {
			t.Errorf("it calls itself %q, %v", text, err)
		}
	})
}

func TestExactQuestionsFailedWhereTheBrokerTakesEightFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		b.keep("a/stays", "y", 0)
		for i := range 200 {
			b.keep(fmt.Sprintf("a/expires/%d", i), "x", 5)
		}
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics == 1 })
		if !happened(inv, "a/expires/199", inventory.Expired) {
			t.Error("the last one did not expire")
		}
		if ended := b.endings(); len(ended) != 1 {
			t.Errorf("%d connections ended over too many filters; the first should have told", len(ended))
		}
		if _, found, err := w.Ask(t.Context(), []byte("a/stays")); err != nil || !found {
			t.Errorf("Ask: %v, %v", found, err)
		}
	})
}

func TestATopicThatNobodyMayAskForDoesNotKeepOthersFromTheirAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		for i := range 100 {
			b.keep(fmt.Sprintf("a/expires/%d", i), "x", 5)
		}
		b.endsOver = func(f string) bool { return f == "a/expires/77" }
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics == 2 })
		if held(inv, "a/expires/77") == nil {
			t.Error("the topic that could not be asked for is called expired")
		}
	})
}

func TestAnIdleConnectionThatEndedIsNoReasonToAskForLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		for i := range 100 {
			b.keep(fmt.Sprintf("a/first/%d", i), "x", 5)
			b.keep(fmt.Sprintf("a/second/%d", i), "x", 20)
		}
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics == 101 })
		b.mu.Lock()
		n := 0
		b.endsOver = func(f string) bool { // the connection that is there is dead, a new one is not
			if strings.HasPrefix(f, "a/second/") {
				n++
			}
			return n == 1
		}
		b.mu.Unlock()
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics == 1 })
		if w.portions.most() != 0 || n < 2 {
			t.Errorf("%d filters a packet from now on", w.portions.most())
		}
	})
}

func TestSlicesEndedEarlyWhereTheBrokerTakesEightFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		for i := range 2500 { // so deep that the filter of a part has one slash too many
			b.keep(fmt.Sprintf("1/2/3/4/5/6/%02d/n%d", i/50, i%50), "x", 0)
		}
		b.queueLimit = 1000
		b.losePings = 1
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 2500 || cov.Slices == 0 {
			t.Errorf("%d of 2500 topics after %d slices, %s: %s %v", n, cov.Slices, cov.Claim, cov.Rule, cov.Gaps)
		}
		for _, g := range cov.Gaps {
			if strings.Contains(g.Text, "ended early") {
				t.Errorf("slices: %s", g.Text)
			}
		}
		if n := len(b.endings()); n == 0 || n > 20 {
			t.Errorf("%d connections ended", n)
		}
	})
}

func TestWhatABrokerOfFewFiltersIsNotAskedForIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		likeAWS(b)
		b.fill(unseenFew + 1000)
		hidden := false
		b.hide = func(topic string) bool { return hidden && topic != "house/000/000" }
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.mu.Lock()
		hidden = true
		b.mu.Unlock()
		w.Rescan()
		eventually(t, 10*time.Hour, func() bool { return inv.Counts().Topics <= 1000 })
		eventually(t, 10*time.Hour, func() bool { l, _ := w.Status(); return !l.Scanning })
		_, cov := w.Status()
		if inv.Counts().Topics != 1000 || !strings.Contains(strings.Join(cov.Notes, " "), "no more than 8 topic filters in one packet") || cov.Claim == inventory.Verified {
			t.Errorf("%d topics, %s: %s %q", inv.Counts().Topics, cov.Claim, cov.Rule, cov.Notes)
		}
	})
}
