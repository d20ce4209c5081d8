package cli

// Command lines that the output offers to be typed: with the options of this run, without which they would ask another
// broker or read another record, and quoted for a shell.

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"retainscope/tui"
)

// again returns a command line of this program: the command, the options of this run that say which broker, login and
// manifest are meant, as far as the command takes them, and what follows as it stands. It can be pasted into a POSIX
// shell that reads $'...', in the same folder and environment.
func (p *program) again(command string, rest ...string) string {
	words := append([]string{"retainscope"}, strings.Fields(command)...)
	if p.commands == nil {
		return strings.Join(append(words, rest...), " ")
	}
	target, _, err := p.commands.Find(words[1:])
	takes := func(flag string) bool { return err == nil && target.Flag(flag) != nil }
	if p.configPath != "" {
		words = append(words, "--config", shellQuoted(p.configPath))
	}
	if p.profile != "" {
		words = append(words, "--profile", shellQuoted(p.profile))
	}
	for _, s := range settings() {
		f := p.given[s.id()]
		if f == nil || len(f.texts) == 0 || !s.tellsWhich() || !takes(s.flag) {
			continue
		}
		texts := f.texts
		if _, list := s.preset.([]any); !list {
			texts = texts[len(texts)-1:]
		}
		for _, text := range texts {
			if _, yes := s.preset.(bool); yes {
				words = append(words, "--"+s.flag+"="+shellQuoted(text))
				continue
			}
			words = append(words, "--"+s.flag, shellQuoted(text))
		}
	}
	if p.askPassword {
		words = append(words, "--ask-password")
	}
	return strings.Join(append(words, rest...), " ")
}

// tellsWhich reports whether s says which broker, which login or which manifest is meant.
func (s setting) tellsWhich() bool {
	return s.section == "mqtt" || s.section == "observer" || slices.Contains([]string{"clear.manifest", "clear.protect"}, s.id())
}

// topicOption names one exact topic as it is typed: by its bytes where its name cannot be.
func topicOption(topic []byte) string {
	if tui.Printable(topic) != string(topic) {
		return "--topic-hex " + hex.EncodeToString(topic)
	}
	return "--topic " + shellQuoted(string(topic))
}

// shellQuoted returns a word as a shell takes it for exactly s, safe for a terminal.
func shellQuoted(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/_-.:=@,+%", r))
	})
	switch {
	case plain:
		return s
	case tui.Printable([]byte(s)) == s:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(s) {
		switch {
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}
