package inventory

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"retainscope/expiry"
)

func fill(inv *Inventory, topics ...string) {
	for _, t := range topics {
		inv.Apply([]Publication{{Topic: []byte(t), Payload: []byte("x"), Interval: expiry.None(), ReceivedAt: 1000, Retain: true}})
	}
}

func draw(l *Listing) string {
	var b strings.Builder
	for _, r := range l.Rows(Pos{}, 1000, nil) {
		mark := " "
		if r.Branch {
			mark = "+"
			if r.Open {
				mark = "-"
			}
		}
		held := ""
		if r.Held {
			held = "*"
		}
		fmt.Fprintf(&b, "%s%s%s%s\n", strings.Repeat("  ", r.Depth), mark, r.Name, held)
	}
	return b.String()
}

func TestATreeShowsItsLevelsInOrder(t *testing.T) {
	inv := New(Options{})
	fill(inv, "b/x", "a", "a/c/d", "a b", "a/b", "/lead", "b/x/y")
	l, err := inv.List(context.Background(), Spec{Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := draw(l), "+\n+a*\n a b*\n+b\n"; got != want {
		t.Fatalf("closed:\n%s", got)
	}
	l.OpenAll(true)
	if got, want := draw(l), "-\n   lead*\n-a*\n   b*\n  -c\n     d*\n a b*\n-b\n  -x*\n     y*\n"; got != want {
		t.Fatalf("open:\n%s", got)
	}
	p := l.Last()
	for i := 9; i >= 0; i-- {
		q, n := l.Move(l.First(), i)
		if n != i || q != p {
			t.Fatalf("row %d is %v after %d, want %v", i, q, n, p)
		}
		p, _ = l.Move(p, -1)
	}
}
