package fatoura

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const signatureHeader = "Service-Signature"

// Verifier checks deliveries of webhooks. Its zero value is ready for use.
type Verifier struct {
	// How much the time of a delivery may differ from this machine's. Default 5 minutes; a negative one is refused.
	Tolerance time.Duration
	// The present time. Default: time.Now.
	Now func() time.Time
}

// VerifyWebhook checks that a delivery of a webhook is from the service, and returns its event. Deduplicate by the
// event's ID: the same one can be delivered more than once. The body is the raw one, as it was received. A secret is
// that of the endpoint (whsec_…); during a rotation there are several, of which blank ones are passed over. An error is
// an ErrSignature, which says what is wrong.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*InvoiceEvent, error) {
	return Verifier{}.Verify(body, header, secrets...)
}

// Verify does what VerifyWebhook does.
func (v Verifier) Verify(body []byte, header http.Header, secrets ...string) (*InvoiceEvent, error) {
	tolerance, now := v.Tolerance, time.Now
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	if v.Now != nil {
		now = v.Now
	}
	if len(body) == 0 {
		return nil, unsigned("the body is empty: it was read or parsed before. Pass the first io.ReadAll(request.Body)")
	}
	keys, err := secretsOf(secrets)
	if err != nil {
		return nil, err
	}
	if tolerance < 0 {
		return nil, unsigned("the tolerance must not be negative, as %v is", tolerance)
	}
	sent, signatures, err := signatureOf(header)
	if err != nil {
		return nil, err
	}
	seconds, _ := strconv.ParseInt(sent, 10, 64)
	if now().Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return nil, unsigned("the delivery is of another time than this machine’s (t=%s): is its clock right?", sent)
	}
	for _, key := range keys {
		code := hmac.New(sha256.New, []byte(key))
		code.Write([]byte(sent + "."))
		code.Write(body)
		for _, signature := range signatures {
			if hmac.Equal(signature, code.Sum(nil)) {
				return eventOf(body)
			}
		}
	}
	return nil, unsigned(
		"the signature does not fit: the secret is of another endpoint, or the body was changed (parsed and printed again?)",
	)
}

func eventOf(body []byte) (*InvoiceEvent, error) {
	event := new(InvoiceEvent)
	if err := json.Unmarshal(body, event); err != nil {
		return nil, unsigned("the body is signed, but is no event: %v", err)
	}
	if event.ID == "" {
		return nil, unsigned("the body is signed, but is no event: it has no id")
	}
	return event, nil
}

func secretsOf(secrets []string) ([]string, error) {
	var keys []string
	for _, secret := range secrets {
		// Of a rotation, one variable of the environment is often unset or empty. One of a file ends with a line break.
		if secret = strings.TrimSpace(secret); secret == "" {
			continue
		}
		if !strings.HasPrefix(secret, "whsec_") {
			keys = nil
			break
		}
		keys = append(keys, secret)
	}
	if keys == nil {
		return nil, unsigned("the secret of an endpoint begins with whsec_. It is shown once, when the endpoint is created")
	}
	return keys, nil
}

// signatureOf reads the header: its time, in digits, and its signatures.
func signatureOf(header http.Header) (string, [][]byte, error) {
	sent := ""
	var signatures [][]byte
	text := headerOf(header)
	if text == "" {
		return "", nil, unsigned("the header %s is missing", signatureHeader)
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "t" && sent == "" {
			sent = value
		} else if signature, err := hex.DecodeString(value); name == "v1" && err == nil {
			signatures = append(signatures, signature)
		}
	}
	if seconds, err := strconv.ParseUint(sent, 10, 40); err != nil || strconv.FormatUint(seconds, 10) != sent {
		return "", nil, unsigned("the header %s has no time", signatureHeader)
	}
	return sent, signatures, nil
}

// headerOf finds the header by its name in any case, as maps of other frameworks have it.
func headerOf(header http.Header) string {
	for name, values := range header {
		if strings.EqualFold(name, signatureHeader) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

func unsigned(format string, args ...any) *Error {
	return &Error{Family: ErrSignature, Message: fmt.Sprintf(format, args...)}
}
