package fatoura

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Family is a kind of error. errors.Is(err, fatoura.ErrNotFound) asks for it.
type Family string

const (
	// ErrConnection: the service did not answer: no connection, a reset, a time-out, an answer that ended early. The
	// request may have been done.
	ErrConnection Family = "ConnectionError"
	// ErrCancelled: the caller's context was cancelled. What was sent may still be done.
	ErrCancelled Family = "CancelledError"
	// ErrSignature: a delivery of a webhook is not from the service, or cannot be checked.
	ErrSignature Family = "SignatureError"
	// ErrInvalidRequest: 400, 422 and the like: the request is wrong. Param says where.
	ErrInvalidRequest Family = "InvalidRequestError"
	// ErrAuthentication: 401: the key is missing, unknown or revoked.
	ErrAuthentication Family = "AuthenticationError"
	// ErrPermission: 403: the key may not do this.
	ErrPermission Family = "PermissionError"
	// ErrNotFound: 404: there is no such object in the key's tenant and environment.
	ErrNotFound Family = "NotFoundError"
	// ErrConflict: 409: the idempotency key was used for another request, or an object has changed.
	ErrConflict Family = "ConflictError"
	// ErrRateLimit: 429: too many requests, also after the retries.
	ErrRateLimit Family = "RateLimitError"
	// ErrService: 5xx: the service could not do it, also after the retries.
	ErrService Family = "ServiceError"
)

// Error makes a family a target of errors.Is.
func (f Family) Error() string {
	return string(f)
}

// Error is what a call returns. The members from Code on are set if the service refused the request.
type Error struct {
	Family  Family
	Message string
	// What caused it, such as an error of the network; may be nil.
	Cause error
	// A code of the service; one that this version does not know is kept. Empty if it stated none.
	Code ErrorCode
	// Dotted path of the field at fault, such as customer.ice; may be empty.
	Param string
	// The HTTP status; 0 if nothing answered.
	Status int
	// The header Request-Id, to be quoted to support; may be empty.
	RequestID string
	// When the service takes it again; nil if it does not say.
	RetryAfter *time.Duration
	// Of a creation or correction: the key to ask again with; empty for other calls. What an attempt has made is then
	// answered, not made again.
	IdempotencyKey string
	// Whether the same call fails again: a wrong certificate, an answer that is not from the service.
	isLasting bool
}

// stating lets an error have the key of its call.
func stating(key string, err error) error {
	if of := (*Error)(nil); errors.As(err, &of) {
		of.IdempotencyKey = key
	}
	return err
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Family, e.Message)
	if e.Code != "" {
		text += fmt.Sprintf(" (%s)", e.Code)
	}
	if e.Cause != nil && !strings.Contains(text, e.Cause.Error()) {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Is tells whether a target is the error's family.
func (e *Error) Is(target error) bool {
	return target == e.Family
}

func (e *Error) Unwrap() error {
	return e.Cause
}

// familyOf gives the family of a refused request.
func familyOf(status int) Family {
	switch {
	case status == 401:
		return ErrAuthentication
	case status == 403:
		return ErrPermission
	case status == 404:
		return ErrNotFound
	case status == 409:
		return ErrConflict
	case status == 429:
		return ErrRateLimit
	case status >= 500:
		return ErrService
	}
	return ErrInvalidRequest
}
