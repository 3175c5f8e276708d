// Package fatoura is a client of the Fatoura e-invoicing service.
package fatoura

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Client of Fatoura. It may be used by several goroutines at once.
type Client struct {
	Invoices         *Invoices
	Drafts           *Drafts
	WebhookEndpoints *WebhookEndpoints
}

// NoRetries is the MaxRetries of a client that sends each request once.
const NoRetries = -1

// Options of a client. Each zero value is a default.
type Options struct {
	// Address of the service, such as https://invoices.example.ma. Default: the environment variable FATOURA_URL.
	BaseURL string
	// For one attempt until its answer is complete. Default 30 s.
	AttemptTimeout time.Duration
	// For a call with all its attempts and pauses. Default 120 s. The context of a call may end it earlier.
	Timeout time.Duration
	// How often a call is repeated at most. Default 4; NoRetries: never.
	MaxRetries int
	// Sends the requests, except that it does not follow redirections. Default: http.DefaultClient.
	HTTPClient *http.Client
	// Is told of each attempt. Never gets keys, secrets or bodies.
	OnAttempt func(Attempt)
}

// New makes a client. The key (sk_test_…, sk_live_…) decides tenant and environment. It returns an error without a key
// or an address, or if one of them cannot be right.
func New(key string, options Options) (*Client, error) {
	// A key that was read from a file ends with a line break.
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, errors.New("the secret key is missing")
	}
	if strings.ContainsFunc(key, func(character rune) bool { return character < '!' || character > '~' }) {
		return nil, errors.New("the secret key has characters that no key has")
	}
	if options.BaseURL == "" {
		options.BaseURL = os.Getenv("FATOURA_URL")
	}
	if options.BaseURL == "" {
		return nil, errors.New("BaseURL is missing: the address of the service, or the variable FATOURA_URL")
	}
	// It is not shown: it may be the key.
	text := strings.TrimSpace(options.BaseURL)
	address, err := url.Parse(text)
	if err != nil || strings.ContainsFunc(text, unicode.IsSpace) || !isAddress(address) {
		const cure = "http or https, without a user and a query"
		return nil, errors.New("BaseURL is no address such as https://invoices.example.ma: " + cure)
	}
	options.BaseURL = strings.TrimRight(address.String(), "/")
	sender := newSender(key, options)
	return &Client{&Invoices{sender}, &Drafts{sender}, &WebhookEndpoints{sender}}, nil
}

func isAddress(of *url.URL) bool {
	isHTTP := of.Scheme == "http" || of.Scheme == "https"
	isPlain := of.User == nil && of.RawQuery == "" && !of.ForceQuery && of.Fragment == ""
	return isHTTP && isHost(of) && isPlain
}

// isHost tells whether an address has a host, and a port that is one, if any. net/url takes x:80:80, too.
func isHost(of *url.URL) bool {
	host, port := of.Hostname(), of.Port()
	if strings.Contains(host, ":") {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is6() || !strings.HasPrefix(of.Host, "[") {
			return false
		}
	} else if host == "" || strings.HasPrefix(of.Host, "[") {
		return false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && number > 0
}

// Must returns what a call returned, and panics with its error. For scripts and tests.
func Must[Result any](result Result, err error) Result {
	if err != nil {
		panic(err)
	}
	return result
}

// Ptr makes a pointer to a value: for members of requests of which zero means something.
func Ptr[Value any](value Value) *Value {
	return &value
}

// Nullable is a member of a change: the zero value leaves it as it is, Set changes it, Null removes it.
type Nullable[Value any] struct {
	value    *Value
	isStated bool
}

// Set changes a member.
func Set[Value any](value Value) Nullable[Value] {
	return Nullable[Value]{&value, true}
}

// Null removes a member.
func Null[Value any]() Nullable[Value] {
	return Nullable[Value]{nil, true}
}

// MarshalJSON writes the value, or null.
func (n Nullable[Value]) MarshalJSON() ([]byte, error) {
	return json.Marshal(n.value)
}

// UnmarshalJSON reads a value, or null.
func (n *Nullable[Value]) UnmarshalJSON(text []byte) error {
	n.isStated = true
	return json.Unmarshal(text, &n.value)
}

// Secret is shown once, and not printed: string(secret) is its text.
type Secret string

// String hides the secret.
func (Secret) String() string {
	return "[secret]"
}

// GoString hides the secret from %#v.
func (Secret) GoString() string {
	return "[secret]"
}
