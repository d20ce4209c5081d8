package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/tui"
)

func TestAnExportWritesWhatIsSelectedAndTheCoverage(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for _, topic := range []string{"a", "a/b", "a/b/c", "ab", "a/bb", "z\xff"} {
		inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte("x"), Interval: expiry.None(), ReceivedAt: 1000, Retain: true}})
	}
	export := exporter(inv, nil, nil, func() (inventory.Link, inventory.Coverage) {
		return inventory.Link{URL: "mqtt://h"}, inventory.Coverage{Claim: inventory.Verified}
	})
	filter, err := inventory.ParseFilter("bb")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		s    tui.Selection
		want []string
	}{
		{"everything", tui.Selection{}, []string{"a", "a/b", "a/b/c", "a/bb", "ab", "z\ufffd7aff"}},
		{"one topic", tui.Selection{Topic: []byte("a/b")}, []string{"a/b"}},
		{"a branch", tui.Selection{Topic: []byte("a/b"), Below: true}, []string{"a/b", "a/b/c"}},
		{"a topic that is gone", tui.Selection{Topic: []byte("gone")}, nil},
		{"bytes that are not text", tui.Selection{Topic: []byte("z\xff")}, []string{"z\ufffd7aff"}},
		{"a filter", tui.Selection{Filter: filter}, []string{"a/bb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			var told int64 = -1
			if err := export(t.Context(), c.s, &out, func(n int64) { told = n }); err != nil {
				t.Fatal(err)
			}
			topics, summary := lines(t, outcome{out: out.String()})
			if len(topics) != len(c.want) || told != int64(len(c.want)) || summary.Claim != "verified" {
				t.Errorf("%d topics, told %d, claim %q", len(topics), told, summary.Claim)
			}
			for _, w := range c.want {
				if l, ok := topics[w]; !ok || l.Payload == nil || *l.Payload != "x" {
					t.Errorf("%q is not written", w)
				}
			}
		})
	}
	t.Run("the way it was selected and when", func(t *testing.T) {
		var out bytes.Buffer
		if err := export(t.Context(), tui.Selection{Filter: filter}, &out, func(int64) {}); err != nil {
			t.Fatal(err)
		}
		first, last, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
		topic, summary := decodeLine(t, []byte(first+"\n")), decodeLine(t, []byte(last+"\n"))
		if live, told := topic["last_live_at"]; !told || live != nil || topic["first_seen_at"] == nil {
			t.Errorf("a topic not seen live: %v", topic)
		}
		if summary["where"] != "bb" || summary["watched_since"] == nil {
			t.Errorf("the summary does not tell what was selected and since when it was watched: %v", summary)
		}
		if summary["only_topic"] != nil || summary["only_branch"] != nil {
			t.Errorf("a filter is no topic and no branch: %v", summary)
		}
		if age, told := summary["age_seconds"]; !told || age != nil {
			t.Errorf("a scan that has not ended is %v seconds old", age)
		}
	})
	for _, c := range []struct {
		s                  tui.Selection
		topic, branch, hex any
	}{
		{tui.Selection{Topic: []byte("a/b")}, "a/b", nil, nil},
		{tui.Selection{Topic: []byte("a/b"), Below: true}, nil, "a/b", nil},
		{tui.Selection{Topic: []byte{}, Below: true}, nil, "", nil},
		{tui.Selection{Topic: []byte("z\xff"), Below: true}, nil, "z\ufffd", "7aff"},
		{tui.Selection{}, nil, nil, nil},
	} {
		var out bytes.Buffer
		if err := export(t.Context(), c.s, &out, func(int64) {}); err != nil {
			t.Fatal(err)
		}
		all := strings.Split(strings.TrimSpace(out.String()), "\n")
		last := decodeLine(t, []byte(all[len(all)-1]+"\n"))
		topic, told := last["only_topic"]
		if !told || topic != c.topic || last["only_branch"] != c.branch || last["only_branch_hex"] != c.hex {
			t.Errorf("%q, below %v: the summary does not tell what was selected: %v", c.s.Topic, c.s.Below, last)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := export(ctx, tui.Selection{}, &strings.Builder{}, func(int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped export ends with %v", err)
	}
	if err := export(t.Context(), tui.Selection{}, &brokenPipe{1}, func(int64) {}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a full disk ends with %v", err)
	}
}
