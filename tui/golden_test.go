package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"retainscope/inventory"
)

// scene is one state of the world that the screen has to show.
type scene struct {
	name string
	make func(t *testing.T) (*source, *inventory.Inventory)
	keys []string
}

func scenes() []scene {
	return []scene{
		{"empty", func(*testing.T) (*source, *inventory.Inventory) {
			return watching(), inventory.New(inventory.Options{})
		}, nil},
		{"scanning", func(t *testing.T) (*source, *inventory.Inventory) {
			src := watching()
			src.cov.Claim, src.cov.Rule, src.cov.EndedAt = inventory.Scanning, "waiting for the fence and 2 s of quiet", time.Time{}
			src.link.Scanning, src.link.ScanDone, src.link.ScanOf, src.link.Progress = true, 330, 1284, "reading the burst"
			return src, house(t)
		}, nil},
		{"scanning before anything came", func(*testing.T) (*source, *inventory.Inventory) {
			src := watching()
			src.cov.Claim, src.cov.EndedAt = inventory.Scanning, time.Time{}
			src.link.Scanning, src.link.Progress = true, "subscribing to #"
			return src, inventory.New(inventory.Options{})
		}, nil},
		{"house", func(t *testing.T) (*source, *inventory.Inventory) { return seenAll(watching()), house(t) }, []string{"down", "down", "right"}},
		{"over 3.1.1", func(*testing.T) (*source, *inventory.Inventory) {
			src, inv := watching(), inventory.New(inventory.Options{})
			src.link.Protocol, src.cov.Seen = "3.1.1", 3
			src.cov.Notes = []string{inventory.LimitedView}
			inv.SetLimited(true)
			inv.BeginScan()
			for _, topic := range []string{"home/attic/state", "home/cellar/state", "status"} {
				inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte("online"), ReceivedAt: at0.Add(-8 * time.Second).UnixMilli(), Retain: true}})
			}
			inv.Apply([]inventory.Publication{{Topic: []byte("status"), Payload: []byte("offline"), ReceivedAt: at0.Add(-3 * time.Second).UnixMilli(), Origin: inventory.Live}})
			return src, inv
		}, []string{"t"}},
		{"refused", func(*testing.T) (*source, *inventory.Inventory) {
			src := watching()
			src.cov.Claim, src.cov.Rule, src.cov.Grants = inventory.Incomplete, "the broker refused the filter", []inventory.Grant{{Filter: "#", Code: 0x87}}
			return src, inventory.New(inventory.Options{})
		}, nil},
		{"disconnected", func(t *testing.T) (*source, *inventory.Inventory) {
			src, inv := seenAll(watching()), house(t)
			inv.SetAway(true)
			src.link.State, src.link.Since, src.link.RetryAt = inventory.Lost, at0.Add(-2*time.Second), at0.Add(6*time.Second)
			src.link.Err = "the broker closed the connection: connection reset by peer"
			src.cov.Away = []inventory.Span{{From: at0.Add(-2 * time.Second)}}
			return src, inv
		}, []string{"/", "g", "a", "s", "2", "enter"}},
		{"incomplete", func(t *testing.T) (*source, *inventory.Inventory) {
			src := seenAll(watching())
			src.cov.Claim, src.cov.Rule = inventory.Incomplete, "the broker's own count is higher than ours, and 12 slices brought nothing more"
			src.cov.Known, src.cov.Slices = 337, 12
			src.cov.Gaps = []inventory.Gap{{Count: 2, Text: "expired, but not collected by the broker yet: it counts them"}, {Count: -1, Text: "hidden by permissions: a broker does not say so"}}
			src.cov.Remedies = []string{"Ask for parts: --filter 'homeassistant/#' --filter 'zigbee2mqtt/#'.", "Set max_queued_messages 0 for the time of the scan."}
			src.cov.Notes = []string{"This broker stamps an expiry of its own on messages that had none, so never cannot be told there."}
			src.link.URL, src.link.Insecure = "mqtts://broker.example.org:8883", true
			return src, house(t)
		}, nil},
	}
}

func seenAll(s *source) *source {
	s.cov.Claim, s.cov.Rule = inventory.Verified, "the broker's own count agrees"
	s.cov.Seen, s.cov.Known, s.cov.KnownFrom = 330, 330, "$SYS/broker/retained messages/count"
	return s
}

func TestScreens(t *testing.T) {
	for _, sc := range scenes() {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
			t.Run(fmt.Sprintf("%s %dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				src, inv := sc.make(t)
				s := newStage(t, src, inv, size[0], size[1], nil)
				s.keys(sc.keys...)
				golden.RequireEqual(t, s.frame())
			})
		}
	}
}

func TestPanes(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
	}{
		{"flat by expiry", 120, 40, []string{"t", "s", "down"}},
		{"flat with a bar", 118, 24, []string{"t", "s", "/", "g", "a", "s", "2", "enter"}},
		{"detail", 80, 24, []string{"t", "/", "r", "/", "s", "t", "a", "t", "e", "enter", "/", "ctrl+u", "n", "t", "e", "r", "/", "s", "enter", "enter"}},
		{"detail to the end", 80, 24, []string{"/", "p", "a", "n", "e", "l", "/", "s", "enter", "end", "enter", "end"}},
		{"detail in hex", 80, 24, []string{"/", "p", "a", "n", "e", "l", "/", "s", "enter", "end", "enter", "v", "v", "v", "v", "v"}},
		{"odd names", 80, 24, []string{"t", "/", "e", "d", "g", "e", "enter"}},
		{"odd names beside", 120, 40, []string{"t", "/", "e", "d", "g", "e", "/", "c", "enter"}},
		{"branch", 80, 24, []string{"down", "down", "enter"}},
		{"help", 80, 60, []string{"?"}},
		{"help of the detail", 80, 24, []string{"t", "enter", "?"}},
		{"events", 80, 24, []string{"6"}},
		{"filter being typed", 80, 24, []string{"/", "i", "s", ":", "n", "e", "v", "e", "r", "space", "-", "h"}},
		{"filter that cannot be read", 80, 24, []string{"/", "i", "s", ":", "x"}},
		{"filter that nothing passes", 80, 24, []string{"/", "x", "x", "x"}},
		{"filter opened", 80, 24, []string{"/"}},
		{"filter on a low screen", 40, 10, []string{"/", "g", "a", "s"}},
		{"export", 80, 24, []string{"down", "down", "/", "g", "a", "s", "enter", "e"}},
		{"paused", 80, 24, []string{"p"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, seenAll(watching()), house(t), c.w, c.h, nil)
			s.keys(c.keys...)
			golden.RequireEqual(t, s.frame())
		})
	}
}

func TestCoveragePane(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			src, inv := sc.make(t)
			s := newStage(t, src, inv, 80, 60, nil)
			s.keys("c")
			golden.RequireEqual(t, s.frame())
		})
	}
}

func TestColours(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 120, 40, nil)
	s.m.pen.pal = sixteen
	s.types("/counter/s")
	s.keys("enter", "end")
	golden.RequireEqual(t, s.frame())
}

func TestAsciiScreen(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 120, 40, func(o *Options) { o.Environ = []string{"TERM=linux", "LANG=de_DE.UTF-8"} })
	s.keys("t", "s", "/", "e", "d", "g", "e", "/", "c", "enter")
	frame := s.frame()
	for _, r := range frame {
		if r > 0x7e {
			t.Fatalf("%U is not ASCII", r)
		}
	}
	golden.RequireEqual(t, frame)
}
