package fatoura

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
)

// Option of a creation, a credit or a replacement.
type Option func(*settings)

type settings struct {
	key     string
	order   string
	include []Include
	further map[string]any
	// Of an option that is wrong.
	err error
}

// OrderNumber is your number of the order: the same order never becomes a second invoice, also from another process.
// It is for creations only: an order can be returned or corrected more than once. With a blank one, the call returns an
// ErrInvalidRequest before it sends anything. Where an IdempotencyKey is stated, too, that is the key.
func OrderNumber(number string) Option {
	return func(s *settings) { s.order = s.keyOf("OrderNumber", "order ", number) }
}

// IdempotencyKey is by what a repeated call is known: printable characters, of which more than 255 are sent as their
// SHA-256. Default: new for each call. With a blank one, the call returns an ErrInvalidRequest before it sends
// anything.
func IdempotencyKey(key string) Option {
	return func(s *settings) { s.key = s.keyOf("IdempotencyKey", "", key) }
}

// keyOf makes a key of a text. It refuses a blank one, because that would be the same for all that have none.
func (s *settings) keyOf(name, prefix, text string) string {
	if !strings.ContainsFunc(text, isSeen) {
		message := "fatoura." + name + " is blank: state it, or leave the option out for a key of the call's own"
		s.err = &Error{Family: ErrInvalidRequest, Message: message}
	}
	key := prefix + inHeader(text)
	if len(key) > mostKey {
		return fmt.Sprintf("sha256 %x", sha256.Sum256([]byte(key)))
	}
	return key
}

// mostKey is the most characters of a key that the service takes.
const mostKey = 255

func isSeen(char rune) bool {
	return !unicode.In(char, unicode.Z, unicode.Cc, unicode.Cf)
}

// Including asks for further members of the created invoice.
func Including(members ...Include) Option {
	return func(s *settings) { s.include = append(s.include, members...) }
}

// Further adds members to a creation that this version of the client does not know.
func Further(members map[string]any) Option {
	return func(s *settings) { s.further = members }
}

func settingsOf(options []Option) (settings, error) {
	of := settings{}
	for _, option := range options {
		option(&of)
	}
	of.key = cmp.Or(of.key, of.order, rand.Text())
	return of, of.err
}

// correctionOf reads the options of a credit or a replacement.
func correctionOf(options []Option) (settings, error) {
	of, err := settingsOf(options)
	if err == nil && of.order != "" {
		message := "fatoura.OrderNumber is for creations: know a correction by an IdempotencyKey, such as \"return 88\""
		err = &Error{Family: ErrInvalidRequest, Message: message}
	}
	return of, err
}

// inHeader writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends.
func inHeader(text string) string {
	begin, end := len(text)-len(strings.TrimLeft(text, " ")), len(strings.TrimRight(text, " "))
	var kept strings.Builder
	for at, char := range []byte(text) {
		if char < ' ' || char > '~' || at < begin || at >= end {
			fmt.Fprintf(&kept, "%%%02X", char)
		} else {
			kept.WriteByte(char)
		}
	}
	return kept.String()
}
