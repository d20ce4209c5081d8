package broker

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

func heard(topics ...string) (batch []inventory.Publication) {
	for _, t := range topics {
		batch = append(batch, inventory.Publication{Topic: []byte(t), Origin: inventory.Live})
	}
	return batch
}

func TestATopicIsAskedForAgainWhenItIsHeardAgainAndRarelyWhereItIsNeverKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d doubts
		due := func(want ...string) {
			t.Helper()
			var got []string
			for _, topic := range d.due(100) {
				got = append(got, string(topic))
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("asked for %q, want %q", got, want)
			}
		}
		due()
		d.hear(heard("kept", "event", "kept", "$SYS/uptime", ""))
		due("event", "kept")
		d.answer([]byte("kept"), present)
		d.answer([]byte("event"), absent)
		wait(time.Second)
		due() // neither was heard since
		d.hear(heard("kept", "event"))
		due("kept") // the other one was not kept, a second ago
		d.answer([]byte("kept"), notConcluded)
		wait(time.Second)
		d.hear(heard("kept", "event"))
		due("kept") // no answer is no news
		d.answer([]byte("kept"), absent)
		wait(unkeptPace)
		d.hear(heard("event", "kept"))
		due("event", "kept")
		d.answer([]byte("event"), present)
		d.again([][]byte{[]byte("kept")}) // the question failed
		due("kept")
	})
}

func TestQuestionsAndWhatIsRememberedAreBounded(t *testing.T) {
	var d doubts
	for i := range doubtsMost {
		d.hear(heard(fmt.Sprint("t/", i)))
	}
	if d.overflown() {
		t.Error("full before its time")
	}
	if n := len(d.due(queryFilters)); n != queryFilters {
		t.Errorf("%d topics in one question", n)
	}
	d.hear(heard("one/more"))
	if !d.overflown() || len(d.topics) != doubtsMost {
		t.Errorf("%d topics are remembered, overflown %t", len(d.topics), d.overflown())
	}
	known := heard("t/1", "t/2", "t/3")
	if n := testing.AllocsPerRun(100, func() { d.hear(known) }); n != 0 {
		t.Errorf("%v allocations for topics that are known", n)
	}
}

func TestReplaysAreTakenOutOfALiveStreamInPlace(t *testing.T) {
	batch := heard("a", "b", "c", "d")
	batch[0].Retain, batch[2].Retain = true, true
	got := ""
	for _, p := range withoutReplays(batch) {
		got += string(p.Topic)
	}
	if got != "bd" {
		t.Errorf("left over: %s", got)
	}
	if left := withoutReplays(batch[:0]); len(left) != 0 {
		t.Errorf("%d of nothing", len(left))
	}
}
