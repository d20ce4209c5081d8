package broker

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestTheCollectorRunsAsUsualAfterItsFirstRun(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	EaseCollector()
	if got := debug.SetGCPercent(400); got != 400 {
		t.Fatalf("the heap may grow by %d %% at first", got)
	}
	runtime.GC()
	deadline := time.After(time.Minute)
	for percent := 400; percent != 100; {
		select {
		case <-deadline:
			t.Fatal("the collector was never set back")
		default:
			runtime.Gosched()
			percent = debug.SetGCPercent(100)
			debug.SetGCPercent(percent)
		}
	}
}

func TestWhoSetGOGCKeepsIt(t *testing.T) {
	t.Setenv("GOGC", "50")
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	EaseCollector()
	if got := debug.SetGCPercent(50); got != 50 {
		t.Fatalf("it was set to %d", got)
	}
}
