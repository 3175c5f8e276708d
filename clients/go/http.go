package fatoura

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Attempt is one attempt of a call, for logs.
type Attempt struct {
	Method string
	// Without the query.
	Path string
	// From 1.
	Attempt int
	// The HTTP status; 0 if nothing answered.
	Status    int
	RequestID string
	Duration  time.Duration
}

// call is a request, and how it may be repeated.
type call struct {
	method string
	path   string
	query  url.Values
	body   any
	header http.Header
	// Whether a repetition does no harm.
	isRepeatable bool
}

// sender sends requests, and repeats those that failed for a reason that passes.
type sender struct {
	// A function, so that no print of a client shows the key.
	authorize func(http.Header)
	client    *http.Client
	options   Options
}

const (
	defaultAttemptTimeout = 30 * time.Second
	defaultTimeout        = 120 * time.Second
	defaultMaxRetries     = 4
)

func newSender(key string, options Options) *sender {
	client := http.Client{}
	if options.HTTPClient != nil {
		client = *options.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if options.AttemptTimeout == 0 {
		options.AttemptTimeout = defaultAttemptTimeout
	}
	if options.Timeout == 0 {
		options.Timeout = defaultTimeout
	}
	if options.MaxRetries == 0 {
		options.MaxRetries = defaultMaxRetries
	}
	authorize := func(header http.Header) { header.Set("Authorization", "Bearer "+key) }
	return &sender{authorize, &client, options}
}

// send makes a call and decodes its answer. Errors are of the type *Error.
func send[Result any](ctx context.Context, sender *sender, call call) (*Result, http.Header, error) {
	var body []byte
	if call.body != nil {
		var err error
		if body, err = json.Marshal(call.body); err != nil {
			return nil, nil, &Error{Family: ErrInvalidRequest, Message: "the request cannot be written as JSON", Cause: err}
		}
	}
	limited, cancel := context.WithTimeout(ctx, sender.options.Timeout)
	defer cancel()
	until, _ := limited.Deadline()
	for attempt := 1; ; attempt++ {
		result := new(Result)
		header, failure := sender.attempt(limited, call, attempt, body, result)
		if failure == nil {
			return result, header, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, nil, cancelled(ctx)
		}
		pause, mayPass := pauseBefore(failure, attempt)
		// After a 429 the service has surely done nothing.
		mayRepeat := call.isRepeatable || failure.Status == http.StatusTooManyRequests
		if !mayRepeat || attempt > sender.options.MaxRetries || !mayPass || time.Until(until) <= pause {
			return nil, nil, failure
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, nil, err
		}
	}
}

func (s *sender) attempt(ctx context.Context, call call, attempt int, body []byte, into any) (http.Header, *Error) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.options.AttemptTimeout)
	defer cancel()
	told := Attempt{Method: call.method, Path: call.path, Attempt: attempt}
	defer func() {
		if s.options.OnAttempt != nil {
			told.Duration = time.Since(begun)
			s.options.OnAttempt(told)
		}
	}()
	response, err := s.do(ctx, call, body, "application/json")
	if err != nil {
		return nil, s.unanswered(call, err)
	}
	defer response.Body.Close()
	// An answer that is cut here is none: the call is repeated.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, s.unanswered(call, err)
	}
	told.Status, told.RequestID = response.StatusCode, response.Header.Get("Request-Id")
	if response.StatusCode < 200 || response.StatusCode >= 300 {
		return nil, refusalOf(response, text)
	}
	if !json.Valid(text) {
		return nil, s.unanswered(call, errors.New("the answer is no JSON"))
	}
	if err := json.Unmarshal(text, into); err != nil || !isExpected(call, text) {
		message := fmt.Sprintf("%s %s: the answer of %s is not from the service", call.method, call.path, s.options.BaseURL)
		message += ": is BaseURL right?"
		return nil, &Error{Family: ErrConnection, Message: message, Cause: err, isLasting: true}
	}
	if of, ok := into.(refusing); ok {
		if refusal := of.refusal(response.Header); refusal != nil {
			return nil, refusal
		}
	}
	return response.Header, nil
}

// refusing is an answer that may have a refusal though its status is 200.
type refusing interface {
	refusal(http.Header) *Error
}

// isExpected tells whether an answer is what the call asks for. REST names the type of each object.
func isExpected(call call, text []byte) bool {
	var answer struct{ Object, Data, Errors any }
	_ = json.Unmarshal(text, &answer)
	_, isList := answer.Data.([]any)
	switch {
	case call.path == graphqlPath:
		return answer.Data != nil || answer.Errors != nil
	case call.method == http.MethodGet && (call.path == invoicesPath || call.path == endpointsPath):
		return answer.Object == "list" && isList
	case strings.HasPrefix(call.path, invoicesPath):
		return answer.Object == "invoice"
	}
	return answer.Object == "webhook_endpoint"
}

// open opens a stream of events. The caller closes its body.
func (s *sender) open(ctx context.Context, call call) (*http.Response, error) {
	response, err := s.do(ctx, call, nil, "text/event-stream")
	if err != nil {
		return nil, s.unanswered(call, err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return nil, refusalOf(response, text)
}

func (s *sender) do(ctx context.Context, call call, body []byte, accept string) (*http.Response, error) {
	address := s.options.BaseURL + call.path
	if len(call.query) > 0 {
		address += "?" + call.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, call.method, address, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range call.header {
		request.Header[name] = values
	}
	s.authorize(request.Header)
	request.Header.Set("Accept", accept)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
		// Without GetBody, net/http does not repeat a request by itself.
		request.Body = io.NopCloser(bytes.NewReader(body))
		request.ContentLength = int64(len(body))
	}
	return s.client.Do(request)
}

func (s *sender) unanswered(call call, cause error) *Error {
	// The message has the method and the path. The query may have data of customers.
	if of := (*url.Error)(nil); errors.As(cause, &of) {
		cause = of.Err
	}
	message := fmt.Sprintf("%s %s: no complete answer from %s (%v)", call.method, call.path, s.options.BaseURL, cause)
	return &Error{Family: ErrConnection, Message: message, Cause: cause, isLasting: isOfTLS(cause)}
}

// refusalOf reads a refusal. What is not from the service, such as a page of a proxy, has no code.
func refusalOf(response *http.Response, text []byte) *Error {
	status := response.StatusCode
	refusal := &Error{
		Family:     familyOf(status),
		Message:    statementOf(response),
		Status:     status,
		RequestID:  response.Header.Get("Request-Id"),
		RetryAfter: retryAfterOf(response.Header),
	}
	var answer struct{ Error stated }
	if json.Unmarshal(text, &answer) == nil && answer.Error.Message != "" {
		refusal.Code, refusal.Message, refusal.Param = answer.Error.Code, answer.Error.Message, answer.Error.Param
	}
	return refusal
}

// statementOf says what was answered instead of an error of the service.
func statementOf(response *http.Response) string {
	said := fmt.Sprintf("the answer has status %d", response.StatusCode)
	// The query may have data of customers.
	if leadsTo, _, _ := strings.Cut(response.Header.Get("Location"), "?"); leadsTo != "" {
		said += fmt.Sprintf(" and leads to %s: is BaseURL right?", leadsTo)
	}
	return said
}
