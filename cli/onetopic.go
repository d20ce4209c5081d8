package cli

// One exact topic on the command line, as text or by its bytes. Never a filter, never two.

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"retainscope/actions"
)

// oneTopic is --topic and --topic-hex.
type oneTopic struct{ text, digits []string }

func (o *oneTopic) flags(cmd *cobra.Command, usage string, offer cobra.CompletionFunc) {
	f := cmd.Flags()
	f.StringArrayVar(&o.text, "topic", nil, usage)
	f.StringArrayVar(&o.digits, "topic-hex", nil, "the same by its bytes, as `HEX` digits, for a name that cannot be typed")
	_ = cmd.RegisterFlagCompletionFunc("topic", offer)
	_ = cmd.RegisterFlagCompletionFunc("topic-hex", cobra.NoFileCompletions)
}

// given returns the exact bytes, and nil where no topic was named. The error says what is wrong in usage.
func (o *oneTopic) given() ([]byte, error) {
	switch n := len(o.text) + len(o.digits); {
	case n == 0:
		return nil, nil
	case n > 1:
		return nil, errors.New("more than one topic is named: exactly one is taken, by --topic or by --topic-hex")
	}
	var topic []byte
	if len(o.text) == 1 {
		topic = []byte(o.text[0])
	} else {
		raw, err := hex.DecodeString(o.digits[0])
		if err != nil {
			return nil, fmt.Errorf("--topic-hex %s is not an even number of hexadecimal digits", quote(o.digits[0]))
		}
		topic = raw
	}
	return topic, actions.RefuseTopic(topic)
}

// must is given for a command that needs a topic.
func (o *oneTopic) must() ([]byte, error) {
	topic, err := o.given()
	if err == nil && topic == nil {
		err = errors.New("no topic is named: give one with --topic, or by its bytes with --topic-hex")
	}
	return topic, err
}

// topicJSON is a topic in the output: as text, in which what is not UTF-8 is replaced, and by its bytes.
type topicJSON struct {
	Topic    string `json:"topic"`
	TopicHex string `json:"topic_hex"`
}

func topicOf(topic []byte) topicJSON { return topicJSON{string(topic), hex.EncodeToString(topic)} }
