package tui

import (
	"context"
	"io"
	"testing"

	"retainscope/expiry"
	"retainscope/inventory"
)

// A topic that begins with a slash has an empty first level. Its branch is not the whole store.
func TestAnExportOfTheEmptyFirstLevelIsNotTheWholeStore(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{
		retained("/slash", "one", expiry.None()),
		retained("b", "bee", expiry.None()),
	})
	var got []Selection
	s := newStage(t, watching(), inv, 80, 24, func(o *Options) {
		o.ExportDir = t.TempDir()
		o.Export = func(_ context.Context, sel Selection, _ io.Writer, _ func(int64)) error {
			got = append(got, sel)
			return nil
		}
	})
	s.wantCursor("")
	s.keys("e", "enter")
	if len(got) != 1 || got[0].Includes([]byte("b")) || !got[0].Includes([]byte("/slash")) {
		t.Fatalf("exported %+v", got)
	}
}
