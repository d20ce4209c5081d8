package demo

// The house: 330 retained topics of a made-up home, one JSON object a line in house.jsonl.
// Decoding only; who sends them is load.go.

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

//go:embed house.jsonl
var houseLines []byte

// Message is one retained message of the house.
type Message struct {
	Topic   string
	Payload []byte
	Expiry  *uint32 // Message Expiry Interval in seconds; nil means that it is published without one
	Story   string  // who left it there and why, for people
}

// House returns the messages of the house in the order in which they are published. The slice is the caller's own.
// The error is not nil only when the embedded file is broken.
func House() ([]Message, error) {
	var out []Message
	for n, line := range bytes.Split(bytes.TrimSpace(houseLines), []byte("\n")) {
		var row struct {
			Topic    string  `json:"topic"`
			Payload  string  `json:"payload"`
			Encoding string  `json:"encoding"`
			Expiry   *uint32 `json:"expiry"`
			Story    string  `json:"story"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("decode house line %d: %w", n+1, err)
		}
		m := Message{Topic: row.Topic, Payload: []byte(row.Payload), Expiry: row.Expiry, Story: row.Story}
		switch row.Encoding {
		case "":
		case "base64":
			raw, err := base64.StdEncoding.DecodeString(row.Payload)
			if err != nil {
				return nil, fmt.Errorf("decode house line %d: %w", n+1, err)
			}
			m.Payload = raw
		default:
			return nil, fmt.Errorf("decode house line %d: unknown encoding %q", n+1, row.Encoding)
		}
		out = append(out, m)
	}
	return out, nil
}
