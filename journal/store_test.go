package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retainscope/expiry"
)

func TestAFileBelongsToOneBroker(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	must(t, open(t, path, o).Close())
	o.Broker = "mqtt://other.test"
	_, err := Open(path, o)
	var other *BrokerError
	if !errors.As(err, &other) || other.Broker != "mqtt://broker.test" {
		t.Errorf("%v", err)
	}
}

func TestAFileThatIsNoJournalIsLeftAlone(t *testing.T) {
	o, _ := options(day)
	for name, content := range map[string]string{"text": strings.Repeat("dear diary\n", 1000), "short": "x"} {
		path := file(t)
		must(t, os.WriteFile(path, []byte(content), 0o600))
		if _, err := Open(path, o); err == nil {
			t.Errorf("%s: opened", name)
		}
		if _, err := Read(path); err == nil {
			t.Errorf("%s: read", name)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if _, err := Read(file(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(file(t), Options{}); err == nil {
		t.Error("opened without a broker and a clock")
	}
}

func TestADamagedFileIsMovedAside(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	j := open(t, path, o)
	for i := range 2000 {
		j.Observe([]Seen{live(fmt.Sprintf("topic/%d", i), day, expiry.None())})
	}
	must(t, j.Close())
	bytes, err := os.ReadFile(path)
	must(t, err)
	for i := 5 * 4096; i < len(bytes)-4096; i++ {
		bytes[i] ^= 0x5A
	}
	// Marked as not closed: only then is the whole file checked.
	w, err := newWriter(path, o.filled())
	must(t, err)
	w.get = nil
	_ = w.close()
	clean, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(clean[:5*4096:5*4096], bytes[5*4096:]...), 0o600))
	j = open(t, path, o)
	if info, err := j.Info(t.Context()); err != nil || info.Topics != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	if aside, err := filepath.Glob(path + ".damaged.*T000000"); err != nil || len(aside) != 1 {
		t.Errorf("moved aside: %q, %v", aside, err)
	}
}

func TestAJournalWithABrokenHeaderWasLeftAloneAndEndedTheProgram(t *testing.T) {
	for name, broken := range map[string]struct{ from, to int }{"the magic": {0, 16}, "the mark": {68, 72}, "the whole header": {0, 100}} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			o, _ := options(day)
			j := open(t, path, o)
			j.Observe([]Seen{live("a", day, expiry.None())})
			must(t, j.Close())
			content, err := os.ReadFile(path)
			must(t, err)
			for i := broken.from; i < broken.to; i++ {
				content[i] ^= 0x5A
			}
			must(t, os.WriteFile(path, content, 0o600))
			j = open(t, path, o)
			if info, err := j.Info(t.Context()); err != nil || info.Topics != 0 {
				t.Errorf("%+v, %v", info, err)
			}
			aside, err := filepath.Glob(path + ".damaged.*T000000")
			must(t, err)
			if len(aside) != 1 {
				t.Fatalf("moved aside: %q", aside)
			}
			if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != string(content) {
				t.Errorf("what was moved aside was changed: %v", err)
			}
		})
	}
}
