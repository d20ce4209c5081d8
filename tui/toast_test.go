package tui

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

func TestTheExportDialogWasBlindOnALowScreen(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 40, 10, nil)
	s.types("/gas2")
	s.keys("enter", "e")
	s.wants("Export as JSON lines", "this topic: ", "what the filter shows, 11 topics", "everything, 330 topics")
	for range 3 {
		if !strings.HasPrefix(s.line("› "), "  › ") {
			t.Fatalf("the cursor is not in sight:\n%s", s.frame())
		}
		s.keys("down")
	}
	s.w, s.h = 40, 7
	s.m.w, s.m.h = 40, 7
	s.keys("up", "down")
	if got := s.line("› "); !strings.Contains(got, "everything") {
		t.Fatalf("the cursor is not in sight:\n%s", s.frame())
	}
}

func TestTheNameOfTheFileWasCutInTheFooter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-name/", 8))
	for _, size := range sizes {
		s := newStage(t, seenAll(watching()), house(t), size[0], size[1], func(o *Options) {
			o.ExportDir = t.TempDir()
			o.Export = func(context.Context, Selection, io.Writer, func(int64)) error {
				return errors.New("the disk of " + dir + " is full, and that is the reason")
			}
		})
		s.keys("e", "down", "enter")
		said := strings.Join(strings.Fields(strings.NewReplacer("─", " ", "\n", " ").Replace(s.frame())), "")
		for _, want := range []string{"Export", "failed", "thereason"} {
			if !strings.Contains(said, want) {
				t.Fatalf("%d cells: %q is missing:\n%s", size[0], want, s.frame())
			}
		}
		s.m.o.ExportDir = t.TempDir()
		s.m.o.Export = func(_ context.Context, _ Selection, _ io.Writer, wrote func(int64)) error { wrote(330); return nil }
		s.keys("e", "down", "enter")
		said = strings.Join(strings.Fields(strings.NewReplacer("─", " ", "\n", " ").Replace(s.frame())), "")
		if !strings.Contains(said, "retainscope-20260314-140211.jsonl") {
			t.Fatalf("%d cells: the name of the file is cut:\n%s", size[0], s.frame())
		}
		s.tick(toastFor)
		s.lacks("jsonl")
	}
}

func TestASentenceOfAKeyStoodOnAcrossScreens(t *testing.T) {
	for _, size := range sizes {
		s, _ := leftStage(t, size[0], size[1])
		for _, next := range []string{"1", "2", "3", "4", "5", "6", "?", "down"} {
			s.keys("1", "esc")
			s.wants("esc is off")
			s.keys(next)
			s.lacks("esc is off")
		}
	}
}

func TestAPasteThatWasRefusedWasToldOfTheNextScreenToo(t *testing.T) {
	s, _ := leftStage(t, 120, 40)
	s.keys("esc")
	s.wants("esc is off")
	s.send(tea.PasteMsg{Content: "x"})
	s.lacks("esc is off")
}

func TestAFaultOfTheFilterWasCutOff(t *testing.T) {
	for _, size := range sizes {
		for _, kept := range []bool{false, true} {
			s := newStage(t, seenAll(watching()), house(t), size[0], size[1], nil)
			s.types("/is:nonsense")
			if kept {
				s.keys("enter")
			}
			_, err := inventory.ParseFilter("is:nonsense")
			said := strings.Join(strings.Fields(strings.NewReplacer("─", " ", "\n", " ").Replace(s.frame())), " ")
			if want := strings.Join(strings.Fields(err.Error()), " "); size[1] > 10 && !strings.Contains(said, want[3:]) {
				t.Errorf("%dx%d, kept %v: %q is cut:\n%s", size[0], size[1], kept, want, s.frame())
			}
		}
	}
}
