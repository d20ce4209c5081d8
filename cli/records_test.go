package cli

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"retainscope/actions"
	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// watching starts a watcher with the manifest of b, as `watch` and the screen do, and returns its inventory.
func (b *workbench) watching(wrote func(actions.Announced) bool) *inventory.Inventory {
	b.t.Helper()
	r := settled(b.t, "RETAINSCOPE_MQTT__BROKER="+b.url, "RETAINSCOPE_CLEAR__MANIFEST="+b.manifest)
	inv, log := inventory.New(inventory.Options{}), slog.New(slog.DiscardHandler)
	b.t.Cleanup(r.heedRecords(context.Background(), log, wrote))
	w, err := broker.Watch(context.Background(), r.watchConfig(log), inv)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { leave(context.Background(), w) })
	<-w.Scanned()
	return inv
}

func nothingOfIt(actions.Announced) bool { return false }

func slotOf(inv *inventory.Inventory, topic string) (s inventory.Slot, held bool) {
	r, held := inv.Find([]byte(topic))
	if held {
		s, held = inv.Slot(r)
	}
	return s, held
}

func TestAnUndoFromAShellLookedAsIfTheOwnerHadPublished(t *testing.T) {
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue)+established)
	inv := b.watching(nothingOfIt)
	if o := b.clear(); o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	eventually(t, func() string {
		if _, held := slotOf(inv, benchOwn); held {
			return "the topic is still held"
		}
		return ""
	})
	events, _ := inv.Events(0, 0)
	if n := len(events); n == 0 || events[n-1].Kind != inventory.ClearedHere {
		t.Errorf("the clear from the shell is told as %v", events)
	}
	if o := b.run("restore", b.only().Operation); o.code != ExitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	back := func(count uint32) func() string {
		return func() string {
			if s, held := slotOf(inv, benchOwn); !held || s.LiveCount != count || s.Flags.Has(inventory.FlagLive) != (count > 0) {
				return fmt.Sprintf("want %d live publications: %+v", count, s)
			}
			return ""
		}
	}
	eventually(t, back(0))
	place(t, b.url, benchOwn, benchValue) // the owner, with the same value
	eventually(t, back(1))
}

func TestWhatOneDeskAnnouncedItselfIsNotExpectedTwice(t *testing.T) {
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue)+established)
	asked := make(chan actions.Announced, 16)
	inv := b.watching(func(a actions.Announced) bool {
		asked <- a
		return true
	})
	if o := b.clear(); o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	if a := <-asked; string(a.Topic) != benchOwn || a.Fingerprint != "" || a.Operation != b.only().Operation || a.Record != "home" {
		t.Errorf("the record announced %+v", a)
	}
	eventually(t, func() string {
		if events, _ := inv.Events(0, 0); len(events) == 0 || events[len(events)-1].Kind != inventory.Cleared {
			return fmt.Sprint("the events are ", events)
		}
		return ""
	})
}
