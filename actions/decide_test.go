package actions

import (
	"errors"
	"strings"
	"testing"
)

func decided(topic, owner string, d Disposition) Entry {
	return Entry{Topic: []byte(topic), Owner: owner, Purpose: "state", Disposition: d, Fingerprint: strings.Repeat("ab", 32)}
}

func TestADecisionIsWrittenAtOnceAndOverNobodysElse(t *testing.T) {
	dir, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := OpenDesk(dir, "home.toml", newLab(t).clock)
	kim := Person{Login: "root", SudoUser: "kim"}
	if was, err := d.Withdraw(t.Context(), home, []byte("a/b")); was || err != nil {
		t.Fatalf("withdrawn from no file: %v, %v", was, err)
	}
	if err := d.Decide(t.Context(), home, nil, decided("a/b", "lamp", Clear), Protection{}, kim); err != nil {
		t.Fatal(err)
	}
	first := found(t, d, "a/b")
	if first.ApprovedBy != "kim" || !first.ApprovedAt.Equal(noon) || first.CheckApproval() != nil {
		t.Fatalf("approved as %+v", first)
	}

	// Somebody writes another topic: both stay.
	other := OpenDesk(dir, "home.toml", newLab(t).clock)
	if err := other.Decide(t.Context(), home, nil, decided("a/c", "shelf", Preserve), Protection{}, kim); err != nil {
		t.Fatal(err)
	}
	// Somebody changed this topic since it was shown: nothing is written.
	if err := other.Decide(t.Context(), home, &first, decided("a/b", "shelf", Hold), Protection{}, kim); err != nil {
		t.Fatal(err)
	}
	if err := d.Decide(t.Context(), home, &first, decided("a/b", "lamp", Clear), Protection{}, kim); !errors.Is(err, ErrChangedOnDisk) {
		t.Fatalf("an approval over an entry that was never shown: %v", err)
	}
	if err := d.Decide(t.Context(), home, nil, decided("a/b", "lamp", Clear), Protection{}, kim); !errors.Is(err, ErrChangedOnDisk) {
		t.Fatalf("an approval over an entry that was never shown: %v", err)
	}
	if e := found(t, d, "a/b"); e.Owner != "shelf" || e.Disposition != Hold || e.ApprovedBy != "" || e.Fingerprint != "" {
		t.Errorf("on hold, and yet %+v", e)
	}
	if e := found(t, d, "a/c"); e.ApprovedBy != "kim" || e.Fingerprint != "" {
		t.Errorf("preserved, and yet %+v", e)
	}

	// A broker that tells nothing of itself yet takes nothing away; another one is refused.
	silentHome := home
	silentHome.Identity = ""
	if was, err := d.Withdraw(t.Context(), silentHome, []byte("a/c")); !was || err != nil {
		t.Fatal(was, err)
	}
	if m, err := d.Manifest(); err != nil || m.Broker() != home {
		t.Errorf("the manifest is bound to %+v, %v", m.Broker(), err)
	}
	away := home
	away.URL = "mqtt://other.lan"
	if err := d.Decide(t.Context(), away, nil, decided("a/d", "lamp", Clear), Protection{}, kim); err == nil {
		t.Error("an approval on another broker")
	}
	guard, err := Protect([]string{"a/+"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Decide(t.Context(), home, nil, decided("a/d", "lamp", Clear), guard, kim); err == nil || !strings.Contains(err.Error(), "protected") {
		t.Errorf("an approval of a protected topic: %v", err)
	}
}

func found(t *testing.T, d *Desk, topic string) Entry {
	t.Helper()
	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	e, ok := m.Find([]byte(topic))
	if !ok {
		t.Fatalf("%s is not listed", topic)
	}
	return e
}
