package tui

import "testing"

// A broker that was stopped in the middle keeps its connections: the header must not go on saying live.
func TestABrokerThatDoesNotAnswerWasCalledLive(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{{120, 40, "no answer since 14:01:40"}, {80, 24, "no answer since 14:01:40"}, {40, 10, "silent"}} {
		src := seenAll(watching())
		src.link.Err = "no answer since 14:01:40"
		s := newStage(t, src, house(t), c.w, c.h, nil)
		s.wants(c.want)
		s.lacks("live 14:")
	}
}
