package fatoura

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	// The pause before the first repetition, and the longest one. Each is up to twice the one before.
	firstPause   = 250 * time.Millisecond
	longestPause = 8 * time.Second
	// A call does not wait for a longer Retry-After. Whoever follows an invoice asks again after so long.
	longestRetryAfter = time.Minute
)

// retryAfterOf reads Retry-After: a number of seconds or a date (RFC 9110, section 10.2.3); nil if it is
// neither.
func retryAfterOf(header http.Header) *time.Duration {
	text := header.Get("Retry-After")
	// A number that is out of range is the largest one.
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return Ptr(time.Duration(seconds) * time.Second)
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return nil
	}
	return Ptr(max(0, time.Until(date)))
}

// isPassing tells whether the same request may succeed later.
func (e *Error) isPassing() bool {
	if e.Family == ErrConnection {
		return !e.isLasting
	}
	return e.Status == 408 || e.Status == 429 || e.Status >= 500
}

// pauseBefore tells how long a call pauses before its next attempt, and whether a repetition may help.
func pauseBefore(failure *Error, attempt int) (time.Duration, bool) {
	if failure.RetryAfter == nil {
		most := min(longestPause, firstPause<<min(attempt, 10))
		return most/2 + rand.N(most/2), failure.isPassing()
	}
	return max(*failure.RetryAfter, firstPause), failure.isPassing() && *failure.RetryAfter <= longestRetryAfter
}

// restOf tells how long an error asks whoever follows an invoice to wait.
func restOf(failure *Error) time.Duration {
	if failure.RetryAfter == nil {
		return 0
	}
	return min(*failure.RetryAfter, longestRetryAfter)
}

// isOfTLS tells whether a certificate was refused, or the other side does not speak TLS.
func isOfTLS(cause error) bool {
	certificate, record := (*tls.CertificateVerificationError)(nil), tls.RecordHeaderError{}
	return errors.As(cause, &certificate) || errors.As(cause, &record) || errors.Is(cause, http.ErrSchemeMismatch)
}

// sleep waits. It returns an *Error if the context ends before.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx, ctx.Err())
	}
}

// ended tells why a context ended a call: its deadline passed, or it was cancelled.
func ended(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Family: ErrConnection, Message: "the deadline has passed", Cause: cause}
	}
	return cancelled(ctx)
}

func cancelled(ctx context.Context) *Error {
	return &Error{Family: ErrCancelled, Message: "the call was cancelled", Cause: context.Cause(ctx)}
}
