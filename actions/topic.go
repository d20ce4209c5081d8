package actions

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTopic is how many bytes a topic name can have on the wire.
//
// Source: MQTT 5, 1.5.4.
const maxTopic = 65535

// RefuseTopic returns nil when topic can be the exact name of one retained message, and otherwise an error whose text
// is the reason, safe for a terminal. Refused are the empty name, a name with a wildcard, with NUL, of a shared
// subscription, or too long for the wire. Names that are not UTF-8 are accepted: some brokers hold them.
//
// Source: MQTT 5, 3.3.2.1, 4.7 and 4.8.2.
func RefuseTopic(topic []byte) error {
	switch {
	case len(topic) == 0:
		return errors.New("the topic is empty: an entry names one exact topic")
	case len(topic) > maxTopic:
		return fmt.Errorf("the topic has %d bytes: a topic name has at most %d", len(topic), maxTopic) // 1.5.4
	case bytes.IndexByte(topic, 0) >= 0:
		return fmt.Errorf("topic %s holds NUL, which no topic name may hold", Quote(topic)) // 4.7.3
	case bytes.HasPrefix(topic, []byte("$share/")):
		return fmt.Errorf("topic %s names a shared subscription, which holds no retained message", Quote(topic)) // 4.8.2
	}
	if i := bytes.IndexAny(topic, "+#"); i >= 0 {
		return fmt.Errorf("topic %s holds the wildcard %q: an entry names one exact topic", Quote(topic), topic[i]) // 3.3.2.1
	}
	return nil
}

// Quote returns b between double quotes in ASCII alone: control characters, everything beyond ASCII and bytes that are
// not UTF-8 are escaped. It is safe for a terminal and two different names never look the same in it.
func Quote(b []byte) string { return strconv.QuoteToASCII(string(b)) }

// plainText reports whether a person sees in b exactly what it holds: UTF-8, and only printable runes and spaces.
func plainText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// lastLevel returns what follows the last slash of topic, or all of it.
func lastLevel(topic []byte) []byte { return topic[bytes.LastIndexByte(topic, '/')+1:] }

// parentOf returns topic without its last level and the slash before it, and false when it has one level only.
func parentOf(topic []byte) ([]byte, bool) {
	i := bytes.LastIndexByte(topic, '/')
	if i < 0 {
		return nil, false
	}
	return topic[:i:i], true
}

// Name is a topic name in a record line: as text for the reader and as hexadecimal digits, which are the exact bytes.
type Name []byte

type nameJSON struct {
	Text string `json:"text"`
	Hex  string `json:"hex"`
}

// MarshalJSON writes {"text": ..., "hex": ...}. Where the bytes are not UTF-8 the text is an approximation.
func (n Name) MarshalJSON() ([]byte, error) {
	return json.Marshal(nameJSON{Text: strings.ToValidUTF8(string(n), "\uFFFD"), Hex: hex.EncodeToString(n)})
}

// UnmarshalJSON reads the exact bytes out of "hex".
func (n *Name) UnmarshalJSON(b []byte) error {
	var v nameJSON
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	raw, err := hex.DecodeString(v.Hex)
	if err != nil {
		return fmt.Errorf("read topic: %w", err)
	}
	*n = raw
	return nil
}
